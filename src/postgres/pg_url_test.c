#include "postgres/pg_connection.h"

#include "base/err.h"

#include <string.h>

#include "test.h"

static void what_an_url_is_shows_in_its_beginning(void **state)
{
    (void)state;
    assert_true(pg_url_is("postgresql://"));
    assert_true(pg_url_is("postgres://host/db"));
    assert_false(pg_url_is("postgresql"));
    assert_false(pg_url_is("sqlite:postgresql://"));
    assert_false(pg_url_is("a.store"));
}

static void typical_urls_are_taken(void **state)
{
    static const char *const urls[] = {
        "postgresql://", "postgres://me@host:5433/db", "postgresql:///db?host=/run/postgresql",
        "postgresql://a,b/db?target_session_attrs=read-write", "postgresql://?service=traces"};

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        assert_int_equal(pg_url_check(urls[i]), 0);
}

static void a_password_is_refused_and_not_repeated(void **state)
{
    static const char *const urls[] = {"postgresql://me:hidden7@host/db",
                                       "postgresql://host/db?password=hidden7",
                                       "postgresql://host/db?sslpassword=hidden7",
                                       "postgres://me:hidden7@host/db?bad",
                                       "postgresql://me:hidden7%zz@host/db",
                                       "postgresql://host/db?password=hidden7&%zz",
                                       "postgresql://host/db?passwordhidden7",
                                       "postgresql://me:hidden7@[::1/db",
                                       "postgresql://me@host/db?pass%77ord=hidden7"};

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        assert_int_equal(pg_url_check(urls[i]), ERR_USAGE);
        assert_null(strstr(err_message(), "hidden7"));
        assert_non_null(strstr(err_message(), "password"));
    }
}

static void what_libpq_does_not_take_is_said(void **state)
{
    (void)state;
    assert_int_equal(pg_url_check("postgresql://host/db?colour=red"), ERR_USAGE);
    assert_non_null(strstr(err_message(), "colour"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_url_is_shows_in_its_beginning),
        cmocka_unit_test(typical_urls_are_taken),
        cmocka_unit_test(a_password_is_refused_and_not_repeated),
        cmocka_unit_test(what_libpq_does_not_take_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

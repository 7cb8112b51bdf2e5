#include "http/access.h"

#include "base/err.h"

#include "test.h"

static void on_loopback_only_its_own_names_are_believed(void **state)
{
    static const char *const good[] = {"127.0.0.1:8000", "localhost", "LOCALHOST:1",
                                       "[::1]:80"};
    static const char *const bad[] = {"evil.example",
                                      "127.0.0.1.evil.example",
                                      "",
                                      ":80",
                                      "127.0.0.1:80x",
                                      "[::1",
                                      "localhost@evil.example",
                                      "10.0.0.1",
                                      "127.0.0.1:80:80"};
    struct access access;

    (void)state;
    assert_int_equal(access_init(&access, "127.0.0.1"), 0);
    assert_string_equal(access.token, "");
    assert_false(access_host(&access, NULL));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(access_host(&access, good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(access_host(&access, bad[i]));
}

static void beyond_loopback_there_is_a_token(void **state)
{
    struct access access, other;

    (void)state;
    assert_int_equal(access_init(&access, "0.0.0.0"), 0);
    assert_int_equal(access_init(&other, "::"), 0);
    assert_int_equal(strlen(access.token), 32);
    assert_string_not_equal(access.token, other.token);
    assert_true(access_token(&access, access.token));
    assert_false(access_token(&access, other.token));
    for (size_t i = 0; i < strlen(access.token); i++) {
        memcpy(other.token, access.token, sizeof other.token);
        other.token[i] ^= 1;
        assert_false(access_token(&access, other.token));
    }
    assert_false(access_token(&access, ""));
    assert_false(access_token(&access, NULL));
    assert_true(access_host(&access, "10.1.2.3:80"));
    assert_true(access_host(&access, access.hostname));
    assert_false(access_host(&access, "evil.example"));
}

static void only_the_own_page_may_act(void **state)
{
    (void)state;
    assert_true(access_origin(NULL, "localhost:80"));
    assert_true(access_origin("http://localhost:80", "localhost:80"));
    assert_false(access_origin("http://localhost:81", "localhost:80"));
    assert_false(access_origin("https://localhost:80", "localhost:80"));
    assert_false(access_origin("http://evil.example", "localhost:80"));
    assert_false(access_origin("null", "localhost:80"));
    assert_false(access_origin("", "localhost:80"));
}

static void names_are_no_addresses(void **state)
{
    struct access access;

    (void)state;
    assert_int_equal(access_init(&access, "localhost"), ERR_USAGE);
    assert_int_equal(access_init(&access, "1.2.3"), ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_loopback_only_its_own_names_are_believed),
        cmocka_unit_test(beyond_loopback_there_is_a_token),
        cmocka_unit_test(only_the_own_page_may_act),
        cmocka_unit_test(names_are_no_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/err.h"

#include "test.h"

static void message_and_code_come_back(void **state)
{
    (void)state;
    assert_int_equal(err_set(ERR_IO, "cannot open '%s'", "x.otf2"), ERR_IO);
    assert_string_equal(err_message(), "cannot open 'x.otf2'");
    assert_non_null(strstr(err_where(), "err_test.c:"));
}

static void old_message_may_be_part_of_the_new_one(void **state)
{
    (void)state;
    err_set(ERR_IO, "inner");
    err_set(ERR_FORMAT, "outer: %s", err_message());
    assert_string_equal(err_message(), "outer: inner");
}

static void what_is_kept_outlives_what_fails_later(void **state)
{
    struct err_kept failed = err_keep(err_set(ERR_IO, "first")), fine = err_keep(3);

    (void)state;
    err_set(ERR_FORMAT, "second");
    assert_int_equal(err_restore(&fine), 3);
    assert_string_equal(err_message(), "second");
    assert_int_equal(err_restore(&failed), ERR_IO);
    assert_string_equal(err_message(), "first");
    assert_null(failed.message);
    assert_int_equal(failed.code, 0);
    err_kept_release(&failed); /* once more does no harm */
}

static void every_code_is_negative_and_has_a_name(void **state)
{
    (void)state;
    assert_int_equal(ERR_IO, -1);
    assert_string_equal(err_name(ERR_NOT_FOUND), "not found");
    assert_string_equal(err_name(7), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_and_code_come_back),
        cmocka_unit_test(old_message_may_be_part_of_the_new_one),
        cmocka_unit_test(what_is_kept_outlives_what_fails_later),
        cmocka_unit_test(every_code_is_negative_and_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "http/request.h"

#include "base/err.h"

#include "test.h"

/* Until it is asked again. */
static struct request asking(const char *name, const char *value)
{
    static struct request_parameter parameter[2];
    static size_t i;

    i = !i;
    parameter[i] = (struct request_parameter){name, value};
    return (struct request){.parameter = &parameter[i], .n_parameters = 1};
}

static void numbers_are_within_their_bounds(void **state)
{
    static const char *const bad[] = {"-1",  "11", "x",  "1x", "1e99", "nan",
                                      "inf", " 1", "1 ", "+1", "0x"};
    struct request good = asking("n", "7.9");
    double n;

    (void)state;
    assert_int_equal(request_number(&good, "n", 0, 10, 3, &n), 0);
    assert_true(n == 7);
    assert_int_equal(request_number(&good, "m", 0, 10, 3, &n), 0);
    assert_true(n == 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request request = asking("n", bad[i]);

        assert_int_equal(request_number(&request, "n", 0, 10, 3, &n), ERR_USAGE);
    }
}

static void lists_hold_different_numbers_below_a_bound(void **state)
{
    static const char *const bad[] = {"4", "0,",  ",0", "0,0",
                                      "a", "0;1", "-1", "99999999999999999999"};
    struct request good = asking("l", "3,0"), none = asking("l", "");
    uint32_t list[4], n;

    (void)state;
    assert_int_equal(request_list(&good, "l", 4, list, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(list[0], 3);
    assert_int_equal(list[1], 0);
    assert_int_equal(request_list(&none, "l", 4, list, &n), 0);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request request = asking("l", bad[i]);

        assert_int_equal(request_list(&request, "l", 4, list, &n), ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_within_their_bounds),
        cmocka_unit_test(lists_hold_different_numbers_below_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

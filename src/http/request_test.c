#include "http/request.h"

#include "base/err.h"
#include "http/response.h"

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

/* An escaped separator makes no other request of it. */
static void requests_that_differ_have_different_keys(void **state)
{
    static const struct request_parameter plain[] = {{"a", "b"}, {"c", "d"}};
    static const struct request_parameter odd[] = {{"a", "b\x1f"
                                                         "c\x1f"
                                                         "d"},
                                                   {"a", "b1:c1:d"},
                                                   {"a", "1:b1:c1:d"},
                                                   {"a1:b", "c"}};
    struct request request = {.path = "/fois", .parameter = plain, .n_parameters = 2};
    char key[ANSWER_KEY_SIZE], again[ANSWER_KEY_SIZE];

    (void)state;
    assert_true(answer_key(&request, key) && answer_key(&request, again));
    assert_string_equal(key, again);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct request other = {.path = "/fois", .parameter = &odd[i], .n_parameters = 1};

        assert_true(answer_key(&other, again));
        assert_string_not_equal(key, again);
    }
}

static void keys_end_before_what_holds_them(void **state)
{
    char value[ANSWER_KEY_SIZE], key[ANSWER_KEY_SIZE];
    struct request request = asking("a", value);

    (void)state;
    request.path = "/";
    memset(value, 'x', sizeof value);
    for (size_t n = 1; n < sizeof value; n++) {
        value[n] = '\0';
        if (answer_key(&request, key))
            assert_in_range(strlen(key), n, ANSWER_KEY_SIZE - 1);
        else
            assert_true(n > ANSWER_KEY_SIZE - 16);
        value[n] = 'x';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_within_their_bounds),
        cmocka_unit_test(lists_hold_different_numbers_below_a_bound),
        cmocka_unit_test(requests_that_differ_have_different_keys),
        cmocka_unit_test(keys_end_before_what_holds_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "detect/detector.h"

#include "base/err.h"

#include "test.h"

enum { ROWS = 200 };

static void detectors_are_found_by_their_names(void **state)
{
    (void)state;
    assert_string_equal(detector_find("lof")->name, "lof");
    assert_true(detector_find("lof")->needs_matrix);
    assert_false(detector_find("residual")->needs_matrix);
    assert_null(detector_find("LOF"));
    assert_null(detector_find(""));
}

/* A fiftieth of the rows, the far ones, are above the threshold. */
static void a_fiftieth_is_above_the_threshold(void **state)
{
    static const char *const names[] = {"lof", "knn"};
    struct detector_input input = {.pool = pool_new(2)};
    double x[ROWS], score[ROWS], threshold;

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        x[i] = i % 50 == 7 ? 1000 + 300 * (double)(i / 50) : (double)i;
    input.x = (struct matrix){x, ROWS, 1, 1};
    for (size_t d = 0; d < 2; d++) {
        assert_int_equal(detector_find(names[d])->score(&input, ROWS, score, &threshold), 0);
        for (size_t i = 0; i < ROWS; i++)
            assert_int_equal(score[i] > threshold, i % 50 == 7);
    }
    pool_free(input.pool);
}

/* Three rows and k = 10: all others are the neighbours. Means of 1 and 9, 1 and 8, 9 and 8. */
static void k_is_at_most_all_others(void **state)
{
    struct detector_input input = {.k = 10, .pool = pool_new(1)};
    double x[] = {0, 1, 9}, score[3], threshold;

    (void)state;
    input.x = (struct matrix){x, 3, 1, 1};
    assert_int_equal(detector_find("knn")->score(&input, 3, score, &threshold), 0);
    assert_true(score[0] == 5 && score[1] == 4.5 && score[2] == 8.5);
    pool_free(input.pool);
}

static void one_row_cannot_be_compared(void **state)
{
    struct detector_input input = {.pool = pool_new(1)};
    double x = 0, score, threshold;

    (void)state;
    input.x = (struct matrix){&x, 1, 1, 1};
    assert_int_equal(detector_find("lof")->score(&input, 1, &score, &threshold), ERR_RANGE);
    assert_string_equal(err_message(), "1 execution: nothing to compare with");
    pool_free(input.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detectors_are_found_by_their_names),
        cmocka_unit_test(a_fiftieth_is_above_the_threshold),
        cmocka_unit_test(k_is_at_most_all_others),
        cmocka_unit_test(one_row_cannot_be_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

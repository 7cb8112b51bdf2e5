/* Points on a line: 0 0.01 0.02 are alike, 10 is not. */
#include "base/test.h"

#include "learn/query.h"

static const double line[] = {0, 0.01, 0.02, 10, 20};
#define N 5

static void rows_of_line(struct rows *rows)
{
    rows_init(rows, 1);
    for (int i = 0; i < N; i++) {
        rows_add(rows, 0, line[i]);
        rows_end(rows);
    }
}

static void look_alikes_are_asked_last(void **state)
{
    const double score[N] = {5, 4, 3, 2, 1};
    const signed char label[N] = {0};
    struct rows rows;
    uint32_t next[N];

    (void)state;
    rows_of_line(&rows);
    assert_int_equal(query_next(&rows, score, score, label, 1.5, 3, next), 3);
    assert_int_equal(next[0], 0);
    assert_int_equal(next[1], 3);
    assert_int_equal(next[2], 4);
    assert_int_equal(query_next(&rows, score, score, label, 1.5, 5, next), 5);
    assert_int_equal(next[3], 1);
    assert_int_equal(next[4], 2);
    rows_release(&rows);
}

static void what_is_labelled_is_not_asked_again(void **state)
{
    const double score[N] = {5, 4, 3, 2, 1};
    const signed char label[N] = {1, -1, 1, 0, 1};
    struct rows rows;
    uint32_t next[N];

    (void)state;
    rows_of_line(&rows);
    assert_int_equal(query_next(&rows, score, score, label, 1.5, 4, next), 1);
    assert_int_equal(next[0], 3);
    rows_release(&rows);
}

static void equal_scores_are_ordered_by_the_detector_then_by_number(void **state)
{
    const double score[N] = {1, 1, 1, 1, 1}, tie[N] = {0, 0, 0, 1, 1};
    const signed char label[N] = {0};
    struct rows rows;
    uint32_t next[N];

    (void)state;
    rows_of_line(&rows);
    assert_int_equal(query_next(&rows, score, tie, label, 1.5, 3, next), 3);
    assert_int_equal(next[0], 3);
    assert_int_equal(next[1], 4);
    assert_int_equal(next[2], 0);
    rows_release(&rows);
}

static void the_best_of_many_are_found(void **state)
{
    enum { MANY = 1000 };
    double score[MANY];
    signed char label[MANY] = {0};
    struct rows rows;
    uint32_t next[2];

    (void)state;
    rows_init(&rows, 1);
    for (int i = 0; i < MANY; i++) {
        rows_add(&rows, 0, 10.0 * i);
        rows_end(&rows);
        score[i] = i * 37 % MANY;
    }
    assert_int_equal(query_next(&rows, score, score, label, 1.5, 2, next), 2);
    assert_int_equal(score[next[0]], MANY - 1);
    assert_int_equal(score[next[1]], MANY - 2);
    rows_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look_alikes_are_asked_last),
        cmocka_unit_test(what_is_labelled_is_not_asked_again),
        cmocka_unit_test(equal_scores_are_ordered_by_the_detector_then_by_number),
        cmocka_unit_test(the_best_of_many_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "stack/calls.h"

#include <stdlib.h>

#include "test.h"

/*
 *     row     0     1  2  3  4  5  6  7
 *     call    main  a  b  c  a  b  d  e      c is in b; d is in main, e alone
 */
static struct calls small(void)
{
    static const uint64_t enter[] = {0, 10, 20, 21, 30, 40, 50, 90};
    static const uint64_t ns[] = {80, 5, 8, 2, 5, 8, 9, 3};
    static const uint32_t len[] = {7, 1, 2, 1, 1, 1, 1, 1};
    static const uint16_t depth[] = {0, 1, 1, 2, 1, 1, 1, 0};
    static const uint32_t region[] = {0, 1, 2, 3, 1, 2, 4, 5};
    struct calls calls = {0};

    calls_clear(&calls);
    calls_reserve(&calls, 8);
    for (uint32_t i = 0; i < 8; i++) {
        calls.enter_ns[i] = enter[i];
        calls.inclusive_ns[i] = ns[i];
        calls.subtree_len[i] = len[i];
        calls.depth[i] = depth[i];
        calls.region[i] = region[i];
    }
    calls.n = 8;
    return calls;
}

static void new_calls_are_between_their_caller_and_what_they_are_around(void **state)
{
    static const uint32_t region[] = {0, 9, 1, 2, 3, 9, 1, 2, 4, 5};
    static const uint32_t len[] = {9, 4, 1, 2, 1, 3, 1, 1, 1, 1};
    static const uint16_t depth[] = {0, 1, 2, 2, 3, 1, 2, 2, 1, 0};
    uint32_t begin[] = {1, 4}, end[] = {4, 6};
    struct insertion insert = {
        .region = 9, .n = 2, .begin = begin, .end = end, .typical_ns = 19};
    struct calls before = small(), after = {0};
    struct call_view view = calls_view(&before);

    (void)state;
    calls_insert(&view, &insert, &after);
    assert_int_equal(after.n, 10);
    assert_memory_equal(after.region, region, sizeof region);
    assert_memory_equal(after.subtree_len, len, sizeof len);
    assert_memory_equal(after.depth, depth, sizeof depth);
    assert_int_equal(after.enter_ns[1], 10);
    assert_int_equal(after.inclusive_ns[1], 20); /* until the next begins */
    assert_int_equal(after.enter_ns[5], 30);
    assert_int_equal(after.inclusive_ns[5], 19); /* as typical, for the next is called at 50 */
    assert_int_equal(calls_moved(&insert, 0), 0);
    assert_int_equal(calls_moved(&insert, 1), 2);
    assert_int_equal(calls_moved(&insert, 3), 4);
    assert_int_equal(calls_moved(&insert, 7), 9);
    assert_int_equal(calls_moved(&insert, NO_CALL), NO_CALL);
    calls_release(&before);
    calls_release(&after);
}

static void assert_estimate(const struct calls *calls, size_t i, uint32_t call,
                            uint32_t is_leave, uint64_t off_ns)
{
    assert_int_equal(calls->estimate[i].call, call);
    assert_int_equal(calls->estimate[i].is_leave, is_leave);
    assert_int_equal(calls->estimate[i].off_ns, off_ns);
}

/* The begin of the first a is 3 off, that of the second 4, the end of the second b is 5 off. */
static void a_new_call_is_known_as_exactly_as_those_it_is_made_of(void **state)
{
    uint32_t begin[] = {1, 4}, end[] = {4, 6};
    struct insertion insert = {.region = 9, .n = 2, .begin = begin, .end = end};
    struct calls before = small(), after = {0};
    struct call_view view;

    (void)state;
    calls_add_estimate(&before, (struct call_estimate){5, 1, PLACED_AS_SAID, 5});
    calls_add_estimate(&before, (struct call_estimate){1, 0, PLACED_AS_SAID, 3});
    calls_add_estimate(&before, (struct call_estimate){4, 0, PLACED_AS_SAID, 4});
    calls_sort_estimates(&before);
    view = calls_view(&before);
    calls_insert(&view, &insert, &after);
    assert_int_equal(after.n_estimates, 7);
    assert_estimate(&after, 0, 1, 0, 3);
    assert_estimate(&after, 1, 1, 1, 4); /* it ends where the next begins */
    assert_estimate(&after, 2, 2, 0, 3);
    assert_estimate(&after, 3, 5, 0, 4);
    assert_estimate(&after, 4, 5, 1, 5); /* it ends with its last call */
    assert_estimate(&after, 5, 6, 0, 4);
    assert_estimate(&after, 6, 7, 1, 5);
    calls_release(&before);
    calls_release(&after);
}

/*
 *     row     0     1  2  3  4  5  6  7        new rows  0  1  2  3  4  5  6  7  8  9
 *     call    main  a  b  c  a  b  d  e                  main n a  b  c  n  a  b  d  e
 */
static void readings_stay_between_the_same_calls_and_arguments_with_theirs(void **state)
{
    static const struct {
        uint32_t row, depth, new_row, new_depth;
    } reading[] = {
        {1, 1, 1, 1}, /* before the first a: a new call begins with it */
        {3, 2, 4, 3}, /* in b */
        {4, 1, 5, 1}, /* behind b, which is the end of the new call */
        {6, 2, 8, 3}, /* in the second b */
        {6, 1, 8, 1}, /* before d */
        {7, 0, 9, 0}, /* behind main */
    };
    uint32_t begin[] = {1, 4}, end[] = {4, 6};
    struct insertion insert = {.region = 9, .n = 2, .begin = begin, .end = end};
    struct calls before = small(), after = {0};
    struct call_view view;

    (void)state;
    for (size_t i = 0; i < 6; i++)
        details_reading(&before.details, NULL,
                        &(struct detail_reading){.time_ns = 10 * i,
                                                 .row = reading[i].row,
                                                 .depth = (uint16_t)reading[i].depth},
                        &(struct counter_value){.counter = 1, .whole = 1});
    for (uint32_t call = 3; call <= 5; call += 2)
        details_argument(&before.details, NULL, call,
                         &(struct argument_value){.kind = ARGUMENT_TEXT, .text = "said"});
    view = calls_view(&before);
    calls_insert(&view, &insert, &after);
    assert_int_equal(after.details.n_readings, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(after.details.reading[i].row, reading[i].new_row);
        assert_int_equal(after.details.reading[i].depth, reading[i].new_depth);
        assert_int_equal(after.details.reading[i].time_ns, 10 * i);
    }
    assert_int_equal(after.details.n_arguments, 2);
    assert_int_equal(after.details.argument[0].call, 4);
    assert_int_equal(after.details.argument[1].call, 7);
    assert_string_equal(after.details.text + after.details.argument[1].natural, "said");
    calls_release(&before);
    calls_release(&after);
}

static void
a_call_that_none_follows_lasts_as_usual_between_its_last_call_and_the_next(void **state)
{
    uint32_t begin[] = {4}, end[] = {6};
    struct insertion insert = {.n = 1, .begin = begin, .end = end};
    struct calls calls = small();
    struct call_view view = calls_view(&calls);

    (void)state;
    assert_int_equal(insertion_ns(&view, &insert, 0), 18); /* 30 to 48: b is left */
    insert.typical_ns = 19;
    assert_int_equal(insertion_ns(&view, &insert, 0), 19);
    insert.typical_ns = 100;
    assert_int_equal(insertion_ns(&view, &insert, 0), 20); /* 50: d is entered */
    begin[0] = 6, end[0] = 7;
    assert_int_equal(insertion_ns(&view, &insert, 0), 30); /* 80: main is left */
    calls_release(&calls);
}

static void what_is_not_whole_calls_on_one_level_is_left_out(void **state)
{
    uint32_t begin[] = {1, 3, 5}, end[] = {3, 5, 8};
    struct insertion insert = {.region = 9, .n = 3, .begin = begin, .end = end};
    struct calls before = small(), after = {0};
    struct call_view view = calls_view(&before);

    (void)state;
    calls_insert(&view, &insert, &after);
    assert_int_equal(insert.n, 0);
    assert_int_equal(after.n, 8);
    assert_memory_equal(after.subtree_len, before.subtree_len, 8 * sizeof *after.subtree_len);
    calls_release(&before);
    calls_release(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_calls_are_between_their_caller_and_what_they_are_around),
        cmocka_unit_test(a_new_call_is_known_as_exactly_as_those_it_is_made_of),
        cmocka_unit_test(readings_stay_between_the_same_calls_and_arguments_with_theirs),
        cmocka_unit_test(
            a_call_that_none_follows_lasts_as_usual_between_its_last_call_and_the_next),
        cmocka_unit_test(what_is_not_whole_calls_on_one_level_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "stack/callstack.h"

#include "base/rng.h"

#include "test.h"

/* Events said as letters, a nanosecond apart: upper case enters, lower case leaves. */
static size_t say(struct event *event, const char *text, uint64_t from_ns)
{
    size_t n = 0;

    for (; text[n]; n++) {
        int is_enter = text[n] >= 'A' && text[n] <= 'Z';

        event[n] = (struct event){.time_ns = from_ns + n,
                                  .kind = is_enter ? EVENT_ENTER : EVENT_LEAVE,
                                  .ref = (uint32_t)(text[n] - (is_enter ? 'A' : 'a'))};
    }
    return n;
}

static struct calls c;
static struct quality q;
static struct callstack *stack;

static int begin(void **state)
{
    (void)state;
    c = (struct calls){.has_steps = true};
    q = (struct quality){0};
    stack = callstack_new();
    callstack_begin(stack, &c, &q);
    return 0;
}

static int end(void **state)
{
    (void)state;
    callstack_free(stack);
    calls_release(&c);
    return 0;
}

/* One step. */
static void push(const char *text, uint64_t from_ns)
{
    struct event event[64];
    struct event_batch batch = {.event = event};

    batch.n = say(event, text, from_ns);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_step(stack);
}

/*
 * A enters at 0, B at 1, leaves at 2, C enters at 3; then, in the next step, C leaves at 10 and
 * A at 11. A took 11: 1 in B, 7 in C, 3 of its own.
 */
static void open_calls_go_on_in_the_next_step(void **state)
{
    (void)state;
    push("ABbC", 0);
    assert_int_equal(c.n, 3);
    assert_int_equal(c.inclusive_ns[1], 1);
    callstack_next(stack);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.n_carried, 2);
    push("ca", 10);
    assert_int_equal(c.inclusive_ns[0], 11);
    assert_int_equal(c.exclusive_ns[0], 3);
    assert_int_equal(c.inclusive_ns[1], 7);
    assert_int_equal(c.exclusive_ns[1], 7);
    assert_int_equal(calls_id(&c, 1), 2);
    assert_true(c.top == NO_CALL);
    callstack_next(stack);
    assert_int_equal(c.n, 0);
}

static void what_does_not_pair_up_is_counted_and_stays_local(void **state)
{
    (void)state;
    push("AxBCbDda", 0);
    assert_int_equal(q.n[QUALITY_unmatched_leave], 1);
    assert_int_equal(q.n[QUALITY_missing_leave], 1);
    assert_true(c.top == NO_CALL);
    assert_int_equal(c.inclusive_ns[3], 1); /* D is right whatever was before it */
    callstack_next(stack);
    push("AB", 20);
    callstack_end(stack);
    assert_int_equal(q.n[QUALITY_open_at_end], 2);
}

/*
 * The leaves of A and of B in it are the other way round, in calls of M and outside any: A ends
 * with B, and the next A is M's again.
 */
static void a_call_whose_leave_was_crossed_ends_with_the_step(void **state)
{
    (void)state;
    push("ABabMABabCcA", 0);
    assert_int_equal(q.n[QUALITY_crossed_leave], 2);
    assert_int_equal(q.n[QUALITY_missing_leave], 0);
    for (uint32_t first = 0; first <= 3; first += 3) { /* M is row 2 */
        assert_int_equal(c.inclusive_ns[first], 3);
        assert_int_equal(c.inclusive_ns[first + 1], 2);
        assert_int_equal(c.subtree_len[first], 2);
        assert_int_equal(c.exclusive_ns[first], 1);
    }
    assert_int_equal(c.caller[5], 2); /* C */
    assert_int_equal(c.caller[6], 2);
    assert_int_equal(c.top, 6);
    assert_int_equal(c.depth[6], 1);
    assert_int_equal(c.exclusive_ns[2], (uint64_t)0 - 3 - 1);
    callstack_next(stack);
    assert_int_equal(c.n_carried, 2);
    push("am", 20);
    assert_int_equal(c.inclusive_ns[1], 9);
    assert_int_equal(c.exclusive_ns[0], 17 - 3 - 1 - 9);
    assert_int_equal(q.n[QUALITY_unmatched_leave], 0);
}

/* A is left in the first step, B of it in the second. */
static void it_goes_on_while_calls_inside_it_do(void **state)
{
    (void)state;
    push("MABCac", 0);
    assert_int_equal(c.inclusive_ns[1], CALL_OPEN);
    assert_int_equal(c.top, 2);
    callstack_next(stack);
    push("DdbDd", 6);
    assert_int_equal(c.caller[3], 2);
    assert_int_equal(c.inclusive_ns[1], 7); /* from 1 to 8 */
    assert_int_equal(c.exclusive_ns[1], 1);
    assert_int_equal(c.caller[4], 0);
    assert_int_equal(c.top, 0);
    callstack_next(stack);
    assert_int_equal(c.n_carried, 1);
    push("m", 11);
    assert_int_equal(c.exclusive_ns[0], 11 - 7 - 1);
    assert_int_equal(q.n[QUALITY_crossed_leave], 1);
    assert_int_equal(q.n[QUALITY_missing_leave] + q.n[QUALITY_unmatched_leave], 0);
}

/* A enters at 10, B at 2^62, leaves at 20, C takes 5 of 30, A leaves at 40; D ends at -1. */
static void wrong_times_cost_only_their_calls(void **state)
{
    static const struct event event[] = {
        {10, EVENT_ENTER, 0}, {(uint64_t)1 << 62, EVENT_ENTER, 1},
        {20, EVENT_LEAVE, 1}, {30, EVENT_ENTER, 2},
        {35, EVENT_LEAVE, 2}, {40, EVENT_LEAVE, 0},
        {0, EVENT_ENTER, 3},  {UINT64_MAX, EVENT_LEAVE, 3},
        {50, EVENT_ENTER, 4}, {60, EVENT_ENTER, UINT32_MAX},
        {70, EVENT_LEAVE, 4}};
    struct event_batch batch = {.event = (struct event *)(uintptr_t)event,
                                .n = sizeof event / sizeof *event};
    static const uint64_t want[][2] = {{30, 25}, {0, 0}, {5, 5}, {0, 0}, {20, 20}};
    (void)state;
    callstack_regions(stack, 5);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_step(stack);
    assert_int_equal(c.n, 5);
    for (uint32_t row = 0; row < c.n; row++) {
        assert_int_equal(c.inclusive_ns[row], want[row][0]);
        assert_int_equal(c.exclusive_ns[row], want[row][1]);
    }
    assert_int_equal(q.n[QUALITY_time_backwards], 2);
    assert_int_equal(q.n[QUALITY_bad_value], 1);
    callstack_next(stack);
    assert_int_equal(c.n, 0);
}

/* Whatever the steps, the calls are the same. */
static void steps_do_not_change_the_calls(void **state)
{
    enum { EVENTS = 4000 };
    static struct event event[EVENTS];
    struct event_batch batch = {.event = event, .n = EVENTS};
    struct rng rng = {9};
    uint32_t open[64], depth = 0;
    uint64_t sums[2] = {0, 0}, counts[2] = {0, 0};

    (void)state;
    for (int i = 0; i < EVENTS; i++) {
        bool is_enter = depth == 0 || (depth < 60 && rng_below(&rng, 2));
        uint32_t region = is_enter ? (uint32_t)rng_below(&rng, 5) : open[--depth];

        if (is_enter)
            open[depth++] = region;
        event[i] = (struct event){.time_ns = 10 * (uint64_t)i,
                                  .kind = is_enter ? EVENT_ENTER : EVENT_LEAVE,
                                  .ref = region};
    }
    for (int k = 0; k < 2; k++) {
        size_t step = k == 0 ? EVENTS : 7;

        callstack_begin(stack, &c, &q);
        for (size_t at = 0; at < EVENTS; at += step) {
            callstack_push(stack, &batch, at, at + step < EVENTS ? at + step : EVENTS);
            if (at + step >= EVENTS)
                callstack_end(stack);
            callstack_step(stack);
            for (uint32_t row = 0; row < c.n; row++)
                if (c.inclusive_ns[row] != CALL_OPEN) {
                    counts[k]++;
                    sums[k] +=
                        (calls_id(&c, row) + 1) * c.exclusive_ns[row] * (c.region[row] + 1);
                }
            callstack_next(stack);
        }
    }
    assert_int_equal(counts[0], counts[1]);
    assert_int_equal(sums[0], sums[1]);
}

/*
 * B, with C in it, is given up at 4 and A leaves at 5: nobody knows how long B was. It is in
 * this step alone, and A has what is left.
 */
static void a_call_that_is_cut_has_no_end_and_is_not_carried(void **state)
{
    struct event event[4];
    struct event_batch batch = {.event = event};

    (void)state;
    batch.n = say(event, "ABCc", 0);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_cut(stack, 1, 4);
    batch.n = say(event, "D", 4);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_step(stack);
    assert_int_equal(c.n, 4);
    assert_int_equal(c.inclusive_ns[1], CALL_OPEN);
    assert_int_equal(c.inclusive_ns[2], 1);
    assert_int_equal(c.subtree_len[1], 2);
    assert_int_equal(c.depth[3], 1);
    assert_true(calls_is_cut(&c, 1));
    assert_false(calls_is_cut(&c, 0));
    assert_false(calls_is_cut(&c, 3));
    callstack_next(stack);
    assert_int_equal(c.n, 2);
    push("da", 5);
    assert_int_equal(c.inclusive_ns[0], 6);
    assert_int_equal(c.exclusive_ns[0], 6 - 3 - 1);
    assert_int_equal(c.inclusive_ns[1], 1);
    callstack_cut(stack, 1, 9);
    assert_false(quality_is_damaged(&q));
}

/* A waits from 1 to 4 by asking twice; nothing of that is its own, and a step in between parts it. */
static void polls_are_one_call_in_a_step(void **state)
{
    struct region function[] = {{.function = "A"},
                                {.function = "MPI_Test", .kind = REGION_MPI}};
    const struct definitions defs = {.names = {.n = 2}, .region = function};

    (void)state;
    callstack_polls(stack, &defs);
    push("ABbBb", 0);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.inclusive_ns[1], 3);
    assert_int_equal(c.exclusive_ns[1], 3);
    callstack_next(stack);
    push("Bba", 5);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.inclusive_ns[0], 7);
    assert_int_equal(c.exclusive_ns[0], 3);
    assert_int_equal(c.exclusive_ns[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(open_calls_go_on_in_the_next_step, begin, end),
        cmocka_unit_test_setup_teardown(what_does_not_pair_up_is_counted_and_stays_local, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_call_that_is_cut_has_no_end_and_is_not_carried, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_call_whose_leave_was_crossed_ends_with_the_step,
                                        begin, end),
        cmocka_unit_test_setup_teardown(it_goes_on_while_calls_inside_it_do, begin, end),
        cmocka_unit_test_setup_teardown(wrong_times_cost_only_their_calls, begin, end),
        cmocka_unit_test_setup_teardown(steps_do_not_change_the_calls, begin, end),
        cmocka_unit_test_setup_teardown(polls_are_one_call_in_a_step, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

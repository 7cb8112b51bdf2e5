#include "stack/call_counters.h"

#include "stack/callstack.h"

#include "test.h"

enum { TICKS, HEAT, STEPS, N_COUNTERS };

static const struct counter meant[N_COUNTERS] = {
    [TICKS] = {COUNTER_ACCUMULATED, COUNTER_SINCE_START, "#"},
    [HEAT] = {COUNTER_ABSOLUTE, COUNTER_AT_POINT, "C"},
    [STEPS] = {COUNTER_RELATIVE, COUNTER_SINCE_LAST, ""},
};

/* A trace of one location, written event by event; then its calls, with their order by depth.
 */
struct written {
    struct event_batch batch;
    struct calls calls;
    struct call_view view;
    uint32_t by_depth[16];
    uint64_t depth_start[8];
};

static void push(struct written *w, uint64_t ns, enum event_kind kind, uint32_t ref)
{
    w->batch.event[w->batch.n++] = (struct event){ns, kind, ref};
}

static void begin(struct written *w)
{
    static struct event events[64];
    static struct counter_value values[64];
    static struct argument_value arguments[16];

    *w = (struct written){.batch = {.event = events, .counter = values, .argument = arguments}};
}

static void read_ns(struct written *w, uint64_t ns, uint32_t counter, int64_t value)
{
    w->batch.counter[w->batch.n_counters] =
        (struct counter_value){.counter = counter, .whole = value};
    push(w, ns, EVENT_COUNTER, (uint32_t)w->batch.n_counters++);
}

static void enter(struct written *w, uint64_t ns, uint32_t region)
{
    push(w, ns, EVENT_ENTER, region);
}

static void leave(struct written *w, uint64_t ns, uint32_t region)
{
    push(w, ns, EVENT_LEAVE, region);
}

static void finish(struct written *w)
{
    struct callstack *stack = callstack_new();
    struct quality quality = {0};
    uint32_t n = 0;

    callstack_begin(stack, &w->calls, &quality);
    callstack_push(stack, &w->batch, 0, w->batch.n);
    callstack_end(stack);
    callstack_free(stack);
    w->view = calls_view(&w->calls);
    for (uint16_t d = 0; d < 7; d++) {
        w->depth_start[d] = n;
        for (uint32_t i = 0; i < w->calls.n; i++)
            if (w->calls.depth[i] == d)
                w->by_depth[n++] = i;
        w->view.n_depths += w->depth_start[d] < n;
    }
    w->depth_start[7] = n;
    w->view.by_depth = w->by_depth;
    w->view.depth_start = w->depth_start;
}

static struct call_counter one(const struct written *w, uint32_t row, uint32_t counter)
{
    struct call_counter found = {.counter = UINT32_MAX};
    struct call_counters all;

    call_counters_of(&w->view, row, meant, N_COUNTERS, &all);
    for (uint32_t i = 0; i < all.n; i++)
        if (all.at[i].counter == counter)
            found = all.at[i];
    call_counters_release(&all);
    return found;
}

static void assert_added(const struct written *w, uint32_t row, int64_t inclusive, int64_t own)
{
    struct call_counter c = one(w, row, TICKS);

    assert_true(c.inclusive.is_known && !c.inclusive.is_real);
    assert_int_equal(c.inclusive.whole, inclusive);
    assert_true(c.own.is_known && !c.own.is_real);
    assert_int_equal(c.own.whole, own);
}

/*
 *     ns       10          20         30        35        40        50
 *     ticks     5           8         18        20        27        31
 *     main      [                                                    ]    26, own 26-17 = 9
 *       solve               [          ]                                   10
 *       solve                                   [          ]                7
 *
 * as Score-P writes it: a record in front of each enter and leave, at the same time. Between
 * the calls of solve, 18 and 20 are of main.
 */
static void what_grows_is_the_difference_between_leave_and_enter(void **state)
{
    struct written w;

    (void)state;
    begin(&w);
    read_ns(&w, 10, TICKS, 5);
    enter(&w, 10, 0);
    read_ns(&w, 20, TICKS, 8);
    enter(&w, 20, 1);
    read_ns(&w, 30, TICKS, 18);
    leave(&w, 30, 1);
    read_ns(&w, 35, TICKS, 20);
    enter(&w, 35, 1);
    read_ns(&w, 40, TICKS, 27);
    leave(&w, 40, 1);
    read_ns(&w, 50, TICKS, 31);
    leave(&w, 50, 0);
    finish(&w);
    assert_added(&w, 0, 26, 9);
    assert_added(&w, 1, 10, 10);
    assert_added(&w, 2, 7, 7);
    assert_int_equal(one(&w, 1, TICKS).begin->whole, 8);
    assert_int_equal(one(&w, 1, TICKS).end->whole, 18);
    assert_null(one(&w, 1, TICKS).before);
    calls_release(&w.calls);
}

/* As the above, with all of it at one time, but for main: the clock did not move. */
static void readings_of_one_time_are_told_apart_by_their_order(void **state)
{
    struct written w;

    (void)state;
    begin(&w);
    read_ns(&w, 10, TICKS, 5);
    enter(&w, 10, 0);
    read_ns(&w, 20, TICKS, 8);
    enter(&w, 20, 1);
    read_ns(&w, 20, TICKS, 9);
    enter(&w, 20, 2);
    read_ns(&w, 20, TICKS, 13);
    leave(&w, 20, 2);
    read_ns(&w, 20, TICKS, 18);
    leave(&w, 20, 1);
    read_ns(&w, 20, TICKS, 20);
    enter(&w, 20, 1);
    read_ns(&w, 20, TICKS, 27);
    leave(&w, 20, 1);
    read_ns(&w, 20, TICKS, 31);
    leave(&w, 20, 0);
    finish(&w);
    assert_added(&w, 0, 26, 9);
    assert_added(&w, 1, 10, 6);
    assert_added(&w, 2, 4, 4);
    assert_added(&w, 3, 7, 7);
    calls_release(&w.calls);
}

/* Right behind the enters and leaves, as some write it. */
static void readings_may_follow_on_enter_and_leave(void **state)
{
    struct written w;

    (void)state;
    begin(&w);
    enter(&w, 10, 0);
    read_ns(&w, 10, TICKS, 5);
    enter(&w, 20, 1);
    read_ns(&w, 20, TICKS, 8);
    leave(&w, 30, 1);
    read_ns(&w, 30, TICKS, 18);
    leave(&w, 50, 0);
    read_ns(&w, 50, TICKS, 31);
    finish(&w);
    assert_added(&w, 0, 26, 16);
    assert_added(&w, 1, 10, 10);
    calls_release(&w.calls);
}

/*
 *     ns       10    15    20         30     45     50
 *     ticks           6                      28
 *     main      [                                    ]
 *       solve               [          ]
 */
static void what_was_read_between_is_no_difference(void **state)
{
    struct written w;
    struct call_counter c;

    (void)state;
    begin(&w);
    enter(&w, 10, 0);
    read_ns(&w, 15, TICKS, 6);
    enter(&w, 20, 1);
    leave(&w, 30, 1);
    read_ns(&w, 45, TICKS, 28);
    leave(&w, 50, 0);
    finish(&w);
    c = one(&w, 1, TICKS);
    assert_false(c.inclusive.is_known || c.own.is_known);
    assert_true(c.begin == NULL && c.end == NULL && c.last == NULL);
    assert_int_equal(c.before->time_ns, 15);
    assert_int_equal(c.before->whole, 6);
    assert_int_equal(c.n, 0);
    c = one(&w, 0, TICKS);
    assert_false(c.inclusive.is_known || c.own.is_known);
    assert_null(c.before);
    assert_int_equal(c.last->whole, 28);
    assert_int_equal(c.n, 2);
    assert_true(c.least == 6 && c.greatest == 28);
    calls_release(&w.calls);
}

/* Of main it is known what was added, of solve only where it began. */
static void own_is_not_known_where_a_call_that_was_made_is_not(void **state)
{
    struct written w;
    struct call_counter c;

    (void)state;
    begin(&w);
    read_ns(&w, 10, TICKS, 5);
    enter(&w, 10, 0);
    read_ns(&w, 20, TICKS, 8);
    enter(&w, 20, 1);
    leave(&w, 30, 1);
    read_ns(&w, 50, TICKS, 31);
    leave(&w, 50, 0);
    finish(&w);
    c = one(&w, 0, TICKS);
    assert_int_equal(c.inclusive.whole, 26);
    assert_false(c.own.is_known);
    c = one(&w, 1, TICKS);
    assert_non_null(c.begin);
    assert_false(c.inclusive.is_known);
    calls_release(&w.calls);
}

static void what_began_anew_has_no_difference(void **state)
{
    struct written w;

    (void)state;
    begin(&w);
    read_ns(&w, 10, TICKS, 50);
    enter(&w, 10, 0);
    read_ns(&w, 50, TICKS, 3);
    leave(&w, 50, 0);
    finish(&w);
    assert_false(one(&w, 0, TICKS).inclusive.is_known);
    calls_release(&w.calls);
}

/* A temperature is not spent; what is counted since the reading before is added up. */
static void each_counter_is_taken_as_it_is_meant(void **state)
{
    struct written w;
    struct call_counter c;

    (void)state;
    begin(&w);
    read_ns(&w, 10, HEAT, 40);
    read_ns(&w, 10, STEPS, 100);
    enter(&w, 10, 0);
    read_ns(&w, 30, STEPS, 2);
    read_ns(&w, 50, HEAT, 60);
    read_ns(&w, 50, STEPS, 3);
    leave(&w, 50, 0);
    finish(&w);
    c = one(&w, 0, HEAT);
    assert_false(c.inclusive.is_known || c.own.is_known);
    assert_true(c.begin->whole == 40 && c.end->whole == 60);
    c = one(&w, 0, STEPS);
    assert_int_equal(c.inclusive.whole, 5);
    assert_int_equal(one(&w, 0, TICKS).counter, UINT32_MAX);
    calls_release(&w.calls);
}

static void of_a_location_without_calls_it_is_known_what_it_read_before(void **state)
{
    struct written w;
    struct call_counters all;

    (void)state;
    begin(&w);
    read_ns(&w, 10, HEAT, 40);
    read_ns(&w, 20, HEAT, 41);
    read_ns(&w, 30, HEAT, 42);
    finish(&w);
    call_counters_between(&w.view.details, 20, 29, N_COUNTERS, &all);
    assert_int_equal(all.n, 1);
    assert_int_equal(all.at[0].before->whole, 41);
    assert_null(all.at[0].last);
    call_counters_release(&all);
    call_counters_between(&w.view.details, 5, 30, N_COUNTERS, &all);
    assert_null(all.at[0].before);
    assert_int_equal(all.at[0].last->whole, 42);
    assert_int_equal(all.at[0].n, 3);
    call_counters_release(&all);
    calls_release(&w.calls);
}

static void say(struct written *w, uint64_t ns, uint32_t name, const char *text)
{
    w->batch.argument[w->batch.n_arguments] =
        (struct argument_value){.argument = name, .kind = ARGUMENT_TEXT, .text = text};
    push(w, ns, EVENT_ARGUMENT, (uint32_t)w->batch.n_arguments++);
}

/* main is told something once more when what it called is over. */
static void arguments_are_those_of_the_innermost_call(void **state)
{
    const struct argument *at;
    struct written w;
    size_t n;

    (void)state;
    begin(&w);
    enter(&w, 10, 0);
    say(&w, 10, 7, "first");
    enter(&w, 20, 1);
    say(&w, 20, 8, "second");
    leave(&w, 30, 1);
    say(&w, 40, 9, "first");
    leave(&w, 50, 0);
    finish(&w);
    at = call_arguments(&w.view.details, 0, &n);
    assert_int_equal(n, 2);
    assert_true(at[0].name == 7 && at[1].name == 9);
    assert_int_equal(at[0].natural, at[1].natural);
    assert_string_equal(w.view.details.text + at[0].natural, "first");
    at = call_arguments(&w.view.details, 1, &n);
    assert_int_equal(n, 1);
    assert_string_equal(w.view.details.text + at[0].natural, "second");
    calls_release(&w.calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_grows_is_the_difference_between_leave_and_enter),
        cmocka_unit_test(readings_of_one_time_are_told_apart_by_their_order),
        cmocka_unit_test(readings_may_follow_on_enter_and_leave),
        cmocka_unit_test(what_was_read_between_is_no_difference),
        cmocka_unit_test(own_is_not_known_where_a_call_that_was_made_is_not),
        cmocka_unit_test(what_began_anew_has_no_difference),
        cmocka_unit_test(each_counter_is_taken_as_it_is_meant),
        cmocka_unit_test(of_a_location_without_calls_it_is_known_what_it_read_before),
        cmocka_unit_test(arguments_are_those_of_the_innermost_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

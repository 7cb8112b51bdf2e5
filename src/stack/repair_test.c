/*
 * Repairs on a program of known shape: whatever leave is lost, the other calls stay what they
 * are; and whatever comes in, no time is made or lost.
 */
#include "stack/repair.h"

#include "base/rng.h"
#include "stack/callstack.h"

#include "test.h"

enum { MAIN, STEP, SOLVE, SEND, WAIT, N_REGIONS };
enum { STEPS = 12, PER_STEP = 10, N_EVENTS = 2 + STEPS * PER_STEP };

/* main(12 step(solve(send) wait solve)), 10 ns between events. */
static void write_program(struct event *event)
{
    static const struct {
        uint32_t kind, region;
    } step[PER_STEP] = {
        {EVENT_ENTER, STEP},  {EVENT_ENTER, SOLVE}, {EVENT_ENTER, SEND}, {EVENT_LEAVE, SEND},
        {EVENT_LEAVE, SOLVE}, {EVENT_ENTER, WAIT},  {EVENT_LEAVE, WAIT}, {EVENT_ENTER, SOLVE},
        {EVENT_LEAVE, SOLVE}, {EVENT_LEAVE, STEP},
    };

    event[0] = (struct event){0, EVENT_ENTER, MAIN};
    for (uint64_t i = 1; i + 1 < N_EVENTS; i++)
        event[i] = (struct event){10 * i, step[(i - 1) % PER_STEP].kind,
                                  step[(i - 1) % PER_STEP].region};
    event[N_EVENTS - 1] = (struct event){10 * (N_EVENTS - 1), EVENT_LEAVE, MAIN};
}

static void build(const struct event *event, size_t n, struct calls *calls,
                  struct quality *quality)
{
    struct callstack *stack = callstack_new();
    struct event copy[4 * N_EVENTS];
    struct event_batch batch = {.event = copy, .n = n};

    assert_true(n <= sizeof copy / sizeof *copy);
    memcpy(copy, event, n * sizeof *event);
    *quality = (struct quality){0};
    callstack_begin(stack, calls, quality);
    callstack_push(stack, &batch, 0, batch.n);
    callstack_end(stack);
    callstack_free(stack);
}

/* Exclusive times are not negative; with them, roots are exactly as long as what is inside. */
static void assert_time_is_kept(const struct calls *calls)
{
    int64_t *exclusive = calloc(calls->n + 1, sizeof *exclusive);
    uint32_t *caller = calloc(calls->n + 1, sizeof *caller);
    struct call_view view = calls_view(calls);
    uint64_t roots = 0, sum = 0;

    calls_callers(&view, caller);
    for (uint32_t i = 0; i < calls->n; i++) {
        exclusive[i] += (int64_t)calls->inclusive_ns[i];
        if (caller[i] == NO_CALL)
            roots += calls->inclusive_ns[i];
        else
            exclusive[caller[i]] -= (int64_t)calls->inclusive_ns[i];
    }
    for (uint32_t i = 0; i < calls->n; i++) {
        assert_true(exclusive[i] >= 0);
        sum += (uint64_t)exclusive[i];
    }
    assert_int_equal(sum, roots);
    free(caller);
    free(exclusive);
}

/* A call whose place or length differs from the true one, other than row `lost`. */
static size_t count_changed(const struct calls *calls, const struct calls *truth, uint32_t lost)
{
    size_t n = 0;

    assert_int_equal(calls->n, truth->n);
    for (uint32_t i = 0; i < truth->n; i++) {
        assert_int_equal(calls->region[i], truth->region[i]);
        assert_int_equal(calls->enter_ns[i], truth->enter_ns[i]);
        n += i != lost && (calls->depth[i] != truth->depth[i] ||
                           calls->subtree_len[i] != truth->subtree_len[i] ||
                           calls->inclusive_ns[i] != truth->inclusive_ns[i]);
    }
    return n;
}

/* The row of the call that event `at` leaves. */
static uint32_t row_left_by(const struct event *event, size_t at)
{
    uint32_t row = 0, open[8];
    size_t n_open = 0;

    for (size_t i = 0; i < at; i++)
        if (event[i].kind == EVENT_ENTER)
            open[n_open++] = row++;
        else
            n_open--;
    return open[n_open - 1];
}

/* main(step(solve(send) wait solve) ...): each of its leaves is lost once, that of main too. */
static void any_one_lost_leave_changes_no_other_call(void **state)
{
    struct event event[N_EVENTS], cut[N_EVENTS];
    struct calls truth = {0}, calls = {0};
    struct quality quality;
    size_t n_lost = 0;

    (void)state;
    write_program(event);
    build(event, N_EVENTS, &truth, &quality);
    assert_int_equal(truth.n, N_EVENTS / 2);
    assert_false(quality_is_damaged(&quality));
    for (size_t at = 0; at + 1 < N_EVENTS; at++) {
        if (event[at].kind != EVENT_LEAVE)
            continue;
        memcpy(cut, event, at * sizeof *event);
        memcpy(cut + at, event + at + 1, (N_EVENTS - at - 1) * sizeof *event);
        build(cut, N_EVENTS - 1, &calls, &quality);
        assert_int_equal(quality.n[QUALITY_missing_leave], 1);
        assert_int_equal(count_changed(&calls, &truth, row_left_by(event, at)), 0);
        assert_time_is_kept(&calls);
        n_lost++;
    }
    assert_int_equal(n_lost, N_EVENTS / 2 - 1);
    calls_release(&calls);
    calls_release(&truth);
}

static void any_one_leave_too_many_changes_no_call(void **state)
{
    struct event event[N_EVENTS], more[N_EVENTS + 1];
    struct calls truth = {0}, calls = {0};
    struct quality quality;

    (void)state;
    write_program(event);
    build(event, N_EVENTS, &truth, &quality);
    for (size_t at = 1; at < N_EVENTS; at++) {
        memcpy(more, event, at * sizeof *event);
        more[at] = (struct event){event[at].time_ns, EVENT_LEAVE, N_REGIONS}; /* of nothing */
        memcpy(more + at + 1, event + at, (N_EVENTS - at) * sizeof *event);
        build(more, N_EVENTS + 1, &calls, &quality);
        assert_int_equal(quality.n[QUALITY_unmatched_leave], 1);
        assert_int_equal(count_changed(&calls, &truth, UINT32_MAX), 0);
    }
    calls_release(&calls);
    calls_release(&truth);
}

/* Events dropped, doubled and renamed at random: as many calls as enters, all time kept. */
static void damage_neither_makes_nor_loses_time(void **state)
{
    struct event event[N_EVENTS], bad[4 * N_EVENTS];
    struct rng rng = {11};
    struct calls calls = {0};
    struct quality quality;

    (void)state;
    write_program(event);
    for (int round = 0; round < 400; round++) {
        size_t n = 0, n_enters = 0;

        for (size_t i = 0; i < N_EVENTS; i++) {
            uint64_t dice = rng_below(&rng, 3 + (uint64_t)round % 60);

            if (dice == 0)
                continue;
            for (uint64_t copy = 0; copy < (dice == 1 ? 2 : 1); copy++) {
                bad[n] = event[i];
                if (dice == 2)
                    bad[n].ref = (uint32_t)rng_below(&rng, N_REGIONS);
                n_enters += bad[n++].kind == EVENT_ENTER;
            }
        }
        build(bad, n, &calls, &quality);
        assert_int_equal(calls.n, n_enters);
        assert_time_is_kept(&calls);
    }
    calls_release(&calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_one_lost_leave_changes_no_other_call),
        cmocka_unit_test(any_one_leave_too_many_changes_no_call),
        cmocka_unit_test(damage_neither_makes_nor_loses_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Times in us, by hand: which gaps there are is said in each test. */
#include "stack/calls.h"

#include "base/rng.h"

#include "test.h"

enum { MAX_CALLS = 64 };

/* A call that began and ended at these times; borders with an off are in the middle of so much
 * before and behind. */
struct said {
    uint16_t depth;
    uint32_t region;
    uint64_t enter, leave, enter_off, leave_off;
};

static void note(struct calls *calls, uint32_t row, bool is_leave, uint64_t off)
{
    if (off > 0)
        calls_add_estimate(calls, (struct call_estimate){row, is_leave, PLACED_MIDDLE, off});
}

static struct calls make(const struct said *said, uint32_t n)
{
    struct calls calls = {.n = 0};

    calls_reserve(&calls, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = i + 1;

        while (end < n && said[end].depth > said[i].depth)
            end++;
        calls.enter_ns[i] = said[i].enter;
        calls.inclusive_ns[i] = said[i].leave - said[i].enter;
        calls.region[i] = said[i].region;
        calls.depth[i] = said[i].depth;
        calls.subtree_len[i] = end - i;
        note(&calls, i, false, said[i].enter_off);
        note(&calls, i, true, said[i].leave_off);
    }
    calls.n = n;
    return calls;
}

static void assert_call(const struct calls *calls, uint32_t row, uint64_t enter, uint64_t leave)
{
    assert_int_equal(calls->enter_ns[row], enter);
    assert_int_equal(calls->enter_ns[row] + calls->inclusive_ns[row], leave);
}

static void assert_estimate(const struct calls *calls, size_t i, enum placed placed,
                            uint64_t off)
{
    assert_int_equal(calls->estimate[i].placed, placed);
    assert_int_equal(calls->estimate[i].off_ns, off);
}

enum { MAIN, STEP, EXCHANGE, TAKE, GIVE, MPI };

/* Gaps: 20 to 50, 100 to 200, 300 to 320. A step computes, and then exchanges. */
static void a_gap_between_two_steps_is_the_next_ones(void **state)
{
    static const struct said said[] = {
        {0, MAIN, 0, 900, 0, 0},     {1, MPI, 10, 20, 0, 0},
        {1, STEP, 35, 150, 15, 50},  {2, EXCHANGE, 35, 150, 15, 50},
        {3, MPI, 50, 60, 0, 0},      {3, MPI, 60, 100, 0, 0},
        {1, STEP, 150, 310, 50, 10}, {2, EXCHANGE, 150, 310, 50, 10},
        {3, MPI, 200, 210, 0, 0},    {3, MPI, 210, 300, 0, 0},
        {1, MPI, 320, 890, 0, 0},
    };
    struct calls calls = make(said, 11);

    (void)state;
    calls_place(&calls);
    assert_call(&calls, 0, 0, 900);
    assert_call(&calls, 2, 20, 100);
    assert_call(&calls, 3, 50, 100);
    assert_call(&calls, 6, 100, 300);
    assert_call(&calls, 7, 200, 300);
    assert_call(&calls, 9, 210, 300);
    assert_estimate(&calls, 0, PLACED_OWN, 30);     /* the begin of the first step */
    assert_estimate(&calls, 1, PLACED_OTHERS, 100); /* its end */
    assert_estimate(&calls, 2, PLACED_OTHERS, 30);  /* the begin of the exchange in it */
    assert_estimate(&calls, 4, PLACED_OWN, 100);    /* the begin of the second step */
    calls_release(&calls);
}

/* Gaps: 5 to 10, 20 to 80, 90 to 100, 110 to 170, 180 to 190. A stage takes, computes, gives.
 */
static void a_gap_between_two_calls_is_their_callers_that_is_called_as_often(void **state)
{
    static const struct said said[] = {
        {0, MAIN, 0, 200, 0, 0},  {1, MPI, 0, 5, 0, 0},       {1, STEP, 7, 95, 2, 5},
        {2, TAKE, 7, 50, 2, 30},  {3, MPI, 9, 20, 0, 0},      {2, GIVE, 50, 95, 30, 5},
        {3, MPI, 80, 90, 0, 0},   {1, STEP, 95, 185, 5, 5},   {2, TAKE, 95, 140, 5, 30},
        {3, MPI, 100, 110, 0, 0}, {2, GIVE, 140, 185, 30, 5}, {3, MPI, 170, 180, 0, 0},
        {1, MPI, 190, 195, 0, 0},
    };
    struct calls calls = make(said, 13);

    (void)state;
    calls_place(&calls);
    assert_call(&calls, 2, 5, 90);
    assert_call(&calls, 3, 9, 20);
    assert_call(&calls, 5, 80, 90);
    assert_call(&calls, 7, 90, 180);
    assert_call(&calls, 8, 100, 110);
    assert_call(&calls, 10, 170, 180);
    calls_release(&calls);
}

/* In each of two runs ten steps that follow each other: runs are not what a step is one of.
 * Gaps: 2 to 8 behind each multiple of 10. */
static void a_gap_in_what_is_called_seldom_is_the_next_calls(void **state)
{
    struct said said[46] = {{0, MAIN, 0, 300, 0, 0}};
    struct calls calls;
    uint32_t n = 1;

    (void)state;
    for (uint64_t run = 0; run < 2; run++) {
        said[n++] = (struct said){1, TAKE, 101 * run, 101 * run + 101, 0, 0};
        for (uint64_t i = 0; i < 10; i++) {
            uint64_t at = 101 * run + 10 * i;

            said[n++] =
                (struct said){2, STEP, at + 5, at + (i < 9 ? 15 : 10), 3, i < 9 ? 3 : 0};
            said[n++] = (struct said){3, MPI, at + 8, at + 12 - (i == 9 ? 2 : 0), 0, 0};
        }
    }
    calls = make(said, n);
    calls_place(&calls);
    assert_call(&calls, 2, 2, 12);
    assert_call(&calls, 4, 12, 22);
    assert_call(&calls, 23, 103, 113);
    calls_release(&calls);
}

/* What a sample says, or a return that was seen, stays. */
static void what_is_known_more_exactly_stays(void **state)
{
    static const struct said said[] = {
        {0, MAIN, 0, 100, 0, 0}, {1, STEP, 10, 60, 4, 6}, {2, MPI, 15, 50, 0, 0}};
    struct calls calls = make(said, 3);

    (void)state;
    calls.estimate[0].placed = calls.estimate[1].placed = PLACED_AS_SAID;
    calls_place(&calls);
    assert_call(&calls, 1, 10, 60);
    assert_estimate(&calls, 0, PLACED_AS_SAID, 4);
    assert_estimate(&calls, 1, PLACED_AS_SAID, 6);
    calls_release(&calls);
}

/* The tracer wrote its buffer from 30 to 55, in the gap from 20 to 100. */
static void no_border_moves_past_another_one(void **state)
{
    static const struct said said[] = {
        {0, MAIN, 0, 200, 0, 0}, {1, STEP, 0, 60, 0, 40},   {2, MPI, 10, 20, 0, 0},
        {2, MPI, 30, 55, 0, 0},  {1, STEP, 60, 150, 40, 0}, {2, MPI, 100, 150, 0, 0},
    };
    struct calls calls = make(said, 6);

    (void)state;
    calls_place(&calls);
    assert_call(&calls, 1, 0, 55);
    assert_call(&calls, 4, 55, 150);
    calls_release(&calls);
}

/* Calls that are begun and ended at random. */
static struct calls make_any(struct rng *rng)
{
    struct said said[MAX_CALLS];
    uint32_t open[MAX_CALLS], n = 0;
    uint16_t depth = 0;
    uint64_t now = 0;

    while (n < MAX_CALLS || depth > 0) {
        now += rng_below(rng, 3);
        if (n < MAX_CALLS && rng_below(rng, 2) == 0) {
            open[depth] = n;
            said[n++] = (struct said){depth++, (uint32_t)rng_below(rng, 3), now,
                                      0,       rng_below(rng, 9),           rng_below(rng, 9)};
        } else if (depth > 0) {
            said[open[--depth]].leave = now;
        }
    }
    return make(said, MAX_CALLS);
}

/* An archive may say anything. */
static void calls_stay_within_those_that_made_them(void **state)
{
    struct rng rng = {.state = 7};

    (void)state;
    for (int run = 0; run < 2000; run++) {
        struct calls calls = make_any(&rng);

        calls_place(&calls);
        for (uint32_t i = 0; i < MAX_CALLS; i++) {
            uint64_t end = calls.enter_ns[i] + calls.inclusive_ns[i];
            uint32_t next = i + calls.subtree_len[i];

            assert_true(calls.inclusive_ns[i] < UINT64_MAX / 2);
            assert_true(i == 0 || calls.enter_ns[i] >= calls.enter_ns[i - 1]);
            assert_true(next == MAX_CALLS || calls.enter_ns[next] >= end);
            for (uint32_t j = i + 1; j < next; j++)
                assert_true(calls.enter_ns[j] + calls.inclusive_ns[j] <= end);
        }
        calls_release(&calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_between_two_steps_is_the_next_ones),
        cmocka_unit_test(a_gap_between_two_calls_is_their_callers_that_is_called_as_often),
        cmocka_unit_test(a_gap_in_what_is_called_seldom_is_the_next_calls),
        cmocka_unit_test(what_is_known_more_exactly_stays),
        cmocka_unit_test(no_border_moves_past_another_one),
        cmocka_unit_test(calls_stay_within_those_that_made_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

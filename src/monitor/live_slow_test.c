/* Ranks and functions as a table of means, as a store has it. */
#include "monitor/live_slow.h"

#include "base/rng.h"

#include "test.h"

#define RANKS 8u
#define CALLS 1000u

enum { COMPUTE, COPY, WAIT, FUNCTIONS };

static const bool is_waiting[FUNCTIONS] = {[WAIT] = true};
static struct slow_cell cell[RANKS * FUNCTIONS];
static struct slow_rank rank[RANKS];

/* compute takes 100 us, copy 10 us, a wait 5 us, each give or take a tenth of a call. */
static void make(uint64_t seed)
{
    static const double mean_ns[FUNCTIONS] = {1e5, 1e4, 5e3};
    struct rng rng = {seed};

    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t f = 0; f < FUNCTIONS; f++) {
            double deviation = 0.1 * mean_ns[f];

            cell[r * FUNCTIONS + f] = (struct slow_cell){
                .rank = r,
                .function = f,
                .n_calls = CALLS,
                .mean_ns = mean_ns[f] + rng_normal(&rng) * deviation / sqrt(CALLS),
                .deviation_ns = deviation};
        }
}

static struct slow_cell *at(uint32_t r, uint32_t f)
{
    return &cell[r * FUNCTIONS + f];
}

static uint32_t find(uint32_t n_ranks)
{
    struct slow_table table = {.cell = cell,
                               .n_cells = n_ranks * FUNCTIONS,
                               .is_waiting = is_waiting,
                               .n_functions = FUNCTIONS,
                               .n_ranks = n_ranks};

    return slow_find(&table, rank);
}

static void a_rank_whose_calls_take_longer_is_slow_there(void **state)
{
    (void)state;
    make(1);
    at(2, COMPUTE)->mean_ns = 1.09e5;
    assert_int_equal(find(RANKS), RANKS);
    assert_int_equal(rank[2].verdict, PEER_SLOW);
    assert_int_equal(rank[2].n_in, 1);
    assert_int_equal(rank[2].in[0].function, COMPUTE);
    assert_true(rank[2].in[0].is_sure && !rank[2].in[0].is_more);
    assert_true(fabs(rank[2].in[0].factor - 1.09) < 0.01);
    assert_true(fabs(rank[2].in[0].excess_ns - 9e6) < 1e6);        /* 1,000 times 9 us */
    assert_true(fabs(slow_factor(&rank[2]) - 1.19 / 1.10) < 0.01); /* of compute and copy */
    for (uint32_t r = 0; r < RANKS; r++)
        assert_true(r == 2 || rank[r].verdict == PEER_TYPICAL);
}

/* 200 jobs in which nobody is slow: one of them may say so. */
static void nobody_is_slow_by_chance(void **state)
{
    uint32_t n_slow = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        make(seed);
        find(RANKS);
        for (uint32_t r = 0; r < RANKS; r++)
            n_slow += rank[r].verdict == PEER_SLOW || rank[r].verdict == PEER_IMBALANCED;
    }
    assert_true(n_slow <= 3);
}

static void a_rank_with_more_calls_is_imbalanced_and_one_that_is_ahead_is_not(void **state)
{
    (void)state;
    make(3);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        at(5, f)->n_calls = 2 * CALLS;
    find(RANKS);
    assert_int_equal(rank[5].verdict, PEER_TYPICAL);
    make(3);
    at(5, COMPUTE)->n_calls = 2 * CALLS;
    find(RANKS);
    assert_int_equal(rank[5].verdict, PEER_IMBALANCED);
    assert_true(rank[5].in[0].is_more && fabs(rank[5].in[0].factor - 2) < 1e-9);
}

static void waiting_is_nobodys_own_work(void **state)
{
    (void)state;
    make(4);
    at(2, COMPUTE)->mean_ns = 1.5e5;
    for (uint32_t r = 0; r < RANKS; r++)
        if (r != 2)
            at(r, WAIT)->mean_ns = 5.5e4; /* for that one */
    find(RANKS);
    for (uint32_t r = 0; r < RANKS; r++)
        assert_int_equal(rank[r].verdict, r == 2 ? PEER_SLOW : PEER_WAITS);
    make(4);
    at(6, WAIT)->mean_ns = 5e4;
    find(RANKS);
    assert_int_equal(rank[6].verdict, PEER_TYPICAL);
}

/* Ranks 0 to 4 of one program take twice as long as 5 to 7 of another for what has the same
 * name: none of them is slow, and three are too few to say. */
static void programs_are_not_compared_with_each_other(void **state)
{
    (void)state;
    make(6);
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t f = 0; f < FUNCTIONS; f++) {
            at(r, f)->program = r >= 5;
            at(r, f)->mean_ns *= r < 5 ? 2 : 1;
        }
    at(6, COMPUTE)->mean_ns *= 2;
    assert_int_equal(find(RANKS), 5);
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_int_equal(rank[r].verdict, PEER_TYPICAL);
        assert_int_equal(rank[r].is_compared, r < 5);
    }
}

static void of_few_ranks_nothing_is_said(void **state)
{
    (void)state;
    make(5);
    at(2, COMPUTE)->mean_ns = 1e6;
    assert_int_equal(find(PEERS_MIN_PLACES - 1), 0);
    for (uint32_t r = 0; r < PEERS_MIN_PLACES - 1; r++)
        assert_int_equal(rank[r].verdict, PEER_TYPICAL);
    assert_int_equal(find(0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_whose_calls_take_longer_is_slow_there),
        cmocka_unit_test(nobody_is_slow_by_chance),
        cmocka_unit_test(a_rank_with_more_calls_is_imbalanced_and_one_that_is_ahead_is_not),
        cmocka_unit_test(waiting_is_nobodys_own_work),
        cmocka_unit_test(programs_are_not_compared_with_each_other),
        cmocka_unit_test(of_few_ranks_nothing_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Ranks that are known to be slow, or not, because the program is made up. */
#include "ranks/peers.h"

#include "ranks/peer_few.h"
#include "replay/what_if.h"
#include "run/run_summary.h"

#include "sample_run.h"
#include "test.h"

struct made {
    struct sample_run run;
    struct definitions defs;
    struct scoring work;
    struct trace_view view;
    struct peers peers;
};

static void make_of(struct made *m, const char *program, const char *foi)
{
    *m = (struct made){0};
    sample_run_init(&m->run, program, foi, NULL);
    assert_int_equal(run_summary_definitions(m->run.db, &m->defs), 0);
    sample_run_scoring(&m->run, &m->defs, &m->work);
    run_view_init(&m->view, &m->run.columns, &m->defs);
    peers_find(&m->work, &m->view, &(struct peers_opts){.by = PEERS_BY_RANK}, &m->peers);
}

static void make(struct made *m, const char *program)
{
    make_of(m, program, "step");
}

static void unmake(struct made *m)
{
    peers_release(&m->peers);
    trace_view_release(&m->view);
    scoring_release(&m->work);
    definitions_release(&m->defs);
    sample_run_release(&m->run);
}

static const char *function_of(const struct made *m, const struct peer_path *x)
{
    return m->defs.region[m->work.model.paths.region[x->path]].name;
}

static uint32_t count(const struct made *m, enum peer_verdict verdict)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->peers.n; i++)
        n += m->peers.place[i].verdict == verdict;
    return n;
}

/* 5 % in a path that is a seventh of the work. */
static void a_rank_that_is_a_little_slow_in_one_path_is_named(void **state)
{
    const struct peer_place *p;
    struct made m;

    (void)state;
    make(&m, "synth:100*step(pack@50us compute@1ms(a@200us b@100us) >1 <1);ranks=64;"
             "jitter=0.02;slow=a/1/1.05/17");
    assert_int_equal(m.peers.n, 64);
    assert_int_equal(count(&m, PEER_SLOW), 1);
    p = &m.peers.place[17];
    assert_int_equal(p->verdict, PEER_SLOW);
    assert_int_equal(p->n_paths, 1);
    assert_string_equal(function_of(&m, &p->path[0]), "a");
    assert_true(p->path[0].factor > 1.04 && p->path[0].factor < 1.06);
    assert_true(fabs(p->path[0].excess_ns - 100 * 10e3) < 100 * 2e3);
    assert_true(p->path[0].share > 0.8);
    assert_int_equal(p->path[0].since_ns, 0);
    assert_true(p->path[0].is_from_start);
    unmake(&m);
}

/* 20 % of 200 us: whoever begins and ends 30 us later or earlier may be as fast as the others,
 * all of whom may be. */
static void a_rank_that_may_be_as_fast_as_others_is_not_called_slow(void **state)
{
    static const char *const off[] = {"", ";off=a/3us", ";off=a/30us", ";off=pack/9us"};
    static const enum peer_verdict verdict[] = {PEER_SLOW, PEER_SLOW, PEER_INCONCLUSIVE,
                                                PEER_SLOW};
    static const double off_ns[] = {0, 100 * 12e3, 100 * 120e3, 0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct peer_place *p;
        char program[200];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:100*step(pack@50us compute@1ms(a@200us b@100us) >1 <1);ranks=16;"
                 "jitter=0.02;slow=a/1/1.2/7%s",
                 off[i]);
        make(&m, program);
        p = &m.peers.place[7];
        assert_int_equal(p->verdict, verdict[i]);
        assert_int_equal(count(&m, PEER_TYPICAL) + count(&m, PEER_WAITS), 15);
        assert_float_equal(p->path[0].excess_ns, 100 * 40e3, 100 * 2e3);
        assert_float_equal(p->path[0].off_ns, off_ns[i], 0.5 * off_ns[i]);
        assert_int_equal(p->path[0].is_sure, verdict[i] == PEER_SLOW);
        unmake(&m);
    }
}

/* 100 executions of 200 us, 20 % longer: 4 ms, whatever the function of interest is. */
static void how_slow_it_is_is_the_same_for_a_leaf_and_its_callers(void **state)
{
    static const char *const foi[] = {"a", "compute", "step"};
    static const uint32_t n_ranks[] = {5, 8, 64};

    (void)state;
    for (size_t i = 0; i < 9; i++) {
        char program[160];
        const struct peer_place *p;
        struct peer_history history;
        struct made m;
        double least = INFINITY;

        snprintf(program, sizeof program,
                 "synth:100*step(compute@1ms(a@200us b@100us) >1 <1);ranks=%u;jitter=0.02;"
                 "slow=a/1/1.2/3",
                 n_ranks[i % 3]);
        make_of(&m, program, foi[i / 3]);
        assert_int_equal(count(&m, PEER_SLOW), 1);
        p = &m.peers.place[3];
        assert_int_equal(p->verdict, PEER_SLOW);
        assert_int_equal(p->n_paths, 1);
        assert_float_equal(p->path[0].factor, 1.2, 0.004);
        assert_float_equal(p->path[0].excess_ns, 4e6, 0.08e6);
        assert_true(p->path[0].share > 0.95);
        if (i / 3 == 0) {
            assert_float_equal(peer_slowdown(p), 1.2, 0.004);
            peers_history(&m.work, &m.peers, 4, &history);
            for (uint32_t k = 0; k < 4; k++)
                least = fmin(least, history.factor[3 * 4 + k]);

            assert_true(least > 1.19);
            free(history.factor);
        }
        unmake(&m);
    }
}

/* A tenth of the calls of a takes a hundred times as long: nobody's sum is that of the medians.
 * Calls of b are of other sizes on each rank, too far apart for one to be slow. */
static void the_history_of_places_that_are_alike_is_flat(void **state)
{
    struct peer_history history;
    struct made m;

    (void)state;
    make(&m, "synth:100*step(9*a@10us a@1ms 0:b@100us 1:b@50us 2:b@110us 3:b@200us 4:b@60us "
             "5:b@150us >1 <1);ranks=6;jitter=0.02");
    peers_history(&m.work, &m.peers, 8, &history);
    for (uint32_t i = 0; i < 6 * 8; i++)
        assert_float_equal(history.factor[i], 1, 0.02);
    free(history.factor);
    unmake(&m);
}

/* 20 % in each call, and one in sixteen, or in eight, is stopped as well. */
static void stops_do_not_hide_that_a_rank_is_slow(void **state)
{
    static const char *const every[] = {"16", "8"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char program[120];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:200*step(a@1ms |);ranks=6;jitter=0.02;slow=a/1/1.2/2;slow=a/%s/4/2",
                 every[i]);
        make(&m, program);
        assert_int_equal(count(&m, PEER_SLOW), 1);
        assert_int_equal(m.peers.place[2].verdict, PEER_SLOW);
        assert_float_equal(m.peers.place[2].path[0].factor, 1.2, 0.02);
        unmake(&m);
    }
}

/* Every second call takes three times as long, or each one more than the one before: what that
 * costs, which is the program without it (1 ms a step), is in the range that is given. */
static void what_no_one_factor_says_is_in_the_range_of_the_cost(void **state)
{
    static const char *const how[] = {"slow=a/2/3/2", "grow=a/0.01/2"};
    static const double truth_ns[] = {100 * 2e6, 199e6};
    static const uint32_t n_ranks[] = {4, 8};

    (void)state;
    for (int i = 0; i < 4; i++) {
        char program[120];
        const struct peer_place *p;
        struct made m;

        snprintf(program, sizeof program, "synth:200*step(a@1ms |);ranks=%u;jitter=0.005;%s",
                 n_ranks[i / 2], how[i % 2]);
        make(&m, program);
        p = &m.peers.place[2];
        assert_int_equal(p->verdict, PEER_SLOW);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        assert_true((double)p->cost_least_ns < 0.95 * truth_ns[i % 2]);
        assert_float_equal((double)p->cost_most_ns, truth_ns[i % 2], 0.02 * truth_ns[i % 2]);
        unmake(&m);
    }
}

/* Of all threads of rank 1 work takes three times as long, 800 us each time: all that is the cost. */
static void what_is_slow_in_teams_costs_what_all_threads_lose(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:50*step(compute@1ms team[work@400us] |);ranks=6;threads=3;slow=work/1/3/1");
    assert_int_equal(m.peers.place[1].verdict, PEER_SLOW);
    assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
    assert_float_equal((double)m.peers.place[1].cost_ns, 50 * 800e3, 50 * 10e3);
    unmake(&m);
}

/* Ten executions of rank 3 take a tenth: its others are as they are elsewhere. */
static void a_few_short_executions_make_no_other_long(void **state)
{
    struct peer_history history;
    struct made m;
    uint32_t n_short = 0;

    (void)state;
    make(&m, "synth:50*step(a@1ms |) 10*step(0:a@1ms 1:a@1ms 2:a@1ms 3:a@100us 4:a@1ms "
             "5:a@1ms |);ranks=6;jitter=0.01");
    peers_history(&m.work, &m.peers, 30, &history);
    assert_int_equal(count(&m, PEER_SLOW), 0);
    for (uint32_t i = 0; i < 6 * 30; i++) {
        assert_true(history.factor[i] < 1.04); /* as long as the mean: 1.17 */
        n_short += history.factor[i] > 0 && history.factor[i] < 0.2;
    }
    assert_in_range(n_short, 4, 6);
    free(history.factor);
    unmake(&m);
}

/* Of 1 us, in executions of which a thousandth is as long. */
static void short_calls_are_as_slow_as_long_ones(void **state)
{
    const struct peer_place *p;
    struct made m;

    (void)state;
    make(&m, "synth:100*step(compute@1ms 200*a@1us >1 <1);ranks=8;jitter=0.05;slow=a/1/1.5/6");
    p = &m.peers.place[6];
    assert_int_equal(p->verdict, PEER_SLOW);
    assert_float_equal(p->path[0].factor, 1.5, 0.02);
    assert_float_equal(p->path[0].excess_ns, 100 * 200 * 500, 0.4e6);
    unmake(&m);
}

static void the_others_wait_for_it_however_far_away_they_are(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:100*step(compute@1ms >1 <1);ranks=8;jitter=0.02;slow=compute/1/1.3/5");
    assert_int_equal(m.peers.place[5].verdict, PEER_SLOW);
    assert_float_equal(peer_slowdown(&m.peers.place[5]), 1.3, 0.02);
    assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
    assert_true(m.peers.place[5].has_cost);
    assert_true(m.peers.place[5].cost_ns > 27000000 && m.peers.place[5].cost_ns < 31000000);
    assert_float_equal(m.peers.slowdown, 1.3, 0.03);
    for (uint32_t i = 0; i < 8; i++)
        if (i != 5) {
            assert_int_equal(m.peers.place[i].verdict, PEER_WAITS);
            assert_int_equal(m.peers.place[i].waits_for, 5);
            assert_true(peer_slowdown(&m.peers.place[i]) == 1);
        }
    unmake(&m);
}

static void nobody_is_said_to_be_waited_for_where_no_wait_is_followed(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:300*step(compute@1ms 0:MPI_File_write@0.4ms);ranks=6;jitter=0.01;"
             "slow=compute/1/1.1/3");
    assert_int_equal(m.peers.place[3].verdict, PEER_SLOW);
    assert_int_equal(m.peers.place[0].verdict, PEER_WAITS);
    assert_int_equal(m.peers.place[0].waits_for, PEERS_NONE);
    unmake(&m);
}

static void threads_that_are_always_slow_are_so_from_the_start(void **state)
{
    struct made m;

    (void)state;
    make_of(&m,
            "synth:300*step[compute@1ms];ranks=6;threads=3;jitter=0.01;"
            "slow=compute/1/1.2/3.1;slow=compute/1/1.2/3.2",
            "compute");
    assert_int_equal(m.peers.place[3].verdict, PEER_SLOW);
    assert_true(m.peers.place[3].path[0].is_from_start);
    assert_float_equal(m.peers.place[3].path[0].share, 0.67, 0.02);
    unmake(&m);
}

static void more_to_do_is_not_slow(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:100*step(compute@1ms(10*a@50us) 3:extra@1us(2*a@50us) >1 <1 |);ranks=8;"
             "jitter=0.05");
    assert_int_equal(count(&m, PEER_SLOW), 0);
    assert_int_equal(m.peers.place[3].verdict, PEER_IMBALANCED);
    assert_true(m.peers.place[3].path[0].is_more);
    assert_int_equal(count(&m, PEER_WAITS), 7);
    assert_int_equal(m.peers.place[0].waits_for, 3);
    unmake(&m);
}

/* Ranks 3 and 15 do the same in every step; what rank 3 sent before does not explain it. */
static void what_is_sent_outside_of_executions_is_no_data_of_theirs(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:3:init(300*>1) 4:init(300*<1) 150*step(k@1ms >1 <1);ranks=24;jitter=0.02;"
             "slow=k/1/1.1/3;slow=k/1/1.1/15");
    assert_int_equal(m.peers.place[3].verdict, PEER_SLOW);
    assert_int_equal(m.peers.place[15].verdict, PEER_SLOW);
    assert_true(m.peers.place[3].bytes > 0);
    assert_true(m.peers.place[3].bytes == m.peers.place[15].bytes);
    unmake(&m);
}

static void it_is_said_since_when(void **state)
{
    const struct peer_path *path;
    struct made m;

    (void)state;
    make(&m, "synth:main(40*step(compute@1ms |) 160*step(0:compute@1ms 1:compute@1ms "
             "2:compute@1.1ms 3:compute@1ms 4:compute@1ms 5:compute@1ms |));ranks=6;"
             "jitter=0.02");
    assert_int_equal(m.peers.place[2].verdict, PEER_SLOW);
    path = &m.peers.place[2].path[0];
    assert_string_equal(function_of(&m, path), "compute");
    assert_true(path->since_ns > 35000000 && path->since_ns < 50000000); /* 40 steps of 1 ms */
    assert_false(path->is_from_start);
    assert_true(path->share > 0.75 && path->share < 0.85);
    unmake(&m);
}

static void where_nobody_is_slow_nobody_is_called_so(void **state)
{
    static const char *const foi[] = {"step", "compute", "a", "b"};

    (void)state;
    for (int seed = 1; seed <= test_amount(40, 4); seed++) {
        char program[160];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:60*step(pack@50us compute@1ms(a@200us 4*b@30us) >1 <1);ranks=%d;"
                 "jitter=0.1;seed=%d",
                 5 + seed / 2, seed);
        make_of(&m, program, foi[seed % 4]);
        assert_int_equal(count(&m, PEER_SLOW), 0);
        assert_int_equal(count(&m, PEER_IMBALANCED), 0);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        assert_true(m.peers.slowdown == 1);
        unmake(&m);
    }
}

static uint64_t run_ns(const char *program)
{
    struct made m;
    uint64_t end_ns = 0;

    make(&m, program);
    for (uint32_t l = 0; l < m.view.n_locations; l++) {
        const struct call_view *calls = &m.view.calls[l];

        for (uint32_t i = 0; i < calls->n; i++)
            end_ns = calls_leave(calls, i) > end_ns ? calls_leave(calls, i) : end_ns;
    }
    unmake(&m);
    return end_ns;
}

/* Its cost is how much shorter the run is in which it is as fast as the others. */
static void of_two_to_four_the_slow_one_is_named_with_what_it_costs(void **state)
{
    static const char *const work[] = {"compute@1ms >1 <1", "a@200us compute@1ms |",
                                       "pack@50us compute@1ms >1 <1"};

    (void)state;
    for (int i = 0; i < 9; i += test_amount(1, 4)) {
        int ranks = 2 + i % 3, slow = i % ranks;
        char typical[160], program[200];
        const struct peer_place *p;
        struct made m;
        double truth;

        snprintf(typical, sizeof typical, "synth:300*step(%s);ranks=%d;jitter=0.05;seed=%d",
                 work[i / 3], ranks, i + 1);
        snprintf(program, sizeof program, "%s;slow=compute/1/1.5/%d", typical, slow);
        truth = (double)(run_ns(program) - run_ns(typical));
        make(&m, program);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        p = &m.peers.place[slow];
        assert_int_equal(p->verdict, PEER_SLOW);
        assert_string_equal(function_of(&m, &p->path[0]), "compute");
        assert_float_equal(p->path[0].factor, 1.5, 0.05);
        assert_float_equal((double)p->cost_ns / truth, 1, 0.06);
        assert_int_equal(count(&m, PEER_SLOW), 1);
        assert_int_equal(count(&m, PEER_WAITS), ranks - 1);
        unmake(&m);
    }
}

/*
 * Some calls of each execution, or of a part of the executions, take far longer: the middle of
 * its calls is that of the others'. Its cost is how much shorter the run is without that.
 */
static void a_rank_that_is_slow_in_some_of_its_calls_is_named_with_what_it_costs(void **state)
{
    static const struct {
        const char *slow;
        double share; /* of its executions */
    } of[] = {
        {"a/20/10", 1}, {"a/13/4", 1}, {"a/47/10", 0.43}, {"a/95/10", 0.21}, {"b/5/1.5", 0.2}};

    (void)state;
    for (int i = 0; i < 15; i += test_amount(1, 4)) {
        int ranks = (int[]){2, 4, 8}[i % 3], slow = ranks - 1;
        char typical[160], program[200];
        const struct peer_place *p;
        struct made m;
        double truth;

        snprintf(typical, sizeof typical,
                 "synth:200*step(20*a@100us b@2ms |);ranks=%d;jitter=0.05;seed=%d", ranks,
                 i + 1);
        snprintf(program, sizeof program, "%s;slow=%s/%d", typical, of[i / 3].slow, slow);
        truth = (double)(run_ns(program) - run_ns(typical));
        make(&m, program);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        p = &m.peers.place[slow];
        assert_int_equal(p->verdict, PEER_SLOW);
        assert_int_equal(*function_of(&m, &p->path[0]), *of[i / 3].slow);
        assert_true(p->path[0].of_executions && p->path[0].is_from_start);
        assert_float_equal(p->path[0].share, of[i / 3].share, 0.05);
        assert_float_equal((double)p->cost_ns / truth, 1, 0.1);
        assert_int_equal(count(&m, PEER_SLOW), 1);
        unmake(&m);
    }
}

/* Stops that come now and then, on all ranks; and on one, but too few to say more than that. */
static void ranks_that_are_long_now_and_then_are_not_slow(void **state)
{
    static const char *const slow[] = {"slow=b/4/2/0;slow=b/3/2/1;slow=b/4/2/2;slow=b/5/2/3",
                                       "slow=b/40/3/1", "slow=b/12/1.05/1"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        char program[200];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:200*step(4*a@100us b@2ms |);ranks=4;jitter=0.05;seed=%d;%s", i + 1,
                 slow[i]);
        make(&m, program);
        assert_int_equal(count(&m, PEER_SLOW), 0);
        unmake(&m);
    }
}

/* Calls vary, and one rank of two does not show how far ranks do: the run without the factor is
 * in the range, which is a number where all that is known well. */
static void what_a_slow_rank_costs_is_a_range_where_its_factor_is_not_known_well(void **state)
{
    static const struct {
        int ranks;
        const char *jitter, *factor;
        bool is_range;
    } made[] = {{2, "0.2", "1.2", true},   {3, "0.2", "1.4", true},   {4, "0.2", "1.2", true},
                {16, "0.2", "1.4", true},  {2, "0.02", "1.4", false}, {4, "0.02", "1.4", false},
                {16, "0.02", "1.4", false}};

    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char typical[160], program[200];
        const struct peer_place *p;
        struct made m;
        double truth;

        snprintf(typical, sizeof typical,
                 "synth:300*step(a@1ms b@500us >1 <1 |);ranks=%d;jitter=%s;seed=%d",
                 made[i].ranks, made[i].jitter, made[i].ranks);
        snprintf(program, sizeof program, "%s;slow=a/1/%s/1", typical, made[i].factor);
        truth = (double)(run_ns(program) - run_ns(typical));
        make(&m, program);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        p = &m.peers.place[1];
        assert_int_equal(p->verdict, PEER_SLOW);
        assert_true(p->cost_least_ns <= p->cost_ns && p->cost_ns <= p->cost_most_ns);
        assert_int_equal(p->cost_least_ns < p->cost_most_ns, made[i].is_range);
        assert_true((double)p->cost_least_ns <= 1.02 * truth);
        assert_true((double)p->cost_most_ns >= 0.98 * truth);
        assert_true(p->cost_most_ns - p->cost_least_ns < p->cost_ns);
        unmake(&m);
    }
}

/* What a rank of two has more to do may take what is typical, or what its calls take on average,
 * which is more where few take long. */
static void what_more_calls_cost_is_a_range_where_few_calls_take_long(void **state)
{
    static const char *const shape[] = {"exponential;jitter=0.5", "exponential;jitter=0.1"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char typical[100], program[100];
        const struct peer_place *p;
        struct made m;
        double truth;

        snprintf(typical, sizeof typical, "synth:200*step(4*a@1ms |);ranks=2;shape=%s",
                 shape[i]);
        snprintf(program, sizeof program,
                 "synth:200*step(4*a@1ms 1:2*a@1ms |);ranks=2;shape=%s", shape[i]);
        truth = (double)(run_ns(program) - run_ns(typical));
        make(&m, program);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        p = &m.peers.place[1];
        assert_int_equal(p->verdict, PEER_IMBALANCED);
        assert_int_equal((double)p->cost_ns < 0.85 * truth, i == 0);
        assert_true((double)p->cost_least_ns <= truth);
        assert_float_equal((double)p->cost_most_ns / truth, 1, 0.05);
        unmake(&m);
    }
}

/* Twice the calls, and a third more to do: the second is the rest of a block. */
static void calls_that_are_more_and_short_are_as_much_more_as_they_take(void **state)
{
    (void)state;
    for (int ranks = 4; ranks <= 8; ranks += 4) {
        const struct peer_place *p;
        char program[120];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:200*step(a@1500us 1:a@500us |);ranks=%d;jitter=0.02", ranks);
        make(&m, program);
        p = &m.peers.place[1];
        assert_int_equal(p->verdict, PEER_IMBALANCED);
        assert_int_equal(count(&m, PEER_TYPICAL) + count(&m, PEER_WAITS), ranks - 1);
        assert_float_equal(p->path[0].excess_ns / 100e6, 1, 0.05);
        assert_float_equal(p->path[0].factor, 1.333, 0.02);
        unmake(&m);
    }
}

/* Twice the calls, each of which takes longer: the run without it lacks both. */
static void calls_that_are_more_and_longer_cost_both(void **state)
{
    const char *program = "synth:200*step(k@1ms 3:k@1ms |);ranks=8;jitter=0.03;slow=k/1/1.3/3";
    double truth =
        (double)(run_ns(program) - run_ns("synth:200*step(k@1ms |);ranks=8;jitter=0.03"));
    const struct peer_place *p;
    struct made m;

    (void)state;
    make(&m, program);
    assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
    p = &m.peers.place[3];
    assert_int_equal(p->verdict, PEER_IMBALANCED);
    assert_int_equal(p->n_paths, 2);
    assert_float_equal((double)p->cost_ns / truth, 1, 0.05);
    unmake(&m);
}

/* The last of more than are played is the slowest: it is among those that are. */
static void the_slowest_are_played(void **state)
{
    enum { N_SLOW = PEERS_MAX_COSTS + 2 };
    char program[40 * N_SLOW];
    struct made m;
    int n = sprintf(program, "synth:12*step(k@1ms |);ranks=%d;jitter=0.02;slow=k/1/2/%d",
                    3 * N_SLOW, 3 * N_SLOW - 1);

    (void)state;
    for (int i = 1; i < N_SLOW; i++)
        n += sprintf(program + n, ";slow=k/1/1.3/%d", i);
    make(&m, program);
    assert_int_equal(count(&m, PEER_SLOW), N_SLOW);
    assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
    assert_true(m.peers.place[3 * N_SLOW - 1].has_cost);
    assert_true(m.peers.place[3 * N_SLOW - 1].cost_ns > 6000000);
    n = 0;
    for (uint32_t p = 0; p < m.peers.n; p++)
        n += m.peers.place[p].has_cost;
    assert_int_equal(n, PEERS_MAX_COSTS);
    unmake(&m);
}

/* b is 7 % longer there, which may be chance: the most is without that, too. Where it is 10 %
 * longer, which is significant, the cost is. */
static void what_may_be_slow_is_in_the_most_that_it_may_cost(void **state)
{
    static const char *const factor[] = {"1.07", "1.1"};
    int64_t cost_ns[2], most_ns[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct peer_place *p;
        char program[160];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:100*step(a@1ms b@1ms >1 <1 |);ranks=16;jitter=0.1;slow=a/1/2/3;"
                 "slow=b/1/%s/3",
                 factor[i]);
        make(&m, program);
        p = &m.peers.place[3];
        assert_int_equal(p->verdict, PEER_SLOW);
        assert_int_equal(p->n_paths, 2);
        assert_string_equal(function_of(&m, &p->path[1]), "b");
        assert_int_equal(p->path[1].is_sure, i == 1);
        assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
        cost_ns[i] = p->cost_ns;
        most_ns[i] = p->cost_most_ns;
        unmake(&m);
    }
    assert_true(cost_ns[1] - cost_ns[0] > 2000000);
    assert_true(most_ns[0] - cost_ns[0] > 1000000);
    assert_true(most_ns[1] - cost_ns[1] < 500000);
}

static void of_two_to_four_that_are_alike_none_is_slow(void **state)
{
    (void)state;
    for (int seed = 1; seed <= test_amount(60, 6); seed++) {
        char program[160];
        struct made m;

        snprintf(program, sizeof program,
                 "synth:%d*step(pack@50us compute@1ms(a@200us 4*b@30us) >1 "
                 "<1);ranks=%d;jitter=0.%d;seed=%d",
                 20 + seed * 5, 2 + seed % 3, 1 + seed % 3, seed);
        make(&m, program);
        assert_int_equal(count(&m, PEER_SLOW) + count(&m, PEER_IMBALANCED), 0);
        unmake(&m);
    }
}

static void of_few_executions_nothing_is_said(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:5*step(compute@1ms >1 <1);ranks=3;jitter=0.05;slow=compute/1/2/1");
    assert_int_equal(count(&m, PEER_INCONCLUSIVE), 3);
    unmake(&m);
}

/* ------------------------------------------------------------------------------ threads */

#define TEAMS                                                                                  \
    "synth:300*step(a@200us team[c@1ms d@500us] >1 <1 |);ranks=3;threads=4;jitter=0.02;seed=5"

static double length_of(const struct made *m)
{
    return (double)(m->run.ingested.end_ns - m->run.ingested.begin_ns);
}

/* 1.9 in place of 1.5 ms in each of 300 teams. */
static void a_thread_that_is_slow_in_its_teams_is_named(void **state)
{
    const struct peer_thread *x;
    struct made m, without;
    char name[PEER_NAME_SIZE], *text;
    struct what_if w;

    (void)state;
    make(&without, TEAMS);
    assert_int_equal(without.peers.teams.n_teams, 900);
    assert_int_equal(without.peers.teams.n_threads, 4);
    assert_int_equal(without.peers.teams.n, 0);
    make(&m, TEAMS ";slow=c/1/1.4/1.2");
    assert_int_equal(m.peers.teams.n, 1);
    x = &m.peers.teams.thread[0];
    assert_string_equal(peer_teams_place(&m.defs, x, name), "rank 1 thread 2");
    assert_string_equal(m.defs.region[x->inside].name, "c");
    assert_int_equal(x->n_teams, 300);
    assert_int_equal(x->n_threads, 4);
    assert_false(x->is_more);
    assert_float_equal(x->factor, 1.9 / 1.5, 0.01);
    assert_float_equal(x->excess_ns, 300 * 0.4e6, 5e6);
    assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
    assert_true(x->has_cost);
    assert_float_equal((double)x->cost_ns / (length_of(&m) - length_of(&without)), 1, 0.05);
    assert_true(x->cost_least_ns == x->cost_ns);
    /* a member that is not in the trace may have come as late as its process */
    assert_int_equal(what_if_init(&w, &m.run.columns, &m.defs), 0);
    w.syncs.n_attended = w.syncs.n_meetings / 2;
    peers_costs_in(&w, &m.work, &m.peers);
    assert_true(x->has_cost && x->cost_ns > 0 && x->cost_least_ns == 0);
    what_if_release(&w);
    text = peer_teams_text(&m.defs, x);
    assert_memory_equal(text, "c +27 % over the median of the other 3 threads of its teams (1",
                        60);
    free(text);
    unmake(&m);
    unmake(&without);
}

/* Another rank is later still, by .2 ms: what it costs is not the thread's, whose process waits. */
static void what_slow_ranks_cost_is_not_said_of_threads(void **state)
{
    struct made m;

    (void)state;
    make(&m, TEAMS ";slow=c/1/1.4/1.2;slow=a/1/4/2");
    assert_int_equal(count(&m, PEER_SLOW), 1);
    assert_int_equal(m.peers.teams.n, 1);
    assert_int_equal(peers_costs(&m.work, &m.run.columns, &m.peers), 0);
    assert_true(m.peers.teams.thread[0].has_cost);
    assert_true(m.peers.teams.thread[0].cost_ns < 300 * 0.02e6);
    unmake(&m);
}

/* Now this one and now that: a third of the teams each, and once for a long time. */
static void threads_that_take_turns_are_not_slow(void **state)
{
    struct made m;

    (void)state;
    make(&m, TEAMS ";slow=c/3/1.4/1.2;slow=c/150/40/2.3");
    assert_int_equal(m.peers.teams.n, 0);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_that_is_a_little_slow_in_one_path_is_named),
        cmocka_unit_test(a_rank_that_may_be_as_fast_as_others_is_not_called_slow),
        cmocka_unit_test(how_slow_it_is_is_the_same_for_a_leaf_and_its_callers),
        cmocka_unit_test(the_history_of_places_that_are_alike_is_flat),
        cmocka_unit_test(a_few_short_executions_make_no_other_long),
        cmocka_unit_test(stops_do_not_hide_that_a_rank_is_slow),
        cmocka_unit_test(what_no_one_factor_says_is_in_the_range_of_the_cost),
        cmocka_unit_test(what_is_slow_in_teams_costs_what_all_threads_lose),
        cmocka_unit_test(short_calls_are_as_slow_as_long_ones),
        cmocka_unit_test(the_others_wait_for_it_however_far_away_they_are),
        cmocka_unit_test(nobody_is_said_to_be_waited_for_where_no_wait_is_followed),
        cmocka_unit_test(threads_that_are_always_slow_are_so_from_the_start),
        cmocka_unit_test(more_to_do_is_not_slow),
        cmocka_unit_test(what_is_sent_outside_of_executions_is_no_data_of_theirs),
        cmocka_unit_test(it_is_said_since_when),
        cmocka_unit_test(where_nobody_is_slow_nobody_is_called_so),
        cmocka_unit_test(of_two_to_four_the_slow_one_is_named_with_what_it_costs),
        cmocka_unit_test(a_rank_that_is_slow_in_some_of_its_calls_is_named_with_what_it_costs),
        cmocka_unit_test(ranks_that_are_long_now_and_then_are_not_slow),
        cmocka_unit_test(what_a_slow_rank_costs_is_a_range_where_its_factor_is_not_known_well),
        cmocka_unit_test(what_more_calls_cost_is_a_range_where_few_calls_take_long),
        cmocka_unit_test(calls_that_are_more_and_short_are_as_much_more_as_they_take),
        cmocka_unit_test(calls_that_are_more_and_longer_cost_both),
        cmocka_unit_test(the_slowest_are_played),
        cmocka_unit_test(what_may_be_slow_is_in_the_most_that_it_may_cost),
        cmocka_unit_test(of_two_to_four_that_are_alike_none_is_slow),
        cmocka_unit_test(of_few_executions_nothing_is_said),
        cmocka_unit_test(a_thread_that_is_slow_in_its_teams_is_named),
        cmocka_unit_test(what_slow_ranks_cost_is_not_said_of_threads),
        cmocka_unit_test(threads_that_take_turns_are_not_slow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

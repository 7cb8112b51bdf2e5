/* As after the run (costs_test.c), the truth is the same program without what was injected. */
#include "live/live_costs.h"

#include "trace/stream.h"

#include <math.h>
#include <string.h>

#include "test.h"

#define PROGRAM "synth:400*step(a@1ms b@1ms >1 <1 |);ranks=4;jitter=0.02;seed=3"
#define MAX_RANKS 4u
#define MAX_STEPS 500u

/* What is said of executions and of calls of one function, by rank and number. */
struct watched {
    struct live_trees *trees;
    struct live_costs *costs;
    struct live_cost execution[MAX_RANKS][MAX_STEPS], call[MAX_RANKS];
    bool has[MAX_RANKS][MAX_STEPS], has_call[MAX_RANKS];
    uint32_t n_asked, n_told;
    uint64_t end_ns;
};

static void tell(void *ctx, const struct live_cost *cost)
{
    struct watched *w = ctx;
    uint32_t rank = cost->event.rank;

    w->n_told++;
    if (cost->is_execution) {
        assert_false(w->has[rank][cost->event.index]); /* once */
        w->has[rank][cost->event.index] = true;
        w->execution[rank][cost->event.index] = *cost;
    } else {
        w->has_call[rank] = true;
        w->call[rank] = *cost;
    }
}

/* Asks about all anomalies, as the recorder does. */
static void ask(void *ctx, const struct ad_step *step)
{
    struct watched *w = ctx;
    uint32_t n_foi;
    const struct live_foi *foi = live_trees_foi(w->trees, &n_foi);

    live_costs_take(w->costs, step);
    for (size_t i = 0; i < step->n_verdicts; i++)
        live_costs_call(w->costs, step, &step->verdict[i],
                        (struct prov_event){step->verdict[i].location, step->number, i});
    w->n_asked += (uint32_t)step->n_verdicts;
    for (uint32_t t = 0; n_foi > 0 && t < foi->trees.forest.n_trees; t++)
        if (foi->verdict[t].is_anomaly) {
            if (live_costs_excess(w->costs, step, w->trees, foi, t))
                live_costs_execution(w->costs, step, foi, t,
                                     (struct prov_event){foi->trees.forest.location[t],
                                                         step->number,
                                                         foi->trees.forest.index[t]});
            w->n_asked++;
        }
    live_costs_settle(w->costs, step, tell, w);
    for (uint32_t l = 0; l < step->n_locations; l++)
        if (step->calls[l].n > 0 && step->calls[l].last_ns > w->end_ns)
            w->end_ns = step->calls[l].last_ns;
}

struct watching {
    uint64_t step_ns;
    struct live_costs_opts opts;
    const uint32_t *rank; /* the only one that is read; NULL: all */
};

static void watch(struct watched *w, const char *program, struct watching how)
{
    const char *pattern = "step";
    struct live_trees_opts trees = live_trees_default();
    struct stream_opts opts = {.step_ns = how.step_ns, .rank = how.rank};
    struct ad_opts ad_opts = ad_default();
    struct ad_sink sink[2];
    struct stream stream;
    struct ad *ad;
    char url[512];

    snprintf(url, sizeof url, "replay:%s", program);
    *w = (struct watched){.costs = live_costs_new(&how.opts)};
    trees.pattern = &pattern;
    trees.n_patterns = 1;
    assert_int_equal(live_trees_new(&trees, &w->trees), 0);
    sink[0] = (struct ad_sink){live_trees_step, w->trees};
    sink[1] = (struct ad_sink){ask, w};
    ad_opts.sink = sink;
    ad_opts.n_sinks = 2;
    assert_int_equal(stream_open(&stream, url, &opts), 0);
    ad = ad_new(&stream, &ad_opts);
    while (ad_next(ad, 1000) == STREAM_STEP)
        ;
    ad_free(ad);
    stream_close(&stream);
    live_costs_free(w->costs);
    live_trees_free(w->trees);
}

static struct watched one, other; /* too large for the stack */

/* By how much the second program is longer. */
static double longer(const char *program, const char *with)
{
    struct watching how = {.step_ns = 100000000};
    double before;

    watch(&other, program, how);
    before = (double)other.end_ns;
    watch(&other, with, how);
    return (double)other.end_ns - before;
}

static void a_late_rank_costs_all_it_lost_and_its_victims_nothing(void **state)
{
    static const uint64_t steps[] = {1000000, 10000000, 100000000, 10000000000};
    double truth = longer(PROGRAM, PROGRAM ";slow=a/300/20/2");

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        watch(&one, PROGRAM ";slow=a/300/20/2", (struct watching){.step_ns = steps[i]});
        assert_true(one.has[2][299] && one.has_call[2]);
        assert_float_equal((double)one.execution[2][299].cost_ns / truth, 1, 0.1);
        assert_false(one.execution[2][299].is_bound);
        assert_float_equal((double)one.call[2].cost_ns / truth, 1, 0.1);
        for (uint32_t rank = 0; rank < MAX_RANKS; rank++)
            if (rank != 2) {
                assert_true(one.has[rank][299]);
                assert_float_equal((double)one.execution[rank][299].cost_ns, 0, 0.01 * truth);
            }
        assert_int_equal(one.n_told, one.n_asked);
    }
}

#define SLACK "synth:400*step(a@1ms 2:w@8ms |);ranks=4;jitter=0.02;seed=3"

static void a_stop_in_slack_costs_nothing(void **state)
{
    (void)state;
    watch(&one, SLACK ";slow=a/300/6/1", (struct watching){.step_ns = 100000000});
    assert_true(one.has_call[1]);
    assert_int_equal(one.call[1].cost_ns, 0);
    assert_false(one.call[1].is_bound);
}

/* Half of it: the other rank was to be waited for 7 ms anyway. */
static void what_slack_does_not_cover_is_the_cost(void **state)
{
    double truth = longer(SLACK, SLACK ";slow=a/300/15/1");

    (void)state;
    watch(&one, SLACK ";slow=a/300/15/1", (struct watching){.step_ns = 20000000});
    assert_true(truth > 4e6 && truth < 10e6);
    assert_true(one.has_call[1]);
    assert_float_equal((double)one.call[1].cost_ns / truth, 1, 0.1);
}

static void two_stops_at_once_cost_nothing_alone(void **state)
{
    (void)state;
    watch(&one, PROGRAM ";slow=a/300/20/1;slow=a/300/20/2",
          (struct watching){.step_ns = 100000000});
    for (uint32_t rank = 1; rank <= 2; rank++) {
        assert_true(one.has[rank][299]);
        assert_true(one.execution[rank][299].cost_ns < 1000000);
    }
}

/* Nobody waits for anybody: how long the program would have taken without is not known while it
 * runs. */
static void what_is_never_absorbed_is_a_bound(void **state)
{
    (void)state;
    watch(&one, "synth:400*step(a@1ms b@1ms);ranks=2;jitter=0.02;slow=a/300/20/1",
          (struct watching){.step_ns = 10000000});
    assert_true(one.has[1][299]);
    assert_true(one.execution[1][299].is_bound);
    assert_float_equal((double)one.execution[1][299].cost_ns, 19e6, 1e6);
}

/* The other rank ends later, and may have waited for this one without a record of it. */
static void the_end_says_nothing_of_whom_nobody_is_seen_to_wait_for(void **state)
{
    (void)state;
    watch(&one, "synth:400*step(a@1ms 0:b@2ms);ranks=2;jitter=0.02;slow=a/300/20/1",
          (struct watching){.step_ns = 10000000000});
    assert_true(one.has[1][299] && one.has_call[1]);
    assert_true(one.execution[1][299].is_bound && one.call[1].is_bound);
    assert_float_equal((double)one.execution[1][299].cost_ns, 17e6, 3e6);
}

/* With one rank only, it alone is ahead of nobody: that is no cost. */
static void nothing_is_known_where_the_others_are_not_seen(void **state)
{
    const uint32_t rank = 2;

    (void)state;
    watch(&one, PROGRAM ";slow=a/300/20/2",
          (struct watching){.step_ns = 100000000, .rank = &rank});
    assert_true(one.n_asked > 0);
    assert_int_equal(one.n_told, 0);
    watch(&one, PROGRAM ";slow=a/300/20/2",
          (struct watching){.step_ns = 100000000, .opts = {.is_alone = true}});
    assert_true(one.n_asked > 0);
    assert_int_equal(one.n_told, 0);
}

static void a_serial_program_pays_for_all(void **state)
{
    (void)state;
    watch(&one, "synth:400*step(a@1ms b@1ms);jitter=0.02;slow=a/300/20",
          (struct watching){.step_ns = 50000000});
    assert_true(one.has[0][299]);
    assert_float_equal((double)one.execution[0][299].cost_ns, 19e6, 1e6);
    assert_false(one.execution[0][299].is_bound);
}

/* The median of a function does not say what all that is called took. */
static void executions_judged_by_inclusive_times_are_not_known(void **state)
{
    (void)state;
    watch(&one, PROGRAM ";slow=a/300/20/2",
          (struct watching){.step_ns = 100000000, .opts = {.is_inclusive = true}});
    assert_int_equal(one.n_told, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_rank_costs_all_it_lost_and_its_victims_nothing),
        cmocka_unit_test(a_stop_in_slack_costs_nothing),
        cmocka_unit_test(what_slack_does_not_cover_is_the_cost),
        cmocka_unit_test(two_stops_at_once_cost_nothing_alone),
        cmocka_unit_test(what_is_never_absorbed_is_a_bound),
        cmocka_unit_test(the_end_says_nothing_of_whom_nobody_is_seen_to_wait_for),
        cmocka_unit_test(nothing_is_known_where_the_others_are_not_seen),
        cmocka_unit_test(a_serial_program_pays_for_all),
        cmocka_unit_test(executions_judged_by_inclusive_times_are_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

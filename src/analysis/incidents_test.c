/* Disturbances that are known, because the program is made up. */
#include "analysis/incidents.h"

#include "analysis/run_scoring.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <math.h>

#include "sample_run.h"
#include "test.h"

struct made {
    struct sample_run run;
    struct definitions defs;
    struct scoring work;
    struct causes causes;
    struct incidents found;
};

static void make(struct made *m, const char *program)
{
    struct scoring_opts opts = {.threshold = NAN};

    *m = (struct made){0};
    sample_run_init(&m->run, program, "step", NULL);
    opts.detector = detector_find(SCORING_DEFAULT);
    opts.features = feature_find(SCORING_DEFAULT);
    opts.pool = m->run.pool;
    assert_int_equal(run_summary_definitions(m->run.db, &m->defs), 0);
    assert_int_equal(run_scoring_load(&m->work, m->run.db, &m->run.columns, &m->defs, 1, false),
                     0);
    assert_int_equal(scoring_judge(&m->work, &opts), 0);
    causes_init(&m->causes, &m->run.columns, &m->defs);
    incidents_find(&m->work, &m->causes, &m->found);
}

static void unmake(struct made *m)
{
    incidents_release(&m->found, m->work.forest.n_trees);
    causes_release(&m->causes);
    scoring_release(&m->work);
    definitions_release(&m->defs);
    sample_run_release(&m->run);
}

static uint32_t count_anomalous(const struct made *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->found.n; i++)
        n += m->found.incident[i].is_anomaly;
    return n;
}

static void assert_head(const struct made *m, uint32_t incident, uint32_t rank, uint32_t index)
{
    uint32_t head = m->found.incident[incident].head;

    assert_int_equal(m->work.forest.location[head], rank);
    assert_int_equal(m->work.forest.index[head], index);
    assert_int_equal(m->found.incident[incident].location, rank);
    assert_int_equal(m->found.of[head], incident);
}

/* Rank 0 is slow twice; the others wait for it, one for the other, and in a barrier. */
static void who_waits_is_part_of_what_it_waits_for(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:200*step(compute@1ms 1:<1 2:<1 3:<1 0:>1 1:>1 2:>1 |);ranks=4;jitter=0.02;"
             "slow=compute/100/9/0");
    assert_int_equal(count_anomalous(&m), 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct incident *x = &m.found.incident[i];

        assert_int_equal(x->n_members, 4);
        assert_int_equal(x->n_locations, 4);
        assert_true(x->lost_ns > 4 * 7.5e6 && x->lost_ns < 4 * 8.5e6);
        assert_true(x->end_ns - x->begin_ns < 13000000);
        assert_true(x->score > m.work.score[x->head]);
    }
    assert_head(&m, m.found.incident[0].begin_ns < m.found.incident[1].begin_ns ? 0 : 1, 0, 99);
    unmake(&m);
}

/* In a ring a delay goes from rank to rank, one an iteration, until the program ends. */
static void a_wave_through_many_ranks_is_one(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:60*step(solve@1ms(pack@50us kernel@600us) >1 <1);ranks=300;jitter=0.02;"
             "slow=kernel/20/30/150");
    assert_int_equal(count_anomalous(&m), 3);
    for (uint32_t i = 0; i < 3; i++) /* the earlier it is, the more it delays */
        assert_head(&m, i, 150, 20 * i + 19);
    assert_true(m.found.incident[0].n_members >= 40);
    assert_true(m.found.incident[1].n_members >= 20);
    unmake(&m);
}

/* Rank 1 computes for 8 ms longer; the others are in a fence for 9 ms longer, of which no record says why. */
static void who_waits_for_nobody_knows_whom_is_no_head(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:200*step(compute@1ms MPI_Win_fence@100us);ranks=3;jitter=0.02;"
             "slow=compute/150/9/1;slow=MPI_Win_fence/150/91/0;slow=MPI_Win_fence/150/91/2");
    assert_int_equal(count_anomalous(&m), 1);
    assert_int_equal(m.found.incident[0].n_members, 3);
    assert_head(&m, 0, 1, 149);
    unmake(&m);
}

/*
 * Between two steps rank 0 does `out` for 5 ms. In the next step rank 1's first barrier waits for
 * that, and then one of the two ranks is slow in b, for whom the other one waits in the second:
 *
 *     rank 0   out.....[a|b......|]
 *     rank 1   [a......|b|.......]
 */
static void what_is_in_no_execution_and_lost_most_comes_before_what_is_in_one(void **state)
{
    static const char *const slow[] = {"0:step(a@1ms | b@1ms |) 1:step(a@1ms | b@4ms |)",
                                       "0:step(a@1ms | b@2ms |) 1:step(a@1ms | b@1ms |)"};
    const struct incident *x;
    char program[256];
    struct made m;

    (void)state;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        snprintf(program, sizeof program,
                 "synth:60*step(a@1ms | b@1ms |) 0:out@5ms %s 60*step(a@1ms | b@1ms |);"
                 "ranks=2;jitter=0.02",
                 slow[i]);
        make(&m, program);
        assert_int_equal(count_anomalous(&m), 1);
        x = &m.found.incident[0];
        assert_int_equal(x->n_members, 2);
        assert_int_equal(x->location, 0);
        assert_int_equal(m.work.forest.location[x->head], 1);
        assert_int_equal(m.work.forest.index[x->head], 60);
        assert_ptr_equal(incidents_outside(&m.found, x->head), &m.found.outside[0].cause);
        assert_null(incidents_outside(&m.found, x->head + 1));
        assert_string_equal(m.defs.region[x->outside.region].name, "out");
        assert_float_equal(x->outside.late_ns, 5e6, 2e5);
        unmake(&m);
    }
}

/* All ranks pause at once, and none of them waits for another. */
static void the_same_iteration_on_many_ranks_is_one(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:200*step(compute@1ms);ranks=6;jitter=0.02;slow=compute/150/12");
    assert_int_equal(count_anomalous(&m), 1);
    assert_int_equal(m.found.incident[0].n_members, 6);
    unmake(&m);
}

static void what_has_nothing_to_do_with_each_other_stays_apart(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:300*step(compute@1ms);ranks=6;jitter=0.02;slow=compute/150/12/2");
    assert_int_equal(count_anomalous(&m), 2);
    assert_true(m.found.n > 2); /* those that are no anomalies are there, too */
    for (uint32_t i = 0; i < m.found.n; i++)
        assert_int_equal(m.found.incident[i].n_members, 1);
    unmake(&m);
}

/* Every 30th step rank 0 writes, by plan, and rank 1 waits for it. */
static void what_comes_back_by_plan_is_one_incident(void **state)
{
    const struct incident *x;
    struct made m;

    (void)state;
    make(&m, "synth:9*block(29*step(compute@1ms >1 <1) step(compute@1ms 0:write@3ms >1 <1));"
             "ranks=2;jitter=0.02");
    assert_int_equal(count_anomalous(&m), 1);
    x = &m.found.incident[0];
    assert_int_equal(x->period, 30);
    assert_int_equal(x->n_turns, 9);
    assert_true(x->n_members >= 9);
    assert_true(x->end_ns - x->begin_ns < 20000000); /* one turn */
    for (uint32_t t = 0; t < m.work.forest.n_trees; t++)
        assert_true(m.found.of[t] < m.found.n || m.found.of[t] == INCIDENT_NONE);
    unmake(&m);
}

/* At equal distances too, but nothing that the program does differently goes with it. */
static void what_comes_back_without_a_plan_stays_apart(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:270*step(compute@1ms >1 <1);ranks=2;jitter=0.02;slow=compute/30/4/0");
    assert_int_equal(count_anomalous(&m), 9);
    for (uint32_t i = 0; i < m.found.n; i++)
        assert_int_equal(m.found.incident[i].n_turns, 1);
    unmake(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_is_part_of_what_it_waits_for),
        cmocka_unit_test(a_wave_through_many_ranks_is_one),
        cmocka_unit_test(who_waits_for_nobody_knows_whom_is_no_head),
        cmocka_unit_test(what_is_in_no_execution_and_lost_most_comes_before_what_is_in_one),
        cmocka_unit_test(the_same_iteration_on_many_ranks_is_one),
        cmocka_unit_test(what_has_nothing_to_do_with_each_other_stays_apart),
        cmocka_unit_test(what_comes_back_by_plan_is_one_incident),
        cmocka_unit_test(what_comes_back_without_a_plan_stays_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

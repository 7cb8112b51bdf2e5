/* Programs whose executions take longer and longer, or do not, because they are made up. */
#include "ranks/growth.h"

#include "replay/what_if.h"
#include "run/run_summary.h"

#include "sample_run.h"
#include "test.h"

#include <math.h>

struct made {
    struct sample_run run;
    struct definitions defs;
    struct scoring work;
    struct trace_view view;
    struct why why;
    struct peers peers;
    struct longer growth;
    char *text;
};

static void make(struct made *m, const char *program)
{
    *m = (struct made){0};
    sample_run_init(&m->run, program, "step", NULL);
    assert_int_equal(run_summary_definitions(m->run.db, &m->defs), 0);
    sample_run_scoring(&m->run, &m->defs, &m->work);
    run_view_init(&m->view, &m->run.columns, &m->defs);
    scoring_why_init(&m->work, &m->why);
    peers_find(&m->work, &m->view, &(struct peers_opts){.by = PEERS_BY_RANK}, &m->peers);
    growth_find(&m->work, &m->peers, &m->growth);
    m->text = growth_text(&m->growth, &m->peers, &m->why, "step");
}

static void unmake(struct made *m)
{
    free(m->text);
    peers_release(&m->peers);
    why_release(&m->why);
    trace_view_release(&m->view);
    scoring_release(&m->work);
    definitions_release(&m->defs);
    sample_run_release(&m->run);
}

static void assert_steady(const char *program)
{
    struct made m;

    make(&m, program);
    assert_int_equal(m.growth.n_places, 0);
    assert_null(m.text);
    unmake(&m);
}

/* In the middle of the first fifth of 300 calls that take 1 % more each it is the 30th. */
static void whose_own_work_grows_is_named(void **state)
{
    struct made m;

    (void)state;
    make(&m,
         "synth:300*step(lookup@1ms other@2ms >1 <1 |);ranks=4;jitter=0.02;grow=lookup/0.01/2");
    assert_int_equal(m.growth.n_places, 1);
    assert_int_equal(m.growth.n_looked, 4);
    assert_false(m.growth.is_waiting);
    assert_true(fabs(m.growth.first_ns - 3.3e6) < 0.05e6);
    assert_true(fabs(m.growth.last_ns - 5.7e6) < 0.05e6);
    assert_true(fabs(m.growth.path_ns - 2.4e6) < 0.05e6);
    assert_non_null(strstr(m.text, "step takes longer and longer on rank 2: own work of 3.3"));
    assert_non_null(strstr(m.text, " ms in the last; step > lookup +2.4"));
    unmake(&m);
}

static void all_may_grow(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:100*step(lookup@1ms |);ranks=6;jitter=0.05;grow=lookup/0.02");
    assert_int_equal(m.growth.n_places, 6);
    assert_non_null(
        strstr(m.text, "step takes longer and longer on all 6 ranks: own work of "));
    unmake(&m);
    make(&m, "synth:100*step(lookup@1ms);jitter=0.05;grow=lookup/0.02");
    assert_non_null(strstr(m.text, "step takes longer and longer: own work of "));
    unmake(&m);
}

static void waits_that_grow_are_nobodys_work(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:100*step(work@1ms MPI_Allreduce@200us);ranks=4;jitter=0.02;"
             "grow=MPI_Allreduce/0.1");
    assert_int_equal(m.growth.n_places, 4);
    assert_true(m.growth.is_waiting);
    assert_non_null(strstr(m.text, "; it waits longer: step > MPI_Allreduce +1."));
    unmake(&m);
}

static void what_is_steady_or_jumps_or_comes_and_goes_does_not_grow(void **state)
{
    (void)state;
    assert_steady("synth:100*step(a@1ms >1 <1);ranks=64;jitter=0.3");
    assert_steady("synth:100*step(a@1ms);ranks=64;jitter=0.5;shape=exponential");
    assert_steady("synth:70*step(a@1ms |) 70*step(a@2ms |);ranks=4;jitter=0.05");
    assert_steady(
        "synth:50*step(a@1ms |) 50*step(a@2ms |) 50*step(a@1ms |);ranks=4;jitter=0.05");
    assert_steady("synth:40*step(a@1ms |);ranks=4;jitter=0.05;grow=a/0.02");    /* too few */
    assert_steady("synth:100*step(a@1ms |);ranks=4;jitter=0.05;grow=a/0.0005"); /* by 5 % */
    assert_steady(
        "synth:40*step(a@1ms |) 60*step(a@1.3ms |);ranks=4;jitter=0.002;grow=a/0.001");
    assert_steady("synth:200*step(a@1ms b@1ms);jitter=0.05;slow=b/10/5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_own_work_grows_is_named),
        cmocka_unit_test(all_may_grow),
        cmocka_unit_test(waits_that_grow_are_nobodys_work),
        cmocka_unit_test(what_is_steady_or_jumps_or_comes_and_goes_does_not_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

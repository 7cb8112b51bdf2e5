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
    struct growth growth;
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

/* On so many places, and that it is said so. */
static void assert_grows(const char *program, uint32_t n_places, const char *says)
{
    struct made m;

    make(&m, program);
    assert_int_equal(m.growth.n_places, n_places);
    if (says == NULL)
        assert_null(m.text);
    else if (strstr(m.text, says) == NULL)
        assert_string_equal(m.text, says); /* which shows both */
    unmake(&m);
}

static void assert_steady(const char *program)
{
    assert_grows(program, 0, NULL);
}

/* In the middle of the first fifth of 300 calls that take 1 % more each it is the 30th. */
static void whose_own_work_grows_is_named(void **state)
{
    struct made m;

    (void)state;
    make(&m, "synth:300*step(lookup@1ms other@2ms >1 <1 "
             "|);ranks=4;jitter=0.02;grow=lookup/0.01/2");
    assert_int_equal(m.growth.n_places, 1);
    assert_int_equal(m.growth.place, 2);
    assert_false(m.growth.is_waiting);
    assert_true(fabs(m.growth.first_ns - 3.3e6) < 0.05e6);
    assert_true(fabs(m.growth.last_ns - 5.7e6) < 0.05e6);
    assert_non_null(strstr(
        m.text, "executions of step take longer and longer on rank 2: there own work of 3.3"));
    assert_non_null(strstr(m.text, " in the first fifth of them, 5.7"));
    assert_non_null(strstr(m.text, " ms in the last; most of that is in step > lookup"));
    unmake(&m);
}

static void all_may_grow_or_some(void **state)
{
    (void)state;
    assert_grows("synth:100*step(lookup@1ms |);ranks=6;jitter=0.05;grow=lookup/0.02", 6,
                 "longer and longer on all 6 ranks, most on rank ");
    assert_grows("synth:100*step(lookup@1ms);jitter=0.05;grow=lookup/0.02", 1,
                 "executions of step take longer and longer: own work of ");
    /* Too few executions of rank 2 to tell. */
    assert_grows("synth:0:100*step(a@1ms) 1:100*step(a@1ms) "
                 "2:50*step(a@1ms);ranks=3;jitter=0.02;grow=a/0.02",
                 2, "on 2 of 3 ranks, most on rank ");
    /* Three have a third of it, and wait for the fourth. */
    assert_grows("synth:100*step(a@1ms |);ranks=4;jitter=0.02;grow=a/0.1/3;grow=a/0.04/0;"
                 "grow=a/0.04/1;grow=a/0.04/2",
                 4, "on all 4 ranks, most on rank 3");
    /* In none of 64 it is seen alone. */
    assert_grows("synth:60*step(a@1ms);ranks=64;jitter=0.5;grow=a/0.01", 64, "on all 64 ranks");
}

static void waits_that_grow_are_nobodys_work(void **state)
{
    (void)state;
    assert_grows("synth:100*step(work@1ms MPI_Allreduce@200us);ranks=4;jitter=0.02;"
                 "grow=MPI_Allreduce/0.1",
                 4, "; most of that is waiting in step > MPI_Allreduce");
    assert_grows("synth:100*step(a@1ms MPI_Allreduce@1ms);ranks=4;jitter=0.02;grow=a/0.02;"
                 "grow=MPI_Allreduce/0.025",
                 4, "; most of that is in step > a");
}

/* The path is that of what most executions do, and steady ones are not named. */
static void a_steady_path_or_an_outlier_is_not_named(void **state)
{
    (void)state;
    assert_grows("synth:64*step(big@20ms a@10us b@10us c@10us);jitter=0.0005;"
                 "grow=a/3;grow=b/3;grow=c/3",
                 1, "20.6 ms in the first fifth of them, 25.");
    assert_grows("synth:100*step(io@1ms lookup@1ms);jitter=0.02;grow=lookup/0.02;"
                 "slow=io/95/200",
                 1, "in the last; most of that is in step > lookup");
    assert_grows("synth:69*step(big@10ms a@1ms);jitter=0.001;grow=a/0.06", 1,
                 "; most of that is in step > a");
}

static void steep_growth_is_growth(void **state)
{
    (void)state;
    assert_grows("synth:200*step(a@1us);jitter=0.02;grow=a/0.2;grow=a/0.2;grow=a/0.2", 1,
                 "most of that is in step > a");
    assert_grows("synth:100*step(a@1ms);jitter=0.5;grow=a/0.05", 1,
                 "most of that is in step > a");
}

static void what_is_steady_or_jumps_or_comes_and_goes_does_not_grow(void **state)
{
    (void)state;
    assert_steady("synth:60*step(a@1ms >1 <1);ranks=64;jitter=0.5");
    assert_steady("synth:60*step(a@1ms);ranks=64;jitter=1.5;shape=exponential");
    assert_steady("synth:60*step(a@1ms);ranks=64;jitter=0.5;shape=mixed");
    assert_steady("synth:50*step(a@1ms) 50*step(a@2ms);ranks=64;jitter=0.3");
    assert_steady("synth:30*step(a@1ms) 30*step(a@2ms);ranks=64;jitter=0.15");
    assert_steady("synth:90*step(a@1ms |) 30*step(a@2ms |);ranks=4;jitter=0.05");
    assert_steady("synth:70*step(a@1ms |) 70*step(a@2ms |);ranks=4;jitter=0.05");
    assert_steady("synth:100*step(a@1ms) 8*step(a@4ms);ranks=4;jitter=0.05");
    assert_steady("synth:50*step(a@1ms |) 50*step(a@2ms |) 50*step(a@1ms |);ranks=4");
    assert_steady(
        "synth:40*step(a@1ms |) 60*step(a@1.3ms |);ranks=4;jitter=0.002;grow=a/0.001");
    assert_steady("synth:40*step(a@1ms |);ranks=4;jitter=0.05;grow=a/0.02");    /* too few */
    assert_steady("synth:100*step(a@1ms |);ranks=4;jitter=0.05;grow=a/0.0005"); /* by 5 % */
    assert_steady("synth:200*step(a@1ms b@1ms);jitter=0.05;slow=b/10/5");
    assert_steady("synth:100*step(a@1ms);ranks=2");
}

/* Each thread is steady; one that has more to do is in the second half alone. */
static void threads_are_not_mixed(void **state)
{
    (void)state;
    assert_grows("synth:100*par[step(a@1ms)];threads=4;ranks=2;jitter=0.02;slow=a/1/4/0.1;"
                 "slow=a/1/4/1.1;grow=a/0.02",
                 2, "on all 2 ranks");
    assert_grows("synth:100*par[step(a@1ms)];threads=4;ranks=2;jitter=0.02;grow=a/0.02/1.2", 1,
                 "on rank 1: there own work of 1.");
    assert_steady("synth:100*par[step(a@1ms)];threads=4;ranks=2;jitter=0.02;slow=a/1/4/0.3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_own_work_grows_is_named),
        cmocka_unit_test(all_may_grow_or_some),
        cmocka_unit_test(waits_that_grow_are_nobodys_work),
        cmocka_unit_test(a_steady_path_or_an_outlier_is_not_named),
        cmocka_unit_test(steep_growth_is_growth),
        cmocka_unit_test(what_is_steady_or_jumps_or_comes_and_goes_does_not_grow),
        cmocka_unit_test(threads_are_not_mixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The truth about an injected delay is the same program without it: with the same seed all else
 * is the same to the nanosecond.
 */
#include "analysis/chosen.h"

#include "base/err.h"
#include "explain/excess.h"
#include "explain/why.h"
#include "replay/what_if.h"

#include <math.h>
#include <string.h>

#include "sample_run.h"
#include "test.h"

struct asked {
    struct sample_run run;
    struct what_if what_if;
    struct chosen chosen;
    struct replay_result result;
};

static uint64_t length_of(const struct sample_run *m)
{
    return m->ingested.end_ns - m->ingested.begin_ns;
}

static uint64_t length_without(const char *program)
{
    struct sample_run m;
    uint64_t ns;

    sample_run_init(&m, program, "step", NULL);
    ns = length_of(&m);
    sample_run_release(&m);
    return ns;
}

static void ask_of(struct asked *a, const char *program, const char *foi)
{
    sample_run_init(&a->run, program, foi, NULL);
    assert_int_equal(what_if_init(&a->what_if, &a->run.columns, &a->run.source.defs), 0);
    assert_int_equal(
        chosen_open(&a->chosen, a->run.db, 1, &a->run.columns, &a->run.source.defs), 0);
}

static void ask(struct asked *a, const char *program)
{
    ask_of(a, program, "step");
}

static double answer(struct asked *a)
{
    assert_int_equal(chosen_cut(&a->chosen, &a->what_if, 0), 0);
    replay_whole(&a->what_if.replay, &a->result);
    return (double)a->result.saved_ns;
}

static void end(struct asked *a)
{
    chosen_close(&a->chosen);
    what_if_release(&a->what_if);
    sample_run_release(&a->run);
}

/* What is saved without the anomalies of a function, and what the injection really cost. */
static void compare_of(const char *foi, const char *program, const char *injection,
                       double *saved_ns, double *true_ns)
{
    char text[512];
    struct asked a;

    snprintf(text, sizeof text, "%s%s", program, injection);
    ask_of(&a, text, foi);
    chosen_anomalies(&a.chosen);
    *saved_ns = answer(&a);
    *true_ns = (double)length_of(&a.run) - (double)length_without(program);
    end(&a);
}

static void compare(const char *program, const char *injection, double *saved_ns,
                    double *true_ns)
{
    compare_of("step", program, injection, saved_ns, true_ns);
}

static void an_unchanged_replay_takes_as_long_as_the_run(void **state)
{
    static const char *const program[] = {
        "synth:50*step(a@1ms >1 <1 |);ranks=4;jitter=0.2",
        "synth:50*step(a@1ms(b >1) <1);ranks=5;jitter=0.3;slow=a/7/9/2",
        "synth:50*step(a@1ms 2:>1 3:<1 b@10us |);ranks=6;jitter=0.2;skew=3ms;drift=20",
        "synth:20*step(a@1ms b);jitter=0.2",
        "synth:50*step(a@100us t[c@1ms(d) e] >1 <1 |);ranks=3;threads=4;jitter=0.2",
        "synth:50*step(t[c@1ms] a u[d@20us] >1 "
        "<1);ranks=3;threads=2;jitter=0.3;skew=2ms;drift=9",
    };
    struct asked a;

    (void)state;
    for (size_t i = 0; i < sizeof program / sizeof *program; i++) {
        const struct syncs *s = &a.what_if.syncs;

        ask(&a, program[i]);
        assert_true(answer(&a) == 0);
        assert_true(s->end_ns - s->begin_ns == length_of(&a.run));
        for (uint32_t l = 0; l < s->n_locations; l++)
            assert_true(a.what_if.replay.waits_less[l] == 0);
        end(&a);
    }
}

/* Of a rank that waits for nobody: all of what the borders of what is chosen may be off by. */
static void what_borders_may_be_off_by_is_saved_or_not(void **state)
{
    static const char *const chosen[] = {"step", "a"};
    static const int64_t off_ns[] = {2 * 3000, 2 * 7000};
    struct asked a;
    int64_t saved[3];

    (void)state;
    for (int i = 0; i < 2; i++) {
        ask(&a, "synth:20*main2(step(a@1ms(b) c) >0 <0);jitter=0.1;off=step/3us;off=a/7us;"
                "off=b/100us");
        assert_int_equal(chosen_path(&a.chosen, chosen[i]), 0);
        for (int way = -1; way <= 1; way++) {
            replay_clear(&a.what_if.replay);
            assert_int_equal(chosen_cut(&a.chosen, &a.what_if, way), 0);
            assert_int_equal(a.chosen.off_ns, 20 * off_ns[i]);
            replay_whole(&a.what_if.replay, &a.result);
            saved[way + 1] = a.result.saved_ns;
        }
        assert_int_equal(saved[1] - saved[0], 20 * off_ns[i]);
        assert_int_equal(saved[2] - saved[1], 20 * off_ns[i]);
        end(&a);
    }
}

static void what_all_wait_for_costs_all_of_it(void **state)
{
    static const char *const program[] = {
        "synth:500*step(a@1ms b@1ms >1 <1 |);ranks=4;jitter=0.02;seed=3",
        "synth:400*step(a@1ms b@200us >1 <1);ranks=4;jitter=0.02;seed=5", /* no barrier */
        "synth:400*step(a@1ms(b@200us >1 <1) c@1ms);ranks=3;jitter=0.02;seed=5",
    };
    double saved, truth;

    (void)state;
    for (size_t i = 0; i < sizeof program / sizeof *program; i++) {
        compare(program[i], ";slow=a/97/20/2", &saved, &truth);
        assert_true(truth > 70e6);
        assert_float_equal(saved / truth, 1, 0.1);
    }
}

#define SLACK "synth:500*step(a@1ms 2:w@2ms |);ranks=4;jitter=0.02;seed=3"

static void a_stop_in_slack_costs_nothing(void **state)
{
    double saved, truth;

    (void)state;
    compare(SLACK, ";slow=a/97/2.7/1", &saved, &truth); /* 1.7 ms of the 2 ms that it waits */
    assert_true(truth == 0);
    assert_true(saved == 0);
}

static void a_stop_beyond_the_slack_costs_what_is_beyond(void **state)
{
    double saved, truth;

    (void)state;
    compare(SLACK, ";slow=a/97/7/1", &saved, &truth);
    assert_true(truth > 15e6 && truth < 25e6); /* 5 times 4 of 6 ms */
    assert_float_equal(saved / truth, 1, 0.1);
}

static void two_stops_at_once_cost_as_much_as_one(void **state)
{
    double saved, one, truth;

    (void)state;
    compare("synth:500*step(a@1ms |);ranks=4;jitter=0.02", ";slow=a/97/20/1", &one, &truth);
    compare("synth:500*step(a@1ms |);ranks=4;jitter=0.02", ";slow=a/97/20/1;slow=a/97/20/2",
            &saved, &truth);
    assert_float_equal(saved / one, 1, 0.05);
    assert_float_equal(saved / truth, 1, 0.1);
}

static void a_slow_rank_costs_what_it_is_slower(void **state)
{
    static const char program[] = "synth:300*step(a@1ms b@1ms |);ranks=6;jitter=0.01";
    static const char *const slow[] = {";slow=a/1/1.08/3", ";slow=a/1/1.5/3"};
    char text[256];
    struct asked a;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double saved, truth;

        snprintf(text, sizeof text, "%s%s", program, slow[i]);
        ask(&a, text);
        assert_int_equal(chosen_rank(&a.chosen, 3), 0);
        saved = answer(&a);
        truth = (double)length_of(&a.run) - (double)length_without(program);
        assert_float_equal(saved / truth, 1, 0.1);
        end(&a);
        ask(&a, text);
        assert_int_equal(chosen_rank(&a.chosen, 2), 0);
        assert_true(fabs(answer(&a)) < 0.02 * truth);
        end(&a);
    }
}

static void a_path_costs_what_is_below_it(void **state)
{
    static const char program[] =
        "synth:300*step(a@100us(c@1ms) b@100us(c@1ms) |);ranks=4;slow=c/60/10/1";
    static const struct {
        const char *path;
        double saved_ns;
    } expected[] = {
        {"c", 10 * 9e6}, {"b > c", 10 * 9e6}, {"b", 10 * 9e6}, {"step > b", 10 * 9e6},
        {"a", 0},        {"step", 10 * 9e6},  {"a > c", 0},
    };
    struct asked a;

    (void)state; /* every 60th call of c is one in b */
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ask(&a, program);
        assert_int_equal(chosen_path(&a.chosen, expected[i].path), 0);
        assert_float_equal(answer(&a), expected[i].saved_ns, 1e4);
        end(&a);
    }
    ask(&a, program);
    assert_int_equal(chosen_path(&a.chosen, "a > b"), ERR_NOT_FOUND);
    assert_int_equal(chosen_path(&a.chosen, "ste"), ERR_NOT_FOUND);
    assert_int_equal(chosen_rank(&a.chosen, 4), ERR_NOT_FOUND);
    assert_int_equal(chosen_execution(&a.chosen, 0, 0, 300), ERR_NOT_FOUND);
    end(&a);
}

/* As those of C++ have, whose templates are nested. */
static void names_may_have_in_them_what_stands_between_functions(void **state)
{
    static const char nested[] = "void c(A<B<C<int> > > const&)", named[] = "x > b";
    static const struct {
        const char *path;
        double saved_ns;
    } expected[] = {
        {"void c(A<B<C<int> > > const&)", 10 * 9e6},
        {"x > b > void c(A<B<C<int> > > const&)", 10 * 9e6},
        {"step > x > b > c", 10 * 9e6},
        {"a > void c(A<B<C<int> > > const&)", 0},
    };
    struct asked a;

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct definitions *defs = &a.run.source.defs;

        ask(&a, "synth:300*step(a@100us(c@1ms) b@100us(c@1ms) |);ranks=4;slow=c/60/10/1");
        defs->region[names_find(&defs->names, "c")].short_name = nested;
        defs->region[names_find(&defs->names, "b")].short_name = named;
        assert_int_equal(chosen_path(&a.chosen, expected[i].path), 0);
        assert_float_equal(answer(&a), expected[i].saved_ns, 1e4);
        assert_int_equal(chosen_path(&a.chosen, "const&)"), ERR_NOT_FOUND);
        assert_int_equal(chosen_path(&a.chosen, "y > b"), ERR_NOT_FOUND);
        end(&a);
    }
}

static void only_executions_with_a_call_on_the_path_are_counted(void **state)
{
    struct asked a;

    (void)state;
    ask(&a, "synth:90*step(a@1ms) 10*step(a@1ms c@20us) 90*step(a@1ms)");
    assert_int_equal(chosen_path(&a.chosen, "step > c"), 0);
    answer(&a);
    assert_int_equal(a.chosen.n_chosen, 10);
    replay_clear(&a.what_if.replay);
    assert_int_equal(chosen_execution(&a.chosen, 0, 0, 3), 0); /* as a whole, too */
    assert_int_equal(chosen_execution(&a.chosen, 0, 0, 95), 0);
    answer(&a);
    assert_int_equal(a.chosen.n_chosen, 11);
    end(&a);
}

static void what_is_chosen_twice_is_cut_once(void **state)
{
    static const char program[] = "synth:300*step(a@1ms |);ranks=4;jitter=0.01;slow=a/97/10/1";
    struct asked a;
    double once;

    (void)state;
    ask(&a, program);
    chosen_anomalies(&a.chosen);
    once = answer(&a);
    end(&a);
    ask(&a, program);
    chosen_anomalies(&a.chosen);
    assert_int_equal(chosen_execution(&a.chosen, 1, 0, 96), 0);
    assert_int_equal(chosen_execution(&a.chosen, 1, 0, 96), 0);
    assert_true(answer(&a) == once && once > 26e6);
    end(&a);
}

/* By which an execution's sentence and what is cut out of it are about the same time. */
static void what_calls_lost_is_what_their_execution_lost(void **state)
{
    struct scoring s = {0};
    struct sample_run m;
    struct why why;
    double excess_ns[16];

    (void)state;
    sample_run_init(&m, "synth:300*step(a@1ms b@1ms >1 <1 |);ranks=4;jitter=0.05;slow=a/97/9/2",
                    "step", NULL);
    assert_int_equal(run_scoring_load(&s, m.db, &m.columns, &m.source.defs, 1, false), 0);
    scoring_why_init(&s, &why);
    for (uint32_t t = 0; t < s.forest.n_trees; t++) {
        double sum = 0;

        excess_lost(&why, t, s.measure[t].loss.ns, excess_ns);
        for (uint32_t v = 0; v < s.forest.first[t + 1] - s.forest.first[t]; v++) {
            assert_true(excess_ns[v] >= 0);
            sum += excess_ns[v];
        }
        assert_float_equal(sum, s.measure[t].loss.ns, 1e4 + 0.01 * s.measure[t].loss.ns);
    }
    why_release(&why);
    scoring_release(&s);
    sample_run_release(&m);
}

/* ------------------------------------------------------------------------------ threads */

#define TEAMS "synth:500*step(a@200us team[c@1ms] >1 <1 |);ranks=3;threads=3;jitter=0.02;seed=5"

static void a_stop_of_a_thread_costs_what_its_process_was_late(void **state)
{
    static const char *const slow[] = {";slow=c/97/20/1.2", ";slow=c/97/20/0.1"};
    double saved, truth;

    (void)state;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        compare_of("c", TEAMS, slow[i], &saved, &truth); /* of the thread that stopped */
        assert_true(truth > 90e6);
        assert_float_equal(saved / truth, 1, 0.1);
        compare_of("step", TEAMS, slow[i], &saved, &truth); /* of what made its team */
        assert_float_equal(saved / truth, 1, 0.1);
        compare_of("team", TEAMS, slow[i], &saved, &truth); /* of both: it is cut once */
        assert_float_equal(saved / truth, 1, 0.1);
    }
}

static void a_stop_of_a_thread_that_nobody_waits_for_costs_nothing(void **state)
{
    /* beside another thread that has more to do; in a process that waits for another */
    static const char *const program[] = {
        "synth:500*step(team[c@1ms d@100us] |);ranks=3;threads=3;jitter=0.02;slow=d/1/30/1.1",
        "synth:500*step(team[c@1ms] 2:w@3ms |);ranks=3;threads=3;jitter=0.02",
    };
    double saved, truth;

    (void)state;
    for (size_t i = 0; i < sizeof program / sizeof *program; i++) {
        compare_of("c", program[i], ";slow=c/97/2.7/1.2", &saved, &truth);
        assert_true(truth == 0);
        assert_true(saved == 0);
        compare_of("step", program[i], ";slow=c/97/2.7/1.2", &saved, &truth);
        assert_true(saved == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unchanged_replay_takes_as_long_as_the_run),
        cmocka_unit_test(what_borders_may_be_off_by_is_saved_or_not),
        cmocka_unit_test(what_all_wait_for_costs_all_of_it),
        cmocka_unit_test(a_stop_in_slack_costs_nothing),
        cmocka_unit_test(a_stop_beyond_the_slack_costs_what_is_beyond),
        cmocka_unit_test(two_stops_at_once_cost_as_much_as_one),
        cmocka_unit_test(a_slow_rank_costs_what_it_is_slower),
        cmocka_unit_test(a_path_costs_what_is_below_it),
        cmocka_unit_test(names_may_have_in_them_what_stands_between_functions),
        cmocka_unit_test(only_executions_with_a_call_on_the_path_are_counted),
        cmocka_unit_test(what_is_chosen_twice_is_cut_once),
        cmocka_unit_test(what_calls_lost_is_what_their_execution_lost),
        cmocka_unit_test(a_stop_of_a_thread_costs_what_its_process_was_late),
        cmocka_unit_test(a_stop_of_a_thread_that_nobody_waits_for_costs_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* As in chosen_test.c, the truth is the same program without what was injected. */
#include "analysis/costs.h"
#include "run/rundb.h"

#include <math.h>
#include <string.h>

#include "sample_run.h"
#include "test.h"

#define PROGRAM "synth:400*step(a@1ms b@1ms >1 <1 |);ranks=4;jitter=0.02;seed=3"

static double number(struct sample_run *m, const char *sql)
{
    sqlite3_stmt *query;
    double x;

    assert_int_equal(rundb_prepare(m->db, sql, &query), 0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    x = sqlite3_column_double(query, 0);
    sqlite3_finalize(query);
    return x;
}

static void check_text(struct sample_run *m, const char *sql, const char *expected)
{
    sqlite3_stmt *query;

    assert_int_equal(rundb_prepare(m->db, sql, &query), 0);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    if (strcmp(rundb_text(query, 0), expected) != 0)
        fail_msg("'%s' instead of '%s'", rundb_text(query, 0), expected);
    sqlite3_finalize(query);
}

static double length_of(const char *program)
{
    struct sample_run m;
    double ns;

    sample_run_init(&m, program, "step", NULL);
    ns = (double)(m.ingested.end_ns - m.ingested.begin_ns);
    sample_run_release(&m);
    return ns;
}

static void one_late_rank_costs_all_it_lost_and_its_victims_nothing(void **state)
{
    double truth = length_of(PROGRAM ";slow=a/300/20/2") - length_of(PROGRAM);
    struct sample_run m;

    (void)state;
    sample_run_init(&m, PROGRAM ";slow=a/300/20/2", "step", NULL);
    assert_float_equal(
        number(&m, "SELECT cost_ns FROM execution WHERE rank = 2 AND idx = 299") / truth, 1,
        0.1);
    assert_float_equal(number(&m, "SELECT max(cost_ns) FROM execution WHERE NOT (rank = 2 AND "
                                  "idx = 299)"),
                       0, 0.01 * truth);
    assert_float_equal(number(&m, "SELECT anomalies_cost_ns FROM foi") / truth, 1, 0.1);
    assert_int_equal(number(&m, "SELECT anomalies_carrying FROM foi"), 1);
    assert_float_equal(number(&m, "SELECT cost_ns FROM incident WHERE id = 1") / truth, 1, 0.1);
    check_text(
        &m, "SELECT cost FROM execution WHERE rank = 2 AND idx = 299",
        "in the replay the run ends 18.9 ms later because of it: ranks 0, 1 and 3 waited");
    check_text(&m, "SELECT cost FROM execution WHERE rank = 1 AND idx = 299",
               "in the replay the run ends no later because of it: it only waited; 18.9 ms "
               "later because of its whole incident");
    sample_run_release(&m);
}

/* Nobody waits for rank 1, which takes part all the same: rank 0 sends it something. */
#define SLACK "synth:400*step(a@1ms 2:w@8ms 0:>1 1:<1);ranks=4;jitter=0.02;seed=3"

static void a_stop_in_slack_costs_nothing_and_says_so(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m, SLACK ";slow=a/300/6/1", "step", NULL);
    assert_true(number(&m, "SELECT lost_ns FROM execution WHERE rank = 1 AND idx = 299") > 4e6);
    assert_int_equal(number(&m, "SELECT cost_ns FROM execution WHERE rank = 1 AND idx = 299"),
                     0);
    check_text(&m, "SELECT cost FROM execution WHERE rank = 1 AND idx = 299",
               "in the replay the run ends no later because of it: nobody waited for it");
    sample_run_release(&m);
}

/* Each alone would have been waited for anyway. */
static void two_stops_at_once_cost_nothing_alone_but_all_together(void **state)
{
    struct sample_run m;
    double truth = length_of(PROGRAM ";slow=a/300/20/1;slow=a/300/20/2") - length_of(PROGRAM);

    (void)state;
    sample_run_init(&m, PROGRAM ";slow=a/300/20/1;slow=a/300/20/2", "step", NULL);
    assert_true(number(&m, "SELECT max(cost_ns) FROM execution") < 0.1 * truth);
    assert_float_equal(number(&m, "SELECT anomalies_cost_ns FROM foi") / truth, 1, 0.1);
    sample_run_release(&m);
}

/* What happens in an execution at the same time as something larger may be another thing. */
static void what_an_incident_cost_lies_between_its_cause_and_all_that_was_lost(void **state)
{
    static const char both[] = PROGRAM ";slow=a/300/20/2;slow=b/300/8/2";
    double cause = length_of(PROGRAM ";slow=a/300/20/2") - length_of(PROGRAM);
    double all = length_of(both) - length_of(PROGRAM);
    struct sample_run m;

    (void)state;
    sample_run_init(&m, both, "step", NULL);
    assert_float_equal(number(&m, "SELECT cost_least_ns FROM incident WHERE id = 1") / cause, 1,
                       0.02);
    assert_float_equal(number(&m, "SELECT cost_most_ns FROM incident WHERE id = 1") / all, 1,
                       0.02);
    assert_float_equal(number(&m, "SELECT cost_ns FROM incident WHERE id = 1") / all, 1, 0.02);
    check_text(&m, "SELECT substr(why, instr(why, 'without what')) FROM incident WHERE id = 1",
               "without what its cause alone lost the replayed run is 18.9 ms shorter, without "
               "all that was lost with it 25.8 ms");
    sample_run_release(&m);
}

static void of_a_cause_that_cost_nothing_alone_no_time_is_said(void **state)
{
    struct incident_cost cost = {.least_ns = 0, .most_ns = 22800000};
    char text[COST_TEXT_SIZE];

    (void)state;
    assert_string_equal(costs_say_range(&cost, 22.8e6, text),
                        "without what its cause alone lost the replayed run is not shorter, "
                        "without all that was lost with it 22.8 ms");
}

/* Between two steps rank 0 is 5 ms in `out`; rank 1 waits for that, and then is 3 ms late
 * itself, with nobody behind it. */
static void who_waited_and_was_slow_itself_made_the_run_longer(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m,
                    "synth:120*step(a@1ms | b@1ms) 0:out@5ms 0:step(a@1ms | b@1ms) "
                    "1:step(a@1ms | b@4ms);ranks=2;jitter=0.02",
                    "step", NULL);
#define LAST "FROM execution WHERE rank = 1 AND idx = 120"
    assert_float_equal(number(&m, "SELECT cost_ns " LAST), 3e6, 1e5);
    check_text(&m, "SELECT cost " LAST,
               "in the replay the run ends 2.96 ms later because of it; 8.00 ms later because "
               "of its whole incident");
    check_text(&m, "SELECT cause FROM incident WHERE id = 1", "step > b +3.00 ms");
    assert_float_equal(number(&m, "SELECT cost_least_ns FROM incident WHERE id = 1"), 3e6, 1e5);
    assert_float_equal(number(&m, "SELECT cost_ns FROM incident WHERE id = 1"), 8e6, 1e5);
    sample_run_release(&m);
}

/* Every 50th step rank 0 first does `out` for 5 ms, of which it would have waited 1; in these,
 * and only these, rank 1 has a call of c, and it waits for `out`. */
static void what_comes_back_costs_what_it_waited_for_each_time(void **state)
{
    static const char with[] = "synth:10*all(49*step(a@1ms 1:b@1ms |) 0:out@5ms step(a@1ms "
                               "1:b@1ms 1:c@20us |));ranks=2;jitter=0.02";
    static const char without[] = "synth:10*all(49*step(a@1ms 1:b@1ms |) step(a@1ms 1:b@1ms "
                                  "1:c@20us |));ranks=2;jitter=0.02";
    double truth = length_of(with) - length_of(without);
    struct sample_run m;

    (void)state;
    sample_run_init(&m, with, "step", NULL);
    assert_int_equal(number(&m, "SELECT turns FROM incident WHERE id = 1"), 10);
    assert_float_equal(number(&m, "SELECT cost_ns FROM incident WHERE id = 1") / truth, 1,
                       0.02);
    assert_float_equal(number(&m, "SELECT cost_least_ns FROM incident WHERE id = 1") / truth, 1,
                       0.02);
    assert_int_equal(number(&m, "SELECT count(*) FROM outside WHERE incident = 1"), 10);
    sample_run_release(&m);
}

/* Of MPI_Probe no trace says what it waits for. */
static void what_waited_for_nobody_knows_whom_makes_the_cost_a_bound(void **state)
{
    static const char quiet[] = "synth:400*step(a@1ms MPI_Probe@1ms |);ranks=4;jitter=0.02;"
                                "seed=3";
    char cause_alone[96], both[128];
    double cause, all;
    struct sample_run m;

    (void)state;
    snprintf(cause_alone, sizeof cause_alone, "%s;slow=a/300/20/2", quiet);
    snprintf(both, sizeof both, "%s;slow=MPI_Probe/300/10/2", cause_alone);
    cause = length_of(cause_alone) - length_of(quiet);
    all = length_of(both) - length_of(quiet);
    sample_run_init(&m, both, "step", NULL);
    assert_int_equal(number(&m, "SELECT cost_is_bound FROM execution WHERE rank = 2 AND idx = "
                                "299"),
                     1);
    assert_float_equal(
        number(&m, "SELECT cost_ns FROM execution WHERE rank = 2 AND idx = 299") / all, 1,
        0.02);
    assert_int_equal(number(&m, "SELECT cost_ns IS NULL FROM incident WHERE id = 1"), 1);
    assert_float_equal(number(&m, "SELECT cost_least_ns FROM incident WHERE id = 1") / cause, 1,
                       0.02);
    assert_float_equal(number(&m, "SELECT cost_most_ns FROM incident WHERE id = 1") / all, 1,
                       0.02);
    check_text(&m, "SELECT cost FROM execution WHERE rank = 2 AND idx = 299",
               "in the replay the run ends at most 27.8 ms later because of it: not all of who "
               "waited for whom is in the trace");
    sample_run_release(&m);
}

static void a_stop_that_others_waited_for_in_slack_says_who_did(void **state)
{
    struct sample_run m;

    (void)state; /* rank 0 waits for rank 1, and nobody for them */
    sample_run_init(&m,
                    "synth:400*step(a@1ms 1:>3 0:<3 2:w@8ms);ranks=4;jitter=0.02;"
                    "slow=a/300/5/1",
                    "step", NULL);
    assert_int_equal(number(&m, "SELECT cost_ns FROM execution WHERE rank = 1 AND idx = 299"),
                     0);
    check_text(&m, "SELECT cost FROM execution WHERE rank = 1 AND idx = 299",
               "in the replay the run ends no later because of it, though rank 0 waited");
    sample_run_release(&m);
}

/*
 * Messages are sent in all steps and received after the last, so that each anomaly puts off all
 * that follows: to play every one to the end would take a time that grows with the square of
 * the run's.
 */
static void what_would_take_too_long_to_play_is_known_at_most(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(
        &m, "synth:4000*step(a@1ms >1) 4000*recv(<1);ranks=2;jitter=0.01;slow=a/20/20;seed=3",
        "step", NULL);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE verdict = 'anomaly'"),
                     400);
    assert_true(number(&m, "SELECT count(*) FROM execution WHERE verdict = 'anomaly' AND "
                           "cost_is_bound AND cost_ns > 0") > 100);
    assert_true(number(&m, "SELECT count(*) FROM execution WHERE verdict = 'anomaly' AND "
                           "cost_ns > 0 AND NOT cost_is_bound") >= 8);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE cost_ns IS NULL"), 0);
    assert_true(number(&m, "SELECT anomalies_cost_ns FROM foi") > 0);
    sample_run_release(&m);
}

/* Rank 0 alone: it has an incident of each, and of the first the time that there is is spent. */
static void what_one_execution_cost_its_incident_cost(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(
        &m, "synth:4000*step(a@1ms >1) 4000*recv(<1);ranks=2;jitter=0.01;slow=a/20/20/0;seed=3",
        "step", NULL);
    assert_true(number(&m, "SELECT count(*) FROM incident WHERE cost_ns IS NULL") > 8);
    assert_true(number(&m, "SELECT count(*) FROM incident i JOIN execution e ON e.foi = i.foi "
                           "AND e.incident = i.id WHERE i.executions = 1 AND e.cost_ns > 0 AND "
                           "NOT e.cost_is_bound AND i.cost_ns = e.cost_ns AND i.cost_least_ns "
                           "> 0") > 100);
    assert_int_equal(
        number(&m, "SELECT count(*) FROM incident i JOIN execution e ON e.foi = i.foi AND "
                   "e.incident = i.id WHERE i.executions = 1 AND e.cost_ns IS NOT NULL AND NOT "
                   "e.cost_is_bound AND i.cost_ns IS NOT e.cost_ns"),
        0);
    sample_run_release(&m);
}

/* More are slow than there is time to play, but alone nobody waits. */
static void of_one_location_every_cost_is_known(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m, "synth:5000*step(120*a@10us);jitter=0.02;slow=a/857/60", "step", NULL);
    assert_true(number(&m, "SELECT count(*) FROM execution WHERE cost_ns > 0") > 600);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE cost_ns IS NULL OR "
                                "cost_is_bound"),
                     0);
    assert_int_equal(number(&m, "SELECT count(*) FROM incident WHERE cost_ns IS NULL"), 0);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE verdict = 'anomaly' AND "
                                "cost IS NULL"),
                     0);
    assert_true(fabs(number(&m, "SELECT (SELECT anomalies_cost_ns FROM foi) - (SELECT "
                                "sum(cost_ns) FROM execution WHERE verdict = 'anomaly')")) <
                number(&m, "SELECT count(*) FROM execution"));
    sample_run_release(&m);
}

/* The same, but nobody receives: then nothing is played, and of each anomaly it is said why. */
static void of_a_run_whose_order_is_not_known_nothing_is_played(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m, "synth:4000*step(a@1ms >1);ranks=2;jitter=0.01;slow=a/20/20;seed=3",
                    "step", NULL);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE verdict = 'anomaly'"),
                     400);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE verdict = 'anomaly' AND "
                                "cost_ns IS NULL AND cost = 'its cost is not known: who waited "
                                "for whom is not in the trace'"),
                     400);
    sample_run_release(&m);
}

static void a_cost_is_never_more_than_what_was_lost(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m, PROGRAM ";slow=a/60/20/2;slow=b/70/5;jitter=0.2", "step", NULL);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE cost_ns < 0 OR cost_ns > "
                                "lost_ns + 1"),
                     0);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE verdict = 'anomaly' AND "
                                "cost_ns IS NULL"),
                     0);
    sample_run_release(&m);
}

static void every_execution_of_a_quiet_run_has_a_cost(void **state)
{
    struct sample_run m;
    char program[80];

    (void)state;
    snprintf(program, sizeof program, "synth:%d*step(a@1ms |);ranks=4;jitter=0.02;seed=3",
             test_amount(20000, 3000));
    sample_run_init(&m, program, "step", NULL);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE cost_ns IS NULL"), 0);
    assert_true(number(&m, "SELECT count(*) FROM execution WHERE cost_ns = 0 AND NOT "
                           "cost_is_bound") > 1000);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE cost_is_bound AND "
                                "(cost_ns <= 0 OR cost_ns > lost_ns + 1)"),
                     0);
    sample_run_release(&m);
}

#define STAGES "1:<1 2:<1 3:<1 a@1ms 0:>1 1:>1 2:>1"

/* Rank 3 waits 3 ms for ranks that are just beginning, too; or for one that is 20 ms late. */
static void waiting_until_a_pipeline_is_filled_is_no_anomaly(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m, "synth:200*step(" STAGES ");ranks=4;jitter=0.02;seed=3", "step", NULL);
    assert_int_equal(number(&m, "SELECT count(*) FROM execution WHERE idx = 0 AND (verdict = "
                                "'anomaly' OR lost_ns > 0)"),
                     0);
    check_text(
        &m,
        "SELECT substr(why, 1, instr(why, ': ') + 1) FROM execution WHERE rank = 3 AND idx = 0",
        "3.04 ms longer than a typical execution with the same calls (1.01 ms), as it is the "
        "first execution of its location and waited until the others had begun (not counted as "
        "lost): ");
    sample_run_release(&m);
    sample_run_init(
        &m, "synth:step(0:b@20ms " STAGES ") 199*step(" STAGES ");ranks=4;jitter=0.02;seed=3",
        "step", NULL);
    assert_int_equal(number(&m, "SELECT sum(verdict = 'anomaly') FROM execution"), 1);
    assert_int_equal(number(&m, "SELECT rank FROM execution WHERE verdict = 'anomaly'"), 0);
    assert_float_equal(number(&m, "SELECT cost_ns FROM incident WHERE id = 1"), 20e6, 1e6);
    sample_run_release(&m);
}

/* Rank 3 works for 0.2 ms more in its first execution, in which it waits for 3 ms. */
static void who_waits_until_a_pipeline_is_filled_lost_but_its_own_time(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m,
                    "synth:step(1:<1 2:<1 3:<1 0:a@1ms 1:a@1ms 2:a@1ms 3:a@1200us 0:>1 1:>1 "
                    "2:>1) 199*step(" STAGES ");ranks=4;jitter=0.005;seed=3",
                    "step", NULL);
#define FIRST " FROM execution WHERE rank = 3 AND idx = 0"
    assert_int_equal(number(&m, "SELECT verdict = 'anomaly'" FIRST), 1);
    assert_float_equal(number(&m, "SELECT lost_ns" FIRST), 200e3, 20e3);
    assert_true(number(&m, "SELECT cost_ns" FIRST) > 20e3);
    check_text(
        &m, "SELECT substr(why, 1, instr(why, ': ') + 1)" FIRST,
        "3.22 ms longer than a typical execution with the same calls (1.00 ms), of which "
        "205 us are lost, as it is the first execution of its location and waited until "
        "the others had begun: ");
    sample_run_release(&m);
}

#define HELD_UP(what)                                                                          \
    "synth:100*step(a@1ms |) step(1:" what " a@1ms |) 99*step(a@1ms |);ranks=2;jitter=0.02;"   \
    "seed=3"

/* Rank 0 waits 2 ms for rank 1: the program did not lose them where the tracer took them. */
static void waiting_for_who_the_tracer_held_up_is_no_anomaly(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m, HELD_UP("FLUSH@2ms"), "step", NULL);
    assert_int_equal(number(&m, "SELECT sum(verdict = 'anomaly') FROM execution"), 0);
    assert_float_equal(number(&m, "SELECT lost_ns FROM execution WHERE rank = 0 AND idx = 100"),
                       2e6, 2e5);
    check_text(&m,
               "SELECT substr(why, 1, instr(why, '; ') - 1) FROM execution WHERE rank = 0 AND "
               "idx = 100",
               "no anomaly: it waited for a rank or thread that the tracer held up, and lost "
               "little else");
    sample_run_release(&m);
    sample_run_init(&m, HELD_UP("b@2ms"), "step", NULL);
    assert_int_equal(number(&m, "SELECT sum(verdict = 'anomaly') FROM execution"), 2);
    sample_run_release(&m);
    /* most of it is the program's */
    sample_run_init(&m, HELD_UP("FLUSH@1ms 1:b@2ms"), "step", NULL);
    assert_int_equal(number(&m, "SELECT sum(verdict = 'anomaly') FROM execution"), 2);
    sample_run_release(&m);
}

/* Rank 1 takes a tenth of the others' time for b in all its executions, so also in its first. */
static void the_first_execution_of_a_rank_is_like_its_others(void **state)
{
    struct sample_run m;

    (void)state;
    sample_run_init(&m, "synth:40*step(a@1ms b@3ms);ranks=6;jitter=0.02;slow=b/1/0.1/1", "step",
                    NULL);
    assert_int_equal(number(&m, "SELECT sum(verdict = 'anomaly') FROM execution"), 0);
    assert_int_equal(number(&m, "SELECT sum(instr(why, 'less') > 0) FROM execution"), 0);
    sample_run_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_late_rank_costs_all_it_lost_and_its_victims_nothing),
        cmocka_unit_test(a_stop_in_slack_costs_nothing_and_says_so),
        cmocka_unit_test(two_stops_at_once_cost_nothing_alone_but_all_together),
        cmocka_unit_test(what_an_incident_cost_lies_between_its_cause_and_all_that_was_lost),
        cmocka_unit_test(of_a_cause_that_cost_nothing_alone_no_time_is_said),
        cmocka_unit_test(who_waited_and_was_slow_itself_made_the_run_longer),
        cmocka_unit_test(what_comes_back_costs_what_it_waited_for_each_time),
        cmocka_unit_test(what_waited_for_nobody_knows_whom_makes_the_cost_a_bound),
        cmocka_unit_test(a_stop_that_others_waited_for_in_slack_says_who_did),
        cmocka_unit_test(what_would_take_too_long_to_play_is_known_at_most),
        cmocka_unit_test(what_one_execution_cost_its_incident_cost),
        cmocka_unit_test(of_one_location_every_cost_is_known),
        cmocka_unit_test(of_a_run_whose_order_is_not_known_nothing_is_played),
        cmocka_unit_test(a_cost_is_never_more_than_what_was_lost),
        cmocka_unit_test(every_execution_of_a_quiet_run_has_a_cost),
        cmocka_unit_test(waiting_until_a_pipeline_is_filled_is_no_anomaly),
        cmocka_unit_test(who_waits_until_a_pipeline_is_filled_lost_but_its_own_time),
        cmocka_unit_test(waiting_for_who_the_tracer_held_up_is_no_anomaly),
        cmocka_unit_test(the_first_execution_of_a_rank_is_like_its_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

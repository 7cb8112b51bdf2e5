/* What is said of a run, by figures that are made up. */
#include "cmd/headline.h"

#include "view/outcome.h"

#include "test.h"

static void assert_slow(uint64_t cost_ns, uint64_t least_ns, uint64_t most_ns, const char *says)
{
    char place[] = "rank 1", verdict[] = "slow", why[] = "a +10 %";
    char *line[HEADLINE_LINES];
    const struct outcome outcome = {.length_ns = 200000000,
                                    .slow = {.place = place,
                                             .verdict = verdict,
                                             .why = why,
                                             .has_cost = true,
                                             .is_first = true,
                                             .has_range = true,
                                             .cost_ns = cost_ns,
                                             .cost_least_ns = least_ns,
                                             .cost_most_ns = most_ns}};

    headline_answer(&outcome, line);
    assert_non_null(strstr(line[0], says));
    assert_null(line[1]);
    free(line[0]);
}

static void a_share_of_the_run_is_that_of_the_time_before_it(void **state)
{
    (void)state;
    assert_slow(20000000, 20000000, 20000000, "would be 20.0 ms of 200 ms shorter (10 %)");
    assert_slow(20000000, 10000000, 40000000,
                "would be 10.0 to 40.0 ms of 200 ms shorter (5 to 20 %)");
    assert_slow(20000000, 0, 40000000, "would be at most 40.0 ms of 200 ms shorter (20 %)");
}

/* Of 91 anomalies. */
static void assert_anomalies(struct outcome outcome, const char *says)
{
    char *line[HEADLINE_LINES];

    outcome.length_ns = 10300000000;
    outcome.n_anomalies = outcome.n_anomalies ?: 91;
    headline_answer(&outcome, line);
    assert_string_equal(line[0], says);
    assert_true(line[1] == NULL && line[2] == NULL);
    free(line[0]);
}

static void a_cost_is_a_number_or_a_bound_or_not_known(void **state)
{
    char what[] = "step > forces takes longer", place[] = "physics.c:234",
         clocks[] = "clocks disagree",
         labels[] = "labels have changed since which executions are anomalies";
    struct outcome_most most = {.n_incidents = 12,
                                .n_ranks = 1,
                                .rank = 1,
                                .is_cost = true,
                                .is_loss_known = true,
                                .ns = 180000000,
                                .of_ns = 210000000,
                                .what = what,
                                .place = place};

    (void)state;
    assert_anomalies(
        (struct outcome){.cost = {.is_known = true, .cost_ns = 210000000, .n_carrying = 47},
                         .most = most},
        "without the anomalies the replayed run is 210 ms of 10.3 s shorter (2.04 %); most of "
        "that "
        "goes back to rank 1: step > forces takes longer (physics.c:234); 47 of the 91 carry "
        "nine "
        "tenths of the 210 ms");
    assert_anomalies(
        (struct outcome){.cost = {.is_known = true, .cost_ns = 210000000, .n_carrying = 3},
                         .n_anomalies = 3},
        "without the anomalies the replayed run is 210 ms of 10.3 s shorter (2.04 %)");
    assert_anomalies(
        (struct outcome){.cost = {.is_known = true, .cost_ns = 210000000, .n_carrying = 1},
                         .n_anomalies = 3},
        "without the anomalies the replayed run is 210 ms of 10.3 s shorter (2.04 %); 1 of the "
        "3 "
        "carries nine tenths of the 210 ms");
    assert_anomalies((struct outcome){.unknown = clocks},
                     "what the anomalies cost the run is not known: clocks disagree");
    assert_anomalies((struct outcome){.n_anomalies = 1},
                     "what the anomalies cost the run is not known");
    assert_anomalies((struct outcome){.cost = {.is_known = true, .cost_ns = 210000000},
                                      .is_bound = true,
                                      .unknown = labels},
                     "without the anomalies the replayed run is at most 210 ms of 10.3 s "
                     "shorter (2.04 %): labels "
                     "have changed since which executions are anomalies");
    assert_anomalies((struct outcome){.cost = {.is_known = true}},
                     "without the anomalies the replayed run is not shorter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cost_is_a_number_or_a_bound_or_not_known),
        cmocka_unit_test(a_share_of_the_run_is_that_of_the_time_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

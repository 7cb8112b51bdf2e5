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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_of_the_run_is_that_of_the_time_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What executions of a location take, where they come from several runs. */
#include "features/local_typical.h"

#include <math.h>

#include "test.h"

#define N_OF_RUN 30u /* of a location */

/*
 * Two runs of two locations, one after the other:
 *
 *     place    7 ... 7  8 ... 8  7 ... 7  8 ... 8
 *     ratio       0        0        1        0
 */
static void a_location_is_known_by_its_executions_of_all_runs(void **state)
{
    enum { N = 4 * N_OF_RUN };
    uint64_t place[N];
    double ratio[N];
    struct forest forest = {.n_trees = N, .place = place};
    struct local_typical local = {.whole = NULL};
    struct spread overall = {0.25, 1};

    (void)state;
    for (uint32_t t = 0; t < N; t++) {
        place[t] = 7 + t / N_OF_RUN % 2;
        ratio[t] = t / N_OF_RUN == 2;
    }
    local_typical_sites(&local, &forest, NULL, NULL);
    local_typical_wholes(&local, &forest, NULL, ratio, overall, 0.01);
    assert_float_equal(local.whole[local_typical_site_at(&local, 7)].centre, 0.5, 1e-12);
    assert_true(local.whole[local_typical_site_at(&local, 7)].scale > 0.5);
    assert_float_equal(local.whole[local_typical_site_at(&local, 8)].centre, 0, 1e-12);
    assert_true(local.whole[local_typical_site_at(&local, 8)].scale < 0.1);
    local_typical_release(&local);
}

static void few_executions_of_a_location_are_taken_for_what_holds_everywhere(void **state)
{
    uint64_t place[] = {7, 8, 7};
    double ratio[] = {0, 1, 2};
    struct forest forest = {.n_trees = 3, .place = place};
    struct local_typical local = {.whole = NULL};
    struct spread overall = {0.25, 1};

    (void)state;
    local_typical_sites(&local, &forest, NULL, NULL);
    local_typical_wholes(&local, &forest, NULL, ratio, overall, 0.01);
    for (uint32_t site = 0; site < 2; site++)
        assert_true(local.whole[site].centre == 0.25 && local.whole[site].scale == 1);
    local_typical_release(&local);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_location_is_known_by_its_executions_of_all_runs),
        cmocka_unit_test(few_executions_of_a_location_are_taken_for_what_holds_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

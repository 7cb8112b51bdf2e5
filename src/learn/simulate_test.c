/*
 * A detector that is misled: executions 0..9 score high and are normal, 10..19 score less and
 * are abnormal. Each is a kind, so a few labels must turn them round.
 */

#include "learn/query.h"

#include "base/mem.h"
#include "learn/reasons.h"

#include "test.h"

#define N 200

struct curve {
    size_t n, labels[64];
    double pr[64], unlabelled[64];
};

static bool keep(void *ctx, const struct simulate_point *point)
{
    struct curve *curve = ctx;

    curve->labels[curve->n] = point->n_labels;
    curve->pr[curve->n] = point->all.pr;
    curve->unlabelled[curve->n++] = point->unlabelled_pr;
    return true;
}

static void play(size_t most, size_t batch, struct curve *curve)
{
    struct reasons reasons = {.n_lasting = 3};
    double prior[N];
    bool is_abnormal[N] = {false};
    struct learner_input input = {
        .n = N, .machine_threshold = NAN, .reasons = &reasons, .prior = prior, .threshold = 4};
    struct learner learner;

    rows_init(&reasons.rows, 3);
    for (int i = 0; i < N; i++) {
        is_abnormal[i] = i >= 10 && i < 20;
        prior[i] = i < 10 ? 5 : i < 20 ? 4 : 1;
        rows_add(&reasons.rows, i < 10 ? 0 : i < 20 ? 1 : 2, 1);
        rows_end(&reasons.rows);
    }
    input.seed = 1;
    input.pool = pool_new(1);
    assert_int_equal(learner_init(&learner, learner_find("reasons"), &input), 0);
    *curve = (struct curve){0};
    assert_int_equal(simulate(&learner, is_abnormal, most, batch, keep, curve), 0);
    learner_release(&learner);
    pool_free(input.pool);
    reasons_release(&reasons);
}

static void a_few_labels_turn_a_misled_ranking_round(void **state)
{
    struct curve curve;

    (void)state;
    play(6, 2, &curve);
    assert_int_equal(curve.n, 4);
    assert_int_equal(curve.labels[3], 6);
    assert_true(curve.pr[0] <= 0.5);
    assert_true(curve.pr[3] > 0.99);
}

static void it_ends_when_everything_is_labelled(void **state)
{
    struct curve curve;

    (void)state;
    play(1000, 50, &curve);
    assert_int_equal(curve.n, 5);
    assert_int_equal(curve.labels[4], N);
    assert_true(isnan(curve.unlabelled[4]));
    assert_true(curve.pr[4] > 1 - 1e-9);
}

static void the_last_round_is_as_short_as_it_must_be(void **state)
{
    struct curve curve;

    (void)state;
    play(5, 3, &curve);
    assert_int_equal(curve.n, 3);
    assert_int_equal(curve.labels[2], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_labels_turn_a_misled_ranking_round),
        cmocka_unit_test(it_ends_when_everything_is_labelled),
        cmocka_unit_test(the_last_round_is_as_short_as_it_must_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "detect/tails.h"

#include "base/rng.h"

#include "test.h"

enum { MANY = 2000 };

/* Every value in the tail of all. */
static void model_all(const double *x, size_t n, double least, double *out)
{
    struct tail tail;

    tail_fit(&tail, x, n, least);
    for (size_t i = 0; i < n; i++)
        out[i] = tail_model_at(&tail, x[i], tail_rank(&tail, x[i]));
    tail_release(&tail);
}

/* Values 3 1 2 2: of four, 1 is as large as 3, three as 2, all as 1. */
static void ranks_by_hand(void **state)
{
    static const double x[] = {3, 1, 2, 2};
    double rank[4];

    (void)state;
    tail_ranks(x, 4, rank);
    assert_true(fabs(rank[0] - log(4)) < 1e-12);
    assert_true(rank[1] == 0);
    assert_true(fabs(rank[2] - log(4.0 / 3)) < 1e-12);
    assert_true(rank[2] == rank[3]);
}

static void the_tail_is_a_twentieth_or_two_values(void **state)
{
    (void)state;
    assert_true(tail_share(1000) == 0.05);
    assert_true(tail_share(40) == 0.05);
    assert_true(tail_share(20) == 0.1);
    assert_true(tail_share(2) == 0.5);
}

/* Of 1 2 4 8 the median is between 2 and 4; of one value all are. */
static void quantiles_by_hand(void **state)
{
    static const double x[] = {4, 1, 8, 2};
    struct tail tail;

    (void)state;
    tail_fit(&tail, x, 4, 1);
    assert_true(tail_quantile(&tail, 0) == 1 && tail_quantile(&tail, 1) == 8);
    assert_true(fabs(tail_quantile(&tail, 0.5) - 3) < 1e-12);
    assert_true(fabs(tail_quantile(&tail, 0.25) - 1.75) < 1e-12);
    tail_release(&tail);
    tail_fit(&tail, x, 1, 1);
    assert_true(tail_quantile(&tail, 0.9) == 4);
    tail_release(&tail);
}

static void exponential(double *x, size_t n, double scale)
{
    struct rng rng = {4};

    for (size_t i = 0; i < n; i++)
        x[i] = -scale * log(1 - rng_real(&rng));
}

/* The model never turns two values around, nor says less than nothing. */
static void the_model_keeps_the_order(void **state)
{
    static double x[MANY], model[MANY];

    (void)state;
    exponential(x, MANY, 1);
    x[7] = 1e6;
    model_all(x, MANY, 1e-9, model);
    for (size_t i = 0; i < MANY; i++) {
        assert_true(model[i] >= 0);
        for (size_t k = 0; k < MANY; k += 37)
            assert_true(x[i] <= x[k] || model[i] >= model[k]);
    }
}

/*
 * An exponential tail of scale s loses a nat per s. The steepest of three estimates is taken,
 * so a far value at 50 s is 40 to 52 nats out, whatever s is; and one that a hundred times as
 * large is a hundred times as far.
 */
static void an_exponential_tail_is_followed(void **state)
{
    static double x[MANY], model[MANY];

    (void)state;
    for (double scale = 1e-3; scale < 1e7; scale *= 1e3) {
        exponential(x, MANY, scale);
        x[0] = 50 * scale;
        x[1] = 5000 * scale;
        model_all(x, MANY, 0, model);
        assert_true(model[0] > 40 && model[0] < 52);
        assert_true(model[1] > 90 * model[0] && model[1] < 110 * model[0]);
    }
}

/* What the quantiles below show counts, not the anomalies: more of them change nothing below.
 */
static void anomalies_do_not_set_the_slope(void **state)
{
    static double x[MANY], few[MANY], many[MANY];

    (void)state;
    exponential(x, MANY, 1);
    x[0] = 100;
    model_all(x, MANY, 0, few);
    for (size_t i = 1; i < MANY / 50; i++)
        x[i] = 100 + (double)i;
    model_all(x, MANY, 0, many);
    assert_true(many[0] > 0.5 * few[0]);
}

static void one_value_is_no_trouble(void **state)
{
    double x = 3, rank = -1, model = -1;

    (void)state;
    tail_ranks(&x, 0, &rank);
    assert_true(rank == -1);
    tail_ranks(&x, 1, &rank);
    model_all(&x, 1, 1, &model);
    assert_true(rank == 0 && model == 0);
}

/* Against the sum that defines it. */
static void evidence_of_several_is_that_of_their_sum(void **state)
{
    (void)state;
    assert_true(fabs(tail_together(1, 5.5) - 5.5) < 1e-12);
    assert_true(fabs(tail_together(2, 10) - (10 - log(11))) < 1e-12);
    assert_true(fabs(tail_together(3, 10) - (10 - log(61))) < 1e-12);
    assert_true(tail_together(3, 0) == 0);
    assert_true(fabs(tail_together(1, 0.5) - 0.5) < 1e-12);
    assert_true(fabs(tail_together(3, 2) - (2 - log(5))) < 1e-12);
    assert_true(fabs(tail_together(3, 3) - (3 - log(8.5))) < 1e-12);
    assert_true(isfinite(tail_together(1000, 5000)) && tail_together(1000, 5000) > 1000);
    assert_true(tail_together(100000, 1e-3) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_by_hand),
        cmocka_unit_test(quantiles_by_hand),
        cmocka_unit_test(the_tail_is_a_twentieth_or_two_values),
        cmocka_unit_test(the_model_keeps_the_order),
        cmocka_unit_test(an_exponential_tail_is_followed),
        cmocka_unit_test(anomalies_do_not_set_the_slope),
        cmocka_unit_test(one_value_is_no_trouble),
        cmocka_unit_test(evidence_of_several_is_that_of_their_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

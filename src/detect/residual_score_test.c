#include "detect/residual_score.h"

#include "base/rng.h"
#include "detect/tails.h"

#include "test.h"

/* Ten values: ranks are -ln of tenths; ties share. */
static void ranks_are_shares_of_as_large_or_larger(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 7, 9, 10};
    double rank[10];

    (void)state;
    tail_ranks(x, 10, rank);
    assert_true(rank[0] == 0);
    assert_true(fabs(rank[9] - log(10)) < 1e-12);
    assert_true(fabs(rank[6] - log(10.0 / 4)) < 1e-12);
    assert_true(rank[6] == rank[7]);
}

/* 1..1000 and one at 5000: the tail falls off by a nat per some 230, so it is far beyond. */
static void the_model_goes_beyond_the_ranks(void **state)
{
    static double x[1000];
    struct tail tail;

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        x[i] = (double)i + 1;
    x[999] = 5000;
    tail_fit(&tail, x, 1000, 0.5);
    assert_true(fabs(tail_rank(&tail, 5000) - log(1000)) < 1e-12);
    assert_true(tail_model_at(&tail, 5000, log(1000)) > 10);
    assert_true(tail_model_at(&tail, 5000, log(1000)) < 17);
    assert_true(tail_model_at(&tail, 501, 0.69) == 0.69);
    assert_true(tail_rank(&tail, 1e5) > tail_rank(&tail, 5000)); /* none so large: it shows */
    assert_true(tail_rank(&tail, 1e6) > tail_rank(&tail, 1e5));
    tail_release(&tail);
}

static struct residual_measure *typical(size_t n)
{
    struct residual_measure *m = calloc(n, sizeof *m);

    for (size_t i = 0; i < n; i++)
        m[i].own = NAN;
    return m;
}

/* Trees by their own calibration. Returns what evidence makes an anomaly. */
static double score(const struct residual_measure *m, size_t n, struct residual_scores *s)
{
    struct calibration y;

    calibration_fit(&y, m, n, NULL);
    residual_score(&y, m, n, NULL, s);
    calibration_release(&y);
    return y.strong;
}

/* One tree of another run is as strange as its twin in the run the calibration is from. */
static void a_calibration_gives_other_trees_the_same_scores(void **state)
{
    struct residual_measure *m = typical(400);
    struct residual_scores own, other;
    struct calibration y, copy;
    struct pack pack = {0};

    (void)state;
    for (size_t i = 0; i < 400; i++)
        m[i].time = 0.001 * (double)i;
    m[7].time = 12;
    m[7].sure = 1;
    calibration_fit(&y, m, 400, NULL);
    residual_score(&y, m, 400, NULL, &own);
    calibration_pack(&y, &pack);
    calibration_unpack(&copy, &pack);
    assert_false(pack.is_bad);
    residual_score(&copy, m + 5, 3, NULL, &other);
    for (size_t i = 0; i < 3; i++)
        assert_true(other.score[i] == own.score[5 + i]);
    assert_true(other.evidence[2] >= copy.strong && other.score[2] > copy.threshold);
    assert_true(other.evidence[1] < copy.strong && other.score[1] <= copy.threshold);
    residual_scores_release(&own);
    residual_scores_release(&other);
    calibration_release(&y);
    calibration_release(&copy);
    pack_release(&pack);
    free(m);
}

static void equal_trees_score_nothing(void **state)
{
    static const size_t sizes[] = {1, 2, 5, 100};

    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct residual_measure *m = typical(sizes[k]);
        struct residual_scores s;

        double strong = score(m, sizes[k], &s);

        for (size_t i = 0; i < sizes[k]; i++)
            assert_true(s.score[i] == 0 && s.evidence[i] < strong);
        residual_scores_release(&s);
        free(m);
    }
}

static void each_part_can_make_an_anomaly(void **state)
{
    (void)state;
    for (enum score_part part = PART_TIME; part < N_PARTS; part++) {
        struct residual_measure *m = typical(400);
        struct residual_scores s;
        double strong;

        for (size_t i = 0; i < 400; i++)
            m[i].time = m[i].gross = 0.001 * (double)i;
        m[7].time = part == PART_TIME ? 12 : m[7].time;
        m[7].sure = part == PART_TIME ? 0.06 : 0;
        m[7].gross = part == PART_GROSS ? 50 : m[7].gross;
        m[7].structure = part == PART_STRUCTURE ? 8 : 0;
        m[7].size = part == PART_SIZE ? 3 : 0;
        m[7].size_z = part == PART_SIZE ? 15 : 0;
        m[7].brief = part == PART_SHORT ? 20 : 0;
        m[7].saved = part == PART_SHORT ? 0.5 : 0;
        strong = score(m, 400, &s);
        assert_int_equal(s.part[7], part);
        for (size_t i = 0; i < 400; i++) {
            assert_true(i == 7 || s.score[i] <= s.score[7]);
            assert_int_equal(s.evidence[i] >= strong, i == 7);
        }
        residual_scores_release(&s);
        free(m);
    }
}

/* However surely: 4 % of a typical execution are no anomaly. They are still ranked. */
static void what_lost_little_is_no_anomaly(void **state)
{
    static const double share[] = {0.04, 0.06};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct residual_measure *m = typical(400);
        struct residual_scores s;
        double strong;

        for (size_t i = 0; i < 400; i++)
            m[i].time = m[i].gross = 0.00004 * (double)i;
        m[7] = (struct residual_measure){
            .time = 12, .sure = share[k], .gross = share[k], .own = NAN};
        strong = score(m, 400, &s);
        assert_true(s.evidence[7] >= strong);
        assert_int_equal(s.weight[7] >= strong, k == 1);
        for (size_t i = 0; i < 400; i++)
            assert_true(i == 7 || s.score[i] < s.score[7]);
        residual_scores_release(&s);
        free(m);
    }
}

/* 6 % of a typical execution, of which 2 % may be that its begin is an estimate. */
static void what_may_have_lost_nothing_is_no_anomaly(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct residual_measure *m = typical(400);
        struct residual_scores s;
        double strong, off = k == 0 ? 0.02 : 0.005;

        for (size_t i = 0; i < 400; i++)
            m[i].time = m[i].gross = 0.00004 * (double)i;
        m[7] = (struct residual_measure){.time = 12, .sure = 0.06, .gross = 0.06, .own = NAN};
        m[7].sure_off = m[7].gross_off = off;
        strong = score(m, 400, &s);
        assert_true(s.evidence[7] >= strong);
        assert_int_equal(s.weight[7] >= strong, k == 1);
        for (size_t i = 0; i < 400; i++)
            assert_true(i == 7 || s.score[i] < s.score[7]);
        residual_scores_release(&s);
        free(m);
    }
}

static void a_few_trees_are_ranked_but_not_judged(void **state)
{
    struct residual_measure m[5] = {{.time = 0}, {.time = 20}, {.time = 0.1}};
    struct residual_scores s;

    (void)state;
    assert_true(score(m, 5, &s) > s.evidence[1]);
    assert_true(s.score[1] > s.score[2] && s.score[2] > s.score[0]);
    residual_scores_release(&s);
}

/* Of 400 trees 30 lost as much: one by itself, the others waiting for it. */
static void who_lost_by_itself_comes_before_who_waited(void **state)
{
    struct residual_measure *m = typical(400);
    struct residual_scores s;
    double strong;

    (void)state;
    for (size_t i = 0; i < 400; i++)
        m[i].gross = m[i].own = 0.0001 * (double)i;
    for (size_t i = 0; i < 30; i++) {
        m[i].gross = 1;
        m[i].own = i == 7 ? 1 : 0.01;
    }
    strong = score(m, 400, &s);
    for (size_t i = 0; i < 400; i++) {
        assert_int_equal(s.weight[i] >= strong, i == 7);
        assert_true(i == 7 || s.score[i] < s.score[7]);
    }
    assert_true(s.is_long[7]);
    residual_scores_release(&s);
    free(m);
}

/* Other work takes time from everyone: own is exponential, 0.4 typical durations in the mean, at
 * most 3; and thirty wait for others. Three that lost 4.5 by themselves are none of these. */
static void who_lost_more_than_noise_takes_is_an_anomaly(void **state)
{
    struct residual_measure *m = typical(960);
    struct residual_scores s;
    double strong;

    (void)state;
    for (size_t i = 0; i < 960; i++)
        m[i].gross = m[i].own = -0.4 * log(((double)i + 0.5) / 960);
    for (size_t i = 500; i < 530; i++)
        m[i].gross = 6;
    for (size_t i = 900; i < 903; i++)
        m[i].gross = m[i].own = 4.5;
    strong = score(m, 960, &s);
    for (size_t i = 0; i < 960; i++)
        assert_int_equal(s.weight[i] >= strong, i >= 900 && i < 903);
    residual_scores_release(&s);
    free(m);
}

/* Sixteen, each half as long again as the one before: the last is none that stands out, and so
 * few say nothing of how much longer the longest may be. */
static void sixteen_that_grow_have_no_anomaly(void **state)
{
    struct residual_measure *m = typical(16);
    struct residual_scores s;
    double strong;

    (void)state;
    for (size_t i = 0; i < 16; i++)
        m[i].gross = m[i].own = 0.5 * pow(1.5, (double)i);
    strong = score(m, 16, &s);
    for (size_t i = 0; i < 16; i++)
        assert_true(s.weight[i] < strong);
    residual_scores_release(&s);
    free(m);
}

/* Of two anomalies one is stranger and lost two typical durations, the other lost forty. */
static void who_lost_many_durations_comes_before_who_is_only_stranger(void **state)
{
    struct residual_measure *m = typical(400);
    struct residual_scores s;
    double strong;

    (void)state;
    m[3] =
        (struct residual_measure){.time = 14, .sure = 2, .gross = 2, .own = 2, .structure = 11};
    m[7] = (struct residual_measure){.time = 12, .sure = 40, .gross = 40, .own = 40};
    strong = score(m, 400, &s);
    assert_true(s.weight[3] >= strong && s.weight[7] >= strong);
    assert_true(s.value[PART_STRUCTURE][3] > s.value[PART_STRUCTURE][7] + 3);
    assert_true(s.score[7] > s.score[3]);
    residual_scores_release(&s);
    free(m);
}

/* Aspects that agree add up; one alone cannot outweigh them by a little. */
static void what_agrees_adds_up(void **state)
{
    struct residual_measure *m = typical(1000);
    struct residual_scores s;

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        m[i].time = m[i].gross = m[i].structure = 0.004 * (double)i;
    m[3] = (struct residual_measure){.structure = 4.5, .own = NAN};
    m[7] = (struct residual_measure){.time = 4.1, .gross = 8, .structure = 4.1, .own = NAN};
    score(m, 1000, &s);
    assert_true(s.value[PART_STRUCTURE][3] > s.value[PART_STRUCTURE][7]);
    assert_true(s.score[7] > s.score[3] + 2);
    residual_scores_release(&s);
    free(m);
}

/* Whatever it is: each of these is so in 20 of 400 executions, of which one is strange in another
 * way, too. */
static void what_one_in_twenty_has_adds_nothing(void **state)
{
    static const enum score_part parts[] = {PART_TIME, PART_GROSS, PART_SIZE, PART_SHORT};

    (void)state;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        struct residual_measure *m = typical(400);
        struct residual_scores s;

        for (size_t i = 0; i < 400; i++)
            m[i].structure = log(400.0 / (double)(400 - i));
        for (size_t i = 0; i < 20; i++) {
            m[i].time = parts[k] == PART_TIME ? 4 : 0;
            m[i].gross = parts[k] == PART_GROSS ? 8 : 0;
            m[i].size = parts[k] == PART_SIZE ? 3 : 0;
            m[i].size_z = parts[k] == PART_SIZE ? 15 : 0;
            m[i].brief = parts[k] == PART_SHORT ? 20 : 0;
        }
        m[7].structure = 5;
        score(m, 400, &s);
        assert_int_equal(s.part[7], PART_STRUCTURE);
        assert_true(s.value[parts[k]][7] > 1.5);
        assert_true(fabs(s.score[7] - s.value[PART_STRUCTURE][7]) < 1e-12);
        residual_scores_release(&s);
        free(m);
    }
}

/* As many as 2 % may be strange: they neither hide each other nor make the others anomalies. */
static void anomalies_do_not_set_the_bar(void **state)
{
    struct residual_measure *m = typical(2000);
    struct residual_scores s;
    double strong;

    (void)state;
    for (size_t i = 0; i < 2000; i++) {
        m[i].time = i < 40 ? 14 + 0.01 * (double)i : 0.002 * (double)i;
        m[i].sure = i < 40 ? 1 : 0;
    }
    strong = score(m, 2000, &s);
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(s.evidence[i] >= strong, i < 40);
    residual_scores_release(&s);
    free(m);
}

/* Exponential tails, as nothing but chance: false alarms are as rare as is said. */
static void chance_alone_makes_no_anomalies(void **state)
{
    struct rng rng = {5};
    struct residual_measure *m = typical(5000);
    size_t n_called = 0;

    (void)state;
    for (int run = 0; run < 20; run++) {
        struct residual_scores s;
        double strong;

        for (size_t i = 0; i < 5000; i++) {
            m[i].time = -0.4 * log(1 - rng_real(&rng)) + 2;
            m[i].gross = fmax(0.1 * -log(1 - rng_real(&rng)) - 0.1, 0);
        }
        strong = score(m, 5000, &s);
        for (size_t i = 0; i < 5000; i++)
            n_called += s.evidence[i] >= strong;
        residual_scores_release(&s);
    }
    assert_true(n_called <= 20);
    free(m);
}

static void more_false_alarms_take_less_evidence(void **state)
{
    const struct calibration enough = {.strong = 8}, few = {.strong = INFINITY};

    (void)state;
    assert_true(calibration_strong(&enough, 1000, 10) < calibration_strong(&enough, 1000, 1));
    assert_true(calibration_strong(&enough, 1e6, 1) > calibration_strong(&enough, 1000, 1));
    assert_true(isfinite(calibration_strong(&enough, 5, 1)));
    assert_true(isinf(calibration_strong(&few, 1000, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_shares_of_as_large_or_larger),
        cmocka_unit_test(the_model_goes_beyond_the_ranks),
        cmocka_unit_test(a_calibration_gives_other_trees_the_same_scores),
        cmocka_unit_test(equal_trees_score_nothing),
        cmocka_unit_test(each_part_can_make_an_anomaly),
        cmocka_unit_test(what_lost_little_is_no_anomaly),
        cmocka_unit_test(what_may_have_lost_nothing_is_no_anomaly),
        cmocka_unit_test(a_few_trees_are_ranked_but_not_judged),
        cmocka_unit_test(what_agrees_adds_up),
        cmocka_unit_test(what_one_in_twenty_has_adds_nothing),
        cmocka_unit_test(who_lost_by_itself_comes_before_who_waited),
        cmocka_unit_test(who_lost_more_than_noise_takes_is_an_anomaly),
        cmocka_unit_test(sixteen_that_grow_have_no_anomaly),
        cmocka_unit_test(who_lost_many_durations_comes_before_who_is_only_stranger),
        cmocka_unit_test(anomalies_do_not_set_the_bar),
        cmocka_unit_test(chance_alone_makes_no_anomalies),
        cmocka_unit_test(more_false_alarms_take_less_evidence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

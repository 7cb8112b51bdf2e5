/* One word with the entry 1 moves a score by w / 3 nats; w solves w = y - p by hand. */

#include "learn/logit.h"

#include "base/mem.h"
#include "base/rng.h"

#include "test.h"

#define PIVOT 4.0

struct forest_of_words {
    struct rows rows;
    double *score, *corrected;
    signed char *label;
    struct pool *pool;
};

/* n executions; i has the word i % n_kinds and scores 3 + i % 5 / 2. */
static void begin(struct forest_of_words *f, uint32_t n, uint32_t n_kinds)
{
    rows_init(&f->rows, n_kinds);
    f->score = mem_alloc(n, sizeof *f->score);
    f->corrected = mem_alloc(n, sizeof *f->corrected);
    f->label = mem_alloc(n, 1);
    f->pool = pool_new(1);
    for (uint32_t i = 0; i < n; i++) {
        f->score[i] = 3 + 0.5 * (i % 5);
        rows_add(&f->rows, i % n_kinds, 1);
        rows_end(&f->rows);
    }
}

static void end(struct forest_of_words *f)
{
    rows_release(&f->rows);
    free(f->score);
    free(f->corrected);
    free(f->label);
    pool_free(f->pool);
}

static struct logit_input input_of(const struct forest_of_words *f)
{
    return (struct logit_input){&f->rows, f->score, f->label, PIVOT, f->rows.n_cols};
}

static void learn(struct forest_of_words *f, struct logit *logit)
{
    struct logit_input input = input_of(f);

    logit_fit(logit, &input);
    logit_score(logit, &f->rows, f->score, f->pool, f->corrected);
}

static void without_labels_no_score_changes(void **state)
{
    struct forest_of_words f;
    struct logit logit;

    (void)state;
    begin(&f, 20, 4);
    learn(&f, &logit);
    assert_memory_equal(f.corrected, f.score, 20 * sizeof *f.score);
    logit_release(&logit);
    end(&f);
}

/* At the pivot p = 1/2 without a weight. The best weight has w = -p(w): w = -0.401058. */
static void one_label_moves_what_shares_its_word_and_nothing_else(void **state)
{
    struct forest_of_words f;
    struct logit logit;

    (void)state;
    begin(&f, 20, 4);
    f.label[2] = -1; /* scores 4 */
    learn(&f, &logit);
    assert_float_equal(logit.weight[2], -0.401058, 1e-6);
    assert_float_equal(f.corrected[6], f.score[6] - 0.401058 / 3, 1e-6);
    assert_float_equal(f.corrected[7], f.score[7], 0);
    logit_release(&logit);
    end(&f);
}

static void what_was_expected_teaches_little_and_what_surprises_much(void **state)
{
    struct forest_of_words f;
    struct logit logit;

    (void)state;
    begin(&f, 20, 2);
    f.label[0] = -1; /* 3, a nat below the pivot */
    f.label[9] = -1; /* 5, a nat above */
    learn(&f, &logit);
    assert_true(logit.weight[0] < 0 && logit.weight[0] > -0.06);
    assert_true(logit.weight[1] < -0.7);
    logit_release(&logit);
    end(&f);
}

/* However high it scores: as if its score had left it in doubt. */
static void what_a_person_confirms_raises_its_kind(void **state)
{
    struct forest_of_words f;
    struct logit logit;

    (void)state;
    begin(&f, 20, 4);
    f.score[1] = 1e6;
    f.label[1] = 1;
    learn(&f, &logit);
    assert_float_equal(logit.weight[1], 0.401058, 1e-6);
    logit_release(&logit);
    end(&f);
}

/* Columns 2 and 3 are of this run only: `abnormal` speaks of them, `normal` does not. */
static void one_normal_victim_does_not_clear_the_others(void **state)
{
    struct forest_of_words f;
    struct logit_input input;
    struct logit logit;

    (void)state;
    begin(&f, 20, 4);
    input = input_of(&f);
    input.n_lasting = 2;
    f.label[2] = -1; /* of column 2 */
    f.label[3] = 1;  /* of column 3 */
    logit_fit(&logit, &input);
    assert_float_equal(logit.weight[2], 0, 0);
    assert_true(logit.weight[3] > 0.2);
    logit_release(&logit);
    end(&f);
}

static void opposite_labels_on_twins_in_doubt_cancel(void **state)
{
    struct forest_of_words f;
    struct logit logit;

    (void)state;
    begin(&f, 20, 1);
    f.label[2] = 1;
    f.label[7] = -1;
    learn(&f, &logit);
    assert_float_equal(logit.weight[0], 0, 1e-9);
    logit_release(&logit);
    end(&f);
}

static void no_score_falls_below_a_fifth_of_the_detectors(void **state)
{
    struct forest_of_words f;
    struct logit logit;

    (void)state;
    begin(&f, 500, 1);
    memset(f.label, -1, 400);
    for (int i = 0; i < 500; i++)
        f.score[i] = 1000.0 + i;
    learn(&f, &logit);
    for (int i = 0; i < 500; i++)
        assert_true(f.corrected[i] >= 0.2 * f.score[i]);
    for (int i = 1; i < 500; i++)
        assert_true(f.corrected[i] > f.corrected[i - 1]);
    logit_release(&logit);
    end(&f);
}

/* The gradient is zero: w = sum of (y - p) x over the labels. */
static void thousands_of_contradicting_labels_have_one_best_answer(void **state)
{
    enum { N = 5000, KINDS = 40 };
    struct forest_of_words f;
    struct rng rng = {3};
    struct logit logit;
    double gradient[KINDS] = {0};

    (void)state;
    begin(&f, N, KINDS);
    for (int i = 0; i < N; i++) {
        f.score[i] = 20 * rng_real(&rng);
        f.label[i] = rng_real(&rng) < 0.5 ? 1 : -1;
    }
    learn(&f, &logit);
    for (int i = 0; i < N; i++) {
        double offset = 3 * (f.score[i] - PIVOT), w = logit.weight[i % KINDS];

        offset = f.label[i] > 0 ? fmin(offset, 0) : fmin(offset, 30);
        gradient[i % KINDS] += (f.label[i] > 0) - 1 / (1 + exp(-offset - w));
    }
    for (int k = 0; k < KINDS; k++)
        assert_float_equal(logit.weight[k], gradient[k], 1e-6);
    logit_release(&logit);
    end(&f);
}

static void threads_do_not_change_a_bit(void **state)
{
    struct forest_of_words f;
    struct pool *many = pool_new(5);
    struct logit logit;
    double *again = mem_alloc(9000, sizeof *again);

    (void)state;
    begin(&f, 9000, 7);
    for (int i = 0; i < 9000; i += 100)
        f.label[i] = i % 200 ? 1 : -1;
    learn(&f, &logit);
    logit_score(&logit, &f.rows, f.score, many, again);
    assert_memory_equal(again, f.corrected, 9000 * sizeof *again);
    logit_release(&logit);
    pool_free(many);
    free(again);
    end(&f);
}

/* Five of a kind, of which one is asked about: the other four, and nobody else. */
static void an_answer_moves_the_unlabelled_that_share_words(void **state)
{
    struct forest_of_words f;
    struct logit_input input;
    struct logit logit;

    (void)state;
    begin(&f, 20, 4);
    for (int i = 0; i < 20; i++)
        f.rows.value[i] = 2;
    learn(&f, &logit);
    input = input_of(&f);
    assert_int_equal(logit_moves(&logit, &input, f.corrected, 2), 4);
    logit_release(&logit);
    f.label[6] = -1;
    learn(&f, &logit);
    assert_int_equal(logit_moves(&logit, &input, f.corrected, 2), 3);
    logit_release(&logit);
    end(&f);
}

/* 3 and 4 are above the pivot, 10 is below; columns 2 and 3 are of this run only. */
static void normal_moves_by_columns_that_it_speaks_of(void **state)
{
    struct forest_of_words f;
    struct logit_input input;
    struct logit logit;

    (void)state;
    begin(&f, 20, 4);
    for (int i = 0; i < 20; i++)
        f.rows.value[i] = 2;
    learn(&f, &logit);
    input = input_of(&f);
    input.n_lasting = 2;
    assert_int_equal(logit_moves(&logit, &input, f.corrected, 3), 0);
    assert_int_equal(logit_moves(&logit, &input, f.corrected, 4), 4);
    assert_int_equal(logit_moves(&logit, &input, f.corrected, 10), 4);
    logit_release(&logit);
    end(&f);
}

/* Row 4, of a kind with 0, 8, 12 and 16, scores a nat above the pivot: `normal` surprises. */
static void what_an_answer_moves_is_what_moves_once_it_is_given(void **state)
{
    static const double value[] = {0.2, 4, 0.5, 0.6, 1};
    struct forest_of_words f;
    struct logit_input input;
    struct logit logit;
    uint32_t n, n_moved = 0;

    (void)state;
    begin(&f, 20, 4);
    for (int i = 0; i < 5; i++)
        f.rows.value[4 * i] = value[i];
    learn(&f, &logit);
    input = input_of(&f);
    n = logit_moves(&logit, &input, f.corrected, 4);
    logit_release(&logit);
    f.label[4] = -1;
    learn(&f, &logit);
    for (int i = 0; i < 20; i++)
        n_moved += i != 4 && fabs(f.corrected[i] - f.score[i]) >= 0.25;
    assert_int_equal(n_moved, 1);
    assert_int_equal(n, n_moved);
    logit_release(&logit);
    end(&f);
}

static void what_is_kept_survives_as_bytes(void **state)
{
    struct forest_of_words f;
    struct pack pack = {0};
    struct logit logit, copy;
    double again[50];

    (void)state;
    begin(&f, 50, 5);
    f.label[7] = 1;
    f.label[30] = -1;
    learn(&f, &logit);
    logit_keep(&logit, 4); /* the word 4 is of this run only */
    logit_score(&logit, &f.rows, f.score, f.pool, f.corrected);
    assert_true(f.corrected[4] == f.score[4]);
    logit_pack(&logit, &pack);
    assert_int_equal(logit_unpack(&copy, &pack), 0);
    logit_score(&copy, &f.rows, f.score, f.pool, again);
    assert_memory_equal(again, f.corrected, sizeof again);
    logit_release(&copy);
    pack.at = 0;
    pack.n /= 2;
    assert_true(logit_unpack(&copy, &pack) < 0);
    logit_release(&copy);
    logit_release(&logit);
    pack_release(&pack);
    end(&f);
}

/* The threshold is 5: an anomaly at 4 is one by other evidence, as is what is none at 6. */
static void a_verdict_holds_unless_labels_carry_the_score_over_the_threshold(void **state)
{
    static const struct {
        bool was_anomaly;
        double prior, score;
        bool is_anomaly;
    } cases[] = {
        {true, 7, 7, true},     {true, 7, 5.1, true},     {true, 7, 4.9, false},
        {true, 5.1, 4.9, true}, {true, 5.1, 4.8, false},  {true, 4, 3.9, true},
        {true, 4, 3.7, false},  {false, 3, 3, false},     {false, 3, 4.9, false},
        {false, 3, 5.1, true},  {false, 4.9, 5.1, false}, {false, 4.9, 5.2, true},
        {false, 6, 6.1, false}, {false, 6, 6.3, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(logit_verdict(cases[i].was_anomaly, cases[i].prior, cases[i].score, 5),
                         cases[i].is_anomaly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_labels_no_score_changes),
        cmocka_unit_test(one_label_moves_what_shares_its_word_and_nothing_else),
        cmocka_unit_test(what_was_expected_teaches_little_and_what_surprises_much),
        cmocka_unit_test(what_a_person_confirms_raises_its_kind),
        cmocka_unit_test(one_normal_victim_does_not_clear_the_others),
        cmocka_unit_test(opposite_labels_on_twins_in_doubt_cancel),
        cmocka_unit_test(no_score_falls_below_a_fifth_of_the_detectors),
        cmocka_unit_test(thousands_of_contradicting_labels_have_one_best_answer),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(an_answer_moves_the_unlabelled_that_share_words),
        cmocka_unit_test(normal_moves_by_columns_that_it_speaks_of),
        cmocka_unit_test(what_an_answer_moves_is_what_moves_once_it_is_given),
        cmocka_unit_test(what_is_kept_survives_as_bytes),
        cmocka_unit_test(a_verdict_holds_unless_labels_carry_the_score_over_the_threshold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

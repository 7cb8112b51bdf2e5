/* Points on a line, so that kernels can be worked by hand: exp(-d^2 / (2 * 1.5^2)). */
#include "base/test.h"

#include "learn/gp.h"

#include "base/mem.h"

#define HIGH 6.0

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

struct line {
    struct rows rows;
    double prior[5000];
    signed char label[5000];
    double score[5000];
};

/* n points at distance step, prior 1 each, no labels. */
static void line_init(struct line *l, uint32_t n, double step)
{
    memset(l, 0, sizeof *l);
    rows_init(&l->rows, 1);
    for (uint32_t i = 0; i < n; i++) {
        rows_add(&l->rows, 0, i * step);
        rows_end(&l->rows);
        l->prior[i] = 1;
    }
}

static struct line *line_new(uint32_t n, double step)
{
    struct line *l = mem_alloc(1, sizeof *l);

    line_init(l, n, step);
    return l;
}

static void line_free(struct line *l)
{
    rows_release(&l->rows);
    free(l);
}

static int rank(struct line *l, const struct gp_opts *opts, unsigned n_threads)
{
    struct gp_input input = {&l->rows, l->prior, l->label, HIGH};
    struct pool *pool = pool_new(n_threads);
    struct gp gp;
    int rc = gp_fit(&gp, &input, opts);

    if (rc == 0)
        gp_score(&gp, &l->rows, l->prior, pool, l->score);
    gp_release(&gp);
    pool_free(pool);
    return rc;
}

static struct gp_opts without_background(void)
{
    struct gp_opts opts = gp_opts_default();

    opts.n_background = 0;
    return opts;
}

static void without_labels_the_scores_stay(void **state)
{
    struct line *l = line_new(10, 1);
    struct gp_opts opts = gp_opts_default();

    (void)state;
    l->prior[3] = 2.5;
    assert_int_equal(rank(l, &opts, 1), 0);
    assert_memory_equal(l->score, l->prior, 10 * sizeof(double));
    line_free(l);
}

static void one_label_is_a_bump_as_wide_as_the_kernel(void **state)
{
    struct line *l = line_new(10, 1.5);
    struct gp_opts opts = without_background();
    double alpha = (HIGH - 1) / 1.02;

    (void)state;
    l->label[4] = 1;
    assert_int_equal(rank(l, &opts, 1), 0);
    assert_true(is_near(l->score[4], 1 + alpha, 1e-6));
    assert_true(is_near(l->score[5], 1 + alpha * exp(-0.5), 1e-6));
    assert_true(is_near(l->score[3], l->score[5], 1e-6));
    assert_true(is_near(l->score[6], 1 + alpha * exp(-2.0), 1e-6));
    assert_true(is_near(l->score[9], 1 + alpha * exp(-12.5), 1e-6));
    line_free(l);
}

static void a_normal_label_takes_its_neighbours_down_but_not_below_the_floor(void **state)
{
    struct line *l = line_new(10, 0.1);
    struct gp_opts opts = without_background();

    (void)state;
    for (int i = 0; i < 10; i++)
        l->prior[i] = 5 + 0.1 * i;
    l->label[0] = -1;
    assert_int_equal(rank(l, &opts, 1), 0);
    for (int i = 0; i < 10; i++) {
        assert_true(l->score[i] < 2);
        assert_true(l->score[i] >= 0.2 * l->prior[i]);
    }
    assert_true(l->score[0] < l->score[9]);
    line_free(l);
}

static void labels_that_contradict_each_other_on_twins_meet_halfway(void **state)
{
    struct line *l = line_new(4, 0);
    struct gp_opts opts = without_background();

    (void)state;
    l->label[0] = 1;
    l->label[1] = -1;
    assert_int_equal(rank(l, &opts, 1), 0);
    assert_true(is_near(l->score[2], HIGH / 2, 0.1));
    assert_memory_equal(&l->score[0], &l->score[3], sizeof(double));
    line_free(l);
}

static void the_background_keeps_a_label_from_spreading_over_normal_ones(void **state)
{
    struct line *with = line_new(1000, 0.001), *without = line_new(1000, 0.001);
    struct gp_opts opts = gp_opts_default(), none = without_background();

    (void)state;
    with->label[0] = without->label[0] = 1;
    assert_int_equal(rank(with, &opts, 1), 0);
    assert_int_equal(rank(without, &none, 1), 0);
    assert_true(without->score[999] > 4);
    assert_true(with->score[999] < 1.5);
    line_free(with);
    line_free(without);
}

static void threads_do_not_change_a_bit(void **state)
{
    struct line *one = line_new(3000, 0.01), *many = line_new(3000, 0.01);
    struct gp_opts opts = gp_opts_default();

    (void)state;
    for (int i = 0; i < 3000; i += 300)
        one->label[i] = many->label[i] = i % 600 ? 1 : -1;
    assert_int_equal(rank(one, &opts, 1), 0);
    assert_int_equal(rank(many, &opts, 5), 0);
    assert_memory_equal(one->score, many->score, 3000 * sizeof(double));
    line_free(one);
    line_free(many);
}

static void thousands_of_labels_are_merged_where_they_agree(void **state)
{
    struct line *l = line_new(5000, 0.01);
    struct gp_input input = {&l->rows, l->prior, l->label, HIGH};
    struct gp_opts opts = without_background();
    struct gp gp;

    (void)state;
    for (int i = 0; i < 5000; i++)
        l->label[i] = i < 2500 ? 1 : -1;
    assert_int_equal(gp_fit(&gp, &input, &opts), 0);
    assert_true(gp.points.n < 200);
    gp_release(&gp);
    assert_int_equal(rank(l, &opts, 2), 0);
    assert_true(l->score[1000] > 5);
    assert_true(l->score[4000] < 0.5);
    line_free(l);
}

static void features_that_are_no_numbers_are_refused(void **state)
{
    struct line *l = line_new(3, 1);
    struct gp_opts opts = without_background();

    (void)state;
    l->rows.value[1] = NAN;
    l->rows.square[1] = NAN;
    l->label[0] = l->label[1] = 1;
    assert_true(rank(l, &opts, 1) < 0);
    line_free(l);
}

static void what_was_learnt_survives_as_bytes(void **state)
{
    struct line *l = line_new(50, 0.3);
    struct gp_input input = {&l->rows, l->prior, l->label, HIGH};
    struct gp_opts opts = gp_opts_default();
    struct pool *pool = pool_new(1);
    struct pack pack = {0};
    struct gp gp, copy;
    double again[50];

    (void)state;
    l->label[7] = 1;
    l->label[30] = -1;
    assert_int_equal(gp_fit(&gp, &input, &opts), 0);
    gp_score(&gp, &l->rows, l->prior, pool, l->score);
    gp_pack(&gp, &pack);
    assert_int_equal(gp_unpack(&copy, &pack), 0);
    gp_score(&copy, &l->rows, l->prior, pool, again);
    assert_memory_equal(again, l->score, sizeof again);
    gp_release(&copy);
    pack.at = 0;
    pack.n /= 2;
    assert_true(gp_unpack(&copy, &pack) < 0);
    gp_release(&copy);
    gp_release(&gp);
    pack_release(&pack);
    pool_free(pool);
    line_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_labels_the_scores_stay),
        cmocka_unit_test(one_label_is_a_bump_as_wide_as_the_kernel),
        cmocka_unit_test(a_normal_label_takes_its_neighbours_down_but_not_below_the_floor),
        cmocka_unit_test(labels_that_contradict_each_other_on_twins_meet_halfway),
        cmocka_unit_test(the_background_keeps_a_label_from_spreading_over_normal_ones),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(thousands_of_labels_are_merged_where_they_agree),
        cmocka_unit_test(features_that_are_no_numbers_are_refused),
        cmocka_unit_test(what_was_learnt_survives_as_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

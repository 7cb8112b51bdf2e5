/* What all methods have to do. */
#include "project/project.h"

#include "base/err.h"
#include "base/rng.h"

#include "test.h"

static const char *const names[] = {"tsne", "pca", "mds"};
enum { N_METHODS = 3, ROWS = 2100, COLS = 7 };

static double x[ROWS * COLS], y[2 * ROWS], again[2 * ROWS];

static struct matrix make_rows(size_t rows)
{
    struct rng rng = {8};

    for (size_t i = 0; i < rows * COLS; i++)
        x[i] = i % COLS == 3 ? 42 : 3 * sin((double)(i / COLS % 6)) + rng_normal(&rng);
    return (struct matrix){x, rows, COLS, COLS};
}

static void the_bytes_do_not_depend_on_the_number_of_threads(void **state)
{
    struct matrix m = make_rows(ROWS);

    (void)state;
    for (int i = 0; i < N_METHODS; i++)
        for (unsigned n_threads = 1; n_threads <= 8; n_threads *= (unsigned)test_amount(2, 8)) {
            struct project_opts opts = {
                .iterations = 10, .seed = 5, .pool = pool_new(n_threads)};
            struct project_result result;

            assert_int_equal(project_run(project_find(names[i]), m, &opts,
                                         n_threads == 1 ? y : again, &result),
                             0);
            assert_true(n_threads == 1 || memcmp(y, again, sizeof y) == 0);
            pool_free(opts.pool);
        }
}

static void few_equal_and_constant_rows_are_placed(void **state)
{
    struct project_opts opts = {.iterations = 100, .seed = 1, .pool = pool_new(2)};
    struct project_result result;

    (void)state;
    for (int i = 0; i < N_METHODS; i++)
        for (size_t rows = 1; rows < 40; rows += rows < 6 ? 1 : 11)
            for (int kind = 0; kind < 4; kind++) {
                struct matrix m = make_rows(rows);

                for (size_t k = 0; k < rows * COLS; k++)
                    x[k] = kind == 0 ? x[k] : kind == 1 ? 7 : k % COLS == 1 ? x[k] : -2;
                m.cols = kind == 3 ? 0 : COLS; /* kind 2: a line, kind 3: no columns */
                assert_int_equal(project_run(project_find(names[i]), m, &opts, y, &result), 0);
                assert_true(isfinite(result.cost));
                for (size_t k = 0; k < 2 * rows; k++)
                    assert_true(isfinite(y[k]));
                for (size_t k = 1; k < rows; k++)
                    assert_true((y[0] == y[2 * k] && y[1] == y[2 * k + 1]) ==
                                (kind == 1 || kind == 3));
            }
    pool_free(opts.pool);
}

static void what_is_no_number_is_an_error(void **state)
{
    struct project_opts opts = {.seed = 1, .pool = pool_new(1)};
    struct project_result result;

    (void)state;
    for (int i = 0; i < N_METHODS; i++) {
        struct matrix m = make_rows(20);

        x[5 * COLS + 2] = NAN;
        assert_int_equal(project_run(project_find(names[i]), m, &opts, y, &result), ERR_RANGE);
        assert_non_null(strstr(err_message(), "feature 2 of execution 5"));
        x[5 * COLS + 2] = -INFINITY;
        assert_int_equal(project_run(project_find(names[i]), m, &opts, y, &result), ERR_RANGE);
        m.rows = 0;
        assert_int_equal(project_run(project_find(names[i]), m, &opts, y, &result), ERR_RANGE);
    }
    opts.perplexity = 0.5;
    assert_int_equal(project_run(project_find("tsne"), make_rows(20), &opts, y, &result),
                     ERR_RANGE);
    assert_null(project_find("umap"));
    pool_free(opts.pool);
}

struct seen {
    uint32_t n, cancel_at;
    double last[2 * 200];
};

static bool watch(const struct project_step *step, void *ctx)
{
    struct seen *seen = ctx;

    assert_int_equal(step->iteration, seen->n * 10);
    assert_int_equal(step->rows, 200);
    memcpy(seen->last, step->points, sizeof seen->last);
    seen->n++;
    return step->iteration != seen->cancel_at;
}

static void a_cancelled_projection_has_the_points_so_far(void **state)
{
    struct seen seen = {.cancel_at = 20};
    struct project_opts opts = {
        .seed = 1, .pool = pool_new(2), .every = 10, .on_step = watch, .ctx = &seen};
    struct matrix m = make_rows(200);
    struct project_result result;

    (void)state;
    for (int i = 0; i < N_METHODS; i += 2) { /* pca has no steps */
        seen.n = 0;
        assert_int_equal(project_run(project_find(names[i]), m, &opts, y, &result), 0);
        assert_true(result.is_cancelled);
        assert_int_equal(result.n_iterations, 20);
        assert_int_equal(seen.n, 3);
        assert_memory_equal(y, seen.last, sizeof seen.last);
    }
    seen = (struct seen){.cancel_at = UINT32_MAX};
    opts.iterations = 40;
    assert_int_equal(project_run(project_find("tsne"), m, &opts, y, &result), 0);
    assert_false(result.is_cancelled);
    assert_int_equal(seen.n, 5);
    pool_free(opts.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(few_equal_and_constant_rows_are_placed),
        cmocka_unit_test(what_is_no_number_is_an_error),
        cmocka_unit_test(a_cancelled_projection_has_the_points_so_far),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

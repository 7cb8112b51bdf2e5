#include "project/mds.h"

#include "base/rng.h"

#include "test.h"

static double between(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t c = 0; c < n; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sqrt(sum);
}

#define EXTENT 7.0 /* of the points below */

/* Points of a plane that is turned into five dimensions. */
static struct matrix make_plane(size_t rows)
{
    struct matrix x = {malloc(rows * 5 * sizeof(double)), rows, 5, 5};
    struct rng rng = {3};

    for (size_t i = 0; i < rows; i++) {
        double a = rng_normal(&rng), b = 3 * rng_real(&rng), *row = matrix_row(x, i);

        row[0] = 4 + 0.6 * a;
        row[1] = 0.8 * a * 0.6 + 0.8 * b;
        row[2] = 0.8 * a * 0.8 - 0.6 * b;
        row[3] = -1;
        row[4] = 0;
    }
    return x;
}

static void assert_same_distances(struct matrix x, const double *y, double tolerance)
{
    for (size_t i = 0; i < x.rows; i += 7)
        for (size_t j = 0; j < i; j++)
            assert_true(fabs(between(matrix_row(x, i), matrix_row(x, j), x.cols) -
                             between(y + 2 * i, y + 2 * j, 2)) < tolerance);
}

static void points_of_a_plane_are_found_again(void **state)
{
    static double y[2 * 2500];
    struct project_opts opts = {.seed = 1, .pool = pool_new(2)};
    struct project_result result;

    (void)state;
    for (size_t rows = 100; rows <= 2500; rows += 2400) { /* all, and by landmarks */
        struct matrix x = make_plane(rows);

        assert_int_equal(project_run(project_find("mds"), x, &opts, y, &result), 0);
        assert_same_distances(x, y, rows > MDS_EXACT ? 1e-3 * EXTENT : 1e-9);
        assert_true(result.cost < 1e-9);
        free(x.x);
    }
    pool_free(opts.pool);
}

struct watched {
    double before;
    uint32_t n;
};

static bool never_worse(const struct project_step *step, void *ctx)
{
    struct watched *w = ctx;

    assert_true(step->cost <= w->before * (1 + 1e-12));
    w->before = step->cost;
    w->n++;
    return true;
}

/* 8 corners of a cube: no plane has them. */
static void the_stress_falls_and_is_what_is_reported(void **state)
{
    struct watched watched = {INFINITY, 0};
    struct project_opts opts = {
        .pool = pool_new(1), .every = 1, .on_step = never_worse, .ctx = &watched};
    double x[8 * 3], y[8 * 2], off = 0, all = 0;
    struct matrix m = {x, 8, 3, 3};
    struct project_result result;

    (void)state;
    for (int i = 0; i < 24; i++)
        x[i] = (i / 3 >> i % 3 & 1) * (1 + 0.1 * (i % 3));
    assert_int_equal(project_run(project_find("mds"), m, &opts, y, &result), 0);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++) {
            double d = between(x + 3 * i, x + 3 * j, 3);

            off += pow(d - between(y + 2 * i, y + 2 * j, 2), 2);
            all += d * d;
        }
    assert_true(watched.n > 5);
    assert_true(fabs(result.cost - sqrt(off / all)) < 1e-12);
    assert_true(result.cost > 0.1 && result.cost < 0.3);
    pool_free(opts.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_of_a_plane_are_found_again),
        cmocka_unit_test(the_stress_falls_and_is_what_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

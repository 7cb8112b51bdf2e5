#include "detect/neighbours.h"

#include "base/err.h"
#include "base/rng.h"

#include "test.h"

enum { COLS = 5 };

static struct matrix random_rows(double *x, size_t rows, uint64_t seed, double offset)
{
    struct rng rng = {seed};

    for (size_t i = 0; i < rows * COLS; i++)
        x[i] = offset + rng_normal(&rng);
    return (struct matrix){x, rows, COLS, COLS};
}

static double distance(struct matrix x, size_t i, size_t j)
{
    double sum = 0;

    for (size_t c = 0; c < x.cols; c++)
        sum += pow(matrix_row(x, i)[c] - matrix_row(x, j)[c], 2);
    return sqrt(sum);
}

/* Every row's k-th neighbour has k-1 rows nearer, and no row that is nearer was left out. */
static void assert_nearest(struct matrix x, const struct neighbours *n)
{
    for (size_t i = 0; i < x.rows; i++) {
        double last = n->distance[i * n->k + n->k - 1];
        size_t n_nearer = 0;

        for (size_t j = 0; j < x.rows; j++)
            n_nearer += j != i && distance(x, i, j) < last * (1 - 1e-12);
        assert_true(n_nearer < n->k);
        for (size_t c = 0; c < n->k; c++) {
            assert_true(n->index[i * n->k + c] != i);
            assert_true(fabs(distance(x, i, n->index[i * n->k + c]) -
                             n->distance[i * n->k + c]) <= 1e-12 * (1 + last));
            assert_true(c == 0 || n->distance[i * n->k + c] >= n->distance[i * n->k + c - 1]);
        }
    }
}

static void neighbours_are_the_nearest_on_any_number_of_threads(void **state)
{
    static double x[700 * COLS];
    struct matrix m = random_rows(x, 700, 1, 0);
    struct neighbours one, four;
    struct pool *pool = pool_new(1);

    (void)state;
    assert_int_equal(neighbours_find(m, 7, pool, &one), 0);
    assert_nearest(m, &one);
    pool_free(pool);
    pool = pool_new(4);
    assert_int_equal(neighbours_find(m, 7, pool, &four), 0);
    assert_memory_equal(one.index, four.index, 700 * 7 * sizeof(uint32_t));
    assert_memory_equal(one.distance, four.distance, 700 * 7 * sizeof(double));
    pool_free(pool);
    neighbours_release(&one);
    neighbours_release(&four);
}

/* A far cluster of close points: the product alone has no digits left for them. */
static void close_points_far_from_the_others_are_told_apart(void **state)
{
    static double x[300 * COLS];
    struct matrix m = random_rows(x, 300, 2, 0);
    struct pool *pool = pool_new(2);
    struct neighbours n;

    (void)state;
    for (size_t i = 100; i < 200; i++)
        for (size_t c = 0; c < COLS; c++)
            x[i * COLS + c] = 1e7 + 1e-6 * x[i * COLS + c];
    assert_int_equal(neighbours_find(m, 3, pool, &n), 0);
    for (size_t i = 100; i < 200; i++)
        assert_true(n.index[i * 3] >= 100 && n.index[i * 3] < 200);
    for (size_t i = 100; i < 200; i++)
        for (size_t j = 100; j < 200; j++)
            assert_true(j == i || distance(m, i, j) >= n.distance[i * 3] * (1 - 1e-6));
    neighbours_release(&n);
    pool_free(pool);
}

/* Groups of thirty around random places, ever tighter: from where single precision tells them
 * apart to where double precision of the products does not. */
static void tight_groups_are_searched_with_enough_digits(void **state)
{
    enum { WIDE = 19, N = 600 };
    static double x[N * WIDE];
    struct matrix m = {x, N, WIDE, WIDE};
    struct pool *pool = pool_new(2);

    (void)state;
    for (double width = 1; width > 1e-12; width /= 100) {
        struct rng places = {3}, rng = {4};
        struct neighbours n;

        for (size_t i = 0; i < N; i += 30)
            for (size_t c = 0; c < WIDE; c++) {
                double place = rng_normal(&places);

                for (size_t j = i; j < i + 30; j++)
                    x[j * WIDE + c] = place + width * rng_normal(&rng);
            }
        assert_int_equal(neighbours_find(m, 7, pool, &n), 0);
        assert_nearest(m, &n);
        neighbours_release(&n);
    }
    pool_free(pool);
}

/* Multiplied by a power of two, down to where squares leave the range of a float. */
static void scale_does_not_matter(void **state)
{
    static double x[400 * COLS];
    struct matrix m = random_rows(x, 400, 6, 0);
    struct pool *pool = pool_new(1);
    struct neighbours plain, scaled;

    (void)state;
    assert_int_equal(neighbours_find(m, 5, pool, &plain), 0);
    for (int exponent = -400; exponent <= 400; exponent += 200) {
        for (size_t i = 0; i < 400 * COLS; i++)
            x[i] = ldexp(x[i], exponent);
        assert_int_equal(neighbours_find(m, 5, pool, &scaled), 0);
        assert_memory_equal(plain.index, scaled.index, 400 * 5 * sizeof(uint32_t));
        neighbours_release(&scaled);
        for (size_t i = 0; i < 400 * COLS; i++)
            x[i] = ldexp(x[i], -exponent);
    }
    neighbours_release(&plain);
    pool_free(pool);
}

/* One row so far away that next to it the others have few digits in single precision. */
static void a_far_row_does_not_blur_the_others(void **state)
{
    static double x[700 * COLS];
    struct matrix m = random_rows(x, 700, 8, 0);
    struct pool *pool = pool_new(2);
    struct neighbours n;

    (void)state;
    for (size_t c = 0; c < COLS; c++)
        x[300 * COLS + c] = 1e9;
    assert_int_equal(neighbours_find(m, 4, pool, &n), 0);
    assert_nearest(m, &n);
    neighbours_release(&n);
    x[5] = NAN;
    assert_int_equal(neighbours_find(m, 4, pool, &n), ERR_RANGE);
    pool_free(pool);
}

static void k_must_fit_the_rows(void **state)
{
    static double x[3 * COLS];
    struct matrix m = random_rows(x, 3, 1, 0);
    struct pool *pool = pool_new(1);
    struct neighbours n;

    (void)state;
    assert_int_equal(neighbours_find(m, 3, pool, &n), ERR_RANGE);
    assert_int_equal(neighbours_find(m, 0, pool, &n), ERR_RANGE);
    assert_int_equal(neighbours_find(m, 2, pool, &n), 0);
    assert_nearest(m, &n);
    neighbours_release(&n);
    pool_free(pool);
}

static void equal_rows_are_at_distance_zero(void **state)
{
    double x[20 * COLS] = {0}, score[20];
    struct matrix m = {x, 20, COLS, COLS};
    struct pool *pool = pool_new(1);
    struct neighbours n;

    (void)state;
    assert_int_equal(neighbours_find(m, 4, pool, &n), 0);
    lof_score(&n, score);
    for (size_t i = 0; i < 20; i++) {
        assert_true(n.distance[i * 4 + 3] == 0);
        assert_true(fabs(score[i] - 1) < 1e-12);
    }
    neighbours_release(&n);
    pool_free(pool);
}

/*
 * Values of scikit-learn 1.2.1 on the same points:
 *   LocalOutlierFactor(n_neighbors=6).fit(X).negative_outlier_factor_[[0, 7, 11, 59]]
 * with X[i][c] the (3 i + c)-th rng_real of seed 5, X[7] *= 4, X[11] = X[12].
 */
static void lof_equals_scikit_learns(void **state)
{
    static const struct {
        size_t row;
        double lof;
    } want[] = {{0, 0.9884029090692145},
                {7, 13.341071652379974},
                {11, 0.9785976080698405},
                {59, 1.0279841581508198}};
    double x[60 * 3], score[60];
    struct matrix m = {x, 60, 3, 3};
    struct pool *pool = pool_new(1);
    struct rng rng = {5};
    struct neighbours n;

    (void)state;
    for (size_t i = 0; i < 180; i++)
        x[i] = rng_real(&rng);
    for (size_t c = 0; c < 3; c++) {
        x[7 * 3 + c] *= 4;
        x[11 * 3 + c] = x[12 * 3 + c];
    }
    assert_int_equal(neighbours_find(m, 6, pool, &n), 0);
    lof_score(&n, score);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(score[want[i].row] - want[i].lof) < 1e-8);
    neighbours_release(&n);
    pool_free(pool);
}

/* On a line: 0 1 2 10, k = 2: means 1.5, 1, 1.5, 8.5. */
static void knn_is_the_mean_distance(void **state)
{
    static const double want[] = {1.5, 1, 1.5, 8.5};
    double x[] = {0, 1, 2, 10}, score[4];
    struct matrix m = {x, 4, 1, 1};
    struct pool *pool = pool_new(1);
    struct neighbours n;

    (void)state;
    assert_int_equal(neighbours_find(m, 2, pool, &n), 0);
    knn_score(&n, score);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(score[i] - want[i]) < 1e-12);
    neighbours_release(&n);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_the_nearest_on_any_number_of_threads),
        cmocka_unit_test(close_points_far_from_the_others_are_told_apart),
        cmocka_unit_test(tight_groups_are_searched_with_enough_digits),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(a_far_row_does_not_blur_the_others),
        cmocka_unit_test(k_must_fit_the_rows),
        cmocka_unit_test(equal_rows_are_at_distance_zero),
        cmocka_unit_test(lof_equals_scikit_learns),
        cmocka_unit_test(knn_is_the_mean_distance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

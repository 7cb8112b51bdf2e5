#include "detect/rbf.h"

#include "sample_clusters.h"
#include "test.h"

enum { ROWS = 600 };

static double kernel(struct matrix x, double gamma, size_t i, size_t j)
{
    double square = 0;

    for (size_t c = 0; c < x.cols; c++)
        square += pow(matrix_row(x, i)[c] - matrix_row(x, j)[c], 2);
    return exp(-gamma * square);
}

/* Far from the origin, where |x|^2 + |y|^2 - 2 xy has few digits left. */
static struct matrix shifted(void)
{
    struct matrix x = sample_clusters(ROWS, 3);

    for (size_t i = 0; i < ROWS * TEST_COLS; i++)
        x.x[i] += 1e6;
    memcpy(matrix_row(x, 9), matrix_row(x, 40), TEST_COLS * sizeof *x.x);
    return x;
}

static void rows_are_the_kernel_to_a_floats_digits(void **state)
{
    static float storage[ROWS * ROWS];
    float *row[ROWS];
    uint32_t which[ROWS];
    struct matrix x = shifted();
    struct centred points;
    struct pool *pool = pool_new(3);
    struct rbf rbf = {&points, 0.7, pool};

    (void)state;
    centred_init(&points, x);
    for (size_t i = 0; i < ROWS; i++) {
        row[i] = storage + i * ROWS;
        which[i] = (uint32_t)(ROWS - 1 - i);
    }
    rbf_rows(&rbf, which, ROWS, row);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            assert_true(fabs((double)row[i][j] - kernel(x, 0.7, which[i], j)) < 2e-7);
    assert_true(row[ROWS - 1 - 9][40] == 1.0F); /* equal rows */
    centred_release(&points);
    pool_free(pool);
}

static void sums_are_those_of_the_kernel(void **state)
{
    static double weight[ROWS], sum[ROWS];
    struct matrix x = shifted(), some = {matrix_row(x, 100), 130, TEST_COLS, TEST_COLS};
    struct centred points;
    struct pool *pool = pool_new(2);
    struct rbf rbf = {&points, 0.2, pool};

    (void)state;
    centred_init(&points, x);
    for (size_t i = 0; i < ROWS; i++)
        weight[i] = (double)(i % 3);
    rbf_sums(&rbf, weight, some, sum);
    for (size_t i = 0; i < some.rows; i++) {
        double want = 0;

        for (size_t j = 0; j < ROWS; j++)
            want += weight[j] * kernel(x, 0.2, j, 100 + i);
        assert_true(fabs(sum[i] - want) < 1e-7 * want);
    }
    centred_release(&points);
    pool_free(pool);
}

/* Room for three: 0 1 2, then 3 takes a place, and 0 or another comes back the same. */
static void the_cache_gives_the_same_rows_when_it_is_too_small(void **state)
{
    static float first[3][ROWS];
    static const uint32_t start[] = {0, 1, 2}, next[] = {2, 3, 4};
    const float *row[3];
    struct matrix x = sample_clusters(ROWS, 4);
    struct centred points;
    struct pool *pool = pool_new(1);
    struct rbf rbf = {&points, 0.7, pool};
    struct rbf_cache *cache;

    (void)state;
    centred_init(&points, x);
    cache = rbf_cache_new(&rbf, 3 * ROWS * sizeof(float), 1);
    assert_int_equal(rbf_cache_room(cache), 3);
    rbf_cache_fetch(cache, start, 3, row);
    for (size_t i = 0; i < 3; i++)
        memcpy(first[i], row[i], sizeof first[i]);
    rbf_cache_fetch(cache, next, 3, row);
    assert_int_equal(rbf_cache_computed(cache), 5);
    assert_memory_equal(row[0], first[2], sizeof first[2]);
    rbf_cache_fetch(cache, start, 3, row);
    assert_int_equal(rbf_cache_computed(cache), 7);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(row[i], first[i], sizeof first[i]);
    rbf_cache_free(cache);
    centred_release(&points);
    pool_free(pool);
}

/* Mean 3, squares 9 4 1 0 1 25, so the variance is 40 / 6. */
static void gamma_is_one_by_the_variance_of_all_values(void **state)
{
    double x[] = {0, 1, 2, 3, 4, 8}, equal[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

    (void)state;
    assert_true(fabs(rbf_gamma((struct matrix){x, 3, 2, 2}) - 0.075) < 1e-15);
    assert_true(rbf_gamma((struct matrix){equal, 3, 2, 2}) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_kernel_to_a_floats_digits),
        cmocka_unit_test(sums_are_those_of_the_kernel),
        cmocka_unit_test(the_cache_gives_the_same_rows_when_it_is_too_small),
        cmocka_unit_test(gamma_is_one_by_the_variance_of_all_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "project/nearest.h"

#include "base/rng.h"

#include "test.h"

enum { COLS = 8, ROWS = 3000, K = 12 };

static double x[ROWS * COLS];

static struct matrix make_rows(void)
{
    struct rng rng = {4};

    for (size_t i = 0; i < ROWS * COLS; i++)
        x[i] = 5 * sin((double)(i / COLS % 20 * 3 + i % COLS)) + rng_normal(&rng);
    return (struct matrix){x, ROWS, COLS, COLS};
}

static double square(size_t i, size_t j)
{
    double sum = 0;

    for (size_t c = 0; c < COLS; c++)
        sum += pow(x[i * COLS + c] - x[j * COLS + c], 2);
    return sum;
}

/* How many of the k rows found for row i are among its k nearest. */
static size_t n_right(const struct nearest *n, size_t i)
{
    size_t right = 0;

    for (size_t c = 0; c < K; c++) {
        size_t n_nearer = 0, j = n->index[i * K + c];

        assert_true(j != i && j < ROWS);
        assert_true(fabs(n->square[i * K + c] - square(i, j)) < 1e-12 * (1 + square(i, j)));
        assert_true(c == 0 || n->square[i * K + c] >= n->square[i * K + c - 1]);
        for (size_t other = 0; other < ROWS; other++)
            n_nearer += other != i && square(i, other) < square(i, j) * (1 - 1e-9);
        right += n_nearer < K;
    }
    return right;
}

static void few_rows_are_searched_exactly(void **state)
{
    struct pool *pool = pool_new(2);
    struct nearest n;

    (void)state;
    nearest_find(make_rows(), K, ROWS, 1, pool, &n);
    for (size_t i = 0; i < ROWS; i += 29)
        assert_int_equal(n_right(&n, i), K);
    nearest_release(&n);
    pool_free(pool);
}

static void lists_find_nearly_all_on_any_number_of_threads(void **state)
{
    struct matrix m = make_rows();
    struct pool *pool = pool_new(1);
    struct nearest one, four;
    size_t right = 0, all = 0;

    (void)state;
    nearest_find(m, K, 100, 1, pool, &one);
    for (size_t i = 0; i < ROWS; i += 29) {
        right += n_right(&one, i);
        all += K;
    }
    assert_true((double)right > 0.9 * (double)all);
    pool_free(pool);
    pool = pool_new(4);
    nearest_find(m, K, 100, 1, pool, &four);
    assert_memory_equal(one.index, four.index, ROWS * K * sizeof *one.index);
    assert_memory_equal(one.square, four.square, ROWS * K * sizeof *one.square);
    nearest_release(&one);
    nearest_release(&four);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_searched_exactly),
        cmocka_unit_test(lists_find_nearly_all_on_any_number_of_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

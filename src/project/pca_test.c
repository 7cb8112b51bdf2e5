#include "project/pca.h"

#include "base/err.h"
#include "base/rng.h"

#include "test.h"

/*
 * Four points, on a line of slope 3/4 but for a unit to either side of it:
 *
 *     centre (5, 0), directions (4, 3)/5 and (3, -4)/5, coordinates (-10, 1) (-10, -1) (10, 1)
 *     (10, -1)
 *
 * so the sums of squares are 400 and 4. The largest entry of the second is -4/5: it is turned.
 */
static void two_components_of_four_points_by_hand(void **state)
{
    static const double along[] = {-10, -10, 10, 10}, across[] = {1, -1, 1, -1};
    double x[4 * 2], out[4 * 2];
    struct matrix m = {x, 4, 2, 2};
    struct pca pca;

    (void)state;
    for (int i = 0; i < 4; i++) {
        x[2 * i] = 5 + 0.8 * along[i] + 0.6 * across[i];
        x[2 * i + 1] = 0.6 * along[i] - 0.8 * across[i];
    }
    assert_int_equal(pca_fit(&pca, m, 2, 1), 0);
    assert_true(fabs(pca.variance[0] - 400) < 1e-10);
    assert_true(fabs(pca.variance[1] - 4) < 1e-10);
    assert_true(fabs(pca.total - 404) < 1e-10);
    assert_true(fabs(pca.direction[0] - 0.8) < 1e-12);
    assert_true(fabs(pca.direction[1] - 0.6) < 1e-12);
    assert_true(fabs(pca.direction[2] + 0.6) < 1e-12);
    assert_true(fabs(pca.direction[3] - 0.8) < 1e-12);
    pca_place(&pca, m, out);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(out[2 * i] - along[i]) < 1e-12);
        assert_true(fabs(out[2 * i + 1] + across[i]) < 1e-12);
    }
    pca_release(&pca);
}

/* Columns of different size along known directions, with noise; tall, wide and large. */
static struct matrix make_rows(size_t rows, size_t cols)
{
    struct matrix x = {malloc(rows * (cols + 3) * sizeof(double)), rows, cols, cols + 3};
    struct rng rng = {rows};

    for (size_t i = 0; i < rows; i++) {
        double a = 50 * rng_normal(&rng), b = 20 * rng_normal(&rng);

        for (size_t c = 0; c < cols; c++)
            matrix_row(x, i)[c] = 7 + a * sin((double)c) + b * (c % 5 == 0) + rng_normal(&rng);
    }
    return x;
}

static void assert_orthonormal(const struct pca *pca)
{
    const double *a = pca->direction, *b = a + pca->cols;
    double dots[3] = {0};

    for (size_t c = 0; c < pca->cols; c++) {
        dots[0] += a[c] * a[c];
        dots[1] += b[c] * b[c];
        dots[2] += a[c] * b[c];
    }
    assert_true(fabs(dots[0] - 1) < 1e-9 && fabs(dots[1] - 1) < 1e-9 && fabs(dots[2]) < 1e-9);
}

/* What defines them: orthonormal, and X'X d = v d. */
static void assert_components(struct matrix x, double tolerance)
{
    double *image = malloc(x.cols * sizeof *image);
    double *out = malloc(2 * x.rows * sizeof *out);
    struct pca pca;

    assert_int_equal(pca_fit(&pca, x, 2, 1), 0);
    assert_true(pca.variance[0] > pca.variance[1] && pca.variance[1] > 0);
    assert_true(pca.variance[0] + pca.variance[1] < pca.total);
    pca_place(&pca, x, out);
    assert_orthonormal(&pca);
    for (size_t k = 0; k < 2; k++) {
        double largest = 0;

        for (size_t c = 0; c < x.cols; c++) {
            image[c] = 0;
            if (fabs(pca.direction[k * x.cols + c]) > fabs(largest))
                largest = pca.direction[k * x.cols + c];
        }
        assert_true(largest > 0);
        for (size_t i = 0; i < x.rows; i++)
            for (size_t c = 0; c < x.cols; c++)
                image[c] += out[2 * i + k] * (matrix_row(x, i)[c] - pca.mean[c]);
        for (size_t c = 0; c < x.cols; c++)
            assert_true(fabs(image[c] - pca.variance[k] * pca.direction[k * x.cols + c]) <
                        tolerance * pca.variance[0]);
    }
    pca_release(&pca);
    free(image);
    free(out);
}

static void all_three_ways_find_the_components(void **state)
{
    struct matrix tall = make_rows(500, 30), wide = make_rows(30, 500),
                  large = make_rows(1100, 1050);

    (void)state;
    assert_components(tall, 1e-12);
    assert_components(wide, 1e-12);
    assert_components(large, 1e-8);
    free(tall.x);
    free(wide.x);
    free(large.x);
}

/* Variances so near each other that all steps of the iteration do not tell them apart. */
static void directions_that_nearly_tie_are_orthonormal(void **state)
{
    enum { N = 1001 };
    struct matrix x = {calloc(N * N, sizeof(double)), N, N, N};
    struct pca pca;

    (void)state;
    for (size_t i = 0; i < N; i++)
        matrix_row(x, i)[i] = 10 - 1e-3 * (double)i;
    assert_int_equal(pca_fit(&pca, x, 2, 1), 0);
    assert_orthonormal(&pca);
    pca_release(&pca);
    free(x.x);
}

static void numbers_too_large_to_square_are_an_error(void **state)
{
    double x[] = {1e200, -1e200, 3, 4};
    struct pca pca;

    (void)state;
    assert_int_equal(pca_fit(&pca, (struct matrix){x, 2, 2, 2}, 2, 1), ERR_RANGE);
    pca_release(&pca);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_components_of_four_points_by_hand),
        cmocka_unit_test(all_three_ways_find_the_components),
        cmocka_unit_test(directions_that_nearly_tie_are_orthonormal),
        cmocka_unit_test(numbers_too_large_to_square_are_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

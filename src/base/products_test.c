/* Rows are drawn, and the sums made again in double. */
#include "base/products.h"

#include "base/rng.h"

#include "test.h"

#define MAX_SIZE 96u

static void draw(float *to, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (float)rng_real(rng) - 0.5f;
}

static void products_are_sums_of_products(void **state)
{
    static float a[MAX_SIZE * MAX_SIZE], b[MAX_SIZE * MAX_SIZE], c[MAX_SIZE * MAX_SIZE],
        before[MAX_SIZE * MAX_SIZE];
    struct rng rng = {1};

    (void)state;
    for (size_t n = 4; n <= 12; n += 4)
        for (size_t width = 8; width <= 56; width += 8)
            for (size_t depth = 0; depth <= 40; depth += 13) {
                draw(a, n * depth, &rng);
                draw(b, depth * width, &rng);
                draw(c, n * width, &rng);
                memcpy(before, c, sizeof c);
                products(a, n, depth, b, width, 0.5f, c);
                for (size_t i = 0; i < n * width; i++) {
                    double sum = 0.5 * (double)before[i];

                    for (size_t k = 0; k < depth; k++)
                        sum +=
                            (double)a[i / width * depth + k] * (double)b[k * width + i % width];
                    assert_true(fabs(sum - (double)c[i]) < 1e-5);
                }
            }
}

static void a_row_is_the_same_wherever_it_stands(void **state)
{
    static float a[MAX_SIZE * MAX_SIZE], b[MAX_SIZE * MAX_SIZE], c[MAX_SIZE * MAX_SIZE];
    struct rng rng = {2};

    (void)state;
    for (size_t depth = 1; depth < 70; depth += 17)
        for (size_t width = 8; width <= 64; width += 8) {
            draw(b, depth * width, &rng);
            draw(a, depth, &rng);
            for (size_t i = 1; i < 64; i++)
                memcpy(a + i * depth, a, depth * sizeof *a);
            products(a, 64, depth, b, width, 0, c);
            for (size_t i = 1; i < 64; i++)
                assert_memory_equal(c + i * width, c, width * sizeof *c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_sums_of_products),
        cmocka_unit_test(a_row_is_the_same_wherever_it_stands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "project/quadtree.h"

#include "base/rng.h"

#include "test.h"

enum { N = 3000 };

static double exact(const double *y, size_t n, double *force)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        force[2 * i] = force[2 * i + 1] = 0;
        for (size_t j = 0; j < n; j++) {
            double dx = y[2 * i] - y[2 * j], dy = y[2 * i + 1] - y[2 * j + 1];
            double q = 1 / (1 + dx * dx + dy * dy);

            sum += i == j ? 0 : q;
            force[2 * i] += q * q * dx;
            force[2 * i + 1] += q * q * dy;
        }
    }
    return sum;
}

/* The error of all forces together, relative to the forces. */
static double error_of(const double *force, const double *want, size_t n)
{
    double off = 0, all = 0;

    for (size_t i = 0; i < 2 * n; i++) {
        off += (force[i] - want[i]) * (force[i] - want[i]);
        all += want[i] * want[i];
    }
    return sqrt(off / all);
}

/* Clusters of very different density, as t-SNE makes them. */
static void make_points(double *y, double scale)
{
    struct rng rng = {9};

    for (size_t i = 0; i < N; i++) {
        size_t cluster = i * i / N % 12;

        y[2 * i] =
            scale * (10 * cos((double)cluster) + (double)(cluster % 4) * rng_normal(&rng));
        y[2 * i + 1] = scale * (10 * sin((double)cluster * 2) + rng_normal(&rng));
    }
}

static void far_cells_are_nearly_their_points(void **state)
{
    static double y[2 * N], want[2 * N], force[2 * N];
    struct pool *pool = pool_new(2);
    struct quadtree *tree = quadtree_new(N, pool);

    (void)state;
    for (double scale = 1e-4; scale < 20; scale *= 20) {
        double sum_want, sum;

        make_points(y, scale);
        sum_want = exact(y, N, want);
        sum = quadtree_repel(tree, y, N, 0, force);
        assert_true(error_of(force, want, N) < 1e-5);
        assert_true(fabs(sum / sum_want - 1) < 1e-5);
        sum = quadtree_repel(tree, y, N, 0.5, force);
        assert_true(error_of(force, want, N) < 0.02);
        assert_true(fabs(sum / sum_want - 1) < 0.005);
        sum = quadtree_repel(tree, y, N, 0.3, force);
        assert_true(error_of(force, want, N) < 0.005);
        assert_true(fabs(sum / sum_want - 1) < 0.002);
    }
    quadtree_free(tree);
    pool_free(pool);
}

static void points_in_one_place_do_not_push(void **state)
{
    double y[2 * 100], force[2 * 100];
    struct pool *pool = pool_new(1);
    struct quadtree *tree = quadtree_new(100, pool);

    (void)state;
    for (size_t i = 0; i < 200; i++)
        y[i] = 3.25;
    assert_true(quadtree_repel(tree, y, 100, 0.5, force) == 100 * 99);
    for (size_t i = 0; i < 200; i++)
        assert_true(force[i] == 0);
    assert_true(quadtree_repel(tree, y, 1, 0.5, force) == 0);
    quadtree_free(tree);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_cells_are_nearly_their_points),
        cmocka_unit_test(points_in_one_place_do_not_push),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

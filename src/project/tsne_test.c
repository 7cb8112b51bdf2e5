#include "project/tsne.h"

#include "base/err.h"
#include "base/rng.h"

#include <float.h>

#include "test.h"

enum { COLS = 6 };

static struct matrix make_clusters(size_t rows, size_t n_clusters, double apart)
{
    struct matrix x = {malloc(rows * COLS * sizeof(double)), rows, COLS, COLS};
    struct rng rng = {11};

    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < COLS; c++)
            matrix_row(x, i)[c] =
                rng_normal(&rng) + apart * cos((double)(i % n_clusters * 7 + c * c));
    return x;
}

/* KL from its definition, all pairs. */
static double cost_of(const struct affinity *a, const double *y)
{
    double sum_q = 0, cost = 0;

    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < a->n; j++)
            if (i != j)
                sum_q +=
                    1 / (1 + pow(y[2 * i] - y[2 * j], 2) + pow(y[2 * i + 1] - y[2 * j + 1], 2));
    for (size_t i = 0; i < a->n; i++)
        for (size_t e = a->first[i]; e < a->first[i + 1]; e++) {
            size_t j = a->to[e];
            double q = 1 / sum_q /
                       (1 + pow(y[2 * i] - y[2 * j], 2) + pow(y[2 * i + 1] - y[2 * j + 1], 2));

            cost += (double)a->p[e] * log((double)a->p[e] / q);
        }
    return cost;
}

static void the_gradient_is_that_of_the_divergence(void **state)
{
    struct matrix x = make_clusters(40, 3, 3);
    struct pool *pool = pool_new(1);
    struct quadtree *tree = quadtree_new(40, pool);
    struct tsne_forces forces;
    struct nearest nearest;
    struct affinity a;
    struct rng rng = {2};
    double y[80], largest = 0;

    (void)state;
    for (int i = 0; i < 80; i++)
        y[i] = 2 * rng_normal(&rng);
    nearest_find(x, 12, NEAREST_EXACT, 1, pool, &nearest);
    affinity_init(&a, &nearest, 4, pool);
    tsne_forces_init(&forces, 40);
    tsne_forces_at(&forces, &a, y, 0, true, tree, pool);
    assert_true(fabs(tsne_cost(&forces, &a) - cost_of(&a, y)) < 1e-5);
    for (int i = 0; i < 80; i++) {
        double slope = 4 * (forces.pull[i] - forces.push[i] / forces.sum_q), at = y[i], up, h;

        h = 1e-5;
        y[i] = at + h;
        up = cost_of(&a, y);
        y[i] = at - h;
        assert_true(fabs((up - cost_of(&a, y)) / (2 * h) - slope) < 1e-6);
        y[i] = at;
        largest = fmax(largest, fabs(slope));
    }
    assert_true(largest > 0.01);
    tsne_forces_release(&forces);
    affinity_release(&a);
    nearest_release(&nearest);
    quadtree_free(tree);
    pool_free(pool);
    free(x.x);
}

static void rows_have_the_perplexity_asked_for(void **state)
{
    double square[90], p[90], entropy = 0, sum = 0;

    (void)state;
    for (int j = 0; j < 90; j++)
        square[j] = 1e6 + pow(j, 1.5) * 1e-3;
    affinity_row(square, 90, 30, p);
    for (int j = 0; j < 90; j++) {
        sum += p[j];
        entropy -= p[j] * log(p[j]);
    }
    assert_true(fabs(sum - 1) < 1e-12);
    assert_true(fabs(exp(entropy) - 30) < 1e-3);
    for (int j = 0; j < 90; j++)
        square[j] = j < 50 ? 0 : 1; /* no width gives 30 */
    affinity_row(square, 90, 30, p);
    assert_true(fabs(p[0] - 0.02) < 1e-6 && fabs(p[49] - 0.02) < 1e-6 && p[89] < 1e-6);
}

static void affinities_are_symmetric_and_sum_to_one(void **state)
{
    struct matrix x = make_clusters(300, 4, 5);
    struct pool *pool = pool_new(2);
    struct nearest nearest;
    struct affinity a;
    double sum = 0;

    (void)state;
    nearest_find(x, 30, NEAREST_EXACT, 1, pool, &nearest);
    affinity_init(&a, &nearest, 10, pool);
    for (size_t i = 0; i < 300; i++)
        for (size_t e = a.first[i]; e < a.first[i + 1]; e++) {
            size_t j = a.to[e], n_back = 0;

            sum += (double)a.p[e];
            for (size_t b = a.first[j]; b < a.first[j + 1]; b++)
                n_back += a.to[b] == i && a.p[b] == a.p[e];
            assert_int_equal(n_back, 1);
        }
    assert_true(fabs(sum - 1) < 1e-6);
    affinity_release(&a);
    nearest_release(&nearest);
    pool_free(pool);
    free(x.x);
}

/* Every point's nearest point is of its own cluster, and clusters do not touch. */
static void separated_clusters_stay_separated(void **state)
{
    static double y[2 * 600];
    size_t n = (size_t)test_amount(600, 200);
    struct matrix x = make_clusters(n, 5, 12);
    struct project_opts opts = {.seed = 1, .pool = pool_new(2)};
    struct project_result result;
    double widest = 0, closest = INFINITY, centre[5][2] = {{0}};

    (void)state;
    assert_int_equal(project_run(project_find("tsne"), x, &opts, y, &result), 0);
    for (size_t i = 0; i < 2 * n; i++)
        centre[i / 2 % 5][i % 2] += y[i] / ((double)n / 5);
    for (size_t i = 0; i < n; i++)
        widest =
            fmax(widest, hypot(y[2 * i] - centre[i % 5][0], y[2 * i + 1] - centre[i % 5][1]));
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < a; b++)
            closest =
                fmin(closest, hypot(centre[a][0] - centre[b][0], centre[a][1] - centre[b][1]));
    assert_true(closest > 2 * widest);
    assert_int_equal(result.n_iterations, TSNE_ITERATIONS);
    assert_true(result.cost > 0 && result.cost < 1.5);
    pool_free(opts.pool);
    free(x.x);
}

/* Rows 0, 3, 6, ... are one and the same, with the sign of 0 differing. */
static void equal_rows_are_equal_points(void **state)
{
    static double y[2 * 900];
    struct matrix x = make_clusters(900, 3, 4);
    struct project_opts opts = {.iterations = 200, .seed = 1, .pool = pool_new(2)};
    struct project_result result;

    (void)state;
    for (size_t i = 0; i < 900; i += 3)
        for (size_t c = 0; c < COLS; c++)
            matrix_row(x, i)[c] = c == 2 ? (i % 2 ? 0.0 : -0.0) : 1;
    assert_int_equal(project_run(project_find("tsne"), x, &opts, y, &result), 0);
    for (size_t i = 0; i < 900; i++) {
        assert_true(isfinite(y[2 * i]) && isfinite(y[2 * i + 1]));
        assert_true((i % 3 == 0) == (y[2 * i] == y[0] && y[2 * i + 1] == y[1]));
    }
    pool_free(opts.pool);
    free(x.x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_divergence),
        cmocka_unit_test(rows_have_the_perplexity_asked_for),
        cmocka_unit_test(affinities_are_symmetric_and_sum_to_one),
        cmocka_unit_test(separated_clusters_stay_separated),
        cmocka_unit_test(equal_rows_are_equal_points),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

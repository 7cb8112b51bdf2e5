/*
 * Two clusters, a point between them, one far off, and one point twice. The values are those of
 * scikit-learn 1.2.1, for x as below and k of 3, 5 and 15:
 *
 *     -LocalOutlierFactor(n_neighbors=k).fit(x).negative_outlier_factor_
 *     NearestNeighbors(n_neighbors=k).fit(x).kneighbors()[0].mean(1)
 */
#include "detect/neighbours.h"

#include "test.h"

enum { ROWS = 16 };

static double points[ROWS][2] = {
    {0.12, 0.95}, {0.31, 1.10}, {0.05, 1.21}, {0.44, 0.87}, {0.27, 0.66}, {0.58, 1.30},
    {0.19, 1.42}, {0.73, 0.99}, {5.02, 5.11}, {5.10, 5.03}, {4.97, 5.08}, {5.06, 4.95},
    {4.91, 4.99}, {2.60, 3.10}, {0.31, 1.10}, {9.00, 0.50},
};

static const struct {
    size_t k;
    double lof[ROWS], knn[ROWS];
} sklearn[] = {
    {3,
     {0.975030999166, 0.939867382628, 1.046151596964, 1.116259053953, 1.214534260696,
      1.255177807483, 1.161600746320, 1.157597339895, 0.955867132222, 1.010869548915,
      1.024523242785, 0.996648223848, 1.010869548915, 8.053218208955, 0.939867382628,
      39.103049784727},
     {0.251135659278, 0.168757088337, 0.267986237970, 0.266192971422, 0.346165372252,
      0.338798470604, 0.311969629636, 0.364132156869, 0.111411603300, 0.113954562287,
      0.101919979995, 0.134266116357, 0.142065497063, 2.820930711851, 0.168757088337,
      5.998224991554}},
    {5,
     {1.026708334888, 0.951253464045, 0.971535786758, 1.033931099597, 1.019671827979,
      1.042593719149, 1.047280584382, 1.073711360426, 1.012633395169, 1.012633395169,
      1.012633395169, 1.012633395169, 1.017007666243, 5.667897824510, 0.951253464045,
      1.951715016241},
     {0.281950396446, 0.224917820322, 0.320733586198, 0.288454892169, 0.409287550326,
      0.375331257851, 0.363827435798, 0.418537906343, 0.729005868751, 0.738867014699,
      0.710425151144, 0.729145034637, 0.721004430865, 2.897572815341, 0.224917820322,
      6.037126908642}},
    {15,
     {0.991117803472, 0.992745475456, 0.990336662297, 0.994030781717, 0.992558328549,
      0.995022245778, 0.991419445711, 0.996584253464, 1.012578186092, 1.012536131943,
      1.013091491331, 1.013286011554, 1.014040121737, 1.008983136211, 0.992745475456,
      0.990336662297},
     {3.140421219918, 2.982802438346, 3.127911679296, 3.040243008054, 3.231359037514,
      2.922578894329, 3.053274499588, 2.977110599208, 4.365281604618, 4.366650134385,
      4.325324629777, 4.312099155090, 4.264572231770, 3.322754874082, 2.982802438346,
      7.685618605634}},
};

static void scores_of(struct matrix x, size_t k, double *lof, double *knn)
{
    struct pool *pool = pool_new(1);
    struct neighbours n;

    assert_int_equal(neighbours_find(x, k, pool, &n), 0);
    lof_score(&n, lof);
    knn_score(&n, knn);
    neighbours_release(&n);
    pool_free(pool);
}

static void scores_equal_scikit_learns(void **state)
{
    double lof[ROWS], knn[ROWS];

    (void)state;
    for (size_t c = 0; c < sizeof sklearn / sizeof *sklearn; c++) {
        scores_of((struct matrix){points[0], ROWS, 2, 2}, sklearn[c].k, lof, knn);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(fabs(lof[i] - sklearn[c].lof[i]) < 1e-9 * (1 + lof[i]));
            assert_true(fabs(knn[i] - sklearn[c].knn[i]) < 1e-9);
        }
    }
}

/*
 * On a line: 0 1 2 4, k = 2. k-distances 2 1 2 3. Reachability means: of 0 (from 1, 2):
 * (1 + 2) / 2; of 1 (from 0, 2): (2 + 2) / 2; of 2 (from 1, then 0 or 4 at 2: the first):
 * (1 + 2) / 2; of 4 (from 2, 1): (2 + 3) / 2. So lrd 2/3 1/2 2/3 2/5.
 */
static void the_definition_holds_by_hand(void **state)
{
    static const double want[] = {
        (1.0 / 2 + 2.0 / 3) / 2 / (2.0 / 3),
        (2.0 / 3 + 2.0 / 3) / 2 / (1.0 / 2),
        (1.0 / 2 + 2.0 / 3) / 2 / (2.0 / 3),
        (2.0 / 3 + 1.0 / 2) / 2 / (2.0 / 5),
    };
    double x[] = {0, 1, 2, 4}, lof[4], knn[4];

    (void)state;
    scores_of((struct matrix){x, 4, 1, 1}, 2, lof, knn);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(lof[i] - want[i]) < 1e-8);
}

static void scale_does_not_matter_to_lof_and_does_to_knn(void **state)
{
    double x[ROWS][2], lof[ROWS], knn[ROWS], lof_far[ROWS], knn_far[ROWS];

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < 2; c++)
            x[i][c] = 1000 * points[i][c];
    scores_of((struct matrix){points[0], ROWS, 2, 2}, 5, lof, knn);
    scores_of((struct matrix){x[0], ROWS, 2, 2}, 5, lof_far, knn_far);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(fabs(lof[i] - lof_far[i]) < 1e-7 * lof[i]);
        assert_true(fabs(1000 * knn[i] - knn_far[i]) < 1e-7 * knn_far[i]);
    }
}

/* Densities are bounded: what is everywhere twice has LOF 1, not 0/0. */
static void equal_rows_are_inliers(void **state)
{
    double x[12] = {0}, lof[12], knn[12];

    (void)state;
    scores_of((struct matrix){x, 12, 1, 1}, 3, lof, knn);
    for (size_t i = 0; i < 12; i++) {
        assert_true(lof[i] == 1);
        assert_true(knn[i] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_equal_scikit_learns),
        cmocka_unit_test(the_definition_holds_by_hand),
        cmocka_unit_test(scale_does_not_matter_to_lof_and_does_to_knn),
        cmocka_unit_test(equal_rows_are_inliers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sample_clusters -- rows for the tests of the one-class SVM: clusters, and rows far out. */
#ifndef SNAG_TESTS_SAMPLE_CLUSTERS_H
#define SNAG_TESTS_SAMPLE_CLUSTERS_H

#include "base/matrix.h"
#include "base/rng.h"

enum { TEST_COLS = 6, TEST_MAX_ROWS = 3000 };

/* Row i is of cluster i % 4, with noise of 0.3, or of 3 for every fortieth. */
static inline struct matrix sample_clusters(size_t rows, uint64_t seed)
{
    static double x[TEST_MAX_ROWS * TEST_COLS];
    struct rng rng = {seed};

    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < TEST_COLS; c++)
            x[i * TEST_COLS + c] =
                (double)((i % 4 + 1) * (c + 2) % 5) + (i % 40 ? 0.3 : 3) * rng_normal(&rng);
    return (struct matrix){x, rows, TEST_COLS, TEST_COLS};
}

#endif

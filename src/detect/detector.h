/*
 * detector -- the ways to score the trees of a forest. To add one: one adapter and one row in
 * detector.c. Scores grow with strangeness.
 */
#ifndef SNAG_DETECT_DETECTOR_H
#define SNAG_DETECT_DETECTOR_H

#include "base/matrix.h"
#include "base/pool.h"
#include "detect/residual_score.h"

#include <stddef.h>
#include <stdint.h>

struct detector_input {
    struct matrix x;                        /* rows of features; unused by residual */
    const struct residual_scores *residual; /* always there */
    uint32_t k;                             /* neighbours, 0 for the detector's own number */
    double gamma;                           /* of ocsvm's kernel, 0 to take it from x */
    double nu;                              /* of ocsvm: the share outside; 0: OCSVM_NU */
    uint64_t seed;                          /* of iforest */
    struct pool *pool;
};

struct detector_ops {
    const char *name; /* as typed on the command line */
    const char *what;
    bool needs_matrix;
    bool needs_gamma; /* 0 is taken from the matrix: rbf_gamma */
    /* The learner that without labels judges as it does, so that what holds in a run can be
     * kept for the next one; NULL: there is none. */
    const char *learner;
    /* Scores of all rows, and the threshold above which one is an anomaly. */
    int (*score)(const struct detector_input *input, size_t n, double *score,
                 double *threshold);
};

/* detector_find -- the row of the table with this name, or NULL. */
const struct detector_ops *detector_find(const char *name);

/* detector_name -- of row i of the table; NULL after its last. */
const char *detector_name(size_t i);

#endif

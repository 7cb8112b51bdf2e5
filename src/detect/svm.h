/*
 * svm -- a supervised support vector machine: how well could anybody who knew all labels tell
 * the abnormal from the normal, by these features?
 *
 * The papers compare what is learnt from few labels with it. Its dual is the one-class SVM's
 * with other bounds: with b_i = y_i a_i, moved by C where y_i is -1, the constraints are again
 * 0 <= b_i <= C and a sum that stays, and only the gradient starts at -y.
 */
#ifndef SNAG_DETECT_SVM_H
#define SNAG_DETECT_SVM_H

#include "base/matrix.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>

#define SVM_MAX_ROWS 20000u /* the whole kernel is kept: 4 bytes times its square */

struct svm_opts {
    uint32_t folds; /* >= 2 */
    double cost;    /* C of the soft margin, > 0 */
    double gamma;   /* of the kernel exp(-gamma |x - y|^2), > 0 */
    uint64_t seed;  /* of which rows are in which fold */
};

/* svm_default -- 10 folds, C 1; gamma is to be set (rbf_gamma). */
struct svm_opts svm_default(void);

/*
 * svm_cross_validate -- how each row is judged by a machine that was trained on the other
 * folds, each of which has its share of both classes.
 *   x            (rows, cols)
 *   is_abnormal  [rows] the labels
 *   score        [rows] out: the decision function, above 0 abnormal
 * Returns 0, ERR_RANGE when a value is not finite, a class has fewer rows than there are
 * folds, or there are more than SVM_MAX_ROWS, or as blas_load. Time O(rows^2 (cols + folds)), memory
 * O(rows^2). The same on any number of threads.
 * Source: Cortes, Vapnik: Support-Vector Networks. Machine Learning 20, 1995.
 */
int svm_cross_validate(struct matrix x, const bool *is_abnormal, const struct svm_opts *opts,
                       struct pool *pool, double *score);

#endif

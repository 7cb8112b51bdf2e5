/*
 * ocsvm_smo -- sequential minimal optimisation of a few variables, with a dense kernel.
 *
 * The inner loop of the one-class SVM: two variables at a time are moved against each other,
 * the pair chosen so that the objective falls most to second order.
 */
#ifndef SNAG_DETECT_OCSVM_SMO_H
#define SNAG_DETECT_OCSVM_SMO_H

#include <stddef.h>

struct ocsvm_smo {
    size_t n;
    const float *kernel; /* (n, n), 1 on the diagonal */
    const double *upper; /* [n] bounds of alpha, >= 0 */
    double *alpha;       /* [n] 0..upper; replaced. The sum stays */
    double *gradient;    /* [n] of the objective; replaced */
};

/*
 * ocsvm_smo_solve -- minimise until no pair violates the conditions by more than tolerance.
 * Returns the number of steps; it gives up after 10000 + 100 n. Time O(n) per step.
 * Source: Fan, Chen, Lin: Working Set Selection Using Second Order Information for Training
 * Support Vector Machines. JMLR 6, 2005; algorithm 2, WSS 2.
 */
size_t ocsvm_smo_solve(struct ocsvm_smo *smo, double tolerance);

#endif

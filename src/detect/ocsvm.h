/*
 * ocsvm -- the weighted one-class support vector machine of the papers' equation 1, which finds
 * the region where executions typically are and learns from a person's labels.
 *
 * Its dual is solved: minimise 1/2 a'Ka, 0 <= a_i <= u_i, sum of a_i = C = nu n. A row of
 * weight u = 0 is left out; one whose weight is above C cannot be an outlier. C stays what it
 * is when weights change, so that a label moves the region, not its size.
 *
 * The machine remembers its solution and the kernel rows it needed, so that training again
 * after a label takes a fraction of the first time.
 */
#ifndef SNAG_DETECT_OCSVM_H
#define SNAG_DETECT_OCSVM_H

#include "base/matrix.h"
#include "base/pack.h"
#include "base/pool.h"

#include <stddef.h>
#include <stdint.h>

/*
 * ocsvm_smo -- sequential minimal optimisation of a few variables, with a dense kernel.
 *
 * The inner loop of the one-class SVM: two variables at a time are moved against each other,
 * the pair chosen so that the objective falls most to second order.
 */
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

#define OCSVM_NU 0.02 /* the papers' */

struct ocsvm_opts {
    double nu;          /* 0..1, the share of outliers expected; 0 for OCSVM_NU */
    double gamma;       /* of the kernel exp(-gamma |x - y|^2); 0 to take it from the data */
    double tolerance;   /* largest violation, relative to rho; 0 for 1e-5 */
    size_t cache_bytes; /* for kernel rows; 0 for 256 MiB */
};

/* The solution. Pointers belong to the machine and hold until it is trained again. */
struct ocsvm_result {
    const double *alpha; /* [rows] */
    double rho;          /* the sum of a_j K(x_j, x) on the border of the region */
    double gamma, total; /* the kernel's; C */
    double objective;    /* 1/2 a'Ka */
    double violation;    /* of the optimality conditions, what is left of it */
    double allowed;      /* for the violation: a score up to this is on the border */
    size_t n_support;    /* rows of alpha > 0 */
    size_t n_rounds, n_steps, n_kernel_rows; /* work done, for measuring */
};

struct ocsvm;

/*
 * ocsvm_new -- a machine for these rows, not yet trained.
 *   x     (rows, cols), copied; rows >= 1
 *   pool  lives as long as the machine
 *   out   freed by ocsvm_free
 * Returns 0, ERR_RANGE if there are no rows, one is not finite, or an option is out of
 * range, or as blas_load.
 */
int ocsvm_new(struct matrix x, const struct ocsvm_opts *opts, struct pool *pool,
              struct ocsvm **out);

/* ocsvm_free -- NULL is harmless. */
void ocsvm_free(struct ocsvm *svm);

/*
 * ocsvm_train -- solve for these weights, starting from the last solution if there is one.
 *   weight  [rows] u >= 0, or NULL for all 1
 *   result  out, may be NULL
 * Returns 0, or ERR_RANGE if a weight is negative or not a number, or if they sum to less than
 * C. Time O(rows cols) per kernel row, of which there are somewhat more than nu rows. The same
 * on any number of threads.
 * Source: Scholkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the Support of a
 * High-Dimensional Distribution. Neural Computation 13, 2001; weights: Bicego, Figueiredo: Soft
 * clustering using weighted one-class support vector machines. Pattern Recognition 42, 2009.
 * Working sets: Joachims: Making Large-Scale SVM Learning Practical, 1998, section 11.3.
 */
int ocsvm_train(struct ocsvm *svm, const double *weight, struct ocsvm_result *result);

/*
 * ocsvm_score -- rho - sum of a_j K(x_j, x) of the rows it was trained on: above 0 outside the
 * region. The paper's decision function with the sign turned.
 *   score  [rows] out
 */
void ocsvm_score(const struct ocsvm *svm, double *score);

/*
 * ocsvm_settle_border -- an order for the rows on the border, and out with those that hold
 * themselves there.
 *   score  [rows] from ocsvm_score
 * A row far from all others is its own only neighbour: a_i = rho <= u_i puts it on the border
 * exactly, however strange it is, and several such rows in an order made by rounding. With
 * D = sum of K(x_j, x) over all rows, that order is by 1 / D instead, in scores up to
 * `allowed`. And rho / D is what each of the rows near x has to give to hold it on the border:
 * where that is above rho / 2, so that there is less than one other row near it, the rest is
 * added to its score, which puts it outside. For rho >= 2 there are none, as u = 1 puts such
 * rows outside.
 *
 * Rows whose weight is above C stay. Nobody is put outside where that would be more than
 * 2 C + 1, and nothing is done where a quarter of all is on the border: being alone is typical
 * then. Rows that are equal stay equal. Time O(rows cols) per row on the border or outside.
 * The same on any number of threads.
 */
void ocsvm_settle_border(const struct ocsvm *svm, double *score);

/* What is left of a machine when training is over. */
struct ocsvm_model {
    struct matrix support; /* (n_support, cols) */
    double *alpha;         /* [n_support] > 0 */
    double rho, gamma;
};

/* ocsvm_model_init -- copy it out of a trained machine. */
void ocsvm_model_init(struct ocsvm_model *model, const struct ocsvm *svm);
void ocsvm_model_release(struct ocsvm_model *model);

/*
 * ocsvm_model_score -- the score of any rows, also of ones it was not trained on.
 *   x      (rows, support.cols)
 *   score  [rows] out; for the rows trained on, ocsvm_score's up to rounding
 * Returns 0, ERR_RANGE if x has other columns or a value that is not finite, or as blas_load. Time O(rows
 * n_support cols). The same on any number of threads.
 */
int ocsvm_model_score(const struct ocsvm_model *model, struct matrix x, struct pool *pool,
                      double *score);

/* ocsvm_model_pack -- append the model. */
void ocsvm_model_pack(const struct ocsvm_model *model, struct pack *pack);

/*
 * ocsvm_model_unpack -- read a model back; it scores as it did before.
 * Returns 0, or ERR_FORMAT when the bytes are not a model. Release in any case.
 */
int ocsvm_model_unpack(struct ocsvm_model *model, struct pack *pack);

#endif

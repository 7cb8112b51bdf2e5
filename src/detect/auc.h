/* auc -- how well scores separate what was labelled abnormal from the rest. */
#ifndef SNAG_DETECT_AUC_H
#define SNAG_DETECT_AUC_H

#include <stdbool.h>
#include <stddef.h>

struct auc {
    double roc; /* area under the receiver operating characteristic; ties count half */
    double pr;  /* average precision: area under the precision-recall curve, as steps */
    size_t n_abnormal, n_normal;
};

/*
 * auc_compute -- areas under both curves.
 *   score        (n) larger is stranger; no NaN
 *   is_abnormal  (n)
 * Returns 0, or ERR_RANGE when one of the two classes is empty. O(n log n).
 * Source: Davis, Goadrich: The Relationship Between Precision-Recall and ROC Curves, ICML 2006;
 * ties as in scikit-learn.
 */
int auc_compute(const double *score, const bool *is_abnormal, size_t n, struct auc *out);

#endif

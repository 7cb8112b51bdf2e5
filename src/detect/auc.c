/* One walk from the highest score down; scores that tie are taken at once. */
#include "detect/auc.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"

#include <stdlib.h>

struct scored_row {
    double score;
    bool is_abnormal;
};

static int by_score_down(const void *a, const void *b)
{
    const struct scored_row *p = a, *q = b;

    return ORDER(q->score, p->score);
}

int auc_compute(const double *score, const bool *is_abnormal, size_t n, struct auc *out)
{
    struct scored_row *s = mem_alloc(n, sizeof *s);
    size_t n_true = 0, n_false = 0;
    double area = 0, precision = 0;

    *out = (struct auc){0};
    for (size_t i = 0; i < n; i++) {
        s[i] = (struct scored_row){score[i], is_abnormal[i]};
        *(is_abnormal[i] ? &out->n_abnormal : &out->n_normal) += 1;
    }
    qsort(s, n, sizeof *s, by_score_down);
    for (size_t i = 0, end; i < n; i = end) {
        size_t true_here = 0, false_here = 0;

        for (end = i; end < n && s[end].score == s[i].score; end++)
            *(s[end].is_abnormal ? &true_here : &false_here) += 1;
        area += (double)false_here * ((double)n_true + 0.5 * (double)true_here);
        n_true += true_here;
        n_false += false_here;
        precision += (double)true_here * (double)n_true / (double)(n_true + n_false);
    }
    free(s);
    if (out->n_abnormal == 0 || out->n_normal == 0)
        return err_set(ERR_RANGE,
                       "nothing to tell apart: %zu executions are labelled abnormal, "
                       "%zu normal",
                       out->n_abnormal, out->n_normal);
    out->roc = area / ((double)out->n_abnormal * (double)out->n_normal);
    out->pr = precision / (double)out->n_abnormal;
    return 0;
}

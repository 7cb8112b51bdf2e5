/* Letters as in the paper: lrd is the local reachability density. */
#include "detect/lof.h"

#include "base/mem.h"

#include <stdlib.h>

#define MIN_DISTANCE 1e-10

void lof_score(const struct neighbours *neighbours, double *score)
{
    size_t k = neighbours->k;
    double *lrd = mem_alloc(neighbours->rows, sizeof *lrd);

    for (size_t p = 0; p < neighbours->rows; p++) {
        double reach = 0;

        for (size_t c = 0; c < k; c++) {
            double d = neighbours->distance[p * k + c];
            uint32_t o = neighbours->index[p * k + c];
            double k_distance = neighbours->distance[o * k + k - 1];

            reach += d > k_distance ? d : k_distance;
        }
        lrd[p] = 1 / (reach / (double)k + MIN_DISTANCE);
    }
    for (size_t p = 0; p < neighbours->rows; p++) {
        double sum = 0;

        for (size_t c = 0; c < k; c++)
            sum += lrd[neighbours->index[p * k + c]];
        score[p] = sum / (double)k / lrd[p];
    }
    free(lrd);
}

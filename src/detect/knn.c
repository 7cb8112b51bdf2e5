/* The sum of the distances is the paper's weight; the mean of them orders rows the same way. */
#include "detect/knn.h"

void knn_score(const struct neighbours *neighbours, double *score)
{
    size_t k = neighbours->k;

    for (size_t p = 0; p < neighbours->rows; p++) {
        double sum = 0;

        for (size_t c = 0; c < k; c++)
            sum += neighbours->distance[p * k + c];
        score[p] = sum / (double)k;
    }
}

#include "detect/ocsvm_smo.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define MIN_CURVATURE 1e-12
#define NONE SIZE_MAX

/* The variable that most wants to grow. */
static size_t choose_up(const struct ocsvm_smo *smo)
{
    size_t up = NONE;
    double least = INFINITY;

    for (size_t i = 0; i < smo->n; i++)
        if (smo->gradient[i] < least && smo->alpha[i] < smo->upper[i]) {
            least = smo->gradient[i];
            up = i;
        }
    return up;
}

/* The one to shrink for it: most gain, or NONE when no violation is above tolerance. */
static size_t choose_down(const struct ocsvm_smo *smo, size_t up, double tolerance)
{
    const float *k = smo->kernel + up * smo->n;
    double most = -1, worst = 0;
    size_t down = NONE;

    for (size_t j = 0; j < smo->n; j++) {
        double b = smo->gradient[j] - smo->gradient[up], a, gain;

        if (b <= 0 || smo->alpha[j] <= 0)
            continue;
        if (b > worst)
            worst = b;
        a = 2 - 2 * (double)k[j];
        gain = b * b / (a > MIN_CURVATURE ? a : MIN_CURVATURE);
        if (gain > most) {
            most = gain;
            down = j;
        }
    }
    return worst > tolerance ? down : NONE;
}

static void move(struct ocsvm_smo *smo, size_t up, size_t down)
{
    const float *ku = smo->kernel + up * smo->n, *kd = smo->kernel + down * smo->n;
    double a = 2 - 2 * (double)ku[down], b = smo->gradient[down] - smo->gradient[up];
    double step = b / (a > MIN_CURVATURE ? a : MIN_CURVATURE);
    bool fills = step >= smo->upper[up] - smo->alpha[up], empties;

    if (fills)
        step = smo->upper[up] - smo->alpha[up];
    empties = step >= smo->alpha[down];
    if (empties)
        step = smo->alpha[down];
    /* exactly on a bound that is reached: later questions are alpha < upper, alpha > 0 */
    smo->alpha[up] = fills && !empties ? smo->upper[up] : smo->alpha[up] + step;
    smo->alpha[down] = empties ? 0 : smo->alpha[down] - step;
    if (smo->alpha[up] > smo->upper[up])
        smo->alpha[up] = smo->upper[up];
    for (size_t i = 0; i < smo->n; i++)
        smo->gradient[i] += step * ((double)ku[i] - (double)kd[i]);
}

size_t ocsvm_smo_solve(struct ocsvm_smo *smo, double tolerance)
{
    size_t most = 10000 + 100 * smo->n, n_steps;

    for (n_steps = 0; n_steps < most; n_steps++) {
        size_t up = choose_up(smo), down;

        if (up == NONE)
            break;
        down = choose_down(smo, up, tolerance);
        if (down == NONE)
            break;
        move(smo, up, down);
    }
    return n_steps;
}

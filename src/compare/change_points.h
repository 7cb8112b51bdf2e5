/*
 * change_points -- where a series of measurements begins to come from somewhere else.
 *
 *     1.02 .95 .99 1.00 1.12 .90 | .50 .51 .48 .48 .55       changes at 6
 *
 * E-divisive means: of all ways to split a stretch, the one whose sides are farthest apart (in
 * energy distance, which compares whole distributions) is tested by permutations of the
 * stretch; if it is no chance, both sides are looked at in the same way. Nothing is assumed of
 * how values are distributed, but that they do not depend on each other.
 *
 * Source: Matteson and James 2014, A Nonparametric Approach for Multiple Change Point Analysis
 * of Multivariate Data, JASA 109.
 */
#ifndef SNAG_COMPARE_CHANGE_POINTS_H
#define SNAG_COMPARE_CHANGE_POINTS_H

#include <stdint.h>

#define CHANGE_POINTS_MAX_VALUES 400u
#define CHANGE_POINTS_MIN_VALUES 2u /* values between two of them */
#define CHANGE_POINTS_CHANCE 0.01   /* of a first one where there is none */
#define CHANGE_POINTS_PERMUTATIONS 999u

struct change_point {
    uint32_t at;          /* first value of the new kind, >= 1 */
    double chance;        /* of such a split where there is none, by permutations */
    double before, after; /* means of the values up to the change points beside it */
};

/*
 * change_points_find -- those of a series.
 *   value  (n) finite, n <= CHANGE_POINTS_MAX_VALUES
 *   chance a split that is as probable where there is none is none
 *   out    (n) ascending
 * Returns how many. The same for the same values. O(n^2) memory; each permutation takes O(n^2),
 * and no more are made than it takes to see that a split is none.
 */
uint32_t change_points_find(const double *value, uint32_t n, double chance,
                            struct change_point *out);

#endif

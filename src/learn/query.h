/*
 * query -- which executions to ask a person about next.
 *
 * The highest scores that are not labelled, but not several that look alike: ten questions
 * should not come from one cluster.
 */
#ifndef SNAG_LEARN_QUERY_H
#define SNAG_LEARN_QUERY_H

#include "features/rows.h"

#include <stddef.h>
#include <stdint.h>

/*
 * query_next -- the next executions to label, strangest first.
 *   score, tie  (rows->n) tie decides between equal scores, then the smaller number
 *   label       (rows->n) 0 where there is none
 *   length      of the RBF kernel by which executions look alike
 *   most        executions wanted
 *   next        (most) out
 * Returns how many there are: fewer only when fewer are unlabelled. Those that look like one
 * already chosen come last. O(rows + most^2).
 */
size_t query_next(const struct rows *rows, const double *score, const double *tie,
                  const signed char *label, double length, size_t most, uint32_t *next);

#endif

/*
 * loop_grams -- what may be the header of a loop: short sequences of symbols that come once in
 * each of its iterations.
 *
 * Every sequence of 1, 2, 4 and 8 symbols (a gram) is counted. What comes once in every
 * iteration has the same count, the number of iterations; so grams of the same count that come
 * in the same part of the sequence are taken together, and each is a vote for that count:
 *
 *     p  a b c  a b c  a b d c  a b c  q     a, b, ab, c: 4     bc: 3     d, bd, dc, p, q: 1
 */
#ifndef SNAG_FOREST_LOOP_GRAMS_H
#define SNAG_FOREST_LOOP_GRAMS_H

#include "forest/loop_sequence.h"

#include <stddef.h>
#include <stdint.h>

#define LOOP_MIN_ITERATIONS 5u /* iterations of a loop */

/* The gram that stands for all of the same count. */
struct loop_header {
    uint32_t first, last; /* where it begins, the first time and the last */
    uint32_t length;      /* symbols */
    uint32_t count;
    double votes; /* of all these grams; one of n symbols has 1 / n of a vote */
};

/*
 * loop_headers -- the headers with most votes, times the share of the sequence between their
 * first and last.
 *   out   (most) best first
 * Returns how many. Expected O(n log n); memory is bounded by the sequence and 2^18 grams: what
 * comes first when there are that many is not counted.
 */
size_t loop_headers(const struct loop_sequence *s, struct loop_header *out, size_t most);

#endif

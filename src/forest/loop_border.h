/*
 * loop_border -- by what it is told, call by call, that another iteration of a loop begins.
 *
 * loops_find sees all calls at once. To go on from there while a program runs, something has to
 * come once in every iteration, early, and nowhere else while the loop goes round: then what is
 * called next is the first call of the next iteration.
 *
 *     learnt      | a b c | a b d c | a b c |      a call of a is a border
 *     learnt      | s s r | s s w r | s s r |      s is not, r might come after a w; but s s is
 *                                                  once in each: the border moves behind it
 *
 * What tells is the region of the call itself, where no other call on the level is of it, or up
 * to eight symbols (loop_sequence) before it, all in its own iteration: what comes at its
 * end, or in between, may differ from one to the next.
 */
#ifndef SNAG_FOREST_LOOP_BORDER_H
#define SNAG_FOREST_LOOP_BORDER_H

#include "forest/loop_cut.h"
#include "forest/loops.h"

#include <stdbool.h>
#include <stdint.h>

#define LOOP_MAX_BORDERS 8u

struct loop_border {
    uint32_t n;                          /* symbols */
    struct key symbol[LOOP_MAX_BORDERS]; /* [n] of the calls before it */
    uint32_t region;                     /* of the call itself, where n is 0 */
    bool has_partners;                   /* symbols say who takes part */
    uint32_t shift; /* calls that it comes later than where loops_find has it */
};

/*
 * loop_border_find -- what tells that iterations of a loop begin.
 *   part     found in these very calls
 *   out      the border; with the smallest shift of those that are as good
 *   n_begun  out: iterations that have begun by it in the calls, counted from the first of part
 * Returns false when nothing comes once in each, or there are too few. O(calls on the level +
 * its calls in one iteration * the shift).
 */
bool loop_border_find(const struct call_view *calls, const struct definitions *defs,
                      const struct loop_part *part, struct loop_border *out, uint32_t *n_begun);

#endif

/*
 * loop_cut -- a sequence cut into iterations where a header begins, and how much these are
 * alike.
 *
 *     p  a b c  a b c  a b d c  a b c  q        header a: | a b c | a b c | a b d c | a b c |
 *
 * Two iterations are alike in the kinds of calls that they make, not in how many of each: an
 * inner loop may go round as often as it likes. The typical set is what at least half of them
 * call. At both ends iterations that have little of it are dropped: the header was called
 * outside the loop, too. The last one ends where something else is called. What all iterations
 * end with but the last is what the next one begins with.
 */
#ifndef SNAG_FOREST_LOOP_CUT_H
#define SNAG_FOREST_LOOP_CUT_H

#include "forest/loop_grams.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop_cut {
    uint32_t n;
    uint32_t *begin, *end;     /* [n] positions in the sequence; end[i] <= begin[i + 1] */
    double votes;              /* of the header */
    bool is_exact;             /* none was dropped: the header comes in the loop alone */
    double likeness;           /* 0..1, mean over the iterations */
    uint64_t begin_ns, end_ns; /* of all */
    uint64_t ns;               /* inside of iterations */
    uint32_t n_odd;            /* that do what not nearly all do, or after which more is done */
    uint32_t typical_calls;    /* on the level; median */
    uint64_t typical_ns;       /* mean of those that make so many calls and are followed */
    double evenness;           /* the median over the mean, without the longest 5 % */
};

/*
 * loop_cut_make -- cut a sequence.
 *   cut      out: n is 0 when it is no loop; released by loop_cut_release in any case
 *   goes_on  the sequence is not over: its last iteration is left out
 * O(n log n), as much memory as the sequence.
 */
void loop_cut_make(struct loop_cut *cut, const struct loop_sequence *s,
                   const struct call_view *calls, const struct loop_header *header,
                   bool goes_on);
void loop_cut_release(struct loop_cut *cut);

/* loop_cut_begin_ns, loop_cut_end_ns -- times of iteration i: it ends when the next begins. */
uint64_t loop_cut_begin_ns(const struct loop_cut *cut, const struct loop_sequence *s,
                           const struct call_view *calls, uint32_t i);
uint64_t loop_cut_end_ns(const struct loop_cut *cut, const struct loop_sequence *s,
                         const struct call_view *calls, uint32_t i);

#endif

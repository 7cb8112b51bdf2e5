/*
 * loop_cut -- the calls of a function as a sequence (loop_sequence), what may be the header of
 * a loop in it (loop_headers), and the sequence cut into iterations where a header begins, and
 * how much these are alike (loop_cut).
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

#include "base/idmap.h"
#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * loop_sequence -- what a function calls, one call after the other, as small numbers.
 *
 * Two calls have the same symbol when they call the same region and, of MPI, send to the same
 * ranks with the same tags or take part in the same kind of collective of a communicator. All
 * long calls of a region are one sequence, with a break between them that no loop crosses:
 *
 *     calls    main ( init  step(..)  step(..)  io  step(..) )
 *     symbols         1     2         2         3   2          break
 */

#define LOOP_BREAK 0u /* the symbol of a break */

struct loop_sequence {
    uint32_t n;
    uint32_t *symbol; /* [n] < n_symbols */
    uint32_t *row;    /* [n] of the call; of a break, the row after the last call inside */
    size_t symbol_cap, row_cap;
    uint32_t n_symbols;
    struct idmap known;
    size_t message, collective; /* of the location, looked at so far */
};

void loop_sequence_release(struct loop_sequence *s);

/* loop_sequence_clear -- empty, for another caller of the same or of another location. */
void loop_sequence_clear(struct loop_sequence *s);

/*
 * loop_detail_of_message, loop_detail_of_collective -- what each adds to the detail of the call
 * of MPI that it is of. A symbol is a region and a detail: known.key says which, high the
 * region, and symbol i is key i - 1. The detail is a sum, so that the order in which one call
 * sends to several does not matter.
 */
static inline uint64_t loop_detail_of_message(const struct message *m)
{
    return m->kind == MESSAGE_SEND
               ? ((uint64_t)m->peer << 32 | m->tag) * 0x9e3779b97f4a7c15u + 1
               : 0;
}

static inline uint64_t loop_detail_of_collective(const struct collective *c)
{
    return ((uint64_t)c->comm << 32 | c->root) * 0xc2b2ae3d27d4eb4fu + c->kind + 1;
}

/*
 * loop_sequence_add -- append the calls on one level, and a break.
 *   begin, end    rows: those of begin's depth are appended; none before those of the last time
 *   has_partners  tell sends and collectives apart by who takes part
 * O(calls on the level + messages of the location in all).
 */
void loop_sequence_add(struct loop_sequence *s, const struct call_view *calls,
                       const struct definitions *defs, uint32_t begin, uint32_t end,
                       bool has_partners);

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

#endif

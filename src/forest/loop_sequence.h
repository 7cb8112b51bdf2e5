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
#ifndef SNAG_FOREST_LOOP_SEQUENCE_H
#define SNAG_FOREST_LOOP_SEQUENCE_H

#include "base/idmap.h"
#include "stack/calls.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif

/*
 * Messages and collectives are in the order of their records, so those of the calls on one
 * level come in the order of these calls: two cursors are enough.
 */
#include "forest/loop_sequence.h"

#include "base/mem.h"

#include <stdlib.h>

#define MAX_SYMBOLS (1u << 20) /* what comes after that is one symbol */

void loop_sequence_release(struct loop_sequence *s)
{
    free(s->symbol);
    free(s->row);
    idmap_release(&s->known);
    *s = (struct loop_sequence){0};
}

void loop_sequence_clear(struct loop_sequence *s)
{
    idmap_release(&s->known);
    s->n = 0;
    s->n_symbols = 1;
    s->message = s->collective = 0;
}

static uint64_t partners(struct loop_sequence *s, const struct call_view *calls, uint32_t row)
{
    uint64_t sum = 0;

    for (; s->message < calls->n_messages; s->message++) {
        const struct message *m = &calls->message[s->message];

        if (m->call != NO_CALL && m->call > row)
            break;
        if (m->call == row)
            sum += loop_detail_of_message(m);
    }
    for (; s->collective < calls->n_collectives; s->collective++) {
        const struct collective *c = &calls->collective[s->collective];

        if (c->call != NO_CALL && c->call > row)
            break;
        if (c->call == row)
            sum += loop_detail_of_collective(c);
    }
    return sum;
}

static void append(struct loop_sequence *s, uint32_t symbol, uint32_t row)
{
    mem_grow(&s->symbol, &s->symbol_cap, s->n + 1, sizeof *s->symbol);
    mem_grow(&s->row, &s->row_cap, s->n + 1, sizeof *s->row);
    s->symbol[s->n] = symbol;
    s->row[s->n++] = row;
}

static uint32_t symbol_of(struct loop_sequence *s, uint32_t region, uint64_t detail)
{
    struct key key = key_pair(region, detail);
    uint32_t id;

    if (s->known.n < MAX_SYMBOLS) {
        id = idmap_add(&s->known, key);
        s->n_symbols = s->known.n + 2;
        return id + 1;
    }
    id = idmap_find(&s->known, key);
    return id == IDMAP_NONE ? MAX_SYMBOLS + 1 : id + 1;
}

void loop_sequence_add(struct loop_sequence *s, const struct call_view *calls,
                       const struct definitions *defs, uint32_t begin, uint32_t end,
                       bool has_partners)
{
    for (uint32_t row = begin; row < end; row += calls->subtree_len[row]) {
        uint32_t region = calls->region[row];
        bool may_send = has_partners && defs->region[region].kind == REGION_MPI;

        append(s, symbol_of(s, region, may_send ? partners(s, calls, row) : 0), row);
    }
    append(s, LOOP_BREAK, end);
}

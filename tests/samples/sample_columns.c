#include "sample_columns.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_PER_ROOT 16u

/* A location while its calls are made. */
struct making {
    struct sample_columns *s;
    struct column_range *range;
    struct rng rng;
};

static uint64_t row_of(const struct making *m)
{
    return m->range->first_call + m->range->n_calls;
}

/* A call and, in some, calls inside it, which do not overlap. */
static void put(struct making *m, uint16_t depth, uint64_t enter, uint64_t length, unsigned n)
{
    uint64_t row = row_of(m), inside = enter;

    m->range->n_calls++;
    m->s->enter_ns[row] = enter;
    m->s->inclusive_ns[row] = length;
    m->s->depth[row] = depth;
    m->s->region[row] = (uint32_t)(row % 5);
    for (; n > 0 && depth + 1u < SAMPLE_DEPTHS && inside < enter + length; n--) {
        uint64_t own = rng_below(&m->rng, (uint32_t)(enter + length - inside) + 1);

        put(m, depth + 1, inside, own, n > 1 ? 3 : 0);
        inside += own + rng_below(&m->rng, 4);
    }
    m->s->subtree_len[row] = (uint32_t)(row_of(m) - row);
}

static uint64_t put_message(struct making *m, uint64_t now)
{
    struct message *message = m->s->message + m->range->first_message + m->range->n_messages;

    *message = (struct message){.begin_ns = now, .end_ns = now + rng_below(&m->rng, 9)};
    message->match = MESSAGE_UNMATCHED;
    message->kind = rng_below(&m->rng, 2) ? MESSAGE_SEND : MESSAGE_RECV;
    m->range->n_messages++;
    return message->end_ns;
}

static void sort_by_depth(struct making *m, uint64_t *start)
{
    const uint16_t *depth = m->s->depth + m->range->first_call;
    uint32_t *by_depth = m->s->by_depth + m->range->first_call;
    uint64_t n = 0;

    for (uint16_t d = 0; d < SAMPLE_DEPTHS; d++) {
        start[d] = n;
        for (uint32_t i = 0; i < m->range->n_calls; i++)
            if (depth[i] == d)
                by_depth[n++] = i;
    }
    start[SAMPLE_DEPTHS] = n;
    m->range->first_depth = (uint64_t)(start - m->s->depth_start);
    m->range->n_depths = SAMPLE_DEPTHS;
}

static void make(struct making *m, uint32_t n_roots)
{
    uint64_t now = rng_below(&m->rng, 50);

    for (uint32_t r = 0; r < n_roots; r++) {
        uint64_t length =
            rng_below(&m->rng, 10) == 0 ? rng_below(&m->rng, 3000) : rng_below(&m->rng, 9);

        put(m, 0, now, length, 4);
        now += length + (rng_below(&m->rng, 3) ? 0 : rng_below(&m->rng, 400));
        if (rng_below(&m->rng, 300) == 0)
            now += rng_below(&m->rng, 100000);
        if (rng_below(&m->rng, 2) == 0)
            now = put_message(m, now);
    }
    if (now > m->s->end_ns)
        m->s->end_ns = now;
}

void sample_columns_init(struct sample_columns *s, uint32_t n_roots, uint64_t seed)
{
    size_t most = SAMPLE_LOCATIONS * CALLS_PER_ROOT * (size_t)n_roots;
    struct columns *c = &s->columns;

    *s = (struct sample_columns){.enter_ns = mem_alloc(most, 8),
                                 .inclusive_ns = mem_alloc(most, 8),
                                 .region = mem_alloc(most, 4),
                                 .subtree_len = mem_alloc(most, 4),
                                 .by_depth = mem_alloc(most, 4),
                                 .depth = mem_alloc(most, 2),
                                 .message = mem_alloc(most, sizeof *s->message)};
    s->index.header.checksum = seed;
    for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++) {
        struct making m = {s, &s->index.range[l], {seed + l}};

        m.range->first_call = c->n_calls;
        m.range->first_message = c->n_messages;
        make(&m, n_roots);
        sort_by_depth(&m, s->depth_start + l * (SAMPLE_DEPTHS + 1));
        c->n_calls += m.range->n_calls;
        c->n_messages += m.range->n_messages;
    }
    c->n_locations = SAMPLE_LOCATIONS;
    c->dir = -1;
    c->is_checked = mem_alloc(SAMPLE_LOCATIONS, sizeof *c->is_checked);
    c->range = s->index.range;
    c->column[COLUMN_ENTER] = s->enter_ns;
    c->column[COLUMN_INCLUSIVE] = s->inclusive_ns;
    c->column[COLUMN_REGION] = s->region;
    c->column[COLUMN_SUBTREE] = s->subtree_len;
    c->column[COLUMN_DEPTH] = s->depth;
    c->column[COLUMN_BY_DEPTH] = s->by_depth;
    c->depth_start = s->depth_start;
    c->message = s->message;
}

void sample_columns_release(struct sample_columns *s)
{
    free(s->enter_ns);
    free(s->inclusive_ns);
    free(s->region);
    free(s->subtree_len);
    free(s->by_depth);
    free(s->depth);
    free(s->message);
    free(s->columns.is_checked);
}

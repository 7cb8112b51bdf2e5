/* Parts come in any order: each is compared with the worst of those before it. */
#include "live/sync_order.h"

#include "base/mem.h"

#include <stdlib.h>

#define MIN_ADDED 1024u /* since whole ones were forgotten */

/* Of the parts that are known. */
struct known_parts {
    uint64_t begin_ns, end_ns;   /* latest begin, earliest end: of those that others wait for,
                                    and of those that wait for others */
    uint32_t last_in, first_out; /* ranks */
    uint32_t n_missing;
};

void sync_order_release(struct sync_order *m)
{
    idmap_release(&m->id);
    free(m->of);
    *m = (struct sync_order){0};
}

static struct known_parts *meeting_of(struct sync_order *m, const struct collective *part,
                                      const struct comm *comm)
{
    uint32_t n = m->id.n, at = idmap_add(&m->id, key_pair(part->comm, part->order));

    mem_grow(&m->of, &m->cap, (size_t)m->id.n);
    if (at == n)
        m->of[at] = (struct known_parts){.end_ns = UINT64_MAX,
                                         .last_in = NO_RANK,
                                         .first_out = NO_RANK,
                                         .n_missing = comm->n_members + comm->n_remote};
    return &m->of[at];
}

bool sync_order_add(struct sync_order *m, const struct collective *part,
                    const struct comm *comm, uint32_t rank)
{
    struct known_parts *of = meeting_of(m, part, comm);
    bool is_root = part->root == rank;

    of->n_missing -= of->n_missing > 0;
    if (part->kind == COLLECTIVE_OTHER)
        return false;
    if ((part->kind != COLLECTIVE_ONE_TO_ALL || is_root) && part->begin_ns >= of->begin_ns) {
        of->begin_ns = part->begin_ns;
        of->last_in = rank;
    }
    if ((part->kind != COLLECTIVE_ALL_TO_ONE || is_root) && part->end_ns < of->end_ns) {
        of->end_ns = part->end_ns;
        of->first_out = rank;
    }
    return of->begin_ns > of->end_ns && of->last_in != of->first_out;
}

void sync_order_forget(struct sync_order *m)
{
    struct sync_order left = {0};

    if (m->id.n < 2 * m->n_left + MIN_ADDED)
        return;
    for (uint32_t i = 0; i < m->id.n; i++) {
        uint32_t at;

        if (m->of[i].n_missing == 0)
            continue;
        at = idmap_add(&left.id, m->id.key[i]);
        mem_grow(&left.of, &left.cap, (size_t)at + 1);
        left.of[at] = m->of[i];
    }
    sync_order_release(m);
    if (left.id.n > SYNC_ORDER_MAX_PENDING)
        sync_order_release(&left);
    left.n_left = left.id.n;
    *m = left;
}

/* columns_write shows each block before it writes it. */
#include "run/profiled_columns.h"

#include "base/mem.h"

#include <stdlib.h>

void profiled_columns_init(struct profiled_columns *p, uint32_t n_regions, struct paged *paged)
{
    *p = (struct profiled_columns){.paged = paged};
    profile_init(&p->profile, n_regions);
    profile_init(&p->total, n_regions);
    profile_walk_init(&p->walk, n_regions);
}

void profiled_columns_release(struct profiled_columns *p)
{
    profile_release(&p->profile);
    profile_release(&p->total);
    profile_walk_release(&p->walk);
    paged_release(p->paged, p->by_depth);
    *p = (struct profiled_columns){0};
}

static void profile_block(void *ctx, uint32_t begin, uint32_t end)
{
    struct profiled_columns *p = ctx;

    profile_rows(&p->profile, &p->walk, p->calls, begin, end);
}

int profiled_columns_take(struct profiled_columns *p, struct columns_writer *writer,
                          uint32_t location, const struct calls *calls,
                          const struct definitions *defs)
{
    int rc = 0;

    p->calls = calls;
    profile_begin(&p->profile, &p->walk);
    if (writer) {
        p->by_depth = paged_grow(p->paged, p->by_depth, 0, &p->by_depth_cap, calls->n,
                                 sizeof *p->by_depth);
        rc = columns_write(writer, location, calls, p->by_depth, profile_block, p);
    } else {
        profile_block(p, 0, calls->n);
    }
    profile_end(&p->profile, &p->walk, calls, defs);
    if (defs->location[location].is_gpu)
        profile_is_stream(&p->profile);
    profile_merge(&p->total, &p->profile);
    return rc;
}

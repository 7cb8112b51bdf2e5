/* Preorder: the path of a caller is known before those of its calls. */
#include "features/context.h"

#include "base/mem.h"

#include <stdlib.h>

uint32_t context_add(struct context *c, uint32_t parent, uint32_t region)
{
    uint32_t n_before = c->id.n, path = idmap_add(&c->id, key_pair(parent, region));

    if (path < n_before)
        return path;
    if (path >= c->cap) {
        c->cap = c->cap ? 2 * c->cap : 256;
        c->parent = mem_resize(c->parent, c->cap, sizeof *c->parent);
        c->region = mem_resize(c->region, c->cap, sizeof *c->region);
    }
    c->parent[path] = parent;
    c->region[path] = region;
    c->n = c->id.n;
    return path;
}

void context_init(struct context *c, const struct forest *forest)
{
    *c = (struct context){0};
    c->of = mem_resize(NULL, forest->n, sizeof *c->of);
    for (uint32_t v = 0; v < forest->n; v++) {
        uint32_t caller = forest->parent[v];

        c->of[v] = context_add(c, caller == FOREST_ROOT ? PATH_NONE : c->of[caller],
                               forest->region[v]);
    }
}

void context_release(struct context *c)
{
    free(c->parent);
    free(c->region);
    free(c->of);
    idmap_release(&c->id);
    *c = (struct context){0};
}

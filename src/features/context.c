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

void context_number(struct context *c, const struct forest *forest, bool is_learning,
                    uint32_t *path)
{
    for (uint32_t v = 0; v < forest->n; v++) {
        bool is_root = forest->parent[v] == FOREST_ROOT;
        uint32_t caller = is_root ? PATH_NONE : path[forest->parent[v]];

        if (is_learning)
            path[v] = context_add(c, caller, forest->region[v]);
        else if (is_root || caller != PATH_NONE)
            path[v] = idmap_find(&c->id, key_pair(caller, forest->region[v]));
        else
            path[v] = PATH_NONE;
    }
}

void context_rename(struct context *c, const uint32_t *to)
{
    idmap_release(&c->id);
    for (uint32_t path = 0; path < c->n; path++) {
        c->region[path] = to[c->region[path]];
        idmap_add(&c->id, key_pair(c->parent[path], c->region[path]));
    }
}

void context_release(struct context *c)
{
    free(c->parent);
    free(c->region);
    idmap_release(&c->id);
    *c = (struct context){0};
}

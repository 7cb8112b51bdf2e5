/* Preorder: the path of a caller is known before those of its calls. */
#include "features/context.h"

#include "base/mem.h"
#include "features/numbering.h"

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

void context_number_tree(struct context *c, const struct forest *forest, uint32_t t,
                         bool is_learning, uint32_t *path)
{
    uint32_t base = forest->first[t], n = forest->first[t + 1] - base;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = forest->parent[base + i], region = forest->region[base + i];
        uint32_t caller = parent == FOREST_ROOT ? PATH_NONE : path[parent - base];

        if (is_learning)
            path[i] = context_add(c, caller, region);
        else if (parent == FOREST_ROOT || caller != PATH_NONE)
            path[i] = idmap_find(&c->id, key_pair(caller, region));
        else
            path[i] = PATH_NONE;
    }
}

void context_number(struct context *c, const struct forest *forest, bool is_learning,
                    uint32_t *path)
{
    for (uint32_t t = 0; t < forest->n_trees; t++)
        context_number_tree(c, forest, t, is_learning, path + forest->first[t]);
}

void context_rename(struct context *c, const uint32_t *to)
{
    idmap_release(&c->id);
    for (uint32_t path = 0; path < c->n; path++) {
        c->region[path] = to[c->region[path]];
        idmap_add(&c->id, key_pair(c->parent[path], c->region[path]));
    }
}

struct path_entry {
    uint32_t parent, region;
};

static struct key identify_path(void *entry, const uint32_t *to)
{
    struct path_entry *path = entry;

    path->parent = path->parent == PATH_NONE ? PATH_NONE : to[path->parent];
    return key_pair(path->parent, path->region);
}

void context_unite(struct context *c, const struct tree_share *share,
                   const struct first_seen *seen, uint32_t *to)
{
    struct path_entry *own = mem_resize(NULL, c->n, sizeof *own), *all;
    struct numbering numbering = {c->n, seen, own, sizeof *own, identify_path};
    uint32_t n;

    for (uint32_t p = 0; p < c->n; p++)
        own[p] = (struct path_entry){c->parent[p], c->region[p]};
    all = numbering_unite(share, &numbering, to, &n);
    context_release(c);
    for (uint32_t p = 0; p < n; p++)
        context_add(c, all[p].parent, all[p].region);
    free(own);
    free(all);
}

void context_release(struct context *c)
{
    free(c->parent);
    free(c->region);
    idmap_release(&c->id);
    *c = (struct context){0};
}

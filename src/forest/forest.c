/* Two passes over a location: count, so that the arrays grow once, then copy. */
#include "forest/forest.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/search.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void forest_release(struct forest *forest)
{
    free(forest->region);
    free(forest->parent);
    free(forest->exclusive_ns);
    free(forest->first);
    free(forest->location);
    free(forest->index);
    free(forest->call);
    free(forest->enter_ns);
    free(forest->root_ns);
    free(forest->n_messages);
    *forest = (struct forest){0};
}

static void resize(struct forest *f, size_t vertex_cap, size_t tree_cap)
{
    if (vertex_cap > f->vertex_cap) {
        f->vertex_cap = vertex_cap;
        f->region = mem_resize(f->region, f->vertex_cap, sizeof *f->region);
        f->parent = mem_resize(f->parent, f->vertex_cap, sizeof *f->parent);
        f->exclusive_ns = mem_resize(f->exclusive_ns, f->vertex_cap, sizeof *f->exclusive_ns);
    }
    if (f->first == NULL || tree_cap > f->tree_cap) {
        f->tree_cap = tree_cap;
        f->first = mem_resize(f->first, f->tree_cap + 1, sizeof *f->first);
        f->location = mem_resize(f->location, f->tree_cap, sizeof *f->location);
        f->index = mem_resize(f->index, f->tree_cap, sizeof *f->index);
        f->call = mem_resize(f->call, f->tree_cap, sizeof *f->call);
        f->enter_ns = mem_resize(f->enter_ns, f->tree_cap, sizeof *f->enter_ns);
        f->root_ns = mem_resize(f->root_ns, f->tree_cap, sizeof *f->root_ns);
        f->n_messages = mem_resize(f->n_messages, f->tree_cap, sizeof *f->n_messages);
        f->first[f->n_trees] = f->n;
    }
}

/* Room for exactly so many more, as the arrays are large. */
static void reserve(struct forest *f, size_t n_vertices, size_t n_trees)
{
    resize(f, f->n + n_vertices, f->n_trees + n_trees);
}

/* At least twice what there was. */
static size_t grown(size_t cap, size_t need)
{
    return need <= cap ? cap : need > 2 * cap ? need : 2 * cap;
}

void forest_grow(struct forest *f, size_t n_vertices, size_t n_trees)
{
    resize(f, grown(f->vertex_cap, f->n + n_vertices),
           grown(f->tree_cap, f->n_trees + n_trees));
}

static void copy_tree(struct forest *f, uint32_t location, uint32_t index,
                      const struct call_view *calls, uint32_t root)
{
    uint32_t n = calls->subtree_len[root], base = f->n, t = f->n_trees++;

    memcpy(f->region + base, calls->region + root, n * sizeof *f->region);
    memcpy(f->exclusive_ns + base, calls->inclusive_ns + root, n * sizeof *f->exclusive_ns);
    f->parent[base] = FOREST_ROOT;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t parent = base + i - 1; /* the call before, or one that it is inside */
        int n_ended = calls->depth[root + i - 1] + 1 - calls->depth[root + i];

        while (n_ended-- > 0 && parent > base)
            parent = f->parent[parent];
        f->parent[base + i] = parent;
        f->exclusive_ns[parent] -= calls->inclusive_ns[root + i];
    }
    f->location[t] = location;
    f->index[t] = index;
    f->call[t] = root;
    f->enter_ns[t] = calls->enter_ns[root];
    f->root_ns[t] = calls->inclusive_ns[root];
    f->n_messages[t] = 0;
    f->n += n;
    f->first[t + 1] = f->n;
}

/* Messages are in time order, and so are the trees, so one walks along the other. */
static void count_messages(struct forest *f, uint32_t begin, const struct call_view *calls)
{
    uint32_t t = begin;

    for (size_t m = 0; m < calls->n_messages && t < f->n_trees; m++) {
        uint32_t call = calls->message[m].call;

        if (call == NO_CALL)
            continue;
        while (t < f->n_trees && f->call[t] + (f->first[t + 1] - f->first[t]) <= call)
            t++;
        if (t < f->n_trees && f->call[t] <= call)
            f->n_messages[t]++;
    }
}

int forest_add(struct forest *forest, uint32_t location, const struct call_view *calls,
               uint32_t region)
{
    size_t n_vertices = 0, n_trees = 0;
    uint32_t begin = forest->n_trees, index = 0;

    for (uint32_t i = 0; i < calls->n;) {
        bool is_root = calls->region[i] == region;

        n_vertices += is_root ? calls->subtree_len[i] : 0;
        n_trees += is_root;
        i += is_root ? calls->subtree_len[i] : 1;
    }
    if (forest->n + n_vertices >= FOREST_ROOT)
        return err_set(ERR_RANGE, "the forest has more than 4 billion calls: choose a function "
                                  "of interest that covers less of the run");
    reserve(forest, n_vertices, n_trees);
    for (uint32_t i = 0; i < calls->n;) {
        if (calls->region[i] != region) {
            i++;
            continue;
        }
        copy_tree(forest, location, index++, calls, i);
        i += calls->subtree_len[i];
    }
    count_messages(forest, begin, calls);
    return 0;
}

void forest_of_call(struct forest *forest, uint32_t location, const struct call_view *calls,
                    uint32_t row)
{
    reserve(forest, calls->subtree_len[row], 1);
    copy_tree(forest, location, 0, calls, row);
    count_messages(forest, 0, calls);
}

void forest_inclusive(const struct forest *forest, uint32_t t, uint64_t *out)
{
    uint32_t base = forest->first[t], n = forest->first[t + 1] - base;

    memcpy(out, forest->exclusive_ns + base, n * sizeof *out);
    for (uint32_t i = n; i-- > 1;)
        out[forest->parent[base + i] - base] += out[i];
}

uint32_t forest_depth(const struct forest *forest)
{
    uint16_t *depth = mem_alloc(forest->n, sizeof *depth); /* calls are at most 65,535 deep */
    uint32_t deepest = 0;

    for (uint32_t v = 0; v < forest->n; v++) {
        uint32_t parent = forest->parent[v];

        depth[v] = parent == FOREST_ROOT ? 0 : (uint16_t)(depth[parent] + 1);
        if (depth[v] + 1u > deepest)
            deepest = depth[v] + 1u;
    }
    free(depth);
    return deepest;
}

uint32_t forest_tree(const struct forest *forest, uint32_t v)
{
    return (uint32_t)interval_of_u32(forest->first, forest->n_trees, v);
}

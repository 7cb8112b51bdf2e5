/*
 * Children are counted per function with one array over all functions and a list of those that
 * were touched. A signature is the sum of the hashes of its entries: their order is no matter.
 */
#include "features/shape.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/xxh.h"
#include "features/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shape_finder {
    const struct forest *forest;
    const uint32_t *path; /* of the vertices of the tree */
    const uint8_t *is_apart;
    struct shapes *shapes;
    bool is_learning;
    struct siblings *siblings;
    struct key *region_key;    /* [n_regions] hash of the name */
    uint32_t *count;           /* [n_regions] zero between vertices */
    uint32_t *touched;         /* [n_regions] */
    uint32_t *subtree_len;     /* [vertices of the largest tree] */
    uint32_t n_trees, n_first; /* that are like the one looked at; first executions */
};

void shape_class_range(uint32_t number_class, uint32_t *least, uint32_t *most)
{
    bool is_range = number_class > 2;

    *least = is_range ? 1u << (number_class - 2) : number_class;
    *most = is_range ? 2 * *least - 1 : number_class;
    if (number_class == 3)
        *least = 3; /* 2 has a class of its own */
}

static uint32_t add_shape(struct shape_finder *f, uint32_t path, struct key key,
                          uint32_t n_touched)
{
    struct shapes *s = f->shapes;
    uint32_t n_before = s->id.n, shape = idmap_add(&s->id, key);
    size_t at;

    if (shape < n_before)
        return shape;
    if (shape >= s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->path = mem_resize(s->path, s->cap, sizeof *s->path);
        s->calls = mem_resize(s->calls, s->cap, sizeof *s->calls);
        s->first_calls = mem_resize(s->first_calls, s->cap, sizeof *s->first_calls);
        s->child_first = mem_resize(s->child_first, s->cap + 1, sizeof *s->child_first);
    }
    s->path[shape] = path;
    s->calls[shape] = s->first_calls[shape] = 0;
    at = shape == 0 ? 0 : s->child_first[shape];
    s->child_first[shape] = at;
    mem_grow(&s->child, &s->child_cap, at + n_touched);
    for (uint32_t i = 0; i < n_touched; i++)
        s->child[at + i] =
            (struct shape_child){f->touched[i], shape_class(f->count[f->touched[i]])};
    s->child_first[shape + 1] = at + n_touched;
    return shape;
}

static bool is_part(const uint32_t *path, const uint8_t *is_apart, uint32_t v)
{
    return path[v] == PATH_NONE || !is_apart[path[v]];
}

/* Counts the children of vertex i of a tree; the signature of its shape. */
static struct key count_children(struct shape_finder *f, uint32_t base, uint32_t i,
                                 uint32_t *n_touched)
{
    struct key signature = {0, 0};
    uint32_t n = 0;

    for (uint32_t c = i + 1; c < i + f->subtree_len[i]; c += f->subtree_len[c]) {
        uint32_t region = f->forest->region[base + c];

        if (!is_part(f->path, f->is_apart, c))
            continue;
        if (f->count[region]++ == 0)
            f->touched[n++] = region;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t region = f->touched[k];
        XXH128_hash_t entry = XXH3_128bits_withSeed(&f->region_key[region], sizeof(struct key),
                                                    shape_class(f->count[region]));

        signature.high += entry.high64;
        signature.low += entry.low64;
    }
    *n_touched = n;
    return signature;
}

static uint32_t shape_vertex(struct shape_finder *f, uint32_t base, uint32_t i)
{
    uint32_t n_touched = 0, path = f->path[i], shape, order;
    struct key key = {0, 0};

    if (path == PATH_NONE)
        return SHAPE_NONE;
    if (f->subtree_len[i] > 1)
        key = count_children(f, base, i, &n_touched);
    key.high += path * 0x9e3779b97f4a7c15u;
    if (f->is_learning) {
        shape = add_shape(f, path, key, n_touched);
        f->shapes->calls[shape] += f->n_trees;
        f->shapes->first_calls[shape] += f->n_first;
    } else {
        shape = idmap_find(&f->shapes->id, key);
        order = shape == IDMAP_NONE ? CALL_ORDER_FREE : f->shapes->orders.of[shape];
        /* those in another order than is firm have a number of their own */
        if (order != CALL_ORDER_FREE && call_order_is_other(f->shapes, order, f->siblings,
                                                            f->forest, base, f->subtree_len, i))
            shape = f->shapes->id.n + order;
    }
    for (uint32_t k = 0; k < n_touched; k++)
        f->count[f->touched[k]] = 0;
    return shape;
}

/* ---------------------------------------------------------------------------- rarity */

struct shape_frequency {
    uint32_t path, calls, shape;
};

static int by_path_and_calls(const void *a, const void *b)
{
    const struct shape_frequency *p = a, *q = b;

    return ORDER(p->path, q->path) ?: ORDER(p->calls, q->calls) ?: ORDER(p->shape, q->shape);
}

/* rarity[shape] from the given numbers of calls; shapes without any get INFINITY. */
static void find_rarity(const struct shapes *s, const uint32_t *calls, double *rarity)
{
    struct shape_frequency *f = mem_alloc(s->id.n, sizeof *f);
    uint32_t n = s->id.n;

    for (uint32_t i = 0; i < n; i++)
        f[i] = (struct shape_frequency){s->path[i], calls[i], i};
    qsort(f, n, sizeof *f, by_path_and_calls);
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        double total = 0, rarer = 0;

        for (end = begin; end < n && f[end].path == f[begin].path; end++)
            total += f[end].calls;
        for (uint32_t i = begin, tie; i < end; i = tie) {
            for (tie = i; tie < end && f[tie].calls == f[i].calls; tie++)
                rarer += f[tie].calls;
            for (uint32_t k = i; k < tie; k++)
                rarity[f[k].shape] = f[k].calls ? -log(rarer / total) : INFINITY;
        }
    }
    free(f);
}

static struct key *hash_names(const struct definitions *defs)
{
    struct key *key = mem_resize(NULL, defs->names.n, sizeof *key);

    for (uint32_t r = 0; r < defs->names.n; r++) {
        const char *name = region_word(&defs->region[r]);
        XXH128_hash_t hash = XXH3_128bits(name, strlen(name));

        key[r] = (struct key){hash.high64, hash.low64};
    }
    return key;
}

/* ------------------------------------------------------------------------- processes */

struct shape_entry {
    struct key id;
    uint32_t path, process, number, n_children; /* number: on that process */
};

static struct key identify_shape(void *entry, const uint32_t *to)
{
    (void)to;
    return ((struct shape_entry *)entry)->id;
}

/* On process 0: of each shape those that its process has noted, for all. */
static void choose_children(const struct tree_share *share, const struct pack *own,
                            const struct shape_entry *all, uint32_t n, struct pack *out)
{
    for (unsigned p = 0; p < process_group_size(share->process_group); p++) {
        struct pack pack = {.data = own->data, .n = own->n};
        struct shape_child *child;
        size_t n_first, n_children, *first;

        if (p > 0)
            process_group_receive_pack(share->process_group, p, &pack);
        n_first = unpack_count(&pack, sizeof *first);
        first = unpack_array(&pack, n_first, sizeof *first);
        n_children = unpack_count(&pack, sizeof *child);
        child = unpack_array(&pack, n_children, sizeof *child);
        for (uint32_t i = 0; i < n; i++)
            if (all[i].process == p)
                for (uint32_t k = 0; k < all[i].n_children; k++) {
                    pack_u32(out, i);
                    pack_bytes(out, &child[first[all[i].number] + k], sizeof *child);
                }
        free(first);
        free(child);
        if (p > 0)
            free(pack.data);
    }
}

/* Children of all shapes, which have their numbers and how many they have. */
static void take_children(struct shapes *s, struct pack *pack)
{
    size_t n = s->child_first[s->id.n], *next = mem_alloc(s->id.n, sizeof *next);

    for (uint32_t i = 0; i < s->id.n; i++)
        next[i] = s->child_first[i];
    mem_grow(&s->child, &s->child_cap, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t shape = unpack_u32(pack);

        memcpy(&s->child[next[shape]++], unpack_bytes(pack, sizeof *s->child),
               sizeof *s->child);
    }
    free(next);
}

/* The shapes of all, without children. */
static void take_shapes(struct shapes *s, const struct shape_entry *all, uint32_t n)
{
    *s = (struct shapes){.cap = n};
    s->path = mem_resize(NULL, n, sizeof *s->path);
    s->calls = mem_alloc(n, sizeof *s->calls);
    s->first_calls = mem_alloc(n, sizeof *s->first_calls);
    s->child_first = mem_alloc((size_t)n + 1, sizeof *s->child_first);
    for (uint32_t i = 0; i < n; i++) {
        idmap_add(&s->id, all[i].id);
        s->path[i] = all[i].path;
        s->child_first[i + 1] = s->child_first[i] + all[i].n_children;
    }
}

/* What a process has learnt from its trees becomes what all have learnt. */
static void unite(struct shapes *shapes, const struct shapes_input *input, uint32_t *shape)
{
    struct shapes own = *shapes;
    uint32_t n_own = own.id.n, *to = mem_resize(NULL, n_own, sizeof *to), n;
    struct shape_entry *entry = mem_resize(NULL, n_own, sizeof *entry), *all;
    struct first_seen *seen = numbering_seen(input->forest, input->kinds, shape, n_own);
    struct numbering numbering = {n_own, seen, entry, sizeof *entry, identify_shape};
    struct pack children = {0}, chosen = {0};

    for (uint32_t i = 0; i < n_own; i++)
        entry[i] = (struct shape_entry){
            own.id.key[i], own.path[i], process_group_me(input->share->process_group), i,
            (uint32_t)(own.child_first[i + 1] - own.child_first[i])};
    all = numbering_unite(input->share, &numbering, to, &n);
    numbering_apply(to, shape, input->kinds->at[input->kinds->n]);
    /* where the children of each shape begin, and the children */
    pack_array(&children, own.child_first, n_own, sizeof *own.child_first);
    pack_array(&children, own.child, n_own ? own.child_first[n_own] : 0, sizeof *own.child);
    if (tree_share_is_first(input->share))
        choose_children(input->share, &children, all, n, &chosen);
    else
        process_group_send_pack(input->share->process_group, 0, &children);
    tree_share_tell_pack(input->share, &chosen);
    take_shapes(shapes, all, n);
    take_children(shapes, &chosen);
    for (uint32_t i = 0; i < n_own; i++) {
        shapes->calls[to[i]] = own.calls[i];
        shapes->first_calls[to[i]] = own.first_calls[i];
    }
    tree_share_add(input->share, shapes->calls, n, sizeof *shapes->calls, tree_share_sum_u32);
    tree_share_add(input->share, shapes->first_calls, n, sizeof *shapes->first_calls,
                   tree_share_sum_u32);
    shapes_release(&own);
    pack_release(&children);
    free(chosen.data);
    free(entry);
    free(seen);
    free(to);
    free(all);
}

void shapes_find(struct shapes *shapes, const struct shapes_input *input, bool is_learning,
                 uint32_t *shape)
{
    const struct tree_kinds *kinds = input->kinds;
    const struct forest *forest = input->forest;
    uint32_t n_regions = input->defs->names.n, largest = 0;
    uint32_t *n_first =
        mem_alloc(kinds->n, sizeof *n_first); /* first executions of each kind */
    struct shape_finder f = {.forest = forest,
                             .is_apart = input->is_apart,
                             .shapes = shapes,
                             .is_learning = is_learning,
                             .region_key = hash_names(input->defs)};

    for (uint32_t t = 0; t < forest->n_trees; t++) {
        uint32_t n = forest->first[t + 1] - forest->first[t];

        largest = n > largest ? n : largest;
        n_first[kinds->of[t]] += forest->index[t] == 0;
    }
    f.count = mem_alloc(n_regions, sizeof *f.count);
    f.touched = mem_resize(NULL, n_regions, sizeof *f.touched);
    f.subtree_len = mem_resize(NULL, largest, sizeof *f.subtree_len);
    f.siblings = siblings_new(n_regions);
    for (uint32_t k = 0; k < kinds->n; k++) {
        uint32_t t = kinds->first[k];

        f.n_trees = kinds->n_trees[k];
        f.n_first = n_first[k];
        f.path = input->path + kinds->at[k];
        forest_subtree_len(forest, t, f.subtree_len);
        for (uint32_t i = 0; i < forest->first[t + 1] - forest->first[t]; i++)
            shape[kinds->at[k] + i] = shape_vertex(&f, forest->first[t], i);
    }
    if (input->share)
        unite(shapes, input, shape);
    if (is_learning)
        call_orders_learn(shapes, input, n_first, shape);
    siblings_free(f.siblings);
    free(n_first);
    free(f.region_key);
    free(f.count);
    free(f.touched);
    free(f.subtree_len);
}

void shapes_rank(struct shapes *shapes, bool is_warm)
{
    uint32_t n = shapes->id.n;

    shapes->rarity = mem_resize(shapes->rarity, n, sizeof *shapes->rarity);
    shapes->first_rarity = mem_resize(shapes->first_rarity, n, sizeof *shapes->first_rarity);
    find_rarity(shapes, shapes->calls, shapes->rarity);
    for (uint32_t i = 0; i < n; i++)
        shapes->first_rarity[i] = INFINITY;
    if (is_warm)
        find_rarity(shapes, shapes->first_calls, shapes->first_rarity);
}

double shape_rarity(const struct shapes *shapes, uint32_t shape, bool is_of_first)
{
    uint32_t order = shape_order(shapes, shape);
    uint32_t as_called = order == CALL_ORDER_FREE ? shape : shapes->orders.shape[order];
    double rarity = is_of_first ? shapes->first_rarity[as_called] : shapes->rarity[as_called];

    return order == CALL_ORDER_FREE
               ? rarity
               : fmax(rarity, call_orders_rarity(shapes, order, is_of_first));
}

void shapes_release(struct shapes *shapes)
{
    call_orders_release(&shapes->orders);
    idmap_release(&shapes->id);
    free(shapes->path);
    free(shapes->calls);
    free(shapes->first_calls);
    free(shapes->rarity);
    free(shapes->first_rarity);
    free(shapes->child_first);
    free(shapes->child);
    *shapes = (struct shapes){0};
}

uint32_t shapes_typical(const struct shapes *shapes, uint32_t path)
{
    uint32_t typical = IDMAP_NONE;

    for (uint32_t i = 0; i < shapes->id.n; i++)
        if (shapes->path[i] == path &&
            (typical == IDMAP_NONE || shapes->calls[i] > shapes->calls[typical]))
            typical = i;
    return typical;
}

size_t shape_children(const struct forest *forest, const uint32_t *path,
                      const uint8_t *is_apart, uint32_t v, struct shape_child *child,
                      size_t most)
{
    uint32_t t = forest_tree(forest, v), first = forest->first[t];
    size_t n = 0;

    for (uint32_t c = v + 1; c < forest->first[t + 1]; c++) {
        size_t i = 0;

        if (forest->parent[c] != v || !is_part(path, is_apart, c - first))
            continue;
        while (i < n && child[i].region != forest->region[c])
            i++;
        if (i == most)
            continue;
        if (i == n)
            child[n++] = (struct shape_child){forest->region[c], 0};
        child[i].number_class++;
    }
    return n;
}

/*
 * Two passes over a location: count, so that the arrays grow once, then copy. Kinds of trees are
 * told by hashes, which threads make; numbering them is quick, and in the order of trees.
 */
#include "forest/forest.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/xxh.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512u /* vertices that are hashed at once */

/* What all forests have by tree, beside `first`, which has one more. */
#define BY_TREE(X)                                                                             \
    X(location);                                                                               \
    X(place);                                                                                  \
    X(index);                                                                                  \
    X(call);                                                                                   \
    X(enter_ns);                                                                               \
    X(root_ns);                                                                                \
    X(tracer_ns);                                                                              \
    X(open_ns);                                                                                \
    X(is_cut);                                                                                 \
    X(n_messages);

void forest_release(struct forest *forest)
{
    paged_release(forest->paged, forest->region);
    paged_release(forest->paged, forest->parent);
    paged_release(forest->paged, forest->exclusive_ns);
    paged_release(forest->paged, forest->off_ns);
    paged_release(forest->paged, forest->doubt);
    free(forest->first);
#define FREE(name) free(forest->name)
    BY_TREE(FREE)
#undef FREE
    free(forest->root_off_ns);
    free(forest->gap);
    *forest = (struct forest){0};
}

/* A column of what is by vertex, with room for vertex_cap of them. */
static void *resize_column(const struct forest *f, void *column, size_t width)
{
    return paged_resize(f->paged, column, f->n, f->vertex_cap, width);
}

static void resize(struct forest *f, size_t vertex_cap, size_t tree_cap)
{
    if (vertex_cap > f->vertex_cap) {
        f->vertex_cap = vertex_cap;
        f->region = resize_column(f, f->region, sizeof *f->region);
        f->parent = resize_column(f, f->parent, sizeof *f->parent);
        f->exclusive_ns = resize_column(f, f->exclusive_ns, sizeof *f->exclusive_ns);
        if (f->off_ns)
            f->off_ns = resize_column(f, f->off_ns, sizeof *f->off_ns);
        if (f->doubt)
            f->doubt = resize_column(f, f->doubt, sizeof *f->doubt);
    }
    if (f->first == NULL || tree_cap > f->tree_cap) {
        f->tree_cap = tree_cap;
        f->first = mem_resize(f->first, f->tree_cap + 1, sizeof *f->first);
#define RESIZE(name) f->name = mem_resize(f->name, f->tree_cap, sizeof *f->name)
        BY_TREE(RESIZE)
#undef RESIZE
        if (f->root_off_ns)
            f->root_off_ns = mem_resize(f->root_off_ns, f->tree_cap, sizeof *f->root_off_ns);
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

void forest_add_gap(struct forest *f, struct forest_gap gap)
{
    *mem_push(&f->gap, &f->n_gaps, &f->gap_cap) = gap;
}

uint64_t forest_place(const struct definitions *defs, uint32_t location)
{
    const struct location *l;

    if (defs == NULL || location >= defs->n_locations)
        return (uint64_t)location << 32;
    l = &defs->location[location];
    return (uint64_t)l->rank << 32 | l->thread;
}

static bool is_of_tracer(const struct definitions *defs, uint32_t region)
{
    return defs && defs->region[region].kind == REGION_TRACER;
}

/* The vertices of a tree: of its rows from the second on, the root is there. */
static void copy_rows(struct forest *f, uint32_t t, const struct call_view *calls,
                      uint32_t root, const struct definitions *defs)
{
    uint32_t end = root + calls->subtree_len[root], base = f->n - 1, last = root;

    for (uint32_t row = root + 1; row < end;) {
        uint32_t parent = f->n - 1; /* the vertex before, or one that it is inside */
        int n_ended = calls->depth[last] + 1 - calls->depth[row];

        while (n_ended-- > 0 && parent > base)
            parent = f->parent[parent];
        f->exclusive_ns[parent] -= calls->inclusive_ns[row];
        if (is_of_tracer(defs, calls->region[row])) {
            const char *name = defs->region[calls->region[row]].name;

            f->tracer_ns[t] += calls->inclusive_ns[row];
            forest_add_gap(f, (struct forest_gap){t, f->n, calls->subtree_len[row],
                                                  region_name_is_flush(name)});
            row += calls->subtree_len[row];
            continue;
        }
        f->region[f->n] = calls->region[row];
        f->exclusive_ns[f->n] = calls->inclusive_ns[row];
        f->parent[f->n++] = parent;
        last = row++;
    }
}

/* Whether a call is an iteration of a loop that no other one follows directly. */
static bool is_last_iteration(const struct call_view *calls, uint32_t root,
                              const struct definitions *defs)
{
    uint32_t region = calls->region[root], next = root + calls->subtree_len[root];

    return defs && defs->region[region].kind == REGION_LOOP &&
           (next >= calls->n || calls->region[next] != region);
}

static void copy_tree(struct forest *f, uint32_t location, uint32_t index,
                      const struct call_view *calls, uint32_t root,
                      const struct definitions *defs)
{
    uint32_t t = f->n_trees++;

    f->location[t] = location;
    f->place[t] = forest_place(defs, location);
    f->index[t] = index;
    f->call[t] = root;
    f->enter_ns[t] = calls->enter_ns[root];
    f->root_ns[t] = calls->inclusive_ns[root];
    f->tracer_ns[t] = 0;
    f->open_ns[t] = calls_is_open(calls, root) ? calls->after_ns + 1 : 0;
    f->is_cut[t] = is_last_iteration(calls, root, defs);
    f->n_messages[t] = 0;
    f->region[f->n] = calls->region[root];
    f->exclusive_ns[f->n] = calls->inclusive_ns[root];
    f->parent[f->n++] = FOREST_ROOT;
    copy_rows(f, t, calls, root, defs);
    if (f->first[t + 1] != f->n) /* the next part begins there: forest_divide has said it */
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
        while (t < f->n_trees && f->call[t] + calls->subtree_len[f->call[t]] <= call)
            t++;
        if (t < f->n_trees && f->call[t] <= call)
            f->n_messages[t]++;
    }
}

/* ---------------------------------------------------------------------- what is not known */

/* From now on it is kept how exactly times are known: so far they are, exactly. */
static void keep_offs(struct forest *f)
{
    if (f->off_ns)
        return;
    f->off_ns = paged_alloc(f->paged, f->vertex_cap, sizeof *f->off_ns);
    memset(f->off_ns, 0, f->n * sizeof *f->off_ns);
    f->doubt = paged_alloc(f->paged, f->vertex_cap, sizeof *f->doubt);
    memset(f->doubt, 0, f->n * sizeof *f->doubt);
    f->root_off_ns = mem_alloc(f->tree_cap, sizeof *f->root_off_ns);
}

/* The vertex of a row of tree t, or FOREST_ROOT where it is the tracer's. */
static uint32_t vertex_of_row(const struct forest *f, uint32_t t, uint32_t row)
{
    const struct forest_gap *gap;
    size_t n = forest_gaps(f, t, &gap);
    uint32_t v = f->first[t] + (row - f->call[t]);

    for (size_t i = 0; i < n && gap[i].vertex <= v; i++) {
        if (v < gap[i].vertex + gap[i].n_rows)
            return FOREST_ROOT;
        v -= gap[i].n_rows;
    }
    return v;
}

/* How exactly the times of trees from `begin` on are known, which are of this location.
 * Estimates are in the order of rows, and so are the trees; in a damaged run they may be
 * anything. */
static void add_offs(struct forest *f, uint32_t begin, const struct call_view *calls)
{
    size_t i = 0;

    if (begin == f->n_trees)
        return;
    if (f->off_ns == NULL) /* see keep_offs */
        return;
    memset(f->off_ns + f->first[begin], 0, (f->n - f->first[begin]) * sizeof *f->off_ns);
    memset(f->doubt + f->first[begin], 0, (f->n - f->first[begin]) * sizeof *f->doubt);
    memset(f->root_off_ns + begin, 0, (f->n_trees - begin) * sizeof *f->root_off_ns);
    for (uint32_t t = begin; t < f->n_trees; t++) {
        uint32_t end = f->call[t] + calls->subtree_len[f->call[t]];

        i = FIRST_NOT(k, i, calls->n_estimates, calls->estimate[k].call < f->call[t]);
        for (; i < calls->n_estimates && calls->estimate[i].call < end; i++) {
            const struct call_estimate *e = &calls->estimate[i];
            uint32_t v = e->call < f->call[t] ? FOREST_ROOT : vertex_of_row(f, t, e->call);
            float *ns;

            if (v == FOREST_ROOT)
                continue;
            if (e->placed != PLACED_AS_SAID) {
                ns = e->placed == PLACED_OWN ? &f->doubt[v].own_ns : &f->doubt[v].others_ns;
                *ns = fmaxf(*ns, (float)e->off_ns);
                continue;
            }
            /* a border of v is as uncertain in v's time as in that of its caller */
            ns = f->parent[v] == FOREST_ROOT ? &f->root_off_ns[t] : &f->off_ns[f->parent[v]];
            f->off_ns[v] += (float)e->off_ns;
            *ns += (float)e->off_ns;
        }
    }
}

/* Rows in a tree that are no vertices. */
static uint32_t count_left_out(const struct call_view *calls, uint32_t root,
                               const struct definitions *defs)
{
    uint32_t n = 0, end = root + calls->subtree_len[root];

    for (uint32_t row = root + 1; row < end;) {
        bool is_out = is_of_tracer(defs, calls->region[row]);

        n += is_out ? calls->subtree_len[row] : 0;
        row += is_out ? calls->subtree_len[row] : 1;
    }
    return n;
}

struct forest_size forest_count(const struct call_view *calls, uint32_t region,
                                const struct definitions *defs)
{
    struct forest_size size = {.has_estimates = calls->n_estimates > 0};
    bool with_tracer = false;

    for (uint32_t r = 0; defs && r < defs->names.n && !with_tracer; r++)
        with_tracer = is_of_tracer(defs, r);
    for (uint32_t i = 0; i < calls->n;) {
        bool is_root = calls->region[i] == region;

        size.n_vertices += is_root ? calls->subtree_len[i] : 0;
        size.n_vertices -= is_root && with_tracer ? count_left_out(calls, i, defs) : 0;
        size.n_trees += is_root;
        i += is_root ? calls->subtree_len[i] : 1;
    }
    return size;
}

static int too_many(void)
{
    return err_set(ERR_RANGE, "the forest has more than 4 billion calls: choose a function "
                              "of interest that covers less of the run");
}

void forest_fill(struct forest *part, uint32_t location, const struct call_view *calls,
                 uint32_t region, const struct definitions *defs)
{
    uint32_t begin = part->n_trees, index = 0;

    for (uint32_t i = 0; i < calls->n;) {
        if (calls->region[i] != region) {
            i++;
            continue;
        }
        copy_tree(part, location, index++, calls, i, defs);
        i += calls->subtree_len[i];
    }
    count_messages(part, begin, calls);
    add_offs(part, begin, calls);
}

int forest_add(struct forest *forest, uint32_t location, const struct call_view *calls,
               uint32_t region, const struct definitions *defs)
{
    struct forest_size size = forest_count(calls, region, defs);

    if (forest->n + size.n_vertices >= FOREST_ROOT)
        return too_many();
    reserve(forest, size.n_vertices, size.n_trees);
    if (size.has_estimates)
        keep_offs(forest);
    forest_fill(forest, location, calls, region, defs);
    return 0;
}

/* A part has the forest's own arrays, and begins where the one before ends; gaps are its own.
 */
int forest_divide(struct forest *forest, const struct forest_size *size, uint32_t n,
                  struct forest *part)
{
    uint64_t n_vertices = 0, n_trees = 0;
    bool has_estimates = false;

    for (uint32_t i = 0; i < n; i++) {
        n_vertices += size[i].n_vertices;
        n_trees += size[i].n_trees;
        has_estimates |= size[i].has_estimates;
    }
    if (n_vertices >= FOREST_ROOT)
        return too_many();
    reserve(forest, n_vertices, n_trees);
    if (has_estimates)
        keep_offs(forest);
    n_vertices = n_trees = 0;
    for (uint32_t i = 0; i < n; i++) {
        part[i] = *forest;
        part[i].n = (uint32_t)n_vertices;
        part[i].n_trees = (uint32_t)n_trees;
        forest->first[n_trees] = (uint32_t)n_vertices; /* the part before may be filled later */
        n_vertices += size[i].n_vertices;
        n_trees += size[i].n_trees;
    }
    return 0;
}

void forest_unite(struct forest *forest, struct forest *part, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < part[i].n_gaps; k++)
            forest_add_gap(forest, part[i].gap[k]);
        free(part[i].gap);
        forest->n = part[i].n;
        forest->n_trees = part[i].n_trees;
    }
}

static void append_offs(struct forest *f, const struct forest *other)
{
    if (other->off_ns)
        keep_offs(f);
    if (f->off_ns == NULL)
        return;
    for (uint32_t v = 0; v < other->n; v++)
        f->off_ns[f->n + v] = other->off_ns ? other->off_ns[v] : 0;
    for (uint32_t v = 0; v < other->n; v++)
        f->doubt[f->n + v] = forest_doubt_of(other, v);
    for (uint32_t t = 0; t < other->n_trees; t++)
        f->root_off_ns[f->n_trees + t] = other->root_off_ns ? other->root_off_ns[t] : 0;
}

int forest_append(struct forest *forest, const struct forest *other, uint32_t first_location,
                  const uint32_t *region)
{
    struct forest *f = forest;
    uint32_t n = f->n_trees;

    if ((uint64_t)f->n + other->n >= FOREST_ROOT)
        return err_set(ERR_RANGE, "the forests together have more than 4 billion calls");
    reserve(f, other->n, other->n_trees);
    for (uint32_t v = 0; v < other->n; v++) {
        uint32_t parent = other->parent[v];

        f->region[f->n + v] = region[other->region[v]];
        f->parent[f->n + v] = parent == FOREST_ROOT ? FOREST_ROOT : f->n + parent;
        f->exclusive_ns[f->n + v] = other->exclusive_ns[v];
    }
    for (uint32_t t = 0; t < other->n_trees; t++) {
#define COPY(name) f->name[n + t] = other->name[t]
        BY_TREE(COPY)
#undef COPY
        f->location[n + t] += first_location;
        f->first[n + t + 1] = f->n + other->first[t + 1];
    }
    for (size_t i = 0; i < other->n_gaps; i++) {
        struct forest_gap gap = other->gap[i];

        gap.tree += n;
        gap.vertex += f->n;
        forest_add_gap(f, gap);
    }
    append_offs(f, other);
    f->n += other->n;
    f->n_trees += other->n_trees;
    return 0;
}

void forest_of_calls(struct forest *forest, uint32_t location, const struct call_view *calls,
                     const uint32_t *row, uint32_t n, const struct definitions *defs)
{
    uint32_t begin = forest->n_trees;
    size_t n_vertices = 0;

    for (uint32_t i = 0; i < n; i++)
        n_vertices += calls->subtree_len[row[i]];
    forest_grow(forest, n_vertices, n); /* a tree may be added to many, again and again */
    if (calls->n_estimates > 0)
        keep_offs(forest);
    for (uint32_t i = 0; i < n; i++)
        copy_tree(forest, location, 0, calls, row[i], defs);
    count_messages(forest, begin, calls);
    add_offs(forest, begin, calls);
}

void forest_of_call(struct forest *forest, uint32_t location, const struct call_view *calls,
                    uint32_t row, const struct definitions *defs)
{
    forest_of_calls(forest, location, calls, &row, 1, defs);
}

void forest_inclusive(const struct forest *forest, uint32_t t, uint64_t *out)
{
    uint32_t base = forest->first[t], n = forest->first[t + 1] - base;

    memcpy(out, forest->exclusive_ns + base, n * sizeof *out);
    for (uint32_t i = n; i-- > 1;)
        out[forest->parent[base + i] - base] += out[i];
}

void forest_subtree_len(const struct forest *forest, uint32_t t, uint32_t *out)
{
    uint32_t base = forest->first[t], n = forest->first[t + 1] - base;

    for (uint32_t i = 0; i < n; i++)
        out[i] = 1;
    for (uint32_t i = n; i-- > 1;)
        out[forest->parent[base + i] - base] += out[i];
}

uint32_t forest_depth(const struct forest *forest, const uint32_t *tree, uint32_t n)
{
    uint16_t *depth = NULL; /* calls are at most 65,535 deep */
    uint32_t deepest = 0;
    size_t cap = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = tree ? tree[i] : i, base = forest->first[t];
        uint32_t size = forest->first[t + 1] - base;

        mem_grow(&depth, &cap, size);
        for (uint32_t v = 0; v < size; v++) {
            depth[v] = v == 0 ? 0 : (uint16_t)(depth[forest->parent[base + v] - base] + 1);
            deepest = depth[v] + 1u > deepest ? depth[v] + 1u : deepest;
        }
    }
    free(depth);
    return deepest;
}

uint32_t forest_tree(const struct forest *forest, uint32_t v)
{
    return (uint32_t)interval_of_u32(forest->first, forest->n_trees, v);
}

size_t forest_gaps(const struct forest *f, uint32_t t, const struct forest_gap **gap)
{
    size_t low = FIRST_NOT(i, 0, f->n_gaps, f->gap[i].tree < t), n = 0;

    *gap = f->n_gaps > 0 ? f->gap + low : NULL;
    while (low + n < f->n_gaps && f->gap[low + n].tree == t)
        n++;
    return n;
}

uint32_t forest_n_rows(const struct forest *f, uint32_t t)
{
    const struct forest_gap *gap;
    size_t n = forest_gaps(f, t, &gap);
    uint32_t n_rows = f->first[t + 1] - f->first[t];

    for (size_t i = 0; i < n; i++)
        n_rows += gap[i].n_rows;
    return n_rows;
}

uint32_t forest_row(const struct forest *f, uint32_t t, uint32_t v)
{
    const struct forest_gap *gap;
    size_t n = forest_gaps(f, t, &gap);
    uint32_t row = f->call[t] + (v - f->first[t]);

    for (size_t i = 0; i < n && gap[i].vertex <= v; i++)
        row += gap[i].n_rows;
    return row;
}

/* --------------------------------------------------------------------------- kinds of trees */

struct hashing {
    const struct forest *forest;
    struct key *key; /* [n_trees] */
};

/* A vertex is its region, and how far before it its caller is. */
static struct key hash_tree(const struct forest *f, uint32_t t)
{
    uint32_t begin = f->first[t], end = f->first[t + 1];
    struct key key = {end - begin, f->region[begin]};
    uint64_t word[BLOCK + 2];

    for (uint32_t v = begin + 1; v < end;) {
        uint32_t n = end - v < BLOCK ? end - v : BLOCK;
        XXH128_hash_t hash;

        word[0] = key.high;
        word[1] = key.low;
        for (uint32_t i = 0; i < n; i++)
            word[i + 2] = (uint64_t)f->region[v + i] << 32 | (v + i - f->parent[v + i]);
        hash = XXH3_128bits(word, (n + 2) * sizeof *word);
        key = (struct key){hash.high64, hash.low64};
        v += n;
    }
    return key;
}

static void hash_trees(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct hashing *h = ctx;

    (void)worker;
    for (size_t t = begin; t < end; t++)
        h->key[t] = hash_tree(h->forest, (uint32_t)t);
}

void tree_kinds_find(struct tree_kinds *k, const struct forest *forest, struct pool *pool)
{
    uint32_t n = forest->n_trees;
    struct hashing hashing = {forest, mem_resize(NULL, n, sizeof *hashing.key)};
    struct idmap known = {0};
    size_t cap_first = 0, cap_n = 0;

    *k = (struct tree_kinds){.of = mem_resize(NULL, n, sizeof *k->of)};
    pool_for(pool, n, pool_grain(pool, n), hash_trees, &hashing);
    for (uint32_t t = 0; t < n; t++) {
        uint32_t kind = idmap_add(&known, hashing.key[t]);

        if (kind == k->n) {
            mem_grow(&k->first, &cap_first, (size_t)k->n + 1);
            mem_grow(&k->n_trees, &cap_n, (size_t)k->n + 1);
            k->first[k->n] = t;
            k->n_trees[k->n++] = 0;
        }
        k->of[t] = kind;
        k->n_trees[kind]++;
    }
    k->at = mem_resize(NULL, (size_t)k->n + 1, sizeof *k->at);
    k->at[0] = 0;
    for (uint32_t i = 0; i < k->n; i++)
        k->at[i + 1] = k->at[i] + forest->first[k->first[i] + 1] - forest->first[k->first[i]];
    idmap_release(&known);
    free(hashing.key);
}

void tree_kinds_release(struct tree_kinds *k)
{
    free(k->of);
    free(k->first);
    free(k->n_trees);
    free(k->at);
    *k = (struct tree_kinds){0};
}

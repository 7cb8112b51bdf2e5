/*
 * One tree at a time, so that everything it needs stays in the cache; a tree whose like
 * was there before has no other words. For each vertex its
 * current label and the sum of its children's current labels are kept; going from degree d-1 to
 * d, only vertices of height >= d get a new label, and each adds (new - old) to its parent's
 * sum.
 */
#include "features/wl.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/xxh.h"

#include <stdlib.h>
#include <string.h>

struct label_node {
    struct key label, children; /* of the current degree; the sum of the children's */
    uint32_t n_children;
    uint16_t height; /* of its subtree, at most WL_DEEPEST */
};

struct labelling {
    const struct forest *forest;
    struct wl *wl;
    uint32_t *region_word; /* [n_regions] word of degree 0, IDMAP_NONE before it is needed */
    const struct definitions *defs;
    struct label_node *node; /* [vertices of the largest tree] */
    uint64_t *inclusive_ns;  /* [same] for the weights in the bags, NULL without */
    uint32_t *active;        /* vertices that get another label */
    uint32_t *last_tree;     /* [words] the tree that used a word last, + 1 */
    size_t *entry;           /* [words] and its place in the bags */
    size_t word_cap;
    struct wl_occurrences *places; /* NULL when nobody asks */
    uint32_t *complete;            /* of the tree's kind */
};

static void key_add(struct key *to, struct key k)
{
    unsigned carry = __builtin_add_overflow(to->low, k.low, &to->low);

    to->high += k.high + carry;
}

static void key_subtract(struct key *to, struct key k)
{
    unsigned borrow = __builtin_sub_overflow(to->low, k.low, &to->low);

    to->high -= k.high + borrow;
}

static struct key key_of(XXH128_hash_t hash)
{
    return (struct key){.high = hash.high64, .low = hash.low64};
}

static struct key next_label(const struct label_node *node)
{
    struct {
        struct key label, children;
        uint64_t n_children;
    } signature = {node->label, node->children, node->n_children};

    return key_of(XXH3_128bits(&signature, sizeof signature));
}

static uint32_t add_word(struct vocab *vocab, struct key label, uint32_t degree,
                         uint32_t region)
{
    uint32_t n_before = vocab->label.n, word = idmap_add(&vocab->label, label);

    if (word < n_before)
        return word;
    if (word >= vocab->cap) {
        vocab->cap = vocab->cap ? 2 * vocab->cap : 1024;
        vocab->degree = mem_resize(vocab->degree, vocab->cap, sizeof *vocab->degree);
        vocab->region = mem_resize(vocab->region, vocab->cap, sizeof *vocab->region);
    }
    vocab->degree[word] = (uint16_t)degree;
    vocab->region[word] = region;
    return word;
}

static uint32_t word_of_region(struct labelling *l, uint32_t region)
{
    uint32_t *word = &l->region_word[region];

    if (*word == IDMAP_NONE) {
        const char *name = region_word(&l->defs->region[region]);

        *word = add_word(&l->wl->vocab, key_of(XXH3_128bits(name, strlen(name))), 0, region);
    }
    return *word;
}

/* One more subtree of this word in tree t. */
static void put_in_bag(struct labelling *l, uint32_t t, uint32_t word, uint64_t weight_ns)
{
    struct bags *bags = &l->wl->bags;
    size_t *end = &bags->first[t + 1];

    if (word >= l->word_cap) {
        size_t cap = l->word_cap;

        l->word_cap = 2 * (size_t)word + 1024;
        l->last_tree = mem_resize(l->last_tree, l->word_cap, sizeof *l->last_tree);
        l->entry = mem_resize(l->entry, l->word_cap, sizeof *l->entry);
        memset(l->last_tree + cap, 0, (l->word_cap - cap) * sizeof *l->last_tree);
    }
    if (l->last_tree[word] != t + 1) {
        if (*end == bags->cap) {
            bags->cap = bags->cap ? 2 * bags->cap : 4096;
            bags->word = mem_resize(bags->word, bags->cap, sizeof *bags->word);
            bags->weight_ns = mem_resize(bags->weight_ns, bags->cap, sizeof *bags->weight_ns);
            bags->count = mem_resize(bags->count, bags->cap, sizeof *bags->count);
        }
        l->last_tree[word] = t + 1;
        l->entry[word] = (*end)++;
        bags->word[l->entry[word]] = word;
        bags->weight_ns[l->entry[word]] = 0;
        bags->count[l->entry[word]] = 0;
    }
    bags->weight_ns[l->entry[word]] += weight_ns;
    bags->count[l->entry[word]]++;
}

/* Vertex i of tree t is the root of a subtree of this word. */
static void found(struct labelling *l, uint32_t t, uint32_t i, uint32_t word)
{
    uint32_t v = l->forest->first[t] + i;
    struct wl_occurrences *places = l->places;

    l->complete[i] = word;
    if (l->inclusive_ns)
        put_in_bag(l, t, word, l->inclusive_ns[i]);
    if (places) {
        mem_grow(&places->word, &places->cap_word, places->n + 1);
        mem_grow(&places->vertex, &places->cap_vertex, places->n + 1);
        places->word[places->n] = word;
        places->vertex[places->n++] = v;
    }
}

/* Labels of degree 0, heights, and the vertices that are not leaves. Returns how many. */
static uint32_t begin_tree(struct labelling *l, uint32_t t, uint32_t base, uint32_t n)
{
    const struct forest *f = l->forest;
    const struct key *label;
    uint32_t n_active = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t word = word_of_region(l, f->region[base + i]);

        found(l, t, i, word);
        l->node[i] = (struct label_node){.label = l->wl->vocab.label.key[word]};
    }
    for (uint32_t i = n; i-- > 1;) {
        struct label_node *parent = &l->node[f->parent[base + i] - base];
        uint16_t height = (uint16_t)(l->node[i].height + 1);

        label = &l->node[i].label;
        key_add(&parent->children, *label);
        parent->n_children++;
        if (parent->height < height)
            parent->height = height < WL_DEEPEST ? height : WL_DEEPEST;
    }
    for (uint32_t i = 0; i < n; i++)
        if (l->node[i].height > 0)
            l->active[n_active++] = i;
    return n_active;
}

static void label_tree(struct labelling *l, uint32_t t)
{
    const struct forest *f = l->forest;
    uint32_t base = f->first[t], n_active;

    l->complete = l->wl->complete + l->wl->kinds.at[l->wl->kinds.of[t]];
    if (l->inclusive_ns) {
        forest_inclusive(f, t, l->inclusive_ns);
        l->wl->bags.first[t + 1] = l->wl->bags.first[t];
    }
    n_active = begin_tree(l, t, base, f->first[t + 1] - base);
    for (uint32_t degree = 1; n_active > 0; degree++) {
        uint32_t n_left = 0;

        for (uint32_t k = 0; k < n_active; k++) {
            uint32_t v = base + l->active[k];
            struct key label = next_label(&l->node[l->active[k]]);
            uint32_t word = add_word(&l->wl->vocab, label, degree, f->region[v]);

            found(l, t, l->active[k], word);
        }
        for (uint32_t k = 0; k < n_active; k++) {
            uint32_t i = l->active[k];
            struct label_node *node = &l->node[i];
            struct key label = l->wl->vocab.label.key[l->complete[i]];

            if (i > 0) {
                struct label_node *parent = &l->node[f->parent[base + i] - base];

                key_add(&parent->children, label);
                key_subtract(&parent->children, node->label);
            }
            node->label = label;
            if (node->height > degree)
                l->active[n_left++] = i;
        }
        n_active = n_left;
    }
}

static void labelling_init(struct labelling *l, uint32_t first_tree, uint32_t end_tree)
{
    const struct forest *forest = l->forest;
    uint32_t n_regions = l->defs->names.n, largest = 0;

    for (uint32_t t = first_tree; t < end_tree; t++)
        if (forest->first[t + 1] - forest->first[t] > largest)
            largest = forest->first[t + 1] - forest->first[t];
    l->region_word = mem_resize(NULL, n_regions, sizeof *l->region_word);
    memset(l->region_word, 0xff, n_regions * sizeof *l->region_word);
    l->node = mem_resize(NULL, largest, sizeof *l->node);
    l->active = mem_resize(NULL, largest, sizeof *l->active);
    if (l->wl->bags.first && !l->places)
        l->inclusive_ns = mem_resize(NULL, largest, sizeof *l->inclusive_ns);
}

static void labelling_release(struct labelling *l)
{
    free(l->region_word);
    free(l->node);
    free(l->inclusive_ns);
    free(l->active);
    free(l->last_tree);
    free(l->entry);
}

void wl_init(struct wl *wl, const struct forest *forest, const struct definitions *defs,
             bool with_bags, struct pool *pool)
{
    struct labelling l = {.forest = forest, .wl = wl, .defs = defs};

    *wl = (struct wl){0};
    tree_kinds_find(&wl->kinds, forest, pool);
    wl->complete = mem_resize(NULL, wl->kinds.at[wl->kinds.n], sizeof *wl->complete);
    if (with_bags) {
        wl->bags.n_trees = forest->n_trees;
        wl->bags.first = mem_alloc((size_t)forest->n_trees + 1, sizeof *wl->bags.first);
    }
    labelling_init(&l, 0, forest->n_trees);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        if (with_bags || wl->kinds.first[wl->kinds.of[t]] == t)
            label_tree(&l, t);
    labelling_release(&l);
}

void wl_occurrences_of(struct wl *wl, const struct forest *forest,
                       const struct definitions *defs, uint32_t t,
                       struct wl_occurrences *places)
{
    struct labelling l = {.forest = forest, .wl = wl, .defs = defs, .places = places};

    *places = (struct wl_occurrences){0};
    labelling_init(&l, t, t + 1);
    label_tree(&l, t);
    labelling_release(&l);
}

void wl_occurrences_release(struct wl_occurrences *places)
{
    free(places->word);
    free(places->vertex);
    *places = (struct wl_occurrences){0};
}

void wl_release(struct wl *wl)
{
    idmap_release(&wl->vocab.label);
    free(wl->vocab.degree);
    free(wl->vocab.region);
    free(wl->bags.first);
    free(wl->bags.word);
    free(wl->bags.weight_ns);
    free(wl->bags.count);
    free(wl->complete);
    tree_kinds_release(&wl->kinds);
    *wl = (struct wl){0};
}

/* ---------------------------------------------------------------------------- distinct bags */

/* A row is appended, hashed, and taken back when its hash is known. */

static int by_word(const void *a, const void *b)
{
    const struct distinct_entry *p = a, *q = b;

    return ORDER(p->word, q->word);
}

/* The entries of tree t after all others. Returns how many. */
static size_t append(struct distinct *d, const struct bags *bags, uint32_t t,
                     const uint32_t *word)
{
    size_t begin = d->first[d->n], n = 0;

    mem_grow(&d->entry, &d->entry_cap, begin + bags->first[t + 1] - bags->first[t]);
    for (size_t i = bags->first[t]; i < bags->first[t + 1]; i++)
        if (word[bags->word[i]] != WORD_NONE)
            d->entry[begin + n++] = (struct distinct_entry){
                bags->weight_ns[i], word[bags->word[i]], bags->count[i]};
    if (n > 0)
        qsort(d->entry + begin, n, sizeof *d->entry, by_word);
    return n;
}

void distinct_init(struct distinct *d, const struct bags *bags, const uint32_t *word)
{
    struct idmap known = {0};

    *d = (struct distinct){.n_trees = bags->n_trees};
    d->first = mem_alloc((size_t)bags->n_trees + 1, sizeof *d->first);
    d->copies = mem_alloc(bags->n_trees, sizeof *d->copies);
    d->row = mem_alloc(bags->n_trees, sizeof *d->row);
    for (uint32_t t = 0; t < bags->n_trees; t++) {
        size_t n = append(d, bags, t, word);
        const void *entry = n ? (const void *)(d->entry + d->first[d->n]) : "";
        XXH128_hash_t hash = XXH3_128bits(entry, n * sizeof *d->entry);

        d->row[t] = idmap_add(&known, (struct key){.high = hash.high64, .low = hash.low64});
        if (d->row[t] == d->n) {
            d->first[d->n + 1] = d->first[d->n] + n;
            d->n++;
        }
        d->copies[d->row[t]]++;
    }
    idmap_release(&known);
}

void distinct_release(struct distinct *d)
{
    free(d->first);
    free(d->entry);
    free(d->copies);
    free(d->row);
    *d = (struct distinct){0};
}

/* Threads hash the trees; numbering the hashes is quick, and in the order of trees. */
#include "forest/tree_kinds.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 512u /* vertices that are hashed at once */

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
            mem_grow(&k->first, &cap_first, (size_t)k->n + 1, sizeof *k->first);
            mem_grow(&k->n_trees, &cap_n, (size_t)k->n + 1, sizeof *k->n_trees);
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

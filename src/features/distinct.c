/* A row is appended, hashed, and taken back when its hash is known. */
#include "features/distinct.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <stdlib.h>

static int by_word(const void *a, const void *b)
{
    const struct distinct_entry *p = a, *q = b;

    return p->word < q->word ? -1 : p->word > q->word;
}

/* The entries of tree t after all others. Returns how many. */
static size_t append(struct distinct *d, const struct bags *bags, uint32_t t,
                     const uint32_t *word)
{
    size_t begin = d->first[d->n], n = 0;

    mem_grow(&d->entry, &d->entry_cap, begin + bags->first[t + 1] - bags->first[t],
             sizeof *d->entry);
    for (size_t i = bags->first[t]; i < bags->first[t + 1]; i++)
        if (word[bags->word[i]] != WORD_NONE)
            d->entry[begin + n++] = (struct distinct_entry){
                bags->weight_ns[i], word[bags->word[i]], bags->count[i]};
    if (n > 0)
        qsort(d->entry + begin, n, sizeof *d->entry, by_word);
    return n;
}

static struct key hash_of(const struct distinct_entry *entry, size_t n)
{
    XXH128_hash_t hash = XXH3_128bits(n ? (const void *)entry : "", n * sizeof *entry);

    return (struct key){.high = hash.high64, .low = hash.low64};
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

        d->row[t] = idmap_add(&known, hash_of(d->entry + d->first[d->n], n));
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

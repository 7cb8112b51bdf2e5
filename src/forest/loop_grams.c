/* Grams are told apart by a hash of 64 bits; a break is in no gram. */
#include "forest/loop_grams.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GRAMS (1u << 18) /* of one length */
#define LONGEST 8u

struct gram {
    uint64_t hash;
    uint32_t first, last, count;
    uint32_t length;
    bool overlaps; /* itself: a repetition shorter than the gram */
};

struct grams {
    struct gram *gram; /* [n] */
    size_t n, cap;
    size_t begin;   /* of those of the length in hand */
    uint32_t *slot; /* [n_slots] 1 + index, 0: free */
    size_t n_slots; /* a power of two, at least twice what may be in there */
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* False when there is a break in it. */
static bool hash_gram(const uint32_t *symbol, uint32_t length, uint64_t *hash)
{
    uint64_t sum = length;

    for (uint32_t i = 0; i < length; i++) {
        if (symbol[i] == LOOP_BREAK)
            return false;
        sum = mix(sum ^ symbol[i]) + i;
    }
    *hash = sum;
    return true;
}

static struct gram *find(struct grams *g, uint64_t hash)
{
    size_t at = hash & (g->n_slots - 1);

    while (g->slot[at] != 0) {
        struct gram *gram = &g->gram[g->slot[at] - 1];

        if (gram->hash == hash)
            return gram;
        at = (at + 1) & (g->n_slots - 1);
    }
    if (g->n - g->begin == MAX_GRAMS)
        return NULL;
    mem_grow(&g->gram, &g->cap, g->n + 1, sizeof *g->gram);
    g->gram[g->n] = (struct gram){.hash = hash};
    g->slot[at] = (uint32_t)++g->n;
    return &g->gram[g->n - 1];
}

static void count_grams(struct grams *g, const struct loop_sequence *s, uint32_t length)
{
    uint64_t hash;

    g->begin = g->n;
    memset(g->slot, 0, g->n_slots * sizeof *g->slot);
    for (uint32_t i = 0; i + length <= s->n; i++) {
        struct gram *gram = hash_gram(s->symbol + i, length, &hash) ? find(g, hash) : NULL;

        if (gram == NULL)
            continue;
        if (gram->count == 0)
            gram->first = i;
        else if (i - gram->last < length)
            gram->overlaps = true;
        gram->last = i;
        gram->length = length;
        gram->count++;
    }
}

/* By count; those of the same in the order of their first. */
static int by_count(const void *a, const void *b)
{
    const struct gram *p = a, *q = b;

    if (p->count != q->count)
        return p->count > q->count ? -1 : 1;
    if (p->first != q->first)
        return p->first < q->first ? -1 : 1;
    return (p->length > q->length) - (p->length < q->length);
}

static double worth(const struct loop_header *h)
{
    return h->votes * (double)(h->last - h->first);
}

/* Keeps the best, best first. */
static size_t keep(struct loop_header *out, size_t n, size_t most, struct loop_header h)
{
    size_t at = n < most ? n : most;

    while (at > 0 && worth(&h) > worth(&out[at - 1])) {
        if (at < most)
            out[at] = out[at - 1];
        at--;
    }
    if (at < most)
        out[at] = h;
    return n < most ? n + 1 : most;
}

/* The shortest stands for all: long ones may be made of two iterations. */
static void vote(struct loop_header *h, const struct gram *gram)
{
    h->votes += 1.0 / gram->length;
    if (gram->length < h->length) {
        h->length = gram->length;
        h->first = gram->first;
        h->last = gram->last;
    }
}

static size_t drop_rare(struct gram *gram, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (gram[i].count >= LOOP_MIN_ITERATIONS && !gram[i].overlaps)
            gram[left++] = gram[i];
    return left;
}

size_t loop_headers(const struct loop_sequence *s, struct loop_header *out, size_t most)
{
    struct grams g = {.n_slots = 2};
    size_t n = 0, left;

    while (g.n_slots < 2 * (size_t)s->n && g.n_slots < 2 * MAX_GRAMS)
        g.n_slots *= 2;
    g.slot = mem_resize(NULL, g.n_slots, sizeof *g.slot);
    for (uint32_t length = 1; length <= LONGEST; length *= 2)
        count_grams(&g, s, length);
    free(g.slot);
    left = drop_rare(g.gram, g.n);
    if (left > 0)
        qsort(g.gram, left, sizeof *g.gram, by_count);
    for (size_t i = 0, k; i < left; i = k) {
        struct loop_header h = {g.gram[i].first, g.gram[i].last, g.gram[i].length,
                                g.gram[i].count, 0};

        for (k = i; k < left && g.gram[k].count == h.count && g.gram[k].first <= h.last; k++)
            vote(&h, &g.gram[k]);
        n = keep(out, n, most, h);
    }
    free(g.gram);
    return n;
}

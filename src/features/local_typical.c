/*
 * All pairs of a context and a location that occur are grouped first, which is as many groups
 * as there can be; those that differ from the rest are kept.
 */
#include "features/local_typical.h"

#include "base/mem.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define MAX_LOG_FACTOR 100 /* more is no ratio of times */

void local_typical_release(struct local_typical *l)
{
    idmap_release(&l->site);
    idmap_release(&l->at);
    free(l->whole);
    free(l->log_factor);
    free(l->factor);
    *l = (struct local_typical){0};
}

void local_typical_sites(struct local_typical *l, const struct forest *forest,
                         const struct definitions *defs, const struct tree_share *share)
{
    for (uint32_t i = 0; share && i < share->n_locations; i++)
        if (share->n_trees[i] > 0)
            idmap_add(&l->site, key_pair(0, forest_place(defs, i)));
    for (uint32_t t = 0; share == NULL && t < forest->n_trees; t++)
        idmap_add(&l->site, key_pair(0, forest->place[t]));
}

/* What another process does not know has no width. */
static void take_known(void *into, const void *from, size_t n)
{
    struct spread *to = into;
    const struct spread *other = from;

    for (size_t i = 0; i < n; i++)
        to[i] = other[i].scale > 0 ? other[i] : to[i];
}

void local_typical_wholes(struct local_typical *l, const struct forest *forest,
                          const struct tree_share *share, const double *ratio,
                          struct spread overall, double least)
{
    double *here = mem_alloc(2 * (size_t)forest->n_trees, sizeof *here); /* by site; scratch */
    uint32_t *end = mem_alloc(l->site.n + 1, sizeof *end); /* [site] of what is there */

    l->whole = mem_alloc(l->site.n, sizeof *l->whole);
    for (uint32_t t = 0; t < forest->n_trees; t++)
        end[local_typical_site(l, forest, t) + 1]++;
    for (uint32_t site = 0; site < l->site.n; site++)
        end[site + 1] += end[site];
    for (uint32_t t = 0; t < forest->n_trees; t++)
        here[end[local_typical_site(l, forest, t)]++] = ratio[t];
    for (uint32_t site = 0, begin = 0; site < l->site.n; begin = end[site++]) {
        if (end[site] - begin >= LOCAL_MIN_EXECUTIONS)
            l->whole[site] = robust_for_one_more(here + begin, here + forest->n_trees,
                                                 end[site] - begin, least);
        else if (end[site] > begin)
            l->whole[site] = overall;
    }
    tree_share_add(share, l->whole, l->site.n, sizeof *l->whole, take_known);
    free(here);
    free(end);
}

uint32_t local_typical_site(const struct local_typical *l, const struct forest *forest,
                            uint32_t t)
{
    return local_typical_site_at(l, forest->place[t]);
}

uint32_t local_typical_site_at(const struct local_typical *l, uint64_t place)
{
    return idmap_find(&l->site, key_pair(0, place));
}

static void exponentiate(struct local_typical *l)
{
    l->factor = mem_resize(l->factor, l->at.n, sizeof *l->factor);
    for (uint32_t i = 0; i < l->at.n; i++)
        l->factor[i] = exp(l->log_factor[i]);
}

static double log_ratio(size_t i, const void *ctx)
{
    return ((const struct local_time *)ctx)[i].log_ratio;
}

static void keep(struct local_typical *l, const struct idmap *pair, const struct spread *spread,
                 const uint32_t *count, const struct spread *everywhere)
{
    l->log_factor = mem_alloc(pair->n, sizeof *l->log_factor);
    for (uint32_t i = 0; i < pair->n; i++) {
        const struct spread *all = &everywhere[pair->key[i].low];

        if (count[i] >= LOCAL_MIN_EXECUTIONS && all->scale > 0 &&
            fabs(spread[i].centre - all->centre) > spread[i].scale)
            l->log_factor[idmap_add(&l->at, pair->key[i])] = spread[i].centre;
    }
}

/* Numbers pairs as they are met. Those of one location follow each other, so that what a path
 * was last mostly is what it is. */
static uint32_t *number_pairs(const struct local_time *time, size_t n, struct idmap *pair)
{
    struct last {
        uint32_t site, number;
    } *last = NULL;
    uint32_t *group = mem_resize(NULL, n, sizeof *group);
    size_t n_known = 0, cap = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t path = time[i].path;

        mem_grow(&last, &cap, (size_t)path + 1);
        for (; n_known < cap; n_known++)
            last[n_known].site = LOCAL_NONE;
        if (last[path].site != time[i].site)
            last[path] =
                (struct last){time[i].site, idmap_add(pair, key_pair(time[i].site, path))};
        group[i] = last[path].number;
    }
    free(last);
    return group;
}

void local_typical_fit(struct local_typical *l, const struct local_time *time, size_t n,
                       const struct spread *everywhere, double least, struct pool *pool)
{
    struct idmap pair = {0};
    uint32_t *group = number_pairs(time, n, &pair), *count;
    struct robust_items items = {.n = n, .group = group, .value = log_ratio, .ctx = time};
    struct spread *spread;

    spread = mem_alloc(pair.n, sizeof *spread);
    count = mem_alloc(pair.n, sizeof *count);
    items.n_groups = pair.n;
    robust_groups(&items, least, pool, spread, count);
    keep(l, &pair, spread, count, everywhere);
    exponentiate(l);
    free(spread);
    free(count);
    free(group);
    idmap_release(&pair);
}

/* One of these. */
struct local_factor {
    struct key at;
    double log_factor;
    uint64_t number; /* on its process */
};

/* In the order of locations, as sites are; those of a site are of one process. */
static int by_site(const void *a, const void *b)
{
    const struct local_factor *p = a, *q = b;

    return ORDER(p->at.high, q->at.high) ?: ORDER(p->number, q->number);
}

static void receive_factors(struct process_group *process_group, struct pack *all)
{
    for (unsigned p = 1; p < process_group_size(process_group); p++) {
        struct pack pack;

        process_group_receive_pack(process_group, p, &pack);
        pack_bytes(all, pack.data, pack.n);
        free(pack.data);
    }
    if (all->n > 0)
        qsort(all->data, all->n / sizeof(struct local_factor), sizeof(struct local_factor),
              by_site);
}

void local_typical_unite(struct local_typical *l, const struct tree_share *share)
{
    struct pack pack = {0};
    const struct local_factor *factor;
    uint32_t n;

    if (share == NULL)
        return;
    for (uint32_t i = 0; i < l->at.n; i++) {
        struct local_factor own = {l->at.key[i], l->log_factor[i], i};

        pack_bytes(&pack, &own, sizeof own);
    }
    if (tree_share_is_first(share))
        receive_factors(share->process_group, &pack);
    else
        process_group_send_pack(share->process_group, 0, &pack);
    if (!tree_share_is_first(share))
        pack_release(&pack);
    tree_share_tell_pack(share, &pack);
    idmap_release(&l->at);
    factor = (const struct local_factor *)pack.data;
    n = (uint32_t)(pack.n / sizeof *factor);
    l->log_factor = mem_resize(l->log_factor, n, sizeof *l->log_factor);
    for (uint32_t i = 0; i < n; i++)
        l->log_factor[idmap_add(&l->at, factor[i].at)] = factor[i].log_factor;
    exponentiate(l);
    free(pack.data);
}

uint32_t local_typical_find(const struct local_typical *l, uint32_t site, uint32_t path)
{
    return site == LOCAL_NONE ? LOCAL_NONE : idmap_find(&l->at, key_pair(site, path));
}

/* ------------------------------------------------------------------------------- bytes */

void local_typical_pack(const struct local_typical *l, struct pack *p)
{
    pack_array(p, l->site.key, l->site.n, sizeof *l->site.key);
    pack_array(p, l->whole, l->site.n, sizeof *l->whole);
    pack_array(p, l->at.key, l->at.n, sizeof *l->at.key);
    pack_array(p, l->log_factor, l->at.n, sizeof *l->log_factor);
}

void local_typical_unpack(struct local_typical *l, struct pack *p, uint32_t n_paths)
{
    idmap_unpack(&l->site, p);
    l->whole = unpack_array(p, l->site.n, sizeof *l->whole);
    for (size_t i = 0; !p->is_bad && i < l->site.n; i++)
        p->is_bad |= !(fabs(l->whole[i].centre) < MAX_LOG_FACTOR) || !(l->whole[i].scale > 0);
    idmap_unpack(&l->at, p);
    l->log_factor = unpack_array(p, l->at.n, sizeof *l->log_factor);
    for (size_t i = 0; !p->is_bad && i < l->at.n; i++)
        p->is_bad |= l->at.key[i].high >= l->site.n || l->at.key[i].low >= n_paths ||
                     !(fabs(l->log_factor[i]) < MAX_LOG_FACTOR);
    if (!p->is_bad)
        exponentiate(l);
}

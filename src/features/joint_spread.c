/*
 * A double becomes a number whose order is that of doubles; own values below a number are
 * counted by bisection, as their x, and their distances from a centre on either side of it, go
 * one way.
 */
#include "features/joint_spread.h"

#include "base/mem.h"
#include "base/radix.h"

#include <math.h>
#include <stdlib.h>

#define BITS 4u /* of a value, in each round */
#define N_NEXT (1u << BITS)
#define N_QUANTILES 3u

static const double quantile[N_QUANTILES] = {0.5, ROBUST_P84, 0.95};

/* One group: what is looked for are its x, or how far they are from the centre. */
struct group {
    const struct joint_part *part;
    uint64_t n_all;
    bool is_distance;
    double centre;
    size_t n_below; /* own values below the centre */
};

static double x_at(const struct group *g, size_t i)
{
    const struct sorted_times *s = &g->part->times;

    return log((s->narrow_ns ? (double)s->narrow_ns[i] : (double)s->wide_ns[i]) +
               g->part->offset_ns);
}

/* Of [low, high) those come first that are, by their distance or themselves, below a number;
 * step: whether this grows with i. Returns how many. */
static size_t count_in(const struct group *g, size_t low, size_t high, bool is_growing,
                       uint64_t bound)
{
    size_t begin = low, end = high;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double x = x_at(g, middle);
        bool is_less = radix_key_of_f64(g->is_distance ? fabs(x - g->centre) : x) < bound;

        if (is_less == is_growing)
            low = middle + 1;
        else
            high = middle;
    }
    return is_growing ? low - begin : end - low;
}

static uint64_t count_below(const struct group *g, uint64_t bound)
{
    size_t n = g->part->times.n;

    if (!g->is_distance)
        return count_in(g, 0, n, true, bound);
    return count_in(g, 0, g->n_below, false, bound) + count_in(g, g->n_below, n, true, bound);
}

/* Own values with each continuation of what is known of a number. */
static void count_next(const struct group *g, uint64_t known, unsigned shift, uint64_t *count)
{
    uint64_t before = count_below(g, known);

    for (uint64_t next = 0; next < N_NEXT; next++) {
        uint64_t end = known + ((next + 1) << shift); /* 0 beyond the largest */
        uint64_t below = end == 0 ? g->part->times.n : count_below(g, end);

        count[next] = below - before;
        before = below;
    }
}

/*
 * select_all -- of each group the values of some ranks.
 *   rank   (n * n_ranks) from 0; used up
 *   value  (n * n_ranks) out
 */
static void select_all(const struct tree_share *share, const struct group *group, uint32_t n,
                       uint32_t n_ranks, uint64_t *rank, double *value)
{
    size_t n_looked_for = (size_t)n * n_ranks;
    uint64_t *known = mem_alloc(n_looked_for, sizeof *known);
    uint64_t *count = mem_alloc(n_looked_for * N_NEXT, sizeof *count);

    for (unsigned shift = 64; shift > 0;) {
        shift -= BITS;
        for (size_t i = 0; i < n_looked_for; i++)
            count_next(&group[i / n_ranks], known[i], shift, count + i * N_NEXT);
        tree_share_add(share, count, n_looked_for * N_NEXT, sizeof *count, tree_share_sum_u64);
        for (size_t i = 0; i < n_looked_for; i++) {
            const uint64_t *of = count + i * N_NEXT;
            uint64_t next = 0;

            while (rank[i] >= of[next])
                rank[i] -= of[next++];
            known[i] += next << shift;
        }
    }
    for (size_t i = 0; i < n_looked_for; i++)
        value[i] = radix_f64_of_key(known[i]);
    free(known);
    free(count);
}

/* The two ranks that quantile q of n lies between; as robust_quantile. */
static void ranks_of(double q, uint64_t n, uint64_t rank[2])
{
    rank[0] = (uint64_t)(q * (double)(n - 1));
    rank[1] = rank[0] + 1 < n ? rank[0] + 1 : rank[0];
}

static double between(double q, uint64_t n, const double value[2])
{
    double position = q * (double)(n - 1);
    uint64_t before = (uint64_t)position;

    if (position <= (double)before || before + 1 >= n)
        return value[0];
    return value[0] + (position - (double)before) * (value[1] - value[0]);
}

static size_t count_below_centre(const struct group *g)
{
    size_t low = 0, high = g->part->times.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (x_at(g, middle) < g->centre)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* found: (n * N_QUANTILES) out. */
static void find_quantiles(const struct tree_share *share, const struct group *group,
                           uint32_t n, double *found)
{
    uint64_t *rank = mem_alloc((size_t)n * N_QUANTILES * 2, sizeof *rank);
    double *value = mem_alloc((size_t)n * N_QUANTILES * 2, sizeof *value);

    for (uint32_t i = 0; i < n * N_QUANTILES; i++)
        ranks_of(quantile[i % N_QUANTILES], group[i / N_QUANTILES].n_all, rank + 2 * i);
    select_all(share, group, n, 2 * N_QUANTILES, rank, value);
    for (uint32_t i = 0; i < n * N_QUANTILES; i++)
        found[i] =
            between(quantile[i % N_QUANTILES], group[i / N_QUANTILES].n_all, value + 2 * i);
    free(rank);
    free(value);
}

/* found: (n) out, the median distances from the centres. */
static void find_distances(const struct tree_share *share, struct group *group, uint32_t n,
                           double *found)
{
    uint64_t *rank = mem_alloc((size_t)n * 2, sizeof *rank);
    double *value = mem_alloc((size_t)n * 2, sizeof *value);

    for (uint32_t i = 0; i < n; i++) {
        group[i].n_below = count_below_centre(&group[i]);
        group[i].is_distance = true;
        ranks_of(0.5, group[i].n_all, rank + 2 * i);
    }
    select_all(share, group, n, 2, rank, value);
    for (uint32_t i = 0; i < n; i++)
        found[i] = between(0.5, group[i].n_all, value + 2 * i);
    free(rank);
    free(value);
}

void joint_spreads(const struct tree_share *share, const struct joint_part *part, uint32_t n,
                   double least, struct spread *spread)
{
    struct group *group = mem_alloc(n, sizeof *group);
    uint64_t *n_all = mem_alloc(n, sizeof *n_all);
    double *at = mem_alloc((size_t)n * N_QUANTILES, sizeof *at);
    double *distance = mem_alloc(n, sizeof *distance);

    for (uint32_t i = 0; i < n; i++)
        n_all[i] = part[i].times.n;
    tree_share_add(share, n_all, n, sizeof *n_all, tree_share_sum_u64);
    for (uint32_t i = 0; i < n; i++)
        group[i] = (struct group){.part = &part[i], .n_all = n_all[i]};
    find_quantiles(share, group, n, at);
    for (uint32_t i = 0; i < n; i++)
        group[i].centre = at[i * N_QUANTILES];
    find_distances(share, group, n, distance);
    for (uint32_t i = 0; i < n; i++) {
        const double *of = at + (size_t)i * N_QUANTILES;

        spread[i] =
            (struct spread){of[0], robust_width(of[0], of[1], of[2], distance[i], least)};
    }
    free(group);
    free(n_all);
    free(at);
    free(distance);
}

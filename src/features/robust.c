/*
 * Hoare's selection; groups are brought together by a counting sort. Of sorted values all that
 * is asked for is found by bisection, the median of the distances among two ascending rows of
 * them: those below the centre and those above.
 */
#include "features/robust.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/radix.h"
#include "base/search.h"
#include "base/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P84 0.8413          /* a normal value is below one standard deviation so often */
#define NORMAL_MAD 1.4826   /* MAD of a normal distribution is 1 / this standard deviations */
#define P95_SIGMAS 1.645    /* and its 95th percentile is at so many */
#define MAD_EFFICIENCY 0.37 /* of the median distance, of normal values */
#define ONE_MORE (1 / 5000.0)
#define ONE_MORE_Z 3.54 /* widths, of a normal variable */
#define WIDEST 1e6
#define BITS 4u /* of a value, in each round */
#define N_NEXT (1u << BITS)
#define N_QUANTILES 3u

/* ------------------------------------------------------------------------- values in groups */

/* Counts first, so that everybody knows what comes and where it belongs. */

void partition_init(struct partition *d, const struct tree_share *share, uint32_t n_groups,
                    const uint32_t *order, const unsigned *owner)
{
    unsigned size = tree_share_size(share);
    uint32_t *next;

    *d = (struct partition){.share = share,
                            .me = share ? process_group_me(share->process_group) : 0,
                            .n_groups = n_groups};
    d->order = mem_resize(NULL, n_groups, sizeof *d->order);
    d->first = mem_alloc((size_t)size + 2, sizeof *d->first);
    next = d->first + 1; /* becomes the start of each process, and then its end */
    for (uint32_t g = 0; g < n_groups; g++)
        next[(owner ? owner[g] : 0) + 1]++;
    for (unsigned p = 0; p < size; p++)
        next[p + 1] += next[p];
    for (uint32_t i = 0; i < n_groups; i++) {
        uint32_t g = order ? order[i] : i;

        d->order[next[owner ? owner[g] : 0]++] = g;
    }
}

void partition_release(struct partition *d)
{
    free(d->order);
    free(d->first);
    *d = (struct partition){0};
}

static uint32_t n_of(const struct partition *d, unsigned process)
{
    return d->first[process + 1] - d->first[process];
}

/* How many values each process has of the own groups: [processes * own groups]. */
static uint32_t *swap_counts(const struct partition *d, const uint32_t *count)
{
    struct process_group *process_group = d->share->process_group;
    uint32_t *own = mem_resize(NULL, d->n_groups, sizeof *own), n = n_of(d, d->me);
    uint32_t *theirs =
        mem_resize(NULL, (size_t)process_group_size(process_group) * n, sizeof *theirs);

    for (uint32_t i = 0; i < d->n_groups; i++)
        own[i] = count[d->order[i]];
    for (unsigned round = 0; round < process_group_size(process_group); round++) {
        unsigned p = process_group_partner(process_group, round);
        uint32_t *to = theirs + (size_t)p * n;

        if (p != d->me)
            process_group_swap(process_group, p, own + d->first[p], n_of(d, p) * sizeof *own,
                               to, n * sizeof *to);
        else if (n > 0)
            memcpy(to, own + d->first[p], n * sizeof *own);
    }
    free(own);
    return theirs;
}

/* Where the values of each own group go; next: [own groups]. Returns how many there are. */
static size_t lay_out(const struct partition *d, const uint32_t *theirs, uint32_t *count,
                      size_t *begin, size_t *next)
{
    uint32_t n = n_of(d, d->me);
    size_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t group = d->order[d->first[d->me] + i];

        begin[group] = next[i] = at;
        count[group] = 0;
        for (unsigned p = 0; p < process_group_size(d->share->process_group); p++)
            count[group] += theirs[(size_t)p * n + i];
        at += count[group];
    }
    return at;
}

/* What one process has of each own group, among that of the others. */
static void merge(const struct partition *d, const char *from, const uint32_t *n_from, char *to,
                  size_t *next)
{
    for (uint32_t i = 0; i < n_of(d, d->me); i++) {
        size_t bytes = n_from[i] * d->width;

        if (bytes > 0)
            memcpy(to + next[i] * d->width, from, bytes);
        next[i] += n_from[i];
        from += bytes;
    }
}

/* Where in the own values those for each process begin: [processes + 1]. */
static size_t *find_segments(const struct partition *d, const uint32_t *count)
{
    unsigned size = process_group_size(d->share->process_group);
    size_t *segment = mem_alloc((size_t)size + 1, sizeof *segment);

    for (unsigned p = 0; p < size; p++) {
        segment[p + 1] = segment[p];
        for (uint32_t i = d->first[p]; i < d->first[p + 1]; i++)
            segment[p + 1] += count[d->order[i]];
    }
    return segment;
}

void *partition_exchange(const struct partition *d, void *value, uint32_t *count, size_t *begin)
{
    uint32_t *theirs, n;
    size_t *segment, *next;
    char *all, *own = value;

    if (d->share == NULL) {
        size_t at = 0;

        for (uint32_t i = 0; i < d->n_groups; i++) {
            begin[d->order[i]] = at;
            at += count[d->order[i]];
        }
        return value;
    }
    n = n_of(d, d->me);
    segment = find_segments(d, count);
    theirs = swap_counts(d, count);
    next = mem_alloc(n, sizeof *next);
    all = paged_alloc(d->paged, lay_out(d, theirs, count, begin, next), d->width);
    for (unsigned round = 0; round < process_group_size(d->share->process_group); round++) {
        unsigned p = process_group_partner(d->share->process_group, round);
        const uint32_t *n_theirs = theirs + (size_t)p * n;
        size_t bytes = 0;
        char *part;

        for (uint32_t i = 0; i < n; i++)
            bytes += (size_t)n_theirs[i] * d->width;
        part = p == d->me ? own + segment[p] * d->width : mem_resize(NULL, bytes, 1);
        if (p != d->me)
            process_group_swap(d->share->process_group, p, own + segment[p] * d->width,
                               (segment[p + 1] - segment[p]) * d->width, part, bytes);
        merge(d, part, n_theirs, all, next);
        if (p != d->me)
            free(part);
    }
    paged_release(d->paged, value);
    free(segment);
    free(theirs);
    free(next);
    return all;
}

/* In the order of d->order and back. */
static void arrange(const struct partition *d, unsigned process, char *by_group, char *list,
                    size_t width, bool is_back)
{
    for (uint32_t i = d->first[process]; i < d->first[process + 1]; i++, list += width) {
        char *at = by_group + d->order[i] * width;

        memcpy(is_back ? at : list, is_back ? list : at, width);
    }
}

void partition_tell(const struct partition *d, void *by_group, size_t width)
{
    char *list;

    if (d->share == NULL)
        return;
    list = mem_resize(NULL, d->n_groups, width);
    if (d->me > 0) {
        arrange(d, d->me, by_group, list, width, false);
        process_group_send(d->share->process_group, 0, list, n_of(d, d->me) * width);
    }
    for (unsigned p = 1; d->me == 0 && p < process_group_size(d->share->process_group); p++) {
        process_group_receive(d->share->process_group, p, list, n_of(d, p) * width);
        arrange(d, p, by_group, list, width, true);
    }
    free(list);
    tree_share_tell(d->share, by_group, d->n_groups * width);
}

unsigned *partition_balance(const struct tree_share *share, const uint32_t *work,
                            const uint32_t *order, uint32_t n)
{
    unsigned size = tree_share_size(share), *owner = mem_alloc(n, sizeof *owner);
    uint64_t *load = mem_alloc(size, sizeof *load);

    for (uint32_t i = 0; i < n; i++) {
        unsigned least = 0;

        for (unsigned p = 1; p < size; p++)
            if (load[p] < load[least])
                least = p;
        owner[order[i]] = least;
        load[least] += work[order[i]];
    }
    free(load);
    return owner;
}

/* ------------------------------------------------------------------------- centre and width */

double robust_quantile(double *x, size_t n, double q)
{
    double position = q * (double)(n - 1);
    size_t below = (size_t)position;
    double value = SELECT_KTH(x, n, below), next = INFINITY;

    if (position <= (double)below || below + 1 >= n)
        return value;
    for (size_t i = below + 1; i < n; i++)
        next = x[i] < next ? x[i] : next;
    return value + (position - (double)below) * (next - value);
}

double robust_lower_middle(size_t n)
{
    return n > 1 ? (double)((n - 1) / 2) / (double)(n - 1) : 0.5;
}

double robust_middle(size_t n)
{
    return n < ROBUST_FEW ? robust_lower_middle(n) : 0.5;
}

/* It moves most when all are off the same way. */
double robust_median_off(const double *x, const double *off, size_t n)
{
    double *moved = mem_alloc(n, sizeof *moved), median[3];

    for (int way = -1; way <= 1; way++) {
        for (size_t i = 0; i < n; i++)
            moved[i] = x[i] + way * off[i];
        median[way + 1] = robust_quantile(moved, n, 0.5);
    }
    free(moved);
    return fmax(median[2] - median[1], median[1] - median[0]);
}

/* The widest of what these quantiles and the median distance from the centre say; at least
 * `least`. */
static double width_of(double centre, double at84, double at95, double distance, double least)
{
    double scale = least, mad = NORMAL_MAD * distance;

    if (mad > scale)
        scale = mad;
    if (at84 - centre > scale)
        scale = at84 - centre;
    if ((at95 - centre) / P95_SIGMAS > scale)
        scale = (at95 - centre) / P95_SIGMAS;
    return scale;
}

struct spread robust_spread(double *x, double *scratch, size_t n, double least)
{
    double centre = robust_quantile(x, n, robust_middle(n));
    double at84 = robust_quantile(x, n, P84), at95 = robust_quantile(x, n, 0.95);

    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(x[i] - centre);
    return (struct spread){
        centre, width_of(centre, at84, at95, robust_quantile(scratch, n, 0.5), least)};
}

struct spread robust_for_one_more(double *x, double *scratch, size_t n, double least)
{
    double centre = robust_quantile(x, n, robust_middle(n));
    double at84 = robust_quantile(x, n, P84), width;
    double freedom = MAD_EFFICIENCY * (double)(n - 1);
    double wider = n > 1 ? student_quantile(ONE_MORE, freedom) / ONE_MORE_Z : WIDEST;

    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(x[i] - centre);
    width = width_of(centre, at84, centre, robust_quantile(scratch, n, 0.5), least);
    return (struct spread){centre, width * fmin(wider, WIDEST)};
}

/* ------------------------------------------------------------------------ sorted times */

struct times {
    struct sorted_times sorted;
    size_t n;
    double offset_ns, centre;
    size_t n_below; /* times whose x is below the centre */
};

static double log_at(const struct times *times, size_t i)
{
    const struct sorted_times *s = &times->sorted;

    return log((s->narrow_ns ? (double)s->narrow_ns[i] : (double)s->wide_ns[i]) +
               times->offset_ns);
}

/* From the centre to the i-th x below it, or from it on; these grow with i. */
static double below(const struct times *times, size_t i)
{
    return i < times->n_below ? fabs(log_at(times, times->n_below - 1 - i) - times->centre)
                              : INFINITY;
}

static double above(const struct times *times, size_t i)
{
    return times->n_below + i < times->n
               ? fabs(log_at(times, times->n_below + i) - times->centre)
               : INFINITY;
}

/* The k-th smallest distance: i of those before it are below the centre, k - i are not. */
static double distance_at(const struct times *times, size_t k)
{
    size_t n_above = times->n - times->n_below;
    size_t low = k > n_above ? k - n_above : 0;
    size_t high = k < times->n_below ? k : times->n_below;

    while (low < high) {
        size_t i = low + (high - low) / 2;

        if (above(times, k - i - 1) > below(times, i))
            low = i + 1;
        else
            high = i;
    }
    return fmin(below(times, low), above(times, k - low));
}

/* As robust_quantile, of what `at` says of index 0 .. n-1 in ascending order. */
static double quantile_at(const struct times *times, double q,
                          double (*at)(const struct times *times, size_t i))
{
    double position = q * (double)(times->n - 1);
    size_t before = (size_t)position;
    double value = at(times, before);

    if (position <= (double)before || before + 1 >= times->n)
        return value;
    return value + (position - (double)before) * (at(times, before + 1) - value);
}

struct spread robust_log_times(const struct sorted_times *sorted, double offset_ns,
                               double least)
{
    struct times times = {.sorted = *sorted, .n = sorted->n, .offset_ns = offset_ns};
    double at84 = quantile_at(&times, P84, log_at), at95 = quantile_at(&times, 0.95, log_at);

    times.centre = quantile_at(&times, robust_middle(times.n), log_at);
    times.n_below = FIRST_NOT(i, 0, times.n, log_at(&times, i) < times.centre);
    return (struct spread){
        times.centre,
        width_of(times.centre, at84, at95, quantile_at(&times, 0.5, distance_at), least)};
}

/* ------------------------------------------------------------------------------ groups */

struct grouping {
    double least;
    double *sorted, *scratch; /* [n]; [workers * largest] */
    const size_t *begin;      /* [n_groups] of each in sorted */
    const uint32_t *own;      /* groups of this process; NULL: all */
    size_t largest;
    struct spread *spread;
    const uint32_t *count;
};

static void spread_groups(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct grouping *w = ctx;
    double *scratch = w->scratch + worker * w->largest;

    for (size_t i = begin; i < end; i++) {
        size_t g = w->own ? w->own[i] : i;

        w->spread[g] =
            w->count[g] ? robust_spread(w->sorted + w->begin[g], scratch, w->count[g], w->least)
                        : (struct spread){0, w->least};
    }
}

/* The values of each group together, in the order that groups are dealt in. */
static double *sort_values(const struct robust_items *items, const uint32_t *order,
                           uint32_t *count, size_t *begin)
{
    double *sorted = mem_resize(NULL, items->n, sizeof *sorted);
    size_t at = 0;

    memset(count, 0, items->n_groups * sizeof *count);
    for (size_t i = 0; i < items->n; i++)
        count[items->group[i]]++;
    for (uint32_t i = 0; i < items->n_groups; i++) {
        uint32_t g = order ? order[i] : i;

        begin[g] = at;
        at += count[g];
    }
    for (size_t i = 0; i < items->n; i++)
        sorted[begin[items->group[i]]++] = items->value(i, items->ctx);
    for (uint32_t g = 0; g < items->n_groups; g++)
        begin[g] -= count[g];
    return sorted;
}

void robust_groups(const struct robust_items *items, double least, struct pool *pool,
                   struct spread *spread, uint32_t *count)
{
    const struct partition *given = items->deal && items->deal->share ? items->deal : NULL;
    uint32_t n = items->n_groups;
    size_t *begin = mem_alloc(n, sizeof *begin);
    struct grouping work = {.least = least, .begin = begin, .spread = spread, .count = count};

    work.sorted = sort_values(items, given ? given->order : NULL, count, begin);
    if (given) {
        struct partition deal = *given;

        deal.width = sizeof *work.sorted;
        deal.paged = NULL;
        work.sorted = partition_exchange(&deal, work.sorted, count, begin);
        work.own = given->order + given->first[given->me];
        n = given->first[given->me + 1] - given->first[given->me];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t members = count[work.own ? work.own[i] : i];

        work.largest = members > work.largest ? members : work.largest;
    }
    work.scratch = mem_resize(NULL, pool_threads(pool) * work.largest, sizeof *work.scratch);
    pool_for(pool, n, n / (64 * pool_threads(pool)) + 1, spread_groups, &work);
    if (given) {
        partition_tell(given, spread, sizeof *spread);
        partition_tell(given, count, sizeof *count);
    }
    free(work.scratch);
    free(work.sorted);
    free(begin);
}

/* -------------------------------------------------------------- values of several processes */

/*
 * A double becomes a number whose order is that of doubles; own values below a number are
 * counted by bisection, as their x, and their distances from a centre on either side of it, go
 * one way.
 */

static const double quantile[N_QUANTILES] = {0.5, P84, 0.95};

/* One group: what is looked for are its x, or how far they are from the centre. */
struct joint_group {
    const struct joint_part *part;
    uint64_t n_all;
    bool is_distance;
    double centre;
    size_t n_below; /* own values below the centre */
};

static double x_at(const struct joint_group *g, size_t i)
{
    const struct sorted_times *s = &g->part->times;

    return log((s->narrow_ns ? (double)s->narrow_ns[i] : (double)s->wide_ns[i]) +
               g->part->offset_ns);
}

static bool is_below(const struct joint_group *g, size_t i, uint64_t bound)
{
    double x = x_at(g, i);

    return radix_key_of_f64(g->is_distance ? fabs(x - g->centre) : x) < bound;
}

/* Of [low, high) those come first that are, by their distance or themselves, below a number;
 * step: whether this grows with i. Returns how many. */
static size_t count_in(const struct joint_group *g, size_t low, size_t high, bool is_growing,
                       uint64_t bound)
{
    size_t border = FIRST_NOT(i, low, high, is_below(g, i, bound) == is_growing);

    return is_growing ? border - low : high - border;
}

static uint64_t count_own_below(const struct joint_group *g, uint64_t bound)
{
    size_t n = g->part->times.n;

    if (!g->is_distance)
        return count_in(g, 0, n, true, bound);
    return count_in(g, 0, g->n_below, false, bound) + count_in(g, g->n_below, n, true, bound);
}

/* Own values with each continuation of what is known of a number. */
static void count_next(const struct joint_group *g, uint64_t known, unsigned shift,
                       uint64_t *count)
{
    uint64_t before = count_own_below(g, known);

    for (uint64_t next = 0; next < N_NEXT; next++) {
        uint64_t end = known + ((next + 1) << shift); /* 0 beyond the largest */
        uint64_t below = end == 0 ? g->part->times.n : count_own_below(g, end);

        count[next] = below - before;
        before = below;
    }
}

/*
 * select_all -- of each group the values of some ranks.
 *   rank   (n * n_ranks) from 0; used up
 *   value  (n * n_ranks) out
 */
static void select_all(const struct tree_share *share, const struct joint_group *group,
                       uint32_t n, uint32_t n_ranks, uint64_t *rank, double *value)
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

/* found: (n * N_QUANTILES) out. */
static void find_quantiles(const struct tree_share *share, const struct joint_group *group,
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
static void find_distances(const struct tree_share *share, struct joint_group *group,
                           uint32_t n, double *found)
{
    uint64_t *rank = mem_alloc((size_t)n * 2, sizeof *rank);
    double *value = mem_alloc((size_t)n * 2, sizeof *value);

    for (uint32_t i = 0; i < n; i++) {
        group[i].n_below =
            FIRST_NOT(k, 0, group[i].part->times.n, x_at(&group[i], k) < group[i].centre);
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
    struct joint_group *group = mem_alloc(n, sizeof *group);
    uint64_t *n_all = mem_alloc(n, sizeof *n_all);
    double *at = mem_alloc((size_t)n * N_QUANTILES, sizeof *at);
    double *distance = mem_alloc(n, sizeof *distance);

    for (uint32_t i = 0; i < n; i++)
        n_all[i] = part[i].times.n;
    tree_share_add(share, n_all, n, sizeof *n_all, tree_share_sum_u64);
    for (uint32_t i = 0; i < n; i++)
        group[i] = (struct joint_group){.part = &part[i], .n_all = n_all[i]};
    find_quantiles(share, group, n, at);
    for (uint32_t i = 0; i < n; i++)
        group[i].centre = at[i * N_QUANTILES];
    find_distances(share, group, n, distance);
    for (uint32_t i = 0; i < n; i++) {
        const double *of = at + (size_t)i * N_QUANTILES;

        spread[i] = (struct spread){of[0], width_of(of[0], of[1], of[2], distance[i], least)};
    }
    free(group);
    free(n_all);
    free(at);
    free(distance);
}

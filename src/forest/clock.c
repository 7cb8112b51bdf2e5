/*
 * Bounds are kept per ordered pair of ranks: w(i, j) = the smallest end_j - begin_i seen, so
 * that x_i - x_j <= w(i, j). Messages bound the two ranks they join. Of a collective of n ranks
 * only 2 n of its n^2 bounds are taken at first, those with its first rank; a check over all
 * ranks then adds the worst pair of every collective that is still wrong, and the estimate is
 * repeated.
 */
#include "forest/clock.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "base/order.h"
#include "trace/monotone.h"

#include <stdlib.h>
#include <string.h>

#define MAX_REFINEMENTS 8
#define N_BUCKETS 16   /* stretches of time in which drift is measured */
#define MAX_LEFT 0.05  /* of what was wrong may stay wrong, else clocks are not the reason */
#define MIN_BUCKETS 3  /* that a slope can be taken from */
#define DRIFT_PASSES 2 /* see fit_drift */

/* The bounds between pairs of ranks. */
struct rank_bounds {
    struct idmap pair; /* key_pair(i, j) */
    int64_t *w;
    size_t cap;
};

/* Two ranks and how far their clocks may differ: low <= x_j - x_i <= high. */
struct clock_bounds {
    uint32_t i, j;
    int64_t low, high; /* INT64_MIN, INT64_MAX where nothing bounds that side */
};

struct clock_estimate {
    const struct traffic *traffic;
    const struct definitions *defs;
    struct clock_fix *fix;
    uint32_t n_ranks;
    struct rank_bounds bounds;
    struct clock_bounds *link; /* [n_links], the first n_tree of them span the ranks */
    size_t n_links, link_cap, n_tree;
    size_t *first_of;      /* [n_instances + 1] rows of collectives by instance */
    uint32_t *row_of;      /* [n_collectives] */
    uint32_t *rank_of_row; /* [n_collectives] */
};

static int64_t fixed(const struct clock_estimate *e, uint32_t rank, uint64_t time_ns)
{
    return (int64_t)clock_fixed(&e->fix[rank], time_ns);
}

static void bound(struct rank_bounds *b, uint32_t i, uint32_t j, int64_t w)
{
    uint32_t n_before = b->pair.n, at;

    if (i == j)
        return;
    at = idmap_add(&b->pair, key_pair(i, j));
    mem_grow(&b->w, &b->cap, (size_t)at + 1);
    if (at == n_before || w < b->w[at])
        b->w[at] = w;
}

/* ----------------------------------------------------------- what happened before what */

/* A pair of events in a known order. */
struct order {
    uint32_t from, to; /* ranks */
    uint64_t begin_ns, end_ns;
};

typedef void order_fn(struct clock_estimate *e, const struct order *order, void *ctx);

static void each_message(struct clock_estimate *e, order_fn *fn, void *ctx)
{
    const struct traffic *t = e->traffic;

    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_message[l]; i < t->first_message[l + 1]; i++) {
            const struct message *send = &t->message[i];

            if (send->kind == MESSAGE_SEND && send->match != MESSAGE_UNMATCHED &&
                send->bytes == t->message[send->match].bytes)
                fn(e,
                   &(struct order){e->defs->location[l].rank, send->peer, send->begin_ns,
                                   t->message[send->match].end_ns},
                   ctx);
        }
}

/* True when the begin of a (on rank i) must come before the end of b (on rank j). */
static bool is_ordered(const struct collective *a, uint32_t i, const struct collective *b,
                       uint32_t j)
{
    switch (a->kind) {
    case COLLECTIVE_BARRIER:
    case COLLECTIVE_ALL_TO_ALL:
        return i != j;
    case COLLECTIVE_ONE_TO_ALL:
        return i != j && a->root == i && b->root == i;
    case COLLECTIVE_ALL_TO_ONE:
        return i != j && a->root == j && b->root == j;
    default:
        return false;
    }
}

/* The pairs of one collective that contain the row `pivot`. */
static void each_with(struct clock_estimate *e, size_t instance, size_t pivot, order_fn *fn,
                      void *ctx)
{
    const struct collective *c = e->traffic->collective;
    uint32_t p = e->row_of[pivot], i = e->rank_of_row[p];

    for (size_t k = e->first_of[instance]; k < e->first_of[instance + 1]; k++) {
        uint32_t q = e->row_of[k], j = e->rank_of_row[q];

        if (is_ordered(&c[p], i, &c[q], j))
            fn(e, &(struct order){i, j, c[p].begin_ns, c[q].end_ns}, ctx);
        if (is_ordered(&c[q], j, &c[p], i))
            fn(e, &(struct order){j, i, c[q].begin_ns, c[p].end_ns}, ctx);
    }
}

/* The row whose pairs stand for those of a collective: its root, or else its first. */
static size_t pivot_of(const struct clock_estimate *e, size_t instance)
{
    const struct collective *c = e->traffic->collective;

    for (size_t k = e->first_of[instance]; k < e->first_of[instance + 1]; k++)
        if (c[e->row_of[k]].root == e->rank_of_row[e->row_of[k]])
            return k;
    return e->first_of[instance];
}

static void each_collective(struct clock_estimate *e, order_fn *fn, void *ctx)
{
    for (size_t i = 0; i < e->traffic->n_instances; i++)
        if (e->first_of[i] < e->first_of[i + 1])
            each_with(e, i, pivot_of(e, i), fn, ctx);
}

static void list_collectives(struct clock_estimate *e)
{
    const struct traffic *t = e->traffic;

    e->first_of = mem_alloc((size_t)t->n_instances + 2, sizeof *e->first_of);
    e->row_of = mem_alloc(t->n_collectives, sizeof *e->row_of);
    e->rank_of_row = mem_alloc(t->n_collectives, sizeof *e->rank_of_row);
    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_collective[l]; i < t->first_collective[l + 1]; i++)
            e->rank_of_row[i] = e->defs->location[l].rank;
    for (size_t i = 0; i < t->n_collectives; i++)
        if (t->collective[i].instance != NO_INSTANCE)
            e->first_of[t->collective[i].instance + 2]++;
    for (size_t k = 1; k < (size_t)t->n_instances + 2; k++)
        e->first_of[k] += e->first_of[k - 1];
    for (size_t i = 0; i < t->n_collectives; i++)
        if (t->collective[i].instance != NO_INSTANCE)
            e->row_of[e->first_of[t->collective[i].instance + 1]++] = (uint32_t)i;
}

/* ------------------------------------------------------------------------- checking */

struct check {
    size_t n_checked, n_wrong_messages, n_wrong_collectives;
    int64_t worst_ns;
    double late_ns;          /* in all */
    struct rank_bounds *add; /* bounds of what is wrong go here, if not NULL */
};

static void count_late(struct check *check, int64_t late_ns)
{
    check->late_ns += late_ns > 0 ? (double)late_ns : 0;
    if (late_ns > check->worst_ns)
        check->worst_ns = late_ns;
}

static void check_message(struct clock_estimate *e, const struct order *o, void *ctx)
{
    struct check *check = ctx;
    int64_t late = fixed(e, o->from, o->begin_ns) - fixed(e, o->to, o->end_ns);

    if (o->from == o->to)
        return;
    check->n_checked++;
    check->n_wrong_messages += late > 0;
    count_late(check, late);
}

/* The latest begin and the earliest end that must not cross; false if nothing is ordered. */
static bool worst_pair(const struct clock_estimate *e, size_t instance, uint32_t *last_in,
                       uint32_t *first_out)
{
    const struct collective *c = e->traffic->collective;
    int64_t begin = INT64_MIN, end = INT64_MAX;

    for (size_t k = e->first_of[instance]; k < e->first_of[instance + 1]; k++) {
        uint32_t q = e->row_of[k], rank = e->rank_of_row[q];
        bool is_one = c[q].kind == COLLECTIVE_ONE_TO_ALL, is_root = c[q].root == rank;
        bool is_other = c[q].kind == COLLECTIVE_OTHER;

        if (!is_other && (!is_one || is_root) && fixed(e, rank, c[q].begin_ns) > begin) {
            begin = fixed(e, rank, c[q].begin_ns);
            *last_in = q;
        }
        if (!is_other && (c[q].kind != COLLECTIVE_ALL_TO_ONE || is_root) &&
            fixed(e, rank, c[q].end_ns) < end) {
            end = fixed(e, rank, c[q].end_ns);
            *first_out = q;
        }
    }
    return begin != INT64_MIN && end != INT64_MAX;
}

/* Times with the drift that is known so far, without the offset, which is to be found. */
static int64_t drifted(const struct clock_estimate *e, uint32_t rank, uint64_t time_ns)
{
    return (int64_t)clock_fixed(&(struct clock_fix){.drift = e->fix[rank].drift}, time_ns);
}

static struct check check_all(struct clock_estimate *e, struct rank_bounds *add)
{
    const struct collective *c = e->traffic->collective;
    struct check check = {.add = add};

    each_message(e, check_message, &check);
    for (size_t i = 0; i < e->traffic->n_instances; i++) {
        uint32_t in = 0, out = 0, from, to;
        int64_t late;

        if (!worst_pair(e, i, &in, &out))
            continue;
        from = e->rank_of_row[in];
        to = e->rank_of_row[out];
        late = fixed(e, from, c[in].begin_ns) - fixed(e, to, c[out].end_ns);
        check.n_checked++;
        if (late <= 0 || from == to)
            continue;
        check.n_wrong_collectives++;
        count_late(&check, late);
        if (add)
            bound(add, from, to,
                  drifted(e, to, c[out].end_ns) - drifted(e, from, c[in].begin_ns));
    }
    return check;
}

static size_t n_wrong(const struct check *check)
{
    return check->n_wrong_messages + check->n_wrong_collectives;
}

/* ------------------------------------------------------------------------- solving */

static void add_bound(struct clock_estimate *e, const struct order *o, void *ctx)
{
    (void)ctx;
    bound(&e->bounds, o->from, o->to,
          drifted(e, o->to, o->end_ns) - drifted(e, o->from, o->begin_ns));
}

static void list_links(struct clock_estimate *e)
{
    const struct rank_bounds *b = &e->bounds;

    e->n_links = 0;
    for (uint32_t k = 0; k < b->pair.n; k++) {
        uint32_t i = (uint32_t)b->pair.key[k].high, j = (uint32_t)b->pair.key[k].low;
        uint32_t back = idmap_find(&b->pair, key_pair(j, i));

        if (back != IDMAP_NONE && j < i)
            continue; /* listed from its other side */
        *mem_push(&e->link, &e->n_links, &e->link_cap) =
            (struct clock_bounds){.i = i,
                                  .j = j,
                                  .low = -b->w[k],
                                  .high = back == IDMAP_NONE ? INT64_MAX : b->w[back]};
    }
}

static uint64_t width(const struct clock_bounds *link)
{
    return link->high == INT64_MAX  ? UINT64_MAX
           : link->high < link->low ? 0
                                    : (uint64_t)(link->high - link->low);
}

static int by_width(const void *a, const void *b)
{
    const struct clock_bounds *p = a, *q = b;
    uint64_t v = width(p), w = width(q);

    return ORDER(v, w) ?: ORDER(p->i, q->i) ?: ORDER(p->j, q->j);
}

static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Kruskal: moves the links of the tightest spanning forest to the front. */
static void span(struct clock_estimate *e)
{
    uint32_t *parent = mem_alloc(e->n_ranks, sizeof *parent);

    for (uint32_t i = 0; i < e->n_ranks; i++)
        parent[i] = i;
    qsort(e->link, e->n_links, sizeof *e->link, by_width);
    e->n_tree = 0;
    for (size_t k = 0; k < e->n_links; k++) {
        uint32_t a = find_root(parent, e->link[k].i), b = find_root(parent, e->link[k].j);
        struct clock_bounds taken = e->link[k];

        if (a == b)
            continue;
        parent[a > b ? a : b] = a > b ? b : a;
        e->link[k] = e->link[e->n_tree];
        e->link[e->n_tree++] = taken;
    }
    free(parent);
}

/* x_j - x_i for two ranks on their own: the middle, or as little as will do. */
static double middle(const struct clock_bounds *link)
{
    if (link->high != INT64_MAX)
        return 0.5 * ((double)link->low + (double)link->high);
    return link->low > 0 ? (double)link->low : 0;
}

/*
 * Walks the spanning forest from the lowest rank of each tree, where value starts at 0; across
 * link k it changes by step[k].
 */
static void walk_tree(const struct clock_estimate *e, const double *step, double *value)
{
    bool *is_set = mem_alloc(e->n_ranks, sizeof *is_set);
    size_t *head = mem_alloc((size_t)e->n_ranks + 1, sizeof *head);
    size_t *next = mem_alloc(2 * e->n_tree + 2, sizeof *next); /* links of a rank, as lists */
    uint32_t *queue = mem_alloc(e->n_ranks, sizeof *queue);

    for (size_t k = 0; k < e->n_tree; k++) {
        next[2 * k] = head[e->link[k].i];
        head[e->link[k].i] = 2 * k + 1;
        next[2 * k + 1] = head[e->link[k].j];
        head[e->link[k].j] = 2 * k + 2;
    }
    for (uint32_t start = 0; start < e->n_ranks; start++) {
        size_t n = 0;

        if (is_set[start])
            continue;
        is_set[start] = true;
        value[start] = 0;
        queue[n++] = start;
        for (size_t at = 0; at < n; at++)
            for (size_t l = head[queue[at]]; l > 0; l = next[l - 1]) {
                const struct clock_bounds *link = &e->link[(l - 1) / 2];
                bool is_forward = (l - 1) % 2 == 0;
                uint32_t to = is_forward ? link->j : link->i;

                if (is_set[to])
                    continue;
                is_set[to] = true;
                value[to] = value[queue[at]] + (is_forward ? 1 : -1) * step[(l - 1) / 2];
                queue[n++] = to;
            }
    }
    free(is_set);
    free(head);
    free(next);
    free(queue);
}

/* Bellman and Ford: raises the later clock of every broken bound, as long as that helps. */
static void enforce(struct clock_estimate *e, double *x)
{
    const struct rank_bounds *b = &e->bounds;
    bool is_changed = true;

    for (uint32_t round = 0; round <= e->n_ranks && is_changed; round++) {
        is_changed = false;
        for (uint32_t k = 0; k < b->pair.n; k++) {
            uint32_t i = (uint32_t)b->pair.key[k].high, j = (uint32_t)b->pair.key[k].low;
            double least = x[i] - (double)b->w[k];

            if (x[j] < least) {
                x[j] = ceil(least);
                is_changed = true;
            }
        }
    }
}

/* Offsets for the drift that is set, refined until every collective is in order or it is no
 * use. Bounds that are added may contradict those that were there: of all rounds the one that
 * leaves least wrong counts. */
static struct check solve_offsets(struct clock_estimate *e)
{
    double *x = mem_alloc(e->n_ranks, sizeof *x), *step = NULL;
    struct clock_fix *best = mem_alloc(e->n_ranks, sizeof *best);
    struct check check = {0}, best_check = {0};

    idmap_release(&e->bounds.pair);
    each_message(e, add_bound, NULL);
    each_collective(e, add_bound, NULL);
    for (int round = 0; round < MAX_REFINEMENTS; round++) {
        list_links(e);
        span(e);
        step = mem_resize(step, e->n_tree, sizeof *step);
        for (size_t k = 0; k < e->n_tree; k++)
            step[k] = middle(&e->link[k]);
        walk_tree(e, step, x);
        enforce(e, x);
        for (uint32_t r = 0; r < e->n_ranks; r++)
            e->fix[r].offset_ns = llrint(x[r] - x[0]);
        check = check_all(e, &e->bounds);
        if (round == 0 || check.late_ns < best_check.late_ns) {
            best_check = check;
            memcpy(best, e->fix, e->n_ranks * sizeof *best);
        }
        if (check.n_wrong_collectives == 0)
            break;
    }
    memcpy(e->fix, best, e->n_ranks * sizeof *best);
    free(best);
    free(step);
    free(x);
    return best_check;
}

/* ---------------------------------------------------------------------------- drift */

struct bucket {
    int64_t low, high;
};

struct drift {
    struct idmap link;     /* key_pair(i, j), i < j or as listed: index into the tree */
    struct bucket *bucket; /* [n_tree * N_BUCKETS] */
    uint64_t begin_ns, bucket_ns;
};

static void put_in_bucket(struct clock_estimate *e, const struct order *o, void *ctx)
{
    struct drift *d = ctx;
    int64_t w = drifted(e, o->to, o->end_ns) - drifted(e, o->from, o->begin_ns);
    uint32_t forward = idmap_find(&d->link, key_pair(o->from, o->to));
    uint32_t backward = idmap_find(&d->link, key_pair(o->to, o->from));
    uint64_t since = o->begin_ns - d->begin_ns;
    size_t at = (int64_t)since < 0 ? 0 : since / d->bucket_ns;
    struct bucket *bucket;

    at = at < N_BUCKETS ? at : N_BUCKETS - 1;
    if (forward != IDMAP_NONE) {
        bucket = &d->bucket[forward * N_BUCKETS + at];
        if (-w > bucket->low)
            bucket->low = -w;
    } else if (backward != IDMAP_NONE) {
        bucket = &d->bucket[backward * N_BUCKETS + at];
        if (w < bucket->high)
            bucket->high = w;
    }
}

/* Theil and Sen: the median slope between the middles of any two buckets. */
static double slope_of(const struct bucket *bucket, double bucket_ns)
{
    double slope[N_BUCKETS * (N_BUCKETS - 1) / 2], mid[N_BUCKETS];
    size_t at[N_BUCKETS], n = 0, n_slopes = 0;

    for (size_t k = 0; k < N_BUCKETS; k++)
        if (bucket[k].low != INT64_MIN && bucket[k].high != INT64_MAX) {
            mid[n] = 0.5 * ((double)bucket[k].low + (double)bucket[k].high);
            at[n++] = k;
        }
    if (n < MIN_BUCKETS)
        return 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++)
            slope[n_slopes++] = (mid[b] - mid[a]) / ((double)(at[b] - at[a]) * bucket_ns);
    qsort(slope, n_slopes, sizeof *slope, order_f64);
    return slope[n_slopes / 2];
}

static void widen(bool *is_any, uint64_t *begin_ns, uint64_t *end_ns, uint64_t from_ns,
                  uint64_t to_ns)
{
    if (!*is_any || time_before(from_ns, *begin_ns))
        *begin_ns = from_ns;
    if (!*is_any || time_before(*end_ns, to_ns))
        *end_ns = to_ns;
    *is_any = true;
}

static void time_range(const struct traffic *t, uint64_t *begin_ns, uint64_t *end_ns)
{
    bool is_any = false;

    *begin_ns = *end_ns = 0;
    for (size_t i = 0; i < t->n_messages; i++)
        widen(&is_any, begin_ns, end_ns, t->message[i].begin_ns, t->message[i].end_ns);
    for (size_t i = 0; i < t->n_collectives; i++)
        widen(&is_any, begin_ns, end_ns, t->collective[i].begin_ns, t->collective[i].end_ns);
}

/* The drift of every rank along the spanning tree, beyond what is known of it. */
static void add_drift(struct clock_estimate *e, struct drift *d)
{
    double *step = mem_alloc(e->n_tree, sizeof *step);
    double *drift = mem_alloc(e->n_ranks, sizeof *drift);

    for (size_t k = 0; k < e->n_tree * N_BUCKETS; k++)
        d->bucket[k] = (struct bucket){INT64_MIN, INT64_MAX};
    each_message(e, put_in_bucket, d);
    each_collective(e, put_in_bucket, d);
    for (size_t k = 0; k < e->n_tree; k++)
        step[k] = slope_of(&d->bucket[k * N_BUCKETS], (double)d->bucket_ns);
    walk_tree(e, step, drift);
    for (uint32_t r = 0; r < e->n_ranks; r++)
        e->fix[r].drift += drift[r] * (1 + e->fix[r].drift);
    free(step);
    free(drift);
}

/*
 * Fits the drift of every rank; offsets are then to be solved again. Slopes are of clocks that
 * drift themselves, and add up along the tree: what that leaves, the square of a drift, the
 * second pass finds.
 */
static void fit_drift(struct clock_estimate *e)
{
    struct drift d = {0};
    uint64_t end_ns;

    time_range(e->traffic, &d.begin_ns, &end_ns);
    d.bucket_ns = (end_ns - d.begin_ns) / N_BUCKETS + 1;
    d.bucket = mem_alloc(e->n_tree * N_BUCKETS, sizeof *d.bucket);
    for (size_t k = 0; k < e->n_tree; k++)
        idmap_add(&d.link, key_pair(e->link[k].i, e->link[k].j));
    memset(e->fix, 0, e->n_ranks * sizeof *e->fix);
    for (int times = 0; times < DRIFT_PASSES; times++)
        add_drift(e, &d);
    free(d.bucket);
    idmap_release(&d.link);
}

/* Tries constant offsets, then drift; what leaves fewer things in the wrong order stays. */
static struct check solve(struct clock_estimate *e)
{
    size_t bytes = e->n_ranks * sizeof *e->fix;
    struct clock_fix *constant = mem_alloc(e->n_ranks, sizeof *constant);
    struct check check = solve_offsets(e), with_drift;

    if (n_wrong(&check) > 0) {
        memcpy(constant, e->fix, bytes);
        fit_drift(e);
        with_drift = solve_offsets(e);
        if (n_wrong(&with_drift) < n_wrong(&check))
            check = with_drift;
        else
            memcpy(e->fix, constant, bytes);
    }
    free(constant);
    return check;
}

/* Whether the clocks were the reason: little is wrong now, or no more than before and all of it
 * little. */
static bool is_better(const struct check *after, const struct check *before)
{
    size_t n = n_wrong(after), n_before = n_wrong(before);

    return (double)n <= MAX_LEFT * (double)n_before ||
           (n <= n_before && after->late_ns <= MAX_LEFT * before->late_ns);
}

/* ---------------------------------------------------------------------------- public */

void clock_estimate(const struct traffic *traffic, const struct definitions *defs,
                    struct clock_fix *fix, struct clock_report *report)
{
    struct clock_estimate e = {
        .traffic = traffic, .defs = defs, .fix = fix, .n_ranks = defs->n_ranks};
    struct check before, after;

    memset(fix, 0, defs->n_ranks * sizeof *fix);
    list_collectives(&e);
    before = after = check_all(&e, NULL);
    if (n_wrong(&before) > 0) {
        after = solve(&e);
        if (!is_better(&after, &before)) {
            memset(fix, 0, defs->n_ranks * sizeof *fix);
            after = before;
        }
    }
    *report = (struct clock_report){
        .n_checked = before.n_checked,
        .n_wrong_before = n_wrong(&before),
        .n_wrong_messages = after.n_wrong_messages,
        .n_wrong_collectives = after.n_wrong_collectives,
        .worst_before_ns = before.worst_ns,
        .worst_ns = after.worst_ns,
    };
    for (uint32_t r = 0; r < defs->n_ranks; r++) {
        report->n_shifted += fix[r].offset_ns != 0 || fix[r].drift != 0;
        report->has_drift |= fix[r].drift != 0;
    }
    free(e.link);
    free(e.bounds.w);
    idmap_release(&e.bounds.pair);
    free(e.first_of);
    free(e.row_of);
    free(e.rank_of_row);
}

/*
 * Ends are sorted by flow, those of a flow by time; where only one starts, that comes first.
 */
#include "trace/chrome/flow_ends.h"

#include "base/mem.h"
#include "base/order.h"

#include <stdbool.h>
#include <stdlib.h>

#define MAX_LOST 64 /* ends at the beginning of a flow without their other end */

void flow_ends_release(struct flow_ends *ends)
{
    idmap_release(&ends->id);
    free(ends->end);
    *ends = (struct flow_ends){0};
}

void flow_ends_add(struct flow_ends *ends, struct key id, const struct flow_end *end)
{
    mem_grow(&ends->end, &ends->cap, ends->n + 1);
    ends->end[ends->n] = *end;
    ends->end[ends->n++].flow = idmap_add(&ends->id, id);
}

static int by_flow(const void *a, const void *b)
{
    const struct flow_end *p = a, *q = b;

    return ORDER(p->flow, q->flow) ?:
           ORDER(p->time_ns, q->time_ns) ?:
           ORDER(p->order, q->order);
}

static int by_name(const void *a, const void *b)
{
    const struct flow_end *p = a, *q = b;

    return ORDER(p->name, q->name) ?: by_flow(a, b);
}

static int place(char phase)
{
    return phase == 's' ? 0 : phase == 't' ? 1 : 2;
}

static int by_phase(const void *a, const void *b)
{
    const struct flow_end *p = a, *q = b;

    return ORDER(place(p->phase), place(q->phase)) ?: by_flow(a, b);
}

/* A message of a flow, from one of its ends to another. */
typedef void take_fn(void *ctx, const struct flow_end *from, const struct flow_end *to);

/* How many of n finishes are before their starts. */
static size_t count_early(const struct flow_end *start, const struct flow_end *finish, size_t n)
{
    size_t n_early = 0;

    for (size_t i = 0; i < n; i++)
        n_early += finish[i].time_ns < start[i].time_ns;
    return n_early;
}

/*
 * How many of the longer side have lost their partners before the shorter side begins: the fewest
 * finishes are before their starts then. At most MAX_LOST are looked at.
 */
static size_t find_lost(const struct flow_end *start, size_t n_starts,
                        const struct flow_end *finish, size_t n_finishes)
{
    size_t n = n_starts < n_finishes ? n_starts : n_finishes, best = 0, fewest = SIZE_MAX;
    size_t most = (n_starts < n_finishes ? n_finishes : n_starts) - n;

    for (size_t lost = 0; lost <= most && lost <= MAX_LOST && fewest > 0; lost++) {
        size_t n_early = count_early(start + (n_starts > n ? lost : 0),
                                     finish + (n_finishes > n ? lost : 0), n);

        if (n_early < fewest) {
            fewest = n_early;
            best = lost;
        }
    }
    return best;
}

/*
 * Clocks of the two sides may disagree, so that only the phase says which comes first; where one
 * side has more ends than the other, times tell which of them are without a partner.
 */
static void pair_directly(struct flow_end *end, size_t n, take_fn *take, void *ctx)
{
    const struct flow_end *finish;
    size_t n_starts = 0, n_finishes, lost, s = 0, f = 0;

    qsort(end, n, sizeof *end, by_phase);
    while (n_starts < n && end[n_starts].phase == 's')
        n_starts++;
    finish = end + n_starts;
    n_finishes = n - n_starts;
    lost = find_lost(end, n_starts, finish, n_finishes);
    for (size_t i = 0; i < lost; i++)
        if (n_starts > n_finishes)
            take(ctx, &end[s++], NULL);
        else
            take(ctx, NULL, &finish[f++]);
    for (; s < n_starts || f < n_finishes; s++, f++)
        take(ctx, s < n_starts ? &end[s] : NULL, f < n_finishes ? &finish[f] : NULL);
}

static void pair_steps(struct flow_end *end, size_t n, take_fn *take, void *ctx)
{
    const struct flow_end *from = NULL; /* nobody has got what was sent there */

    for (size_t i = 0; i < n; i++) {
        if (end[i].phase == 's') {
            if (from && from->phase == 's')
                take(ctx, from, NULL);
            from = &end[i];
            continue;
        }
        if (from || end[i].phase == 'f')
            take(ctx, from, &end[i]);
        from = end[i].phase == 't' ? &end[i] : NULL;
    }
    if (from && from->phase == 's')
        take(ctx, from, NULL);
}

static void pair_flow(struct flow_end *end, size_t n, take_fn *take, void *ctx)
{
    size_t of_phase[3] = {0};

    for (size_t i = 0; i < n; i++)
        of_phase[place(end[i].phase)]++;
    if (of_phase[1] == 0) {
        pair_directly(end, n, take, ctx);
        return;
    }
    if (of_phase[0] <= 1 && of_phase[2] <= 1)
        qsort(end, n, sizeof *end, by_phase);
    pair_steps(end, n, take, ctx);
}

/* How many at the beginning have the name of the first. */
static size_t same_name(const struct flow_end *end, size_t n)
{
    size_t n_same = 1;

    while (n_same < n && end[n_same].name == end[0].name)
        n_same++;
    return n_same;
}

/* Whether each name begins somewhere and arrives somewhere; ends are sorted by name. */
static bool are_named_alike(const struct flow_end *end, size_t n)
{
    for (size_t first = 0, n_same; first < n; first += n_same) {
        bool begins = false, arrives = false;

        n_same = same_name(end + first, n - first);
        for (size_t i = first; i < first + n_same; i++) {
            begins |= end[i].phase == 's';
            arrives |= end[i].phase != 's';
        }
        if (!begins || !arrives)
            return false;
    }
    return true;
}

/* All flows of an id: one, mostly. */
static void pair_id(struct flow_end *end, size_t n, take_fn *take, void *ctx)
{
    if (same_name(end, n) == n) {
        pair_flow(end, n, take, ctx);
        return;
    }
    qsort(end, n, sizeof *end, by_name);
    if (!are_named_alike(end, n)) {
        qsort(end, n, sizeof *end, by_flow);
        pair_flow(end, n, take, ctx);
        return;
    }
    for (size_t first = 0, n_same; first < n; first += n_same) {
        n_same = same_name(end + first, n - first);
        pair_flow(end + first, n_same, take, ctx);
    }
}

void flow_ends_pair(struct flow_ends *ends, take_fn *take, void *ctx)
{
    if (ends->n > 0)
        qsort(ends->end, ends->n, sizeof *ends->end, by_flow);
    for (size_t first = 0, n; first < ends->n; first += n) {
        struct flow_end *end = ends->end + first;

        for (n = 0; first + n < ends->n && end[n].flow == end->flow; n++)
            ;
        pair_id(end, n, take, ctx);
    }
}

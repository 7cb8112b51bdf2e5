/* Sorted by flow; of each, those that start come first if only one does. */
#include "trace/chrome/flow_ends.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

void flow_ends_release(struct flow_ends *ends)
{
    idmap_release(&ends->id);
    free(ends->end);
    *ends = (struct flow_ends){0};
}

void flow_ends_add(struct flow_ends *ends, struct key id, const struct flow_end *end)
{
    mem_grow(&ends->end, &ends->cap, ends->n + 1, sizeof *ends->end);
    ends->end[ends->n] = *end;
    ends->end[ends->n++].flow = idmap_add(&ends->id, id);
}

static int by_flow(const void *a, const void *b)
{
    const struct flow_end *p = a, *q = b;

    if (p->flow != q->flow)
        return p->flow < q->flow ? -1 : 1;
    if (p->time_ns != q->time_ns)
        return p->time_ns < q->time_ns ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static int place(char phase)
{
    return phase == 's' ? 0 : phase == 't' ? 1 : 2;
}

static int by_phase(const void *a, const void *b)
{
    const struct flow_end *p = a, *q = b;
    int order = place(p->phase) - place(q->phase);

    return order ? order : by_flow(a, b);
}

/* A message of a flow, from one of its ends to another. */
typedef void take_fn(void *ctx, const struct flow_end *from, const struct flow_end *to);

/* Clocks of the two sides may disagree, so that only the phase says which comes first. */
static void pair_directly(struct flow_end *end, size_t n, take_fn *take, void *ctx)
{
    size_t n_starts = 0;

    qsort(end, n, sizeof *end, by_phase);
    while (n_starts < n && end[n_starts].phase == 's')
        n_starts++;
    for (size_t i = 0; i < n_starts || n_starts + i < n; i++)
        take(ctx, i < n_starts ? &end[i] : NULL, n_starts + i < n ? &end[n_starts + i] : NULL);
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

void flow_ends_pair(struct flow_ends *ends, take_fn *take, void *ctx)
{
    if (ends->n > 0)
        qsort(ends->end, ends->n, sizeof *ends->end, by_flow);
    for (size_t first = 0, n; first < ends->n; first += n) {
        struct flow_end *end = ends->end + first;
        size_t of_phase[3] = {0};

        for (n = 0; first + n < ends->n && end[n].flow == end->flow; n++)
            of_phase[place(end[n].phase)]++;
        if (of_phase[1] == 0) {
            pair_directly(end, n, take, ctx);
            continue;
        }
        if (of_phase[0] <= 1 && of_phase[2] <= 1)
            qsort(end, n, sizeof *end, by_phase);
        pair_steps(end, n, take, ctx);
    }
}

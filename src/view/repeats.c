#include "view/repeats.h"

#include "base/divisor.h"
#include "base/mem.h"
#include "view/incident_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without what it lost: "step > solve" of "step > solve +5.04 ms". */
static void cut_numbers(const char *cause, char out[WHY_CAUSE_SIZE])
{
    const char *sign = strstr(cause, " +");

    for (const char *next = sign; next; next = strstr(next + 1, " +"))
        sign = next;
    snprintf(out, WHY_CAUSE_SIZE, "%.*s", sign ? (int)(sign - cause) : (int)strlen(cause),
             cause);
}

static bool is_alike(const struct repeat *a, const struct repeat *b)
{
    return a->rank == b->rank && a->thread == b->thread && strcmp(a->cause, b->cause) == 0 &&
           strcmp(a->foi, b->foi) == 0;
}

static void add_to(struct repeat *same, const struct repeat *r, const struct incident_row *x)
{
    uint32_t apart = r->first > same->first ? r->first - same->first : same->first - r->first;

    mem_grow(&same->incident, &same->incident_cap, (size_t)same->n + 1, sizeof *same->incident);
    same->incident[same->n++] = x->id;
    same->period = common_divisor(same->period, apart);
    same->first = r->first < same->first ? r->first : same->first;
    same->last = r->last > same->last ? r->last : same->last;
    same->n_with_cost += x->has_cost;
    same->lost_ns += x->lost_ns;
    same->cost_ns += x->cost_ns;
}

/* What labels made anomalies has no number, and is each by itself. */
static void add(const struct incident_row *x, void *ctx)
{
    struct repeats *all = ctx;
    struct repeat r = {.n = 0};
    size_t i = 0;

    if (x->id == 0 ||
        execution_parse(x->head, r.foi, sizeof r.foi, &r.rank, &r.thread, &r.first) < 0)
        return;
    r.last = r.first;
    cut_numbers(x->cause, r.cause);
    while (i < all->n && !is_alike(&all->kind[i], &r))
        i++;
    if (i == all->n) {
        mem_grow(&all->kind, &all->cap, all->n + 1, sizeof *all->kind);
        all->kind[all->n++] = r;
    }
    add_to(&all->kind[i], &r, x);
}

static int by_lost(const void *a, const void *b)
{
    const struct repeat *p = a, *q = b;

    return (p->lost_ns < q->lost_ns) - (p->lost_ns > q->lost_ns);
}

int repeats_find(sqlite3 *db, const struct execution_filter *asked, struct repeats *all)
{
    struct execution_filter filter = *asked;
    size_t n = 0;
    int rc;

    *all = (struct repeats){0};
    filter.most = filter.offset = 0;
    filter.verdict = "anomaly";
    rc = incident_list_each(db, &filter, add, all);
    for (size_t i = 0; i < all->n; i++)
        if (all->kind[i].n >= REPEATS_FEWEST)
            all->kind[n++] = all->kind[i];
        else
            free(all->kind[i].incident);
    all->n = n;
    if (all->n > 1)
        qsort(all->kind, all->n, sizeof *all->kind, by_lost);
    return rc;
}

void repeats_release(struct repeats *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->kind[i].incident);
    free(all->kind);
    *all = (struct repeats){0};
}

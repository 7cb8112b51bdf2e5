#include "history/trend.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/names.h"
#include "features/context.h"
#include "trace/region_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096

/* Paths as they are numbered here, whatever run they are of. */
struct gathering {
    struct trend *trend;
    struct names functions;
    struct short_names shown; /* what they are shown as */
    struct context paths;     /* of functions; path p has series 1 + p */
    size_t series_cap;
};

/* ---------------------------------------------------------------------------------- runs */

static int add_run(void *ctx, const struct history_run *run)
{
    struct trend *t = ctx;
    struct history_run *own;

    mem_grow(&t->run, &t->run_cap, (size_t)t->n_runs + 1, sizeof *t->run);
    mem_grow(&t->tags, &t->tags_cap, (size_t)t->n_runs + 1, sizeof *t->tags);
    own = &t->run[t->n_runs];
    *own = *run;
    own->source = mem_copy_string(run->source);
    own->foi = mem_copy_string(run->foi);
    t->tags[t->n_runs++] = (struct history_tags){0};
    if (strcmp(own->foi, t->run[0].foi) != 0)
        return err_set(ERR_USAGE,
                       "the history has several functions of interest ('%s', '%s'): --foi says "
                       "which is meant",
                       t->run[0].foi, own->foi);
    return 0;
}

/* -------------------------------------------------------------------------------- series */

static void add_value(struct gathering *g, uint32_t series, uint32_t run, double ns)
{
    struct trend *t = g->trend;
    struct trend_series *s;

    if (series == t->n_series) {
        mem_grow(&t->series, &g->series_cap, (size_t)series + 1, sizeof *t->series);
        t->series[t->n_series++] =
            (struct trend_series){.ns = mem_alloc(t->n_runs, sizeof(double))};
    }
    s = &t->series[series];
    s->ns[run] += ns;
    s->largest_ns = s->ns[run] > s->largest_ns ? s->ns[run] : s->largest_ns;
}

/* The number of a function here. */
static uint32_t function_of(struct gathering *g, const char *name)
{
    uint32_t at = names_add(&g->functions, name);

    if (at == g->shown.n)
        short_names_add(&g->shown, g->functions.name[at]);
    return at;
}

/* The whole comes first. Of a digest, parents are before their children. */
static void add_digest(struct gathering *g, uint32_t run, const struct digest *d)
{
    uint32_t *to = mem_alloc(d->n_paths, sizeof *to);

    add_value(g, 0, run, d->time_ns / d->n_executions);
    for (uint32_t p = 0; p < d->n_paths; p++) {
        uint32_t parent = d->path[p].parent;

        to[p] = context_add(&g->paths, parent == PATH_NONE ? PATH_NONE : to[parent],
                            function_of(g, d->names.name[d->path[p].name]));
        add_value(g, 1 + to[p], run, d->path[p].time_ns / d->n_executions);
    }
    free(to);
}

/* "step > solve > kernel", the whole path, as far as there is room; callers have theirs
 * already. */
static char *path_text(const struct gathering *g, uint32_t path)
{
    uint32_t parent = g->paths.parent[path];
    char text[PATH_SIZE];

    snprintf(text, sizeof text, "%s%s%s",
             parent == PATH_NONE ? "" : g->trend->series[1 + parent].path,
             parent == PATH_NONE ? "" : " > ", g->shown.shown[g->paths.region[path]]);
    return mem_copy_string(text);
}

/* When all functions are known. */
static void name_paths(const struct gathering *g)
{
    for (uint32_t p = 0; p < g->paths.n; p++)
        g->trend->series[1 + p].path = path_text(g, p);
}

static int gather(struct gathering *g, struct history *h)
{
    struct trend *t = g->trend;
    int rc = 0;

    for (uint32_t i = 0; i < t->n_runs && rc == 0; i++) {
        struct digest d;

        rc = history_load(h, t->run[i].id, t->run[i].foi, &d);
        if (rc == 0)
            rc = history_tags(h, t->run[i].id, &t->tags[i]);
        if (rc == 0)
            add_digest(g, i, &d);
        digest_release(&d);
    }
    return rc;
}

/* ------------------------------------------------------------------------------- changes */

static int by_largest(const void *a, const void *b)
{
    const struct trend_series *p = a, *q = b;

    if (p->largest_ns != q->largest_ns)
        return p->largest_ns > q->largest_ns ? -1 : 1;
    return strcmp(p->path, q->path);
}

/* Change points that are large enough to matter. */
static void find_changes(const struct trend *t, struct trend_series *s, double chance)
{
    const double *whole = t->series[0].ns;
    uint32_t n = 0;

    s->change = mem_alloc(t->n_runs, sizeof *s->change);
    s->n_changes = change_points_find(s->ns, t->n_runs, chance, s->change);
    for (uint32_t i = 0; i < s->n_changes; i++) {
        double change = s->change[i].after - s->change[i].before;

        if ((change < 0 ? -change : change) >= TREND_MIN_RATIO * whole[s->change[i].at - 1])
            s->change[n++] = s->change[i];
    }
    s->n_changes = n;
}

static void look_at_all(struct trend *t)
{
    struct trend_series *whole = &t->series[0];

    whole->path = mem_copy_string(t->run[0].foi);
    qsort(whole + 1, t->n_series - 1, sizeof *whole, by_largest);
    find_changes(t, whole, CHANGE_POINTS_CHANCE);
    for (uint32_t i = 1; i < t->n_series; i++)
        if (t->series[i].largest_ns >= TREND_MIN_RATIO * whole->largest_ns)
            find_changes(t, &t->series[i], TREND_PATH_CHANCE);
}

int trend_load(struct history *h, const struct history_filter *filter, struct trend *out)
{
    struct history_filter last = *filter;
    struct gathering g = {.trend = out};
    int rc;

    *out = (struct trend){0};
    if (last.last == 0 || last.last > TREND_MAX_RUNS)
        last.last = TREND_MAX_RUNS;
    rc = history_each(h, &last, add_run, out);
    if (rc == 0 && out->n_runs == 0)
        rc = err_set(ERR_NOT_FOUND, "the history has no such runs");
    if (rc == 0)
        rc = gather(&g, h);
    if (rc == 0) {
        name_paths(&g);
        look_at_all(out);
    }
    names_release(&g.functions);
    short_names_release(&g.shown);
    context_release(&g.paths);
    return rc;
}

void trend_release(struct trend *t)
{
    for (uint32_t i = 0; i < t->n_runs; i++) {
        free((char *)t->run[i].source);
        free((char *)t->run[i].foi);
        history_tags_release(&t->tags[i]);
    }
    for (uint32_t i = 0; i < t->n_series; i++) {
        free(t->series[i].path);
        free(t->series[i].ns);
        free(t->series[i].change);
    }
    free(t->run);
    free(t->tags);
    free(t->series);
    *t = (struct trend){0};
}

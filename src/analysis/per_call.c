/*
 * Exclusive times come from one pass in preorder with the open calls on a stack. Each location
 * keeps its most severe calls in a heap with the least severe on top; the heaps are joined in
 * the order of locations.
 */
#include "analysis/per_call.h"

#include "base/mem.h"
#include "base/order.h"
#include "explain/waiting.h"
#include "run/rundb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct per_call_opts per_call_default(void)
{
    return (struct per_call_opts){.detector = call_detector_find(CALL_DETECTOR_TYPICAL),
                                  .least_lost_ns = NAN,
                                  .least_calls = 100,
                                  .most = 100000};
}

/* What one location found. */
struct location_findings {
    struct strange_call *call;
    size_t n, cap;
    uint64_t n_anomalies, n_judged, n_slight;
};

struct run_over {
    const struct columns *columns;
    const struct per_call_opts *opts;
    uint32_t n_regions;
    struct sketch *part;         /* [workers][n_regions], of the locations that each has had */
    const struct sketch *sketch; /* [n_regions], of all locations */
    const struct call_judge *judge; /* [n_regions] */
    double least_lost_ns;
    struct location_findings *found; /* [n_locations] */
};

/* ---------------------------------------------------------------------------------- times */

/*
 * The time of every call.
 *   time  (calls->n) out
 */
static void times_of(const struct call_view *calls, bool is_inclusive, uint64_t *time)
{
    uint32_t *open = mem_alloc((size_t)DEEPEST_CALL + 1, sizeof *open);

    for (uint32_t i = 0; i < calls->n; i++) {
        uint16_t depth = calls->depth[i];

        time[i] = calls->inclusive_ns[i];
        if (!is_inclusive && depth > 0)
            time[open[depth - 1]] -= calls->inclusive_ns[i];
        open[depth] = i;
    }
    free(open);
}

static uint64_t *times(const struct run_over *r, uint32_t l, struct call_view *calls)
{
    uint64_t *time;

    *calls = columns_view(r->columns, l);
    time = mem_alloc(calls->n, sizeof *time);
    times_of(calls, r->opts->is_inclusive, time);
    return time;
}

/* ------------------------------------------------------------------------------- sketches */

static void sketch_locations(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct run_over *r = ctx;
    struct sketch *part = r->part + (size_t)worker * r->n_regions;

    for (size_t l = begin; l < end; l++) {
        struct call_view calls;
        uint64_t *time = times(r, (uint32_t)l, &calls);

        for (uint32_t i = 0; i < calls.n; i++)
            sketch_add(&part[calls.region[i]], time[i]);
        free(time);
    }
}

/* All locations as one. Which thread had which does not matter: sums are of integers. */
static struct sketch *sketch_all(struct run_over *r)
{
    size_t n = (size_t)pool_threads(r->opts->pool) * r->n_regions;
    struct sketch *sum = mem_alloc(r->n_regions, sizeof *sum);

    r->part = mem_alloc(n, sizeof *r->part);
    for (size_t i = 0; i < n; i++)
        sketch_init(&r->part[i]);
    for (uint32_t region = 0; region < r->n_regions; region++)
        sketch_init(&sum[region]);
    pool_for(r->opts->pool, r->columns->n_locations, 1, sketch_locations, r);
    for (size_t i = 0; i < n; i++) {
        sketch_merge(&sum[i % r->n_regions], &r->part[i]);
        sketch_release(&r->part[i]);
    }
    free(r->part);
    return sum;
}

/* ------------------------------------------------------------------------------- judging */

/* Whether a is less worth keeping than b. */
static bool is_less(const struct strange_call *a, const struct strange_call *b)
{
    if (a->severity_ns != b->severity_ns)
        return a->severity_ns < b->severity_ns;
    return a->location != b->location ? a->location > b->location : a->row > b->row;
}

/* Keeps the most severe ones. */
static void keep(struct location_findings *found, const struct strange_call *call, size_t most)
{
    if (found->n < most) {
        mem_grow(&found->call, &found->cap, found->n + 1);
        found->call[found->n] = *call;
        HEAP_RISE(found->call, found->n, is_less);
        found->n++;
    } else if (most > 0 && is_less(&found->call[0], call)) {
        found->call[0] = *call;
        HEAP_SINK(found->call, 0, found->n, is_less);
    }
}

static void keep_call(struct run_over *r, struct location_findings *found, uint32_t l,
                      uint32_t row, uint32_t region, uint64_t time_ns)
{
    const struct call_judge *judge = &r->judge[region];
    double severity = (double)time_ns - judge->model.median;
    struct call_judgement judgement;

    judgement = call_judge_score(judge, &r->sketch[region], time_ns);
    found->n_anomalies++;
    keep(found,
         &(struct strange_call){l, row, region, time_ns, judgement.score, judgement.p,
                                judge->model.median, severity},
         r->opts->most);
}

static void judge_locations(void *ctx, size_t begin, size_t end, unsigned worker)
{
    struct run_over *r = ctx;

    (void)worker;
    for (size_t l = begin; l < end; l++) {
        struct location_findings *found = &r->found[l];
        struct call_view calls;
        uint64_t *time = times(r, (uint32_t)l, &calls);

        for (uint32_t i = 0; i < calls.n; i++) {
            uint32_t region = calls.region[i];

            if (r->sketch[region].n < r->opts->least_calls)
                continue;
            found->n_judged++;
            switch (call_judge_verdict(&r->judge[region], time[i], r->least_lost_ns)) {
            case CALL_STRANGE:
                keep_call(r, found, (uint32_t)l, i, region, time[i]);
                break;
            case CALL_SLIGHT:
                found->n_slight++;
                break;
            case CALL_TYPICAL:
                break;
            }
        }
        free(time);
    }
}

static int by_severity(const void *a, const void *b)
{
    return is_less(a, b) ? 1 : -1;
}

static void join(const struct run_over *r, struct per_call_result *result)
{
    struct location_findings all = {0};

    for (uint32_t l = 0; l < r->columns->n_locations; l++) {
        struct location_findings *found = &r->found[l];

        for (size_t i = 0; i < found->n; i++)
            keep(&all, &found->call[i], r->opts->most);
        result->n_anomalies += found->n_anomalies;
        result->n_judged += found->n_judged;
        result->n_slight += found->n_slight;
        free(found->call);
    }
    if (all.n > 0)
        qsort(all.call, all.n, sizeof *all.call, by_severity);
    result->call = all.call;
    result->n = all.n;
}

/* --------------------------------------------------------------------------------- public */

static double least_lost(const struct run_over *r, const struct definitions *defs)
{
    double *noise_ns = mem_alloc(r->n_regions, sizeof *noise_ns), least;

    for (uint32_t region = 0; region < r->n_regions; region++)
        noise_ns[region] = r->sketch[region].n > 0 ? r->judge[region].noise_ns : INFINITY;
    least = call_least_effect(r->opts->detector,
                              defs->ticks_per_s ? 1e9 / (double)defs->ticks_per_s : 1,
                              call_noise(noise_ns, r->n_regions));
    free(noise_ns);
    return least;
}

void per_call_run(const struct columns *columns, const struct definitions *defs,
                  const struct per_call_opts *opts, struct per_call_result *result)
{
    struct run_over r = {.columns = columns, .opts = opts, .n_regions = defs->names.n};
    struct call_judge *judge = mem_alloc(r.n_regions, sizeof *judge);

    *result = (struct per_call_result){.n_regions = r.n_regions};
    r.found = mem_alloc(columns->n_locations, sizeof *r.found);
    r.sketch = result->sketch = sketch_all(&r);
    for (uint32_t region = 0; region < r.n_regions; region++)
        if (r.sketch[region].n > 0) {
            struct call_detector_opts of_region = opts->detector_opts;

            of_region.may_wait = waiting_is_likely(&defs->region[region]);
            call_judge_fit(&judge[region], opts->detector, &of_region, &r.sketch[region]);
        }
    r.judge = judge;
    r.least_lost_ns = result->least_lost_ns =
        isnan(opts->least_lost_ns) ? least_lost(&r, defs) : opts->least_lost_ns;
    pool_for(opts->pool, columns->n_locations, 1, judge_locations, &r);
    join(&r, result);
    for (uint32_t region = 0; region < r.n_regions; region++)
        call_judge_release(&judge[region]);
    free(r.found);
    free(judge);
}

int per_call_save(sqlite3 *db, const struct columns *columns,
                  const struct per_call_result *result)
{
    sqlite3_stmt *insert = NULL;
    int rc = rundb_prepare_insert(db, "strange_call",
                                  "location, call, region, enter_ns, time_ns, usual_ns, "
                                  "severity_ns, score, p",
                                  &insert);

    for (size_t i = 0; rc == 0 && i < result->n; i++) {
        const struct strange_call *c = &result->call[i];
        struct call_view calls = columns_view(columns, c->location);

        rc = rundb_insert(db, insert, "iiiiirrrr", (int64_t)c->location, (int64_t)c->row,
                          (int64_t)c->region, (int64_t)calls.enter_ns[c->row],
                          (int64_t)c->time_ns, c->typical_ns, c->severity_ns, c->score, c->p);
    }
    sqlite3_finalize(insert);
    return rc;
}

void per_call_release(struct per_call_result *result)
{
    for (uint32_t region = 0; result->sketch && region < result->n_regions; region++)
        sketch_release(&result->sketch[region]);
    free(result->sketch);
    free(result->call);
    *result = (struct per_call_result){0};
}

/* Ranks, regions and counters over time, and ranks and regions by a statistic. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/order.h"
#include "monitor/api_live.h"
#include "run/run_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WIDTH 1024
#define TYPICAL_WIDTH 256
#define MAX_ROWS 10000
#define TYPICAL_ROWS 20
#define HISTORY_WIDTH 64 /* bins beside a rank or a region */

static const char *const planes[] = {
    [LIVE_CALLS] = "calls",
    [LIVE_ANOMALIES] = "anomalies",
    [LIVE_SEVERITY] = "severity_ns",
    [LIVE_EXCLUSIVE] = "exclusive_ns",
};

static void say(struct bundle *bundle, const char *name, uint64_t value)
{
    bundle_say(bundle, name, json_integer((json_int_t)value));
}

static int find_plane(const char *name, size_t length, enum live_plane *plane)
{
    for (uint32_t p = 0; p < LIVE_PLANES; p++)
        if (strlen(planes[p]) == length && strncmp(planes[p], name, length) == 0) {
            *plane = p;
            return 0;
        }
    return err_set(ERR_USAGE,
                   "expected calls, anomalies, severity_ns or exclusive_ns, not '%.40s'", name);
}

/* from, to and width of the request. */
struct time_range {
    double from_ns, to_ns, width;
};

static int read_time_range(const struct request *request, struct time_range *range)
{
    int rc = request_number(request, "from", 0, REQUEST_MAX_NUMBER, 0, &range->from_ns);

    if (rc == 0)
        rc = request_number(request, "to", 0, REQUEST_MAX_NUMBER, REQUEST_MAX_NUMBER,
                            &range->to_ns);
    if (rc == 0)
        rc = request_number(request, "width", 1, MAX_WIDTH, TYPICAL_WIDTH, &range->width);
    return rc;
}

static struct live_span span_of(const struct live_state *live, const struct live_grid *grid,
                                const struct time_range *range)
{
    return live_grid_span(grid, (uint64_t)range->from_ns, (uint64_t)range->to_ns,
                          live->totals.end_ns, (uint32_t)range->width);
}

static void say_span(struct bundle *bundle, uint64_t version, const struct live_span *span)
{
    say(bundle, "version", version);
    say(bundle, "begin_ns", span->begin_ns);
    say(bundle, "bin_ns", span->bin_ns);
    say(bundle, "width", span->width);
}

/* A store has records of calls that are strange, and of some normal ones: when all others were
 * is not known. */
static bool knows_plane(const struct live_state *live, enum live_plane plane)
{
    return !live->opts.is_past || plane == LIVE_ANOMALIES || plane == LIVE_SEVERITY;
}

/* -------------------------------------------------------------------------------- heat map */

int api_live_heatmap(struct live_state *live, const struct request *request,
                     struct response *response)
{
    const char *what = request_text(request, "what", "anomalies");
    struct bundle bundle = {0};
    struct time_range range = {0};
    struct live_span span;
    enum live_plane plane;
    uint32_t n, *rank, *program;
    uint64_t version;
    double *value;
    int rc = find_plane(what, strlen(what), &plane);

    if (rc == 0)
        rc = read_time_range(request, &range);
    if (rc == 0 && !knows_plane(live, plane))
        rc = err_set(ERR_NOT_FOUND, "when all calls were is not known, as a store has records "
                                    "of strange calls and of some normal ones");
    if (rc < 0)
        return rc;
    live_state_lock(live);
    version = live_state_version(live);
    n = live->n_ranks;
    span = span_of(live, &live->rank_grid, &range);
    rank = mem_alloc(n, sizeof *rank);
    program = mem_alloc(n, sizeof *program);
    value = mem_alloc((size_t)n * span.width, sizeof *value);
    for (uint32_t i = 0; i < n; i++) {
        rank[i] = live->rank[i].rank;
        program[i] = live->rank[i].program;
        live_grid_read(&live->rank_grid, plane, i, &span, value + (size_t)i * span.width);
    }
    live_state_unlock(live);
    bundle_add(&bundle, "rank", BUNDLE_U32, rank, n);
    bundle_add(&bundle, "program", BUNDLE_U32, program, n);
    bundle_add(&bundle, "value", BUNDLE_F64, value, (size_t)n * span.width);
    say_span(&bundle, version, &span);
    say(&bundle, "rows", n);
    bundle_say(&bundle, "what", json_string(planes[plane]));
    rc = response_bundle(response, &bundle);
    free(rank);
    free(program);
    free(value);
    return rc;
}

/* --------------------------------------------------------------------------------- history */

/* What a history is asked of. */
struct row_asked {
    enum { OF_NOTHING, OF_RANK, OF_REGION, OF_COUNTER } kind;
    uint32_t number, program; /* program: of a rank */
};

/* The first of rank, region and counter that is there. */
static int read_row_asked(const struct request *request, struct row_asked *asked)
{
    static const char *const names[] = {
        [OF_RANK] = "rank", [OF_REGION] = "region", [OF_COUNTER] = "counter"};
    double number = 0, program = 0;
    int rc = request_number(request, "program", 0, UINT32_MAX, 0, &program);

    *asked = (struct row_asked){.kind = OF_NOTHING, .program = (uint32_t)program};
    for (int kind = OF_RANK; kind <= OF_COUNTER && rc == 0; kind++) {
        rc = request_number(request, names[kind], 0, UINT32_MAX, 0, &number);
        if (rc == 0 && asked->kind == OF_NOTHING && request_text(request, names[kind], NULL)) {
            asked->kind = kind;
            asked->number = (uint32_t)number;
        }
    }
    return rc;
}

/* The grid and the row in it, or NULL. Under the lock. */
static const struct live_grid *find_row(const struct live_state *live,
                                        const struct row_asked *asked, uint32_t *row)
{
    *row = asked->number;
    switch (asked->kind) {
    case OF_RANK:
        *row = live_state_find_rank(live, asked->program, asked->number);
        return *row < live->n_ranks ? &live->rank_grid : NULL;
    case OF_REGION:
        return *row < live->n_regions ? &live->region_grid : NULL;
    case OF_COUNTER:
        return *row < live->n_counters ? &live->counter_grid : NULL;
    default:
        return NULL;
    }
}

int api_live_history(struct live_state *live, const struct request *request,
                     struct response *response)
{
    static const char *const of_counter[] = {"count", "total"};
    const struct live_grid *grid;
    struct bundle bundle = {0};
    struct time_range range = {0};
    struct live_span span = {0};
    uint64_t version;
    struct row_asked asked;
    double *value = NULL;
    uint32_t row, n_planes;
    int rc = read_row_asked(request, &asked);

    if (rc == 0)
        rc = read_time_range(request, &range);
    if (rc < 0)
        return rc;
    live_state_lock(live);
    version = live_state_version(live);
    grid = find_row(live, &asked, &row);
    n_planes = grid == &live->counter_grid ? 2 : LIVE_PLANES;
    if (grid) {
        span = span_of(live, grid, &range);
        value = mem_alloc((size_t)LIVE_PLANES * span.width, sizeof *value);
        for (uint32_t p = 0; p < n_planes; p++)
            live_grid_read(grid, p, row, &span, value + (size_t)p * span.width);
    }
    live_state_unlock(live);
    if (grid == NULL)
        return err_set(ERR_NOT_FOUND, "there is no such rank, region or counter");
    for (uint32_t p = 0; p < n_planes; p++)
        if (n_planes == 2 || knows_plane(live, p))
            bundle_add(&bundle, n_planes == 2 ? of_counter[p] : planes[p], BUNDLE_F64,
                       value + (size_t)p * span.width, span.width);
    say_span(&bundle, version, &span);
    rc = response_bundle(response, &bundle);
    free(value);
    return rc;
}

/* ------------------------------------------------------------------------------- statistics */

enum part { TOTAL, MEAN, DEVIATION, MINIMUM, MAXIMUM, LAST, DELTA, N_MEASURED };

static const char *const parts[] = {
    [TOTAL] = "total",     [MEAN] = "mean", [DEVIATION] = "deviation", [MINIMUM] = "minimum",
    [MAXIMUM] = "maximum", [LAST] = "last", [DELTA] = "delta"};

/* A statistic to rank by. */
struct ranking_measure {
    enum live_plane plane;
    enum part part;
};

static int read_measure(const char *text, struct ranking_measure *measure)
{
    size_t length = strcspn(text, ".");
    const char *part = text[length] ? text + length + 1 : "total";
    int rc = find_plane(text, length, &measure->plane);

    if (rc < 0)
        return rc;
    for (int i = 0; i < N_MEASURED; i++)
        if (strcmp(part, parts[i]) == 0) {
            measure->part = (enum part)i;
            return 0;
        }
    return err_set(ERR_USAGE,
                   "expected total, mean, deviation, minimum, maximum, last or "
                   "delta, not '%.40s'",
                   part);
}

/* Of the past, records and statistics of a store, and a server, each tell some of it. */
static bool is_known(const struct live_state *live, const struct live_row *row,
                     const struct ranking_measure *by)
{
    bool has_records = live->store_url != NULL;

    if (!live->opts.is_past)
        return true;
    if (by->plane == LIVE_CALLS)
        return live_row_calls(row) > 0;
    if (by->plane == LIVE_SEVERITY)
        return has_records;
    if (by->part == LAST || by->part == DELTA)
        return false;
    return by->plane == LIVE_EXCLUSIVE ? row->exclusive_ns.n > 0
                                       : row->has_steps || (has_records && by->part == TOTAL);
}

static double measured(const struct live_row *row, const struct ranking_measure *by)
{
    const struct live_stat *s = by->plane == LIVE_ANOMALIES  ? &row->anomalies
                                : by->plane == LIVE_SEVERITY ? &row->severity_ns
                                                             : &row->exclusive_ns;

    if (by->plane == LIVE_CALLS)
        return (double)live_row_calls(row);
    switch (by->part) {
    case MEAN:
        return live_stat_mean(s);
    case DEVIATION:
        return live_stat_deviation(s);
    case MINIMUM:
        return (double)s->minimum;
    case MAXIMUM:
        return (double)s->maximum;
    case LAST:
        return (double)s->last;
    case DELTA:
        return (double)s->last - (double)s->before_last;
    default:
        return (double)s->sums.sum;
    }
}

/* known: bits, 1 << part; what is not is null. */
static json_t *stat_json(const struct live_stat *s, unsigned known)
{
    json_t *json =
        json_pack("{s:o, s:o, s:f, s:f, s:o, s:o, s:o, s:I}", "count", json_count(s->n),
                  "total", json_count((uint64_t)s->sums.sum), "mean", live_stat_mean(s),
                  "deviation", live_stat_deviation(s), "minimum", json_count(s->minimum),
                  "maximum", json_count(s->maximum), "last", json_count(s->last), "delta",
                  (json_int_t)(s->last - s->before_last));

    for (int i = 0; i < N_MEASURED; i++)
        if (!(known & 1u << i))
            json_object_set_new(json, parts[i], json_null());
    if (!(known & 1u << MEAN))
        json_object_set_new(json, "count", json_null());
    return json;
}

/* --------------------------------------------------------------------------------- ranking */

struct ranking_row {
    double value; /* the larger the earlier */
    uint32_t row;
};

static int compare(const void *a, const void *b)
{
    const struct ranking_row *x = a, *y = b;

    return ORDER(y->value, x->value) ?: ORDER(x->row, y->row);
}

struct ranking_asked {
    struct ranking_measure by;
    bool is_of_ranks, is_least;
    uint32_t limit;
};

static int read_ranking(const struct request *request, struct ranking_asked *asked)
{
    const char *order = request_text(request, "order", "most");
    double limit = 0;
    int rc = read_measure(request_text(request, "by", "anomalies"), &asked->by);

    if (rc == 0)
        rc = request_number(request, "limit", 1, MAX_ROWS, TYPICAL_ROWS, &limit);
    if (rc == 0 && strcmp(order, "most") != 0 && strcmp(order, "least") != 0)
        rc = err_set(ERR_USAGE, "expected most or least, not '%.40s'", order);
    asked->is_least = strcmp(order, "least") == 0;
    asked->limit = (uint32_t)limit;
    return rc;
}

/* Those that have had calls, or may have, in order; those of which it is not known come last.
 * Returns how many. Under the lock. */
static uint32_t rank_rows(const struct live_state *live, const struct ranking_asked *asked,
                          struct ranking_row *listed)
{
    const struct live_row *row = asked->is_of_ranks ? live->rank : live->of_region;
    uint32_t n = asked->is_of_ranks ? live->n_ranks : live->n_regions, n_listed = 0;

    for (uint32_t i = 0; i < n; i++) {
        double value = measured(&row[i], &asked->by);

        if (!is_known(live, &row[i], &asked->by))
            value = -INFINITY;
        else if (asked->is_least)
            value = -value;
        if (live->opts.is_past || live_row_calls(&row[i]) > 0)
            listed[n_listed++] = (struct ranking_row){.value = value, .row = i};
    }
    qsort(listed, n_listed, sizeof *listed, compare);
    return n_listed;
}

/* What is copied under the lock. */
struct ranked_row {
    struct live_row row;
    struct live_region region; /* without its sketch */
    uint32_t id;
    unsigned known[LIVE_PLANES]; /* as of stat_json */
    bool has_history;
    double history[HISTORY_WIDTH];
};

static void copy_ranked(const struct live_state *live, const struct ranking_asked *asked,
                        const struct live_span *span, uint32_t id, struct ranked_row *out)
{
    const struct live_grid *grid = asked->is_of_ranks ? &live->rank_grid : &live->region_grid;

    out->id = id;
    out->row = asked->is_of_ranks ? live->rank[id] : live->of_region[id];
    if (!asked->is_of_ranks)
        out->region = live->region[id];
    for (uint32_t plane = 0; plane < LIVE_PLANES; plane++) {
        out->known[plane] = 0;
        for (int part = 0; part < N_MEASURED; part++)
            if (is_known(live, &out->row,
                         &(struct ranking_measure){(enum live_plane)plane, (enum part)part}))
                out->known[plane] |= 1u << part;
    }
    out->has_history = knows_plane(live, asked->by.plane);
    live_grid_read(grid, asked->by.plane, id, span, out->history);
}

static json_t *item_json(const struct ranked_row *ranked, bool is_of_ranks,
                         const struct live_span *span)
{
    const struct live_row *row = &ranked->row;
    const struct live_region *region = &ranked->region;
    json_t *item, *values = json_array();

    for (uint32_t i = 0; ranked->has_history && i < span->width; i++)
        json_array_append_new(values, json_number(ranked->history[i]));
    if (is_of_ranks)
        item = json_pack("{s:o, s:o}", "rank", json_count(row->rank), "program",
                         json_count(row->program));
    else
        item = json_pack("{s:o, s:o, s:o, s:s, s:b, s:b}", "region", json_count(ranked->id),
                         "name", json_text(region->name), "short_name",
                         json_text(region->short_name), "kind", region_kind_name(region->kind),
                         "is_foi", (int)region->is_foi, "is_judged", (int)region->is_judged);
    json_object_set_new(item, "calls",
                        ranked->known[LIVE_CALLS] ? json_count(live_row_calls(row))
                                                  : json_null());
    json_object_set_new(item, "anomalies",
                        stat_json(&row->anomalies, ranked->known[LIVE_ANOMALIES]));
    json_object_set_new(item, "severity_ns",
                        stat_json(&row->severity_ns, ranked->known[LIVE_SEVERITY]));
    json_object_set_new(item, "exclusive_ns",
                        stat_json(&row->exclusive_ns, ranked->known[LIVE_EXCLUSIVE]));
    json_object_set_new(item, "history",
                        json_pack("{s:o, s:o, s:o}", "begin_ns", json_count(span->begin_ns),
                                  "bin_ns", json_count(span->bin_ns), "values", values));
    return item;
}

/* The first rows by what is asked, copied. *n_all: how many there are of them. */
static struct ranked_row *take_ranked(struct live_state *live,
                                      const struct ranking_asked *asked, uint32_t *n,
                                      uint32_t *n_all, struct live_span *span,
                                      uint64_t *version)
{
    uint32_t n_rows;
    struct ranking_row *listed;
    struct ranked_row *ranked;

    live_state_lock(live);
    *version = live_state_version(live);
    n_rows = asked->is_of_ranks ? live->n_ranks : live->n_regions;
    listed = mem_alloc(n_rows, sizeof *listed);
    *n_all = rank_rows(live, asked, listed);
    *n = *n_all < asked->limit ? *n_all : asked->limit;
    ranked = mem_alloc(*n, sizeof *ranked);
    *span = live_grid_span(asked->is_of_ranks ? &live->rank_grid : &live->region_grid, 0,
                           UINT64_MAX, live->totals.end_ns, HISTORY_WIDTH);
    for (uint32_t i = 0; i < *n; i++)
        copy_ranked(live, asked, span, listed[i].row, &ranked[i]);
    live_state_unlock(live);
    free(listed);
    return ranked;
}

static int answer_ranking(struct live_state *live, const struct request *request,
                          struct response *response, bool is_of_ranks)
{
    struct ranking_asked asked = {.is_of_ranks = is_of_ranks};
    struct live_span span;
    struct ranked_row *ranked;
    json_t *items;
    uint32_t n, n_all;
    uint64_t version;
    int rc = read_ranking(request, &asked);

    if (rc < 0)
        return rc;
    ranked = take_ranked(live, &asked, &n, &n_all, &span, &version);
    items = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(items, item_json(&ranked[i], is_of_ranks, &span));
    free(ranked);
    return response_json(response,
                         json_pack("{s:o, s:o, s:o, s:o}", "version", json_count(version),
                                   "total", json_count(n_all), "by",
                                   json_text(request_text(request, "by", "anomalies")), "items",
                                   items));
}

int api_live_ranks(struct live_state *live, const struct request *request,
                   struct response *response)
{
    return answer_ranking(live, request, response, true);
}

int api_live_regions(struct live_state *live, const struct request *request,
                     struct response *response)
{
    return answer_ranking(live, request, response, false);
}

/* ------------------------------------------------------------------------------ who is slow */

static json_t *functions_json(const struct live_state *live, const struct slow_rank *r)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < r->n_in; i++) {
        const struct slow_function *f = &r->in[i];

        if (f->function < live->n_regions)
            json_array_append_new(
                list,
                json_pack("{s:o, s:o, s:s, s:f, s:f, s:b}", "region", json_count(f->function),
                          "short_name", json_text(live->region[f->function].short_name), "kind",
                          f->is_more ? "more to do" : "slower", "factor", f->factor,
                          "excess_ns", f->excess_ns, "is_sure", (int)f->is_sure));
    }
    return list;
}

static double excess_of(const struct live_slow *x)
{
    return x->slow.slow_ns + x->slow.more_ns + x->slow.maybe_ns;
}

/* Those of which there is something to say, the largest excess first. */
static int by_excess(const void *a, const void *b)
{
    const struct live_slow *x = a, *y = b;

    return ORDER(excess_of(y), excess_of(x)) ?: ORDER(x->rank, y->rank);
}

static json_t *slow_json(const struct live_state *live, const struct live_slow *x)
{
    return json_pack("{s:o, s:o, s:s, s:f, s:f, s:f, s:o}", "rank", json_count(x->rank),
                     "program", json_count(x->program), "verdict",
                     peer_verdict_name(x->slow.verdict), "slowdown", slow_factor(&x->slow),
                     "own_ns", x->slow.own_ns, "wait_ns", x->slow.wait_ns, "functions",
                     functions_json(live, &x->slow));
}

int api_live_slow(struct live_state *live, const struct request *request,
                  struct response *response)
{
    json_t *json = json_object(), *items = json_array();
    struct live_slow *slow;
    uint32_t n[N_PEER_VERDICTS] = {0}, n_compared = 0;

    (void)request;
    live_state_lock(live);
    slow = mem_alloc(live->n_slow, sizeof *slow);
    if (live->n_slow > 0) {
        memcpy(slow, live->slow, live->n_slow * sizeof *slow);
        qsort(slow, live->n_slow, sizeof *slow, by_excess);
    }
    for (uint32_t i = 0; i < live->n_slow; i++) {
        if (!slow[i].slow.is_compared)
            continue;
        n_compared++;
        n[slow[i].slow.verdict]++;
        if (slow[i].slow.verdict != PEER_TYPICAL && json_array_size(items) < TYPICAL_ROWS)
            json_array_append_new(items, slow_json(live, &slow[i]));
    }
    json_object_set_new(json, "version", json_count(live_state_version(live)));
    json_object_set_new(json, "compared", json_count(n_compared));
    json_object_set_new(json, "not_known",
                        live->slow_unknown ? json_text(live->slow_unknown) : json_null());
    live_state_unlock(live);
    for (int v = 0; v < N_PEER_VERDICTS; v++)
        json_object_set_new(json, peer_verdict_name(v), json_count(n[v]));
    json_object_set_new(json, "items", items);
    free(slow);
    return response_json(response, json);
}

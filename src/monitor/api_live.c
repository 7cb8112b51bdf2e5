/*
 * What the live page asks of the program as a whole: how it stands, its counters, its models;
 * and what Prometheus reads of it, which is the same for snag ad, that has no page.
 */
#include "monitor/api_live.h"

#include "base/err.h"
#include "base/json.h"
#include "base/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------- what Prometheus reads */

void live_metrics(struct metrics *metrics, const struct live_counts *n)
{
    const struct metric rows[] = {
        {"snag_live_steps", METRIC_COUNTER, "Steps judged", n->n_steps, NULL, 0},
        {"snag_live_events", METRIC_COUNTER, "Events judged", n->n_events, NULL, 0},
        {"snag_live_calls", METRIC_COUNTER, "Calls that ended", n->n_calls, NULL, 0},
        {"snag_live_anomalies", METRIC_COUNTER,
         "Anomalies found, with those that were withdrawn at the end", (double)n->n_anomalies,
         NULL, 0},
        {"snag_live_executions", METRIC_COUNTER, "Executions of functions of interest",
         n->n_executions, NULL, 0},
        {"snag_live_slight_calls", METRIC_COUNTER,
         "Strange calls that lost too little to be anomalies", n->n_slight, NULL, 0},
        {"snag_live_unjudged_calls", METRIC_COUNTER,
         "Calls not judged, as too few had been seen to compare with", n->n_unjudged, NULL, 0},
        {"snag_live_lost_events", METRIC_COUNTER, "Events lost", n->n_lost, NULL, 0},
        {"snag_live_lag_seconds", METRIC_GAUGE,
         "How much later the last step came than the one that came soonest", 1e-9 * n->lag_ns,
         NULL, 0},
        {"snag_store_written_rows", METRIC_COUNTER, "Rows that are safe in the store",
         (double)n->store.n_stored, NULL, 0},
        {"snag_store_dropped_rows", METRIC_COUNTER, "Rows that could not be stored",
         (double)n->store.n_dropped, NULL, 0},
        {"snag_store_waiting_rows", METRIC_GAUGE, "Rows that are not stored yet",
         (double)n->store.n_waiting, NULL, 0},
        {"snag_trace_bytes", METRIC_COUNTER,
         "Bytes of the trace that were read; NaN: not known", n->reduction.trace_bytes, NULL,
         0},
        {"snag_store_bytes", METRIC_GAUGE,
         "Bytes by which the store's files have grown, or that were sent to a database; NaN: "
         "there is none",
         n->reduction.stored_bytes, NULL, 0},
        {"snag_reduction_factor", METRIC_GAUGE,
         "How many times less is stored than was read; NaN: not known",
         reduction_factor(&n->reduction), NULL, 0},
        {"snag_store_failing", METRIC_GAUGE, "The store did not take the last rows",
         n->store.is_failing, NULL, 0},
    };

    const struct metric strange = {"snag_live_strange_executions",
                                   METRIC_COUNTER,
                                   "Strange executions of functions of interest",
                                   (double)n->n_strange_executions,
                                   NULL,
                                   0};
    const struct metric_exemplar last = {n->execution, 1e-9 * (double)n->execution_ns};

    metrics_add(metrics, rows, sizeof rows / sizeof *rows);
    metrics_add_counter(metrics, &strange, &last);
}

/* ------------------------------------------------------------------------------ the answers */

static const char *const phases[] = {
    [LIVE_WAITING] = "waiting",
    [LIVE_RUNNING] = "running",
    [LIVE_OVER] = "over",
    [LIVE_FAILED] = "failed",
};

static json_t *quality_json(const struct quality *quality)
{
    json_t *list = json_array();

    for (int k = 0; k < QUALITY_N; k++)
        if (quality->n[k] > 0)
            json_array_append_new(
                list, json_pack("{s:s, s:o, s:b, s:s}", "kind", quality_name(k), "count",
                                json_count(quality->n[k]), "is_damage",
                                quality_kind_is_damage(k), "text", quality_text(k)));
    return list;
}

/* Of a job, as opposed to what one process has read itself. */
static json_t *count_of_job(uint64_t n)
{
    return n > 0 ? json_count(n) : json_null();
}

static json_t *store_json(const struct live_state *live)
{
    const struct prov_counts *c = &live->store;

    if (live->store_url == NULL)
        return json_null();
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "url", json_text(live->store_url), "calls",
        count_of_job(live->totals.n_calls_stored), "stored", json_count(c->n_stored), "waiting",
        json_count(c->n_waiting), "dropped", json_count(c->n_dropped), "removed",
        json_count(c->n_removed), "is_failing", (int)c->is_failing, "error",
        c->why ? json_string(c->why) : json_null());
}

/* Over the last five seconds of which something is known. */
static double events_per_s(const struct live_state *live)
{
    uint32_t n = live->n_moments;
    uint32_t first = n > LIVE_RATES ? n % LIVE_RATES : 0;
    uint64_t begin_ns = live->moment[first].at_ns;
    uint64_t end_ns = live->phase == LIVE_RUNNING || n == 0
                          ? clock_ns()
                          : live->moment[(n - 1) % LIVE_RATES].at_ns;

    if (n == 0 || end_ns <= begin_ns)
        return 0;
    return (double)(live->totals.n_events - live->moment[first].n_events) /
           ((double)(end_ns - begin_ns) / 1e9);
}

static json_t *fois_json(const struct live_state *live)
{
    json_t *list = json_array();

    for (uint32_t r = 0; r < live->n_regions; r++)
        if (live->region[r].is_foi)
            json_array_append_new(list, json_count(r));
    return list;
}

static json_t *points_json(const struct live_state *live)
{
    enum live_point_kind kind = live->opts.typical;
    const struct live_points *p = &live->points[kind];
    uint64_t n = 0;

    for (uint32_t i = 0; i < p->n_old; i++)
        n += p->old_block[i]->n;
    for (uint32_t i = 0; i < p->n_new; i++)
        n += p->new_block[i]->n;
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", live_kind_names[kind], "kept",
                     json_count(n), "most", json_count(LIVE_MAX_POINTS), "next",
                     json_count(p->next));
}

/* What only who judged has counted: of the past it is not known. */
static json_t *count_of_steps(const struct live_state *live, uint64_t n)
{
    return live->opts.is_past ? json_null() : json_count(n);
}

static json_t *executions_json(const struct live_state *live)
{
    const struct live_executions *n = &live->executions;

    if (live->opts.typical != LIVE_EXECUTION)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "total", count_of_steps(live, n->n), "anomalies",
                     json_count(n->n_anomalies), "unjudged",
                     count_of_steps(live, n->n_unjudged), "cut",
                     count_of_steps(live, n->n_cut));
}

static void set_counts(json_t *json, const struct live_state *live)
{
    const struct live_totals *t = &live->totals;
    const struct {
        const char *name;
        uint64_t n;
    } counts[] = {{"begin_ns", t->begin_ns},
                  {"end_ns", t->end_ns},
                  {"anomalies", t->n_anomalies},
                  {"taken_back", t->n_taken_back},
                  {"least_ns", (uint64_t)t->least_ns},
                  {"up_ns", clock_ns() - live->started_ns},
                  {"ranks", live->n_ranks},
                  {"locations", live->n_places},
                  {"regions", live->n_regions},
                  {"counters", live->n_counters}},
      of_steps[] = {{"steps", t->n_steps},       {"events", t->n_events},
                    {"slight", t->n_slight},     {"messages", t->n_messages},
                    {"unjudged", t->n_unjudged}, {"lost_events", t->n_lost}};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(json, counts[i].name, json_count(counts[i].n));
    for (size_t i = 0; i < sizeof of_steps / sizeof *of_steps; i++)
        json_object_set_new(json, of_steps[i].name, count_of_steps(live, of_steps[i].n));
    json_object_set_new(json, "severity_ns", /* a server is not told of it */
                        live_state_is_of_server(live) ? json_null()
                                                      : json_count(t->severity_ns));
    json_object_set_new(json, "calls",
                        live_state_knows_calls(live) ? json_count(t->n_calls) : json_null());
}

int api_live_status(struct live_state *live, const struct request *request,
                    struct response *response)
{
    json_t *json = json_object(), *reduction = json_object();
    const char *loop;

    (void)request;
    live_state_lock(live);
    json_object_set_new(json, "version", json_count(live_state_version(live)));
    json_object_set_new(json, "run", json_count(live->run));
    json_object_set_new(json, "run_id",
                        live->opts.run_id ? json_text(live->opts.run_id) : json_null());
    json_object_set_new(json, "state", json_string(phases[live->phase]));
    json_object_set_new(json, "message",
                        live->message ? json_text(live->message) : json_null());
    json_object_set_new(json, "source", json_text(live->source));
    json_object_set_new(json, "detector", json_string(live->opts.detector));
    json_object_set_new(json, "is_inclusive", json_boolean(live->opts.is_inclusive));
    set_counts(json, live);
    json_object_set_new(json, "events_per_s",
                        live->opts.is_past ? json_null() : json_number(events_per_s(live)));
    json_object_set_new(json, "lag_ns",
                        isnan(live->totals.lag_ns) ? json_null()
                                                   : json_number(live->totals.lag_ns));
    json_object_set_new(json, "fois", fois_json(live));
    json_object_set_new(json, "executions", executions_json(live));
    reduction_set(reduction, &live->reduction);
    loop = loop_watch_state_name(live->loop);
    json_object_set_new(json, "loop", loop ? json_string(loop) : json_null());
    json_object_set_new(json, "points", points_json(live));
    json_object_set_new(json, "store", store_json(live));
    json_object_set_new(json, "server_calls", count_of_job(live->totals.n_calls_told));
    json_object_set_new(json, "reduction", reduction);
    json_object_set_new(json, "quality", quality_json(&live->quality));
    live_state_unlock(live);
    return response_json(response, json);
}

/* -------------------------------------------------------------------------------- counters */

int api_live_counters(struct live_state *live, const struct request *request,
                      struct response *response)
{
    json_t *json = json_object(), *items = json_array();

    (void)request;
    live_state_lock(live);
    json_object_set_new(json, "version", json_count(live_state_version(live)));
    for (uint32_t c = 0; c < live->n_counters; c++) {
        const struct live_reading *r = &live->counter[c];

        if (r->n > 0)
            json_array_append_new(
                items,
                json_pack("{s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:o}", "counter",
                          json_count(c), "name", json_text(live->counter_name[c]), "count",
                          json_count(r->n), "mean", r->mean, "deviation",
                          sqrt(r->square_sum / (double)r->n), "minimum", r->minimum, "maximum",
                          r->maximum, "last", r->last, "last_rank", json_count(r->last_rank)));
    }
    live_state_unlock(live);
    json_object_set_new(json, "items", items);
    return response_json(response, json);
}

/* ----------------------------------------------------------------------------------- model */

static json_t *bins_json(const struct sketch *sketch)
{
    json_t *bins = json_array();

    for (uint32_t i = 0; i < sketch->n_bins; i++)
        if (sketch->count[i] > 0)
            json_array_append_new(
                bins,
                json_pack("[o, o, o]", json_count(sketch_bin_start(sketch->first_bin + i)),
                          json_count(sketch_bin_start(sketch->first_bin + i + 1)),
                          json_count(sketch->count[i])));
    return bins;
}

static json_t *typical_json(const struct live_region *region)
{
    json_t *ranges = json_array();

    for (uint32_t i = 0; region->is_judged && i < region->judge.n_ranges; i++)
        json_array_append_new(ranges,
                              json_pack("[o, o]", json_count(region->judge.range[i].least_ns),
                                        json_count(region->judge.range[i].most_ns)));
    return ranges;
}

static json_t *model_json(const struct live_state *live, uint32_t r)
{
    const struct live_region *region = &live->region[r];
    const struct sketch *s = &region->sketch;
    json_t *json = json_object();

    json_object_set_new(json, "version", json_count(live_state_version(live)));
    json_object_set_new(json, "region", json_count(r));
    json_object_set_new(json, "name", json_text(region->name));
    json_object_set_new(json, "short_name", json_text(region->short_name));
    json_object_set_new(json, "detector", json_string(live->opts.detector));
    json_object_set_new(json, "is_inclusive", json_boolean(live->opts.is_inclusive));
    json_object_set_new(json, "calls", json_count(s->n));
    json_object_set_new(json, "mean_ns", json_number(sketch_mean(s)));
    json_object_set_new(json, "deviation_ns", json_number(sketch_deviation(s)));
    json_object_set_new(json, "minimum_ns", json_count(s->n ? s->min : 0));
    json_object_set_new(json, "maximum_ns", json_count(s->max));
    json_object_set_new(json, "median_ns", json_number(sketch_quantile(s, 0.5)));
    json_object_set_new(json, "usual_ns", typical_json(region));
    json_object_set_new(json, "bins", bins_json(s));
    return json;
}

int api_live_model(struct live_state *live, const struct request *request,
                   struct response *response)
{
    json_t *json = NULL;
    double region;
    int rc = request_number(request, "region", 0, UINT32_MAX, -1, &region);

    if (rc < 0)
        return rc;
    live_state_lock(live);
    if (region >= 0 && region < live->n_regions)
        json = model_json(live, (uint32_t)region);
    live_state_unlock(live);
    return json ? response_json(response, json)
                : err_set(ERR_NOT_FOUND, "there is no such region");
}

/* -------------------------------------------------------------------------------- the run */

static json_t *places_json(const struct live_state *live)
{
    json_t *list = json_array();

    for (uint32_t l = 0; l < live->n_places; l++) {
        const struct live_location *p = &live->place[l];

        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:n, s:o, s:i}", "id", json_count(l),
                      "rank", json_count(p->rank), "thread", json_count(p->thread), "name",
                      json_text(p->name), "node", "", "is_gpu", p->is_gpu, "calls",
                      live_state_knows_calls(live) ? json_count(p->n_calls) : json_null(),
                      "first_ns", "last_ns", json_count(p->last_ns), "clock_offset_ns", 0));
    }
    return list;
}

int api_live_run(struct live_state *live, const char *snag, const char *name,
                 struct response *response)
{
    json_t *json = json_object(), *quality, *item;
    size_t i;

    live_state_lock(live);
    json_object_set_new(json, "snag", json_text(snag));
    json_object_set_new(json, "name", json_text(name));
    json_object_set_new(json, "trace", json_text(live->source));
    json_object_set_new(json, "source", json_null());
    json_object_set_new(json, "created", json_null());
    json_object_set_new(json, "begin_ns", json_count(live->totals.begin_ns));
    json_object_set_new(json, "end_ns", json_count(live->totals.end_ns));
    json_object_set_new(json, "n_calls", json_count(live->totals.n_calls));
    json_object_set_new(json, "n_messages", json_count(live->totals.n_messages));
    json_object_set_new(json, "is_live", json_true());
    json_object_set_new(json, "shows", json_string("program"));
    json_object_set_new(
        json, "clocks",
        json_pack("{s:i, s:i, s:i}", "checked", 0, "wrong_before", 0, "wrong", 0));
    json_object_set_new(json, "fois", json_array());
    json_object_set_new(json, "locations", places_json(live));
    quality = quality_json(&live->quality);
    live_state_unlock(live);
    json_array_foreach(quality, i, item)
    {
        json_object_set_new(item, "location", json_null());
    }
    json_object_set_new(json, "quality", quality);
    return response_json(response, json);
}

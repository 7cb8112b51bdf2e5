/*
 * The filter of the page beyond its list: which executions pass and what they come to, what
 * functions took in the part of the trace that it leaves, and what there is to filter by.
 */
#include "base/json.h"
#include "base/mem.h"
#include "serve/api.h"
#include "serve/api_timeline.h"
#include "serve/foi_filter.h"
#include "serve/served.h"

#include <stdlib.h>

/* The state and the filter of a request. */
static int read_filter(struct worker *worker, const struct request *request,
                       struct foi_state **state, struct foi_filter *filter)
{
    int rc = worker_foi(worker, request->id[0], state);

    return rc < 0 ? rc
                  : foi_filter_read(request, &worker->served->run.defs, (*state)->table->facts,
                                    true, filter);
}

/* ------------------------------------------------------------------------- what they come to */

/* What executions come to, location by location. All arrays are [n]. */
struct location_sums {
    double *executions, *anomalies, *duration_ns, *lost_ns;
};

static void add_passing(const struct foi_list *list, uint32_t n_locations,
                        struct location_sums *sums, unsigned char *passes)
{
    const struct execution_facts *f = list->table->facts;

    for (uint32_t t = 0; t < list->table->n; t++) {
        uint32_t l = f->location[t];

        passes[t] = foi_list_has(list, t);
        if (!passes[t] || l >= n_locations)
            continue;
        sums->executions[l]++;
        sums->anomalies[l] += list->table->scores->is_anomaly[t];
        sums->duration_ns[l] += f->duration_ns[t];
        sums->lost_ns[l] += f->lost_ns[t];
    }
}

int api_passing(struct worker *worker, const struct request *request, struct response *response)
{
    const struct definitions *defs = &worker->served->run.defs;
    struct bundle bundle = {.n_columns = 0};
    uint32_t n = defs->n_locations;
    struct foi_state *state;
    struct foi_filter filter;
    struct location_sums sums;
    const struct foi_list *list;
    unsigned char *passes;
    double *all;
    int rc = read_filter(worker, request, &state, &filter);

    if (rc < 0)
        return rc;
    list = foi_filter_select(state, defs, &filter);
    passes = mem_alloc(state->n, sizeof *passes);
    all = mem_alloc(4 * (size_t)n, sizeof *all);
    sums = (struct location_sums){all, all + n, all + 2 * (size_t)n, all + 3 * (size_t)n};
    add_passing(list, n, &sums, passes);
    bundle_add(&bundle, "executions", BUNDLE_F64, sums.executions, n);
    bundle_add(&bundle, "anomalies", BUNDLE_F64, sums.anomalies, n);
    bundle_add(&bundle, "duration_ns", BUNDLE_F64, sums.duration_ns, n);
    bundle_add(&bundle, "lost_ns", BUNDLE_F64, sums.lost_ns, n);
    bundle_add(&bundle, "passes", BUNDLE_U8, passes, state->n);
    bundle_say(&bundle, "total", json_count(list->n));
    rc = response_bundle(response, &bundle);
    free(all);
    free(passes);
    return rc;
}

/* ------------------------------------------------------------------------------- functions */

/* The calls in the executions that pass, as far as they lie in the time. */
static int measure_executions(struct worker *worker, const struct foi_list *list,
                              const uint64_t span[2], struct measure *measure)
{
    const struct columns *columns = &worker->served->run.columns;
    const struct execution_facts *f = list->table->facts;
    int rc = 0;

    for (uint32_t t = 0; t < list->table->n && rc == 0; t++)
        if (foi_list_has(list, t) && f->location[t] < columns->n_locations)
            rc = measure_add_tree(measure, columns, f->location[t], f->call[t], span);
    return rc;
}

/* All calls on its lanes, as far as they lie in the time. */
static int measure_lanes(struct worker *worker, const struct foi_filter *filter,
                         const uint64_t span[2], struct measure *measure)
{
    const struct served *served = worker->served;
    uint32_t n = served->run.defs.n_locations;
    bool *there = mem_alloc(n, sizeof *there);
    int rc = 0;

    foi_filter_lanes(filter, &served->run.defs, there);
    for (uint32_t l = 0; l < n && rc == 0; l++)
        if (there[l])
            rc = measure_add(measure, &served->run.columns, served_levels(served), l, span);
    free(there);
    return rc;
}

int api_filtered_measure(struct worker *worker, const struct request *request,
                         struct response *response)
{
    const struct served *served = worker->served;
    struct measure measure = {0};
    struct foi_state *state;
    struct foi_filter filter;
    uint64_t span[] = {served->begin_ns, served->end_ns + 1}; /* what is at the end, too */
    bool is_of_executions;
    int rc = read_filter(worker, request, &state, &filter);

    if (rc < 0)
        return rc;
    if (filter.end_ns > 0) {
        span[0] = (uint64_t)filter.begin_ns;
        span[1] = (uint64_t)filter.end_ns;
    }
    is_of_executions = foi_filter_chooses(&filter);
    measure_init(&measure, MEASURE_BY_REGION, &served->run.defs);
    if (is_of_executions)
        rc = measure_executions(worker, foi_filter_select(state, &served->run.defs, &filter),
                                span, &measure);
    else
        rc = measure_lanes(worker, &filter, span, &measure);
    if (rc == 0)
        rc = response_json(response,
                           json_pack("{s:o, s:o, s:b, s:o}", "begin_ns", json_count(span[0]),
                                     "end_ns", json_count(span[1]), "is_of_executions",
                                     is_of_executions, "items", measure_items(&measure)));
    measure_release(&measure);
    return rc;
}

/* -------------------------------------------------------------------------------- choices */

static json_t *functions_to_json(const struct execution_facts *f, const uint32_t *n_of_way)
{
    json_t *items = json_array();
    uint32_t *n = mem_alloc(f->function.n, sizeof *n);

    for (uint32_t w = 1; w <= f->n_ways; w++)
        if (f->reason[w].function != NO_FUNCTION)
            n[f->reason[w].function] += n_of_way[w];
    for (uint32_t i = 0; i < f->function.n; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "name", json_text(f->function.name[i]));
        json_object_set_new(item, "place", *f->place[i] ? json_text(f->place[i]) : json_null());
        json_object_set_new(item, "executions", json_count(n[i]));
        json_array_append_new(items, item);
    }
    free(n);
    return items;
}

static json_t *kinds_to_json(const struct execution_facts *f, const uint32_t *n_of_way)
{
    json_t *items = json_array();

    for (enum reason_kind k = 0; k < N_REASON_KINDS; k++) {
        uint64_t n = 0;

        for (uint32_t w = 1; w <= f->n_ways; w++)
            n += f->reason[w].kind == (int)k ? n_of_way[w] : 0;
        if (n > 0)
            json_array_append_new(items, json_pack("{s:s, s:o}", "kind", reason_kind_name(k),
                                                   "executions", json_count(n)));
    }
    return items;
}

int api_choices(struct worker *worker, const struct request *request, struct response *response)
{
    struct foi_state *state;
    const struct execution_facts *f;
    uint32_t *n_of_way;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc < 0)
        return rc;
    f = state->table->facts;
    n_of_way = mem_alloc(f->n_ways + 1, sizeof *n_of_way);
    for (uint32_t t = 0; t < state->n; t++)
        n_of_way[f->way[t]]++;
    rc = response_json(response,
                       json_pack("{s:o, s:o}", "functions", functions_to_json(f, n_of_way),
                                 "kinds", kinds_to_json(f, n_of_way)));
    free(n_of_way);
    return rc;
}

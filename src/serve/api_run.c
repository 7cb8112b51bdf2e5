/* What the run is: its functions of interest, locations, regions, and what was wrong with it.
 */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "monitor/api_live.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "serve/api.h"
#include "serve/routes.h"
#include "view/outcome.h"
#include "view/results_json.h"

#include <string.h>

#define MAX_FOUND 50

/* The only row of a query as a field of an object, or null. */
static int set_row(sqlite3 *db, json_t *object, const char *field, const char *sql, int64_t id)
{
    json_t *rows = NULL;
    int rc = rows_to_json(db, &rows, sql, "i", id);

    if (rc < 0)
        return rc;
    json_object_set_new(object, field,
                        json_array_size(rows) > 0 ? json_incref(json_array_get(rows, 0))
                                                  : json_null());
    json_decref(rows);
    return 0;
}

static int set_rows(sqlite3 *db, json_t *object, const char *field, const char *sql,
                    const char *types, int64_t id)
{
    json_t *rows = NULL;
    int rc = rows_to_json(db, &rows, sql, types, id);

    if (rc == 0)
        json_object_set_new(object, field, rows);
    return rc;
}

static int set_outcome(sqlite3 *db, json_t *foi, int64_t id)
{
    struct outcome outcome;
    int rc = outcome_find(
        db, id, (uint64_t)json_integer_value(json_object_get(foi, "anomalies")), &outcome);

    if (rc == 0)
        json_object_set_new(foi, "outcome", outcome_to_json(&outcome));
    outcome_release(&outcome);
    return rc;
}

static int add_fois(struct worker *worker, json_t *run)
{
    json_t *foi;
    size_t i;
    int rc = set_rows(worker->db, run, "fois", run_sql_show_fois, "", 0);

    if (rc < 0)
        return rc;
    json_array_foreach(json_object_get(run, "fois"), i, foi)
    {
        int64_t id = json_integer_value(json_object_get(foi, "id"));

        if (rc == 0)
            rc = set_row(worker->db, foi, "labels", run_sql_show_labels, id);
        if (rc == 0)
            rc = set_row(worker->db, foi, "undo", run_sql_show_undo, id);
        if (rc == 0)
            rc = set_row(worker->db, foi, "redo", run_sql_show_redo, id);
        if (rc == 0)
            rc = set_row(worker->db, foi, "retrain", run_sql_show_retrain, id);
        if (rc == 0)
            rc = set_outcome(worker->db, foi, id);
        if (rc == 0)
            rc = set_rows(worker->db, foi, "projections", run_sql_show_projections, "i", id);
    }
    return rc;
}

/* As set_rows; one of the columns says yes or no. */
static int set_flagged_rows(sqlite3 *db, json_t *object, const char *field, const char *sql,
                            const char *flag)
{
    json_t *item;
    size_t i;
    int rc = set_rows(db, object, field, sql, "", 0);

    if (rc < 0)
        return rc;
    json_array_foreach(json_object_get(object, field), i, item)
    {
        json_object_set_new(item, flag,
                            json_boolean(json_integer_value(json_object_get(item, flag)) != 0));
    }
    return 0;
}

static json_t *meta_text(sqlite3 *db, const char *key)
{
    char *text = rundb_get_text(db, key);
    json_t *json = text ? json_text(text) : json_null();

    free(text);
    return json;
}

/* What is said of runs that are compared, or of a history, where a run would say what it is. */
static json_t *no_run(const struct served *s)
{
    return json_pack("{s:o, s:o, s:n, s:n, s:n, s:i, s:i, s:i, s:i, s:b, s:s, s:{s:i, s:i, "
                     "s:i}, s:[], s:[], "
                     "s:[]}",
                     "snag", json_text(s->snag), "name", json_text(s->name), "trace", "source",
                     "created", "begin_ns", 0, "end_ns", 0, "n_calls", 0, "n_messages", 0,
                     "is_live", 0, "shows",
                     s->what == SERVED_HISTORY ? "history" : "comparison", "clocks", "checked",
                     0, "wrong_before", 0, "wrong", 0, "fois", "locations", "quality");
}

int api_run(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *s = worker->served;
    json_t *run;
    int rc;

    (void)request;
    if (s->what == SERVED_PROGRAM)
        return api_live_run(s->live, s->snag, s->name, response);
    if (s->what != SERVED_RUN)
        return response_json(response, no_run(s));
    run = json_object();
    json_object_set_new(run, "snag", json_text(s->snag));
    json_object_set_new(run, "name", json_text(s->name));
    json_object_set_new(run, "path", json_text(s->path));
    json_object_set_new(run, "trace", meta_text(worker->db, "trace"));
    json_object_set_new(run, "source", meta_text(worker->db, "source"));
    json_object_set_new(run, "created", meta_text(worker->db, "created"));
    json_object_set_new(run, "begin_ns", json_count(s->begin_ns));
    json_object_set_new(run, "end_ns", json_count(s->end_ns));
    json_object_set_new(run, "n_calls", json_count(s->run.columns.n_calls));
    json_object_set_new(run, "n_messages", json_count(s->run.columns.n_messages));
    json_object_set_new(run, "is_live", json_false());
    json_object_set_new(run, "shows", json_string("run"));
    json_object_set_new(run, "clocks",
                        json_pack("{s:I, s:I, s:I}", "checked",
                                  rundb_get(worker->db, "order_checked"), "wrong_before",
                                  rundb_get(worker->db, "order_wrong_before"), "wrong",
                                  rundb_get(worker->db, "order_wrong")));
    rc = add_fois(worker, run);
    if (rc == 0)
        rc = set_flagged_rows(worker->db, run, "locations", run_sql_show_locations, "is_gpu");
    if (rc == 0)
        rc = set_flagged_rows(worker->db, run, "quality", run_sql_show_quality, "is_damage");
    if (rc == 0)
        return response_json(response, run);
    json_decref(run);
    return rc;
}

/* Beside the run, which is asked for first and must not wait for all executions. */
int api_lost(struct worker *worker, const struct request *request, struct response *response)
{
    struct foi_state *state;
    struct outcome_lost lost;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = outcome_lost(worker->db, request->id[0], &lost);
    if (rc < 0)
        return rc;
    return response_json(response,
                         json_pack("{s:o, s:o, s:o, s:o}", "lost_ns",
                                   lost.is_known ? json_count(lost.lost_ns) : json_null(),
                                   "duration_ns", json_count(lost.duration_ns), "unended",
                                   json_count(lost.n_unended), "text", json_text(lost.text)));
}

int api_regions(struct worker *worker, const struct request *request, struct response *response)
{
    json_t *regions = NULL;
    int rc = rows_to_json(worker->db, &regions, run_sql_regions, "");

    (void)request;
    return rc < 0 ? rc : response_json(response, regions);
}

int api_search(struct worker *worker, const struct request *request, struct response *response)
{
    json_t *items = NULL;
    int rc = rows_to_json(worker->db, &items, run_sql_search, "ti",
                          request_text(request, "q", ""), (int64_t)MAX_FOUND);

    return rc < 0 ? rc : response_json(response, json_pack("{s:o}", "items", items));
}

int api_openapi(struct worker *worker, const struct request *request, struct response *response)
{
    const struct asset *asset = asset_openapi();

    (void)worker;
    (void)request;
    *response = (struct response){.status = 200,
                                  .type = "application/json",
                                  .body = (void *)(uintptr_t)asset->data,
                                  .size = asset->size,
                                  .is_constant = true};
    return 0;
}

/* The last one, while it holds: one that is made anew says another time, and would be sent again to
 * who has it. */
static int make_report(struct worker *worker)
{
    const struct served *s = worker->served;

    if (worker->report)
        return 0;
    return s->report ? s->report(s->report_ctx, s->path, &worker->report, &worker->report_size)
                     : err_set(ERR_NOT_FOUND, "reports are made by snag serve and snag report");
}

int api_report(struct worker *worker, const struct request *request, struct response *response)
{
    int rc = make_report(worker);
    char *page;

    (void)request;
    if (rc < 0)
        return rc;
    page = mem_alloc(worker->report_size, 1);
    memcpy(page, worker->report, worker->report_size);
    response_bytes(response, "text/html; charset=utf-8", page, worker->report_size);
    response->download = "report.html";
    return 0;
}

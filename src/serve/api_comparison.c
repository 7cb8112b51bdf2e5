/*
 * Runs against each other: as snag compare has it, and as a tree for a picture. And a history:
 * how long executions took from run to run, and any of its runs against those before; its file
 * is opened for each answer, as runs may be added to it at any time.
 */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "compare/run_history.h"
#include "compare/trend.h"
#include "serve/api.h"
#include "trace/region_name.h"
#include "view/compare_json.h"
#include "view/results_json.h"

#include <stdlib.h>
#include <string.h>

int api_comparison(struct worker *worker, const struct request *request,
                   struct response *response)
{
    (void)request;
    return response_json(response, compare_to_json(worker->served->comparison->comparison, 0));
}

int api_comparison_tree(struct worker *worker, const struct request *request,
                        struct response *response)
{
    (void)request;
    return response_json(response,
                         compare_tree_to_json(worker->served->comparison->comparison));
}

/* "runs/0/", where its page and its API are. */
static json_t *page_of(const struct served_side *side)
{
    return side->page < 0 ? json_null() : json_sprintf("runs/%d/", side->page);
}

static json_t *side_json(const struct served_side *side)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "side", side->is_after ? "after" : "before",
                     "run", json_text(side->path), "number",
                     side->number > 0 ? json_integer(side->number) : json_null(), "foi",
                     side->foi > 0 ? json_integer(side->foi) : json_null(), "page",
                     page_of(side));
}

int api_comparison_runs(struct worker *worker, const struct request *request,
                        struct response *response)
{
    const struct served_comparison *c = worker->served->comparison;
    json_t *runs = json_array(), *renames = json_array();

    (void)request;
    for (uint32_t i = 0; i < c->n; i++)
        json_array_append_new(runs, side_json(&c->side[i]));
    for (uint32_t i = 0; i < c->n_renames; i++)
        json_array_append_new(renames, json_pack("[o, o]", json_text(c->rename[i].from),
                                                 json_text(c->rename[i].to)));
    return response_json(response, json_pack("{s:o, s:o}", "runs", runs, "renames", renames));
}

#define MAX_SERIES 1000

/* ---------------------------------------------------------------------------- functions */

/* How many runs have a function of interest. */
struct function {
    char *name; /* as the first of them has it */
    uint32_t n_runs;
    int64_t last_run;
};

struct functions {
    struct function *function; /* [n] */
    size_t n, cap;
};

static void release_functions(struct functions *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->function[i].name);
    free(f->function);
}

static int count_run(void *ctx, const struct history_run *run)
{
    struct functions *f = ctx;
    size_t i = 0;

    while (i < f->n && (f->function[i].last_run == run->id ||
                        !region_name_is_same(f->function[i].name, run->foi)))
        i++;
    if (i == f->n) {
        *mem_push(&f->function, &f->n, &f->cap) =
            (struct function){.name = mem_copy_string(run->foi)};
    }
    f->function[i].n_runs++;
    f->function[i].last_run = run->id;
    return 0;
}

int api_history_functions(struct worker *worker, const struct request *request,
                          struct response *response)
{
    const struct history_filter all = {.foi = NULL};
    struct functions f = {.n = 0};
    struct history history = {0};
    json_t *json;
    int rc = history_open(&history, worker->served->path, DATABASE_READ);

    (void)request;
    if (rc == 0)
        rc = history_each(&history, &all, count_run, &f);
    history_close(&history);
    json = json_array();
    for (size_t i = 0; i < f.n; i++)
        json_array_append_new(json,
                              json_pack("{s:o, s:I}", "foi", json_text(f.function[i].name),
                                        "runs", (json_int_t)f.function[i].n_runs));
    release_functions(&f);
    if (rc == 0)
        return response_json(response, json);
    json_decref(json);
    return rc;
}

/* -------------------------------------------------------------------------------- trend */

int api_history(struct worker *worker, const struct request *request, struct response *response)
{
    struct history_filter filter = {.foi = request_text(request, "foi", NULL)};
    const char *path = request_text(request, "path", NULL);
    struct history history = {0};
    struct trend trend = {0};
    double last;
    int rc = request_number(request, "last", 1, TREND_MAX_RUNS, TREND_MAX_RUNS, &last);

    if (rc < 0)
        return rc;
    filter.last = (uint64_t)last;
    rc = history_open(&history, worker->served->path, DATABASE_READ);
    if (rc == 0)
        rc = trend_load(&history, &filter, &trend);
    if (rc == 0)
        response_json(response, trend_to_json(&trend, path, MAX_SERIES));
    trend_release(&trend);
    history_close(&history);
    return rc;
}

/* --------------------------------------------------------------------------- comparison */

/* That of the only function, where the request does not say which. */
static int name_function(struct history *history, struct functions *f, const char **foi)
{
    const struct history_filter all = {.foi = NULL};
    int rc = *foi ? 0 : history_each(history, &all, count_run, f);

    if (rc == 0 && *foi == NULL && f->n > 1)
        rc = err_set(ERR_USAGE, "the history has several functions of interest: foi says which "
                                "is meant");
    if (rc == 0 && *foi == NULL)
        *foi = f->n > 0 ? f->function[0].name : "";
    return rc;
}

static int look_back(struct worker *worker, const struct request *request,
                     struct comparison *out)
{
    struct look_back of = {.run = request->id[0], .foi = request_text(request, "foi", NULL)};
    struct functions f = {.n = 0};
    struct history history = {0};
    double last;
    int rc = request_number(request, "last", 1, COMPARE_MAX_RUNS - 1, LOOK_BACK_TYPICAL, &last);

    if (rc < 0)
        return rc;
    of.last = (uint32_t)last;
    rc = history_open(&history, worker->served->path, DATABASE_READ);
    if (rc == 0)
        rc = name_function(&history, &f, &of.foi);
    if (rc == 0)
        rc = look_back_compare(&history, &of, out);
    release_functions(&f);
    history_close(&history);
    return rc;
}

int api_history_comparison(struct worker *worker, const struct request *request,
                           struct response *response)
{
    struct comparison c = {0};
    int rc = look_back(worker, request, &c);

    if (rc == 0)
        response_json(response, compare_to_json(&c, 0));
    compare_release(&c);
    return rc;
}

int api_history_tree(struct worker *worker, const struct request *request,
                     struct response *response)
{
    struct comparison c = {0};
    int rc = look_back(worker, request, &c);

    if (rc == 0)
        response_json(response, compare_tree_to_json(&c));
    compare_release(&c);
    return rc;
}

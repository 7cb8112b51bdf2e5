/*
 * Numbers stand in a pattern as {foi} and its like. The page is a table, too, made by
 * cmake/assets.cmake at build time: no file is opened to serve a request.
 */
#include "serve/routes.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GET ROUTE_TAKES_NOTHING
#define SETTINGS ROUTE_TAKES_SETTINGS
#define LABELS ROUTE_TAKES_LABELS

static const struct route routes[] = {
    {GET, "/run", NULL, ROUTE_BY_READER, true, .answer = api_run, .of = ROUTE_OF_ANY},
    {GET, "/regions", NULL, ROUTE_BY_READER, true, .answer = api_regions},
    {GET, "/fois/{foi}/columns", NULL, ROUTE_BY_READER, true, .answer = api_columns},
    {GET, "/fois/{foi}/passing", NULL, ROUTE_BY_READER, true, .answer = api_passing},
    {GET, "/fois/{foi}/measure", NULL, ROUTE_BY_READER, true, .answer = api_filtered_measure},
    {GET, "/fois/{foi}/choices", NULL, ROUTE_BY_READER, true, .answer = api_choices},
    {GET, "/fois/{foi}/lost", NULL, ROUTE_BY_READER, true, .answer = api_lost},
    {GET, "/fois/{foi}/incidents", NULL, ROUTE_BY_READER, true, .answer = api_incidents},
    {GET, "/fois/{foi}/causes", NULL, ROUTE_BY_READER, true, .answer = api_causes},
    {GET, "/fois/{foi}/groups", NULL, ROUTE_BY_READER, true, .answer = api_groups},
    {GET, "/fois/{foi}/ranks", NULL, ROUTE_BY_EXPLAINER, false, .answer = api_ranks},
    {GET, "/fois/{foi}/candidates", "order=next", ROUTE_BY_LEARNER, false, .answer = api_next},
    {GET, "/fois/{foi}/candidates", NULL, ROUTE_BY_READER, true, .answer = api_candidates},
    {GET, "/fois/{foi}/executions/{tree}", NULL, ROUTE_BY_READER, true,
     .answer = api_execution},
    {GET, "/fois/{foi}/executions/{tree}/tree", NULL, ROUTE_BY_READER, true,
     .answer = api_tree},
    {GET, "/fois/{foi}/executions/{tree}/subtrees", NULL, ROUTE_BY_EXPLAINER, false,
     .answer = api_subtrees},
    {GET, "/fois/{foi}/path", NULL, ROUTE_BY_EXPLAINER, false, .answer = api_path},
    {GET, "/fois/{foi}/typical", NULL, ROUTE_BY_READER, true, .answer = api_typical},
    {GET, "/fois/{foi}/typical/there", NULL, ROUTE_BY_READER, true,
     .answer = api_typical_there},
    {GET, "/fois/{foi}/next", NULL, ROUTE_BY_LEARNER, false, .answer = api_next},
    {GET, "/fois/{foi}/retrains", NULL, ROUTE_BY_READER, true, .answer = api_retrains},
    {GET, "/fois/{foi}/learning", NULL, ROUTE_BY_READER, true, .answer = api_learning},
    {GET, "/fois/{foi}/model", NULL, ROUTE_BY_LEARNER, false, .answer = api_model},
    {GET, "/fois/{foi}/projection", NULL, ROUTE_BY_READER, false, .answer = api_projection},
    {GET, "/fois/{foi}/map", NULL, ROUTE_BY_READER, true, .answer = api_map},
    {GET, "/timeline", NULL, ROUTE_BY_READER, true, .answer = api_timeline},
    {GET, "/messages", NULL, ROUTE_BY_READER, true, .answer = api_messages},
    {GET, "/messages/matrix", NULL, ROUTE_BY_READER, true, .answer = api_matrix},
    {GET, "/dependencies", NULL, ROUTE_BY_READER, true, .answer = api_dependencies},
    {GET, "/collectives", NULL, ROUTE_BY_READER, true, .answer = api_collectives},
    {GET, "/counters", NULL, ROUTE_BY_READER, true, .answer = api_counters},
    {GET, "/counters/{counter}", NULL, ROUTE_BY_READER, true, .answer = api_counter},
    {GET, "/measure", NULL, ROUTE_BY_READER, true, .answer = api_measure},
    {GET, "/calls/{location}/{row}", NULL, ROUTE_BY_READER, false, .answer = api_call},
    {GET, "/calls/{location}/{row}/collective", NULL, ROUTE_BY_READER, false,
     .answer = api_collective},
    {GET, "/query", NULL, ROUTE_BY_QUERIER, false, .answer = api_query},
    {GET, "/search", NULL, ROUTE_BY_READER, true, .answer = api_search},
    {GET, "/search/next", NULL, ROUTE_BY_READER, false, .answer = api_search_next},
    {GET, "/labels", NULL, ROUTE_BY_READER, true, .answer = api_labels},
    {GET, "/labels.csv", NULL, ROUTE_BY_READER, true, .answer = api_labels_csv},
    {GET, "/executions.csv", NULL, ROUTE_BY_READER, true, .answer = api_executions_csv},
    {GET, "/report.html", NULL, ROUTE_BY_EXPLAINER, false, .answer = api_report},
    {GET, "/window.json", NULL, ROUTE_BY_READER, false, .answer = api_window},
    {GET, "/live/status", NULL, ROUTE_BY_READER, false, .live = api_live_status,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/points", NULL, ROUTE_BY_READER, true, .live = api_live_points,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/heatmap", NULL, ROUTE_BY_READER, true, .live = api_live_heatmap,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/ranks", NULL, ROUTE_BY_READER, true, .live = api_live_ranks,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/slow", NULL, ROUTE_BY_READER, true, .live = api_live_slow,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/regions", NULL, ROUTE_BY_READER, true, .live = api_live_regions,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/history", NULL, ROUTE_BY_READER, true, .live = api_live_history,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/counters", NULL, ROUTE_BY_READER, true, .live = api_live_counters,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/model", NULL, ROUTE_BY_READER, true, .live = api_live_model,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/records", NULL, ROUTE_BY_READER, false, .live = api_live_records,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/call", NULL, ROUTE_BY_READER, false, .live = api_live_call,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/live/record/{id}", NULL, ROUTE_BY_READER, false, .live = api_live_record,
     .of = ROUTE_OF_PROGRAM},
    {GET, "/comparison", NULL, ROUTE_BY_READER, true, .answer = api_comparison,
     .of = ROUTE_OF_COMPARISON},
    {GET, "/comparison/tree", NULL, ROUTE_BY_READER, true, .answer = api_comparison_tree,
     .of = ROUTE_OF_COMPARISON},
    {GET, "/comparison/runs", NULL, ROUTE_BY_READER, true, .answer = api_comparison_runs,
     .of = ROUTE_OF_COMPARISON},
    {GET, "/history", NULL, ROUTE_BY_READER, false, .answer = api_history,
     .of = ROUTE_OF_HISTORY},
    {GET, "/history/functions", NULL, ROUTE_BY_READER, false, .answer = api_history_functions,
     .of = ROUTE_OF_HISTORY},
    {GET, "/history/runs/{number}/comparison", NULL, ROUTE_BY_READER, false,
     .answer = api_history_comparison, .of = ROUTE_OF_HISTORY},
    {GET, "/history/runs/{number}/comparison/tree", NULL, ROUTE_BY_READER, false,
     .answer = api_history_tree, .of = ROUTE_OF_HISTORY},
    {GET, "/openapi.json", NULL, ROUTE_BY_READER, false, .answer = api_openapi,
     .of = ROUTE_OF_ANY},
    {LABELS, "/fois/{foi}/labels", NULL, ROUTE_BY_WRITER, false, .answer = api_label},
    {SETTINGS, "/fois/{foi}/retrain", NULL, ROUTE_BY_LEARNER, false, .answer = api_retrain},
    {SETTINGS, "/fois/{foi}/retrain/undo", NULL, ROUTE_BY_LEARNER, false,
     .answer = api_undo_retrain},
    {SETTINGS, "/fois/{foi}/undo", NULL, ROUTE_BY_LEARNER, false, .answer = api_undo},
    {SETTINGS, "/fois/{foi}/redo", NULL, ROUTE_BY_LEARNER, false, .answer = api_redo},
    {SETTINGS, "/fois/{foi}/projection", NULL, ROUTE_BY_WRITER, false, .answer = api_project},
    {SETTINGS, "/fois/{foi}/projection/cancel", NULL, ROUTE_BY_WRITER, false,
     .answer = api_cancel},
    {0},
};

const struct route *route_list(void)
{
    return routes;
}

size_t route_most_body(const struct route *route)
{
    static const size_t most[] = {
        [ROUTE_TAKES_NOTHING] = 0,
        [ROUTE_TAKES_SETTINGS] = 4096,
        [ROUTE_TAKES_LABELS] = 8u << 20, /* some 200,000 */
    };

    return most[route->takes];
}

bool route_is_of(const struct route *route, enum served_what what)
{
    static const enum served_what wanted[] = {
        [ROUTE_OF_RUN] = SERVED_RUN,
        [ROUTE_OF_PROGRAM] = SERVED_PROGRAM,
        [ROUTE_OF_COMPARISON] = SERVED_COMPARISON,
        [ROUTE_OF_HISTORY] = SERVED_HISTORY,
    };

    return route->of == ROUTE_OF_ANY || wanted[route->of] == what;
}

int route_answer(const struct route *route, struct worker *worker,
                 const struct request *request, struct response *response)
{
    return route->live ? route->live(worker->served->live, request, response)
                       : route->answer(worker, request, response);
}

/* A number of the path, which ends at '/' or with the path. */
static bool take_number(const char **path, int64_t *out)
{
    size_t n = strcspn(*path, "/");

    if (n == 0 || n > 15 || strspn(*path, "0123456789") < n)
        return false;
    *out = strtoll(*path, NULL, 10);
    *path += n;
    return true;
}

static bool is_match(const char *pattern, const char *path, int64_t id[2])
{
    size_t n_ids = 0;

    while (*pattern && *path) {
        if (*pattern == '{') {
            pattern += strcspn(pattern, "}") + 1;
            if (!take_number(&path, &id[n_ids++]))
                return false;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *pattern == '\0' && *path == '\0';
}

static bool has_parameter(const struct request *request, const char *parameter)
{
    size_t length = strcspn(parameter, "=");

    for (size_t i = 0; i < request->n_parameters; i++)
        if (strncmp(request->parameter[i].name, parameter, length) == 0 &&
            request->parameter[i].name[length] == '\0' &&
            strcmp(request->parameter[i].value, parameter + length + 1) == 0)
            return true;
    return false;
}

/* The path below the prefix of the API, or NULL. */
static const char *path_of(const struct request *request)
{
    static const char prefix[] = "/api/v1";

    return strncmp(request->path, prefix, sizeof prefix - 1) == 0
               ? request->path + sizeof prefix - 1
               : NULL;
}

static bool is_post(const struct route *route)
{
    return route->takes != ROUTE_TAKES_NOTHING;
}

const char *route_methods(const struct request *request)
{
    const char *path = path_of(request);
    bool has[2] = {false, false};
    int64_t id[2];

    for (const struct route *route = routes; path && route->pattern; route++)
        has[is_post(route)] |= is_match(route->pattern, path, id);
    return has[0] && has[1] ? "GET, HEAD, POST" : has[1] ? "POST" : has[0] ? "GET, HEAD" : NULL;
}

const struct route *route_find(struct request *request)
{
    const char *path = path_of(request);

    for (const struct route *route = routes; path && route->pattern; route++) {
        int64_t id[2] = {0, 0};

        if (is_post(route) != request->is_post || !is_match(route->pattern, path, id) ||
            (route->parameter && !has_parameter(request, route->parameter)))
            continue;
        memcpy(request->id, id, sizeof id);
        return route;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------- the page */

#define OPENAPI ":openapi.json" /* these are no paths */
#define REPORT ":report.html"

/* A file's bytes and a 0, put in by the assembler: a compiler would read half a million numbers. */
#define ASSET_BYTES(name, file)                                                                \
    __asm__(".pushsection .rodata\n.globl " #name "\n.hidden " #name "\n" #name                \
            ":\n.incbin \"" file "\"\n.byte 0\n.popsection");                                  \
    extern const unsigned char name[] __attribute__((visibility("hidden")));

#include "serve/assets_table.inc"

const struct asset *asset_find(const char *path)
{
    for (const struct asset *asset = assets; asset->path; asset++)
        if (*path == '/' && strcmp(asset->path, path) == 0)
            return asset;
    return NULL;
}

static const struct asset *find_unserved(const char *name)
{
    const struct asset *asset = assets;

    while (strcmp(asset->path, name) != 0)
        asset++;
    return asset;
}

const struct asset *asset_openapi(void)
{
    return find_unserved(OPENAPI);
}

const struct asset *asset_report(void)
{
    return find_unserved(REPORT);
}

#include "web/routes.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct route routes[] = {
    {false, "/run", NULL, ROUTE_BY_READER, true, api_run},
    {false, "/regions", NULL, ROUTE_BY_READER, true, api_regions},
    {false, "/fois/{foi}/columns", NULL, ROUTE_BY_READER, true, api_columns},
    {false, "/fois/{foi}/candidates", "order=next", ROUTE_BY_LEARNER, false, api_next},
    {false, "/fois/{foi}/candidates", NULL, ROUTE_BY_READER, true, api_candidates},
    {false, "/fois/{foi}/executions/{tree}", NULL, ROUTE_BY_READER, true, api_execution},
    {false, "/fois/{foi}/executions/{tree}/tree", NULL, ROUTE_BY_READER, true, api_tree},
    {false, "/fois/{foi}/executions/{tree}/subtrees", NULL, ROUTE_BY_EXPLAINER, false,
     api_subtrees},
    {false, "/fois/{foi}/typical", NULL, ROUTE_BY_READER, true, api_typical},
    {false, "/fois/{foi}/next", NULL, ROUTE_BY_LEARNER, false, api_next},
    {false, "/fois/{foi}/retrains", NULL, ROUTE_BY_READER, true, api_retrains},
    {false, "/fois/{foi}/projection", NULL, ROUTE_BY_READER, false, api_projection},
    {false, "/timeline", NULL, ROUTE_BY_READER, true, api_timeline},
    {false, "/messages", NULL, ROUTE_BY_READER, true, api_messages},
    {false, "/calls/{location}/{row}", NULL, ROUTE_BY_READER, false, api_call},
    {false, "/search", NULL, ROUTE_BY_READER, true, api_search},
    {false, "/search/next", NULL, ROUTE_BY_READER, false, api_search_next},
    {false, "/labels", NULL, ROUTE_BY_READER, true, api_labels},
    {false, "/labels.csv", NULL, ROUTE_BY_READER, true, api_labels_csv},
    {false, "/executions.csv", NULL, ROUTE_BY_READER, true, api_executions_csv},
    {false, "/window.json", NULL, ROUTE_BY_READER, false, api_window},
    {false, "/live/status", NULL, ROUTE_BY_READER, false, api_live_status},
    {false, "/live/points", NULL, ROUTE_BY_READER, true, api_live_points},
    {false, "/live/heatmap", NULL, ROUTE_BY_READER, true, api_live_heatmap},
    {false, "/live/ranks", NULL, ROUTE_BY_READER, true, api_live_ranks},
    {false, "/live/regions", NULL, ROUTE_BY_READER, true, api_live_regions},
    {false, "/live/history", NULL, ROUTE_BY_READER, true, api_live_history},
    {false, "/live/counters", NULL, ROUTE_BY_READER, true, api_live_counters},
    {false, "/live/model", NULL, ROUTE_BY_READER, true, api_live_model},
    {false, "/live/records", NULL, ROUTE_BY_READER, false, api_live_records},
    {false, "/live/record/{id}", NULL, ROUTE_BY_READER, false, api_live_record},
    {false, "/openapi.json", NULL, ROUTE_BY_READER, false, api_openapi},
    {true, "/fois/{foi}/labels", NULL, ROUTE_BY_WRITER, false, api_label},
    {true, "/fois/{foi}/retrain", NULL, ROUTE_BY_LEARNER, false, api_retrain},
    {true, "/fois/{foi}/retrain/undo", NULL, ROUTE_BY_LEARNER, false, api_undo},
    {true, "/fois/{foi}/projection", NULL, ROUTE_BY_WRITER, false, api_project},
    {true, "/fois/{foi}/projection/cancel", NULL, ROUTE_BY_WRITER, false, api_cancel},
    {0},
};

const struct route *route_list(void)
{
    return routes;
}

bool route_is_of(const struct route *route, bool is_live)
{
    bool is_of_live = strncmp(route->pattern, "/live/", strlen("/live/")) == 0;

    return route->answer == api_run || route->answer == api_openapi || is_of_live == is_live;
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

const struct route *route_find(struct request *request, const char **allow)
{
    static const char prefix[] = "/api/v1";
    const char *path = request->path + sizeof prefix - 1;
    bool has_get = false, has_post = false;

    *allow = NULL;
    if (strncmp(request->path, prefix, sizeof prefix - 1) != 0)
        return NULL;
    for (const struct route *route = routes; route->pattern; route++) {
        int64_t id[2] = {0, 0};

        if (!is_match(route->pattern, path, id) ||
            (route->parameter && !has_parameter(request, route->parameter)))
            continue;
        memcpy(request->id, id, sizeof id);
        if (route->is_post == request->is_post)
            return route;
        *(route->is_post ? &has_post : &has_get) = true;
    }
    if (has_get || has_post)
        *allow = !has_post ? "GET, HEAD" : !has_get ? "POST" : "GET, HEAD, POST";
    return NULL;
}

#include "view/trend_json.h"

#include "base/json.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

bool trend_is_on(const struct trend *t, uint32_t series, const char *path)
{
    size_t n = path ? strlen(path) : 0;
    const char *own = t->series[series].path;

    if (series == 0 || path == NULL)
        return true;
    return strncmp(own, path, n) == 0 && (own[n] == '\0' || strncmp(own + n, " > ", 3) == 0);
}

json_t *history_run_to_json(const struct history_run *run, const struct history_tags *tags)
{
    json_t *json = json_object(), *all = json_object();

    for (size_t i = 0; i < tags->n; i++) {
        json_t *value = json_text(tags->tag[i].value);
        json_t *key = json_text(tags->tag[i].key);

        json_object_set_new(all, json_string_value(key), value);
        json_decref(key);
    }
    json_object_set_new(json, "number", json_integer(run->id));
    json_object_set_new(json, "added_s", json_integer(run->added_s));
    json_object_set_new(json, "run", json_text(run->source));
    json_object_set_new(json, "foi", json_text(run->foi));
    json_object_set_new(json, "ranks", json_count(run->n_ranks));
    json_object_set_new(json, "executions", json_count(run->n_executions));
    json_object_set_new(json, "anomalies", json_count(run->n_anomalies));
    json_object_set_new(json, "time_ns", json_count(run->time_ns));
    json_object_set_new(json, "median_ns", json_count(run->median_ns));
    json_object_set_new(json, "p99_ns", json_count(run->p99_ns));
    json_object_set_new(json, "tags", all);
    return json;
}

static json_t *change_to_json(const struct trend *t, const struct change_point *c)
{
    json_t *json = json_object();

    json_object_set_new(json, "number", json_integer(t->run[c->at].id));
    json_object_set_new(json, "index", json_count(c->at));
    json_object_set_new(json, "before_ns", json_number(c->before));
    json_object_set_new(json, "after_ns", json_number(c->after));
    json_object_set_new(json, "chance", json_number(c->chance));
    return json;
}

static json_t *series_to_json(const struct trend *t, const struct trend_series *s)
{
    json_t *json = json_object(), *ns = json_array(), *changes = json_array();

    for (uint32_t i = 0; i < t->n_runs; i++)
        json_array_append_new(ns, json_number(s->ns[i]));
    for (uint32_t i = 0; i < s->n_changes; i++)
        json_array_append_new(changes, change_to_json(t, &s->change[i]));
    json_object_set_new(json, "path", json_text(s->path));
    json_object_set_new(json, "ns", ns);
    json_object_set_new(json, "changes", changes);
    return json;
}

json_t *trend_to_json(const struct trend *t, const char *path, uint32_t most)
{
    json_t *json = json_object(), *runs = json_array(), *series = json_array();

    for (uint32_t i = 0; i < t->n_runs; i++)
        json_array_append_new(runs, history_run_to_json(&t->run[i], &t->tags[i]));
    for (uint32_t i = 0; i < t->n_series; i++)
        if (trend_is_on(t, i, path) && (most == 0 || json_array_size(series) < most))
            json_array_append_new(series, series_to_json(t, &t->series[i]));
    json_object_set_new(json, "foi", json_text(t->run[0].foi));
    json_object_set_new(json, "runs", runs);
    json_object_set_new(json, "series", series);
    return json;
}

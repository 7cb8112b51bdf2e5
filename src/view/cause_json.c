#include "view/cause_json.h"

#include "base/json.h"

const struct region *cause_region_at(const struct trace_view *view,
                                     const struct cause_link *link, uint32_t depth)
{
    const struct call_view *calls = &view->calls[link->location];
    uint32_t row = calls_ancestor(calls, link->call, (uint16_t)depth);

    return &view->defs->region[calls->region[row]];
}

static json_t *path_to_json(const struct trace_view *view, const struct cause_link *link)
{
    uint32_t depth = view->calls[link->location].depth[link->call];
    json_t *path = json_array();

    for (uint32_t d = 0; d <= depth; d++)
        json_array_append_new(path, json_text(cause_region_at(view, link, d)->name));
    return path;
}

static void waiting_to_json(json_t *json, const struct waiting *w)
{
    bool is_waiting = w->kind != WAITING_NOT;
    bool is_message = w->kind == WAITING_FOR_SENDER || w->kind == WAITING_FOR_RECEIVER;

    json_object_set_new(json, "waits_for",
                        is_waiting ? json_text(waiting_kind_name(w->kind)) : json_null());
    json_object_set_new(json, "peer", w->rank != NO_RANK ? json_count(w->rank) : json_null());
    if (w->thread > 0 || w->kind == WAITING_FOR_TEAM)
        json_object_set_new(json, "peer_thread", json_count(w->thread));
    json_object_set_new(json, "late", json_boolean(w->is_late));
    json_object_set_new(json, "guessed", json_boolean(w->is_guess));
    json_object_set_new(json, "delay_ns", json_count(w->delay_ns));
    json_object_set_new(json, "bytes", is_message ? json_count(w->bytes) : json_null());
    json_object_set_new(json, "tag", is_message ? json_count(w->tag) : json_null());
}

json_t *cause_to_json(const struct trace_view *view, const struct cause *cause)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];
        const struct location *location = &view->defs->location[link->location];
        uint32_t region = view->calls[link->location].region[link->call];
        json_t *json = json_object();

        json_object_set_new(json, "rank", json_count(location->rank));
        json_object_set_new(json, "thread", json_count(location->thread));
        json_object_set_new(json, "call", json_count(link->call));
        json_object_set_new(json, "function", json_text(view->defs->region[region].name));
        json_object_set_new(json, "path", path_to_json(view, link));
        json_object_set_new(json, "begin_ns", json_count(link->begin_ns));
        json_object_set_new(json, "end_ns", json_count(link->end_ns));
        json_object_set_new(json, "time_ns", json_count(link->time_ns));
        json_object_set_new(json, "calls", json_count(link->n_calls));
        json_object_set_new(json, "explained_ns", json_count(link->explained_ns));
        waiting_to_json(json, &link->waiting);
        json_array_append_new(list, json);
    }
    return list;
}

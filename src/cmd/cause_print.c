#include "cmd/cause_print.h"

#include "base/text.h"
#include "cmd/print.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 160
#define MOST_NAMES 3 /* of a call path in a line */

static const char *rank_text(const struct trace_view *view, uint32_t location, char *out,
                             size_t size)
{
    const struct location *l = &view->defs->location[location];

    if (l->thread > 0)
        snprintf(out, size, "%u.%u", l->rank, l->thread);
    else
        snprintf(out, size, "%u", l->rank);
    return out;
}

static const struct region *region_at(const struct trace_view *view,
                                      const struct cause_link *link, uint32_t depth)
{
    const struct call_view *calls = &view->calls[link->location];
    uint32_t row = calls_ancestor(calls, link->call, (uint16_t)depth);

    return &view->defs->region[calls->region[row]];
}

/* The last few functions of the call path. */
static const char *path_text(const struct trace_view *view, const struct cause_link *link,
                             char out[PATH_SIZE])
{
    uint32_t depth = view->calls[link->location].depth[link->call];
    uint32_t first = depth >= MOST_NAMES ? depth - MOST_NAMES + 1 : 0;
    size_t n = 0;

    for (uint32_t d = first; d <= depth && n < PATH_SIZE; d++)
        n += (size_t)snprintf(out + n, PATH_SIZE - n, "%s%.50s", d > first ? " > " : "",
                              region_at(view, link, d)->short_name);
    if (link->n_calls > 1 && n < PATH_SIZE)
        snprintf(out + n, PATH_SIZE - n, " × %u", link->n_calls);
    return out;
}

static const char *partner_text(const struct waiting *w, char out[PATH_SIZE])
{
    char delay[TEXT_SIZE], bytes[TEXT_SIZE], rank[TEXT_SIZE] = "";

    if (w->rank != NO_RANK)
        snprintf(rank, sizeof rank, "rank %u", w->rank);
    text_duration((double)w->delay_ns, delay);
    text_bytes((double)w->bytes, bytes);
    if (w->kind == WAITING_NOT || w->kind == WAITING_UNKNOWN)
        snprintf(out, PATH_SIZE, "%s", w->kind == WAITING_NOT ? "" : "?");
    else if (w->location == NO_LOCATION && w->kind == WAITING_FOR_ALL)
        snprintf(out, PATH_SIZE, "%u ranks without data", w->n_missing);
    else if (w->kind == WAITING_FOR_ALL)
        snprintf(out, PATH_SIZE, "%s, last in, %s later", rank, delay);
    else if (w->location == NO_LOCATION)
        snprintf(out, PATH_SIZE, "%s, %s, tag %u", rank, bytes, w->tag);
    else
        snprintf(out, PATH_SIZE, "%s, %s%s, %s%s%s, %s, tag %u", rank,
                 w->is_late ? "late " : "", waiting_kind_name(w->kind),
                 w->is_late ? "" : "in time but took ", delay,
                 w->is_guess ? " (by time only)" : "", bytes, w->tag);
    return out;
}

void cause_print(const struct trace_view *view, const struct cause *cause)
{
    struct table *t = table_new("rrrll", "rank", "took", "explains", "call", "waited for");
    char text[TEXT_SIZE], path[PATH_SIZE], why[CAUSE_SIZE];

    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];

        table_cell(t, "%s", rank_text(view, link->location, text, sizeof text));
        table_cell(t, "%s", text_duration((double)link->time_ns, text));
        table_cell(t, "%s", text_duration((double)link->explained_ns, text));
        table_cell(t, "%s", path_text(view, link, path));
        table_cell(t, "%s", partner_text(&link->waiting, path));
    }
    printf("\nthe cause, from rank to rank:\n");
    table_print(t, stdout);
    printf("it ends here: %s\n", cause_end_sentence(view, cause, why));
}

/* ---------------------------------------------------------------------------------- JSON */

static json_t *path_to_json(const struct trace_view *view, const struct cause_link *link)
{
    uint32_t depth = view->calls[link->location].depth[link->call];
    json_t *path = json_array();

    for (uint32_t d = 0; d <= depth; d++)
        json_array_append_new(path, json_text(region_at(view, link, d)->name));
    return path;
}

static void waiting_to_json(json_t *json, const struct waiting *w)
{
    bool is_waiting = w->kind != WAITING_NOT;
    bool is_message = w->kind == WAITING_FOR_SENDER || w->kind == WAITING_FOR_RECEIVER;

    json_object_set_new(json, "waits_for",
                        is_waiting ? json_text(waiting_kind_name(w->kind)) : json_null());
    json_object_set_new(json, "peer", w->rank != NO_RANK ? json_count(w->rank) : json_null());
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

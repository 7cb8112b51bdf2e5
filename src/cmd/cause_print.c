#include "cmd/cause_print.h"

#include "base/text.h"
#include "cmd/print.h"
#include "view/cause_json.h"

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

/* The last few functions of the call path. */
static const char *path_text(const struct trace_view *view, const struct cause_link *link,
                             char out[PATH_SIZE])
{
    uint32_t depth = view->calls[link->location].depth[link->call];
    uint32_t first = depth >= MOST_NAMES ? depth - MOST_NAMES + 1 : 0;
    size_t n = 0;

    for (uint32_t d = first; d <= depth && n < PATH_SIZE; d++)
        n += (size_t)snprintf(out + n, PATH_SIZE - n, "%s%.50s", d > first ? " > " : "",
                              cause_region_at(view, link, d)->short_name);
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
    print("\nthe cause, from rank to rank:\n");
    table_print(t, stdout);
    print("it ends here: %s\n", cause_end_sentence(view, cause, why));
}

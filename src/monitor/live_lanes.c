/*
 * The depth of a call is how many calls that were entered before it are not over. Windows of
 * partners begin anywhere, so it is a depth within what is there.
 */
#include "monitor/live_lanes.h"

#include "base/json.h"
#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STILL_OPEN INFINITY

struct bar {
    const json_t *call;
    double enter_ns, leave_ns;
    size_t order; /* among those that were entered at the same time: the outer one first */
};

struct bars {
    struct bar *bar; /* [n] */
    size_t n, cap;
};

static double ns_of(const json_t *json, const char *field)
{
    return round(1000 * json_number_value(json_object_get(json, field)));
}

static const char *text_of(const json_t *json, const char *field)
{
    const char *text = json_string_value(json_object_get(json, field));

    return text ? text : "";
}

static bool is_there(const struct bars *bars, const char *event)
{
    for (size_t i = 0; i < bars->n; i++)
        if (*event && strcmp(text_of(bars->bar[i].call, "event_id"), event) == 0)
            return true;
    return false;
}

/* An array of calls; the stack has the innermost first. */
static void add_calls(struct bars *bars, const json_t *calls, bool is_reversed)
{
    size_t n = json_array_size(calls);

    for (size_t i = 0; i < n; i++) {
        const json_t *call = json_array_get(calls, is_reversed ? n - 1 - i : i);
        struct bar bar = {.call = call, .enter_ns = ns_of(call, "entry"), .order = bars->n};

        bar.leave_ns = ns_of(call, "exit");
        if (bar.leave_ns <= 0)
            bar.leave_ns = STILL_OPEN;
        if (!json_is_object(call) || is_there(bars, text_of(call, "event_id")))
            continue;
        mem_grow(&bars->bar, &bars->cap, bars->n + 1, sizeof *bars->bar);
        bars->bar[bars->n++] = bar;
    }
}

static int compare(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;

    if (x->enter_ns != y->enter_ns)
        return x->enter_ns < y->enter_ns ? -1 : 1;
    if (x->leave_ns != y->leave_ns)
        return x->leave_ns > y->leave_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static json_t *bar_json(const struct bar *bar, size_t depth, const char *event)
{
    const char *own = text_of(bar->call, "event_id");

    return json_pack("{s:s, s:s, s:f, s:o, s:I, s:b, s:b}", "func", text_of(bar->call, "func"),
                     "event_id", own, "enter_ns", bar->enter_ns, "leave_ns",
                     json_number(bar->leave_ns), "depth", (json_int_t)depth, "is_anomaly",
                     (int)json_is_true(json_object_get(bar->call, "is_anomaly")), "is_this",
                     (int)(*event && strcmp(own, event) == 0));
}

/* In order of time; `open` are the ends of the calls that are not over. */
static json_t *bars_json(struct bars *bars, const char *event)
{
    json_t *json = json_array();
    double *open = mem_alloc(bars->n, sizeof *open);
    size_t depth = 0;

    if (bars->n > 0)
        qsort(bars->bar, bars->n, sizeof *bars->bar, compare);
    for (size_t i = 0; i < bars->n; i++) {
        while (depth > 0 && open[depth - 1] <= bars->bar[i].enter_ns)
            depth--;
        json_array_append_new(json, bar_json(&bars->bar[i], depth, event));
        open[depth++] = bars->bar[i].leave_ns;
    }
    free(open);
    return json;
}

static json_t *messages_json(const json_t *messages)
{
    json_t *json = json_array(), *m;
    size_t i;

    json_array_foreach(messages, i, m)
    {
        json_array_append_new(json,
                              json_pack("{s:b, s:f, s:I, s:I, s:I, s:I}", "is_send",
                                        (int)(strcmp(text_of(m, "type"), "SEND") == 0),
                                        "time_ns", ns_of(m, "timestamp"), "source",
                                        json_integer_value(json_object_get(m, "src")), "target",
                                        json_integer_value(json_object_get(m, "tar")), "tag",
                                        json_integer_value(json_object_get(m, "tag")), "bytes",
                                        json_integer_value(json_object_get(m, "bytes"))));
    }
    return json;
}

/* The thread that `from` is of: its rid, tid and event_window. */
static json_t *lane(const json_t *from, const json_t *stack, const char *event)
{
    const json_t *window = json_object_get(from, "event_window");
    struct bars bars = {0};
    json_t *json;

    add_calls(&bars, stack, true);
    add_calls(&bars, json_object_get(window, "exec_window"), false);
    json = json_pack("{s:I, s:I, s:b, s:o, s:o}", "rank",
                     json_integer_value(json_object_get(from, "rid")), "thread",
                     json_integer_value(json_object_get(from, "tid")), "is_own",
                     (int)(stack != NULL), "calls", bars_json(&bars, event), "messages",
                     messages_json(json_object_get(window, "comm_window")));
    free(bars.bar);
    return json;
}

json_t *live_lanes(const json_t *record)
{
    json_t *lanes = json_array(), *partner;
    const char *event = text_of(record, "event_id");
    size_t i;

    json_array_append_new(lanes, lane(record, json_object_get(record, "call_stack"), event));
    json_array_foreach(json_object_get(record, "partners"), i, partner)
    {
        json_array_append_new(lanes, lane(partner, NULL, event));
    }
    return lanes;
}

/*
 * A window of the trace: its calls as rectangles, its messages, what had to wait for what,
 * both in numbers, and as a file.
 *
 * The columns are as somebody wrote them: nothing in them is believed.
 */
#include "serve/api_timeline.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "explain/trace_view.h"
#include "serve/api.h"
#include "serve/arrows.h"
#include "serve/lod.h"
#include "serve/served.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void measure_init(struct measure *m, enum measure_by by, const struct definitions *defs)
{
    *m = (struct measure){.by = by, .defs = defs};
}

void measure_release(struct measure *m)
{
    idmap_release(&m->known);
    free(m->group);
    free(m->open.row);
    free(m->open.group);
    *m = (struct measure){0};
}

static uint64_t part_in(const struct call_view *calls, uint32_t row, const uint64_t window[2])
{
    uint64_t enter = calls->enter_ns[row], leave = calls_leave(calls, row);
    uint64_t from = enter > window[0] ? enter : window[0];
    uint64_t until = leave < window[1] ? leave : window[1];

    return until > from ? until - from : 0;
}

static void close_until(struct measure *m, const struct call_view *calls, uint32_t depth)
{
    struct open_calls *open = &m->open;

    while (open->n > 0 && calls->depth[open->row[open->n - 1]] >= depth)
        m->group[open->group[--open->n]].n_open--;
}

/* None is open, and there is room for those of a location. */
static void begin_location(struct measure *m, const struct call_view *calls)
{
    struct open_calls *open = &m->open;

    mem_grow(&open->row, &open->row_cap, calls->n_depths);
    mem_grow(&open->group, &open->group_cap, calls->n_depths);
    open->n = 0;
    open->most = calls->n_depths;
}

/* The group of a call of that region inside those that are open. */
static uint32_t group_of(struct measure *m, uint32_t location, uint32_t region)
{
    const struct open_calls *open = &m->open;
    bool has_caller = m->by == MEASURE_BY_PATH && open->n > 0;
    uint32_t caller = has_caller ? open->group[open->n - 1] : MEASURE_NO_CALLER;
    uint32_t id = m->by == MEASURE_BY_RANK ? m->defs->location[location].rank : region;
    uint32_t n_known = m->known.n, group = idmap_add(&m->known, key_pair(id, caller));

    if (group < n_known)
        return group;
    mem_grow(&m->group, &m->cap, m->known.n);
    m->group[group] = (struct measure_group){.id = id, .caller = caller};
    return group;
}

static int add_call(struct measure *m, const struct call_view *calls, uint32_t row,
                    uint32_t location, const uint64_t window[2])
{
    struct open_calls *open = &m->open;
    uint64_t part = part_in(calls, row, window);
    uint32_t group;

    close_until(m, calls, calls->depth[row]);
    if (calls->region[row] >= m->defs->names.n || open->n == open->most)
        return err_set(ERR_FORMAT, "damaged run: calls/ has calls that make no tree");
    group = group_of(m, location, calls->region[row]);
    if (group >= MAX_MEASURE_GROUPS)
        return err_set(ERR_RANGE, "more than %u call paths in this window", MAX_MEASURE_GROUPS);
    m->group[group].calls++;
    m->group[group].own_ns += part;
    if (open->n > 0) {
        uint64_t *own = &m->group[open->group[open->n - 1]].own_ns;

        *own -= part < *own ? part : *own;
    }
    if (m->group[group].n_open++ == 0)
        m->group[group].total_ns += part;
    open->row[open->n] = row;
    open->group[open->n++] = group;
    return 0;
}

/* Of rows from i to before end, those with a part in the window, and all that is around these. */
static int add_calls(struct measure *m, const struct call_view *calls, uint32_t i, uint32_t end,
                     uint32_t location, const uint64_t window_ns[2])
{
    int rc = 0;

    begin_location(m, calls);
    while (i < end && rc == 0) {
        uint32_t inside = calls->subtree_len[i];

        if (calls_leave(calls, i) <= window_ns[0] && calls->enter_ns[i] < window_ns[0]) {
            i += inside > 0 && inside <= calls->n - i ? inside
                                                      : 1; /* nothing inside reaches it */
            continue;
        }
        rc = add_call(m, calls, i++, location, window_ns);
    }
    close_until(m, calls, 0);
    return rc;
}

static void add_messages(struct measure *m, const struct columns *columns,
                         const struct levels *levels, uint32_t location,
                         const uint64_t window[2])
{
    struct call_view calls = columns_view(columns, location);
    size_t until = arrows_from(columns, levels, location, window[1]);

    for (size_t i = arrows_from(columns, levels, location, window[0]); i < until; i++) {
        const struct message *message = &calls.message[i];

        if (message->kind == MESSAGE_SEND) {
            m->sent++;
            m->sent_bytes += message->bytes;
        } else {
            m->received++;
            m->received_bytes += message->bytes;
        }
    }
}

int measure_add(struct measure *m, const struct columns *columns, const struct levels *levels,
                uint32_t location, const uint64_t window_ns[2])
{
    struct call_view calls = columns_view(columns, location);
    uint32_t end = window_ns[1] > 0 ? calls_until(&calls, window_ns[1] - 1) : 0;
    int rc = add_calls(m, &calls, 0, end, location, window_ns);

    add_messages(m, columns, levels, location, window_ns);
    return rc;
}

int measure_add_tree(struct measure *m, const struct columns *columns, uint32_t location,
                     uint32_t row, const uint64_t window_ns[2])
{
    struct call_view calls = columns_view(columns, location);
    uint32_t inside = row < calls.n ? calls.subtree_len[row] : 0, end;

    if (inside == 0 || inside > calls.n - row)
        return err_set(ERR_FORMAT, "damaged run: calls/ has calls that make no tree");
    end = row + inside;
    while (end > row && calls.enter_ns[end - 1] >= window_ns[1])
        end--;
    return add_calls(m, &calls, row, end, location, window_ns);
}

#define MAX_WIDTH 8192
#define TYPICAL_WIDTH 1000
#define MAX_DEPTH 65536
#define TYPICAL_DEPTH 64
#define MAX_RECTANGLES 500000
#define TYPICAL_RECTANGLES 10000
#define MAX_MESSAGES 100000
#define TYPICAL_MESSAGES 2000
#define MAX_EXPORTED 200000u /* calls in a file */

/* ----------------------------------------------------------------------------- timeline */

static int answer_lod(const struct lod *lod, const struct lod_window *look,
                      struct response *response)
{
    struct bundle bundle = {.n_columns = 0};

    bundle_add(&bundle, "begin_ns", BUNDLE_F64, lod->begin_ns, lod->n);
    bundle_add(&bundle, "end_ns", BUNDLE_F64, lod->end_ns, lod->n);
    bundle_add(&bundle, "location", BUNDLE_U32, lod->location, lod->n);
    bundle_add(&bundle, "depth", BUNDLE_U16, lod->depth, lod->n);
    bundle_add(&bundle, "region", BUNDLE_U32, lod->region, lod->n);
    bundle_add(&bundle, "call", BUNDLE_U32, lod->call, lod->n);
    bundle_add(&bundle, "merged", BUNDLE_U32, lod->merged, lod->n);
    bundle_say(&bundle, "width", json_count(look->width));
    bundle_say(&bundle, "interval_ns", json_count((uint64_t)1 << lod_interval(look)));
    return response_bundle(response, &bundle);
}

int api_timeline(struct worker *worker, const struct request *request,
                 struct response *response)
{
    const struct served *served = worker->served;
    struct window window;
    struct lod lod = {.n = 0};
    struct lod_window look = {.width = 1};
    double width = 0, depth = 0, most = 0;
    int rc = window_read(&window, served, request);

    if (rc == 0)
        rc = request_number(request, "width", 1, MAX_WIDTH, TYPICAL_WIDTH, &width);
    if (rc == 0)
        rc = request_number(request, "depth", 1, MAX_DEPTH, TYPICAL_DEPTH, &depth);
    if (rc == 0)
        rc = request_number(request, "most", 1, MAX_RECTANGLES, TYPICAL_RECTANGLES, &most);
    if (rc == 0) {
        look = (struct lod_window){window.begin_ns, window.end_ns, (uint32_t)width,
                                   (uint32_t)depth, (uint32_t)most};
        lod_make(&lod, &served->scattered, served_levels(served), window.location,
                 window.n_locations, &look);
        answer_lod(&lod, &look, response);
    }
    lod_release(&lod);
    window_release(&window);
    return rc;
}

/* ----------------------------------------------------------------------------- messages */

static void say_how_many(struct bundle *bundle, uint64_t total, uint64_t shown,
                         bool is_estimate)
{
    bundle_say(bundle, "total", json_count(total));
    bundle_say(bundle, "shown", json_count(shown));
    bundle_say(bundle, "is_estimate", json_boolean(is_estimate));
}

static void answer_arrows(const struct arrows *arrows, struct response *response)
{
#define ARROW(name, type) BUNDLE_FIELD(#name, type, struct arrow, name)
    static const struct bundle_field field[] = {
        ARROW(send_ns, BUNDLE_F64),   ARROW(recv_ns, BUNDLE_F64),  ARROW(bytes, BUNDLE_F64),
        ARROW(from, BUNDLE_U32),      ARROW(to, BUNDLE_U32),       ARROW(tag, BUNDLE_U32),
        ARROW(send_call, BUNDLE_U32), ARROW(recv_call, BUNDLE_U32)};
    struct bundle bundle = {.n_columns = 0};

    bundle_gather(&bundle, field, sizeof field / sizeof *field, arrows->arrow, arrows->n,
                  sizeof *arrows->arrow);
    say_how_many(&bundle, arrows->total, arrows->n, arrows->is_estimate);
    response_bundle(response, &bundle);
}

int api_messages(struct worker *worker, const struct request *request,
                 struct response *response)
{
    const struct served *served = worker->served;
    struct window window;
    struct arrows arrows = {.n = 0};
    double limit = 0;
    int rc = window_read(&window, served, request);

    if (rc == 0)
        rc = request_number(request, "limit", 0, MAX_MESSAGES, TYPICAL_MESSAGES, &limit);
    if (rc == 0) {
        struct arrows_window look = {window.begin_ns, window.end_ns, window.location,
                                     window.n_locations};

        arrows_of(&arrows, &served->scattered, served_levels(served), &look, (size_t)limit);
        answer_arrows(&arrows, response);
    }
    arrows_release(&arrows);
    window_release(&window);
    return rc;
}

/* -------------------------------------------------------------------------- dependencies */

static void answer_dependencies(const struct dependency_arrows *arrows,
                                struct response *response)
{
#define DEPENDENCY(name, type) BUNDLE_FIELD(#name, type, struct dependency_arrow, name)
    static const struct bundle_field field[] = {
        DEPENDENCY(from_ns, BUNDLE_F64),   DEPENDENCY(to_ns, BUNDLE_F64),
        DEPENDENCY(from, BUNDLE_U32),      DEPENDENCY(to, BUNDLE_U32),
        DEPENDENCY(from_call, BUNDLE_U32), DEPENDENCY(to_call, BUNDLE_U32),
        DEPENDENCY(kind, BUNDLE_U8)};
    struct bundle bundle = {.n_columns = 0};

    bundle_gather(&bundle, field, sizeof field / sizeof *field, arrows->arrow, arrows->n,
                  sizeof *arrows->arrow);
    bundle_say(&bundle, "kinds",
               json_pack("[s, s, s]", dependency_kind_name(0), dependency_kind_name(1),
                         dependency_kind_name(2)));
    say_how_many(&bundle, arrows->total, arrows->n, arrows->is_estimate);
    response_bundle(response, &bundle);
}

int api_dependencies(struct worker *worker, const struct request *request,
                     struct response *response)
{
    struct served *s = worker->served;
    struct window window;
    struct dependency_arrows arrows = {0};
    double limit = 0;
    int rc = window_read(&window, s, request);

    if (rc == 0)
        rc = request_number(request, "limit", 0, MAX_MESSAGES, TYPICAL_MESSAGES, &limit);
    if (rc == 0) {
        const struct dependency_ends *ends =
            dependency_ends_take(&s->dependencies, &s->scattered);
        struct dependency_window look = {window.begin_ns, window.end_ns, window.location,
                                         window.n_locations, s->run.defs.names.n};

        dependency_arrows_of(&arrows, &s->scattered, ends, &look, (size_t)limit);
        dependency_ends_give_back(&s->dependencies, ends);
        answer_dependencies(&arrows, response);
    }
    dependency_arrows_release(&arrows);
    window_release(&window);
    return rc;
}

/* --------------------------------------------------------------------------- in numbers */

static json_t *group_to_json(const struct measure_group *g, enum measure_by by)
{
    json_t *item = json_pack("{s:I, s:I, s:I, s:I}", by == MEASURE_BY_RANK ? "rank" : "region",
                             (json_int_t)g->id, "calls", (json_int_t)g->calls, "total_ns",
                             (json_int_t)g->total_ns, "own_ns", (json_int_t)g->own_ns);

    if (by == MEASURE_BY_PATH)
        json_object_set_new(item, "caller",
                            g->caller == MEASURE_NO_CALLER ? json_null()
                                                           : json_count(g->caller));
    return item;
}

json_t *measure_items(const struct measure *m)
{
    json_t *items = json_array();

    for (uint32_t i = 0; i < m->known.n; i++)
        json_array_append_new(items, group_to_json(&m->group[i], m->by));
    return items;
}

static json_t *measure_to_json(const struct measure *m, const struct window *window)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:{s:I, s:I, s:I, s:I}}", "begin_ns",
                     (json_int_t)window->begin_ns, "end_ns", (json_int_t)window->end_ns,
                     "locations", (json_int_t)window->n_locations, "items", measure_items(m),
                     "messages", "sent", (json_int_t)m->sent, "sent_bytes",
                     (json_int_t)m->sent_bytes, "received", (json_int_t)m->received,
                     "received_bytes", (json_int_t)m->received_bytes);
}

static int read_measure_by(const struct request *request, enum measure_by *by)
{
    static const char *const names[] = {"region", "rank", "path"};
    const char *said = request_text(request, "by", names[0]);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(said, names[i]) == 0) {
            *by = (enum measure_by)i;
            return 0;
        }
    return err_set(ERR_USAGE, "'by' takes region, rank or path, not '%.40s'", said);
}

int api_measure(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *served = worker->served;
    struct window window;
    struct measure measure = {0};
    enum measure_by by = MEASURE_BY_REGION;
    int rc = window_read(&window, served, request);

    if (rc == 0)
        rc = read_measure_by(request, &by);
    if (rc == 0) {
        bool is_to_the_end = request_text(request, "end", NULL) == NULL;
        const uint64_t span[] = {window.begin_ns, window.end_ns + is_to_the_end};

        measure_init(&measure, by, &served->run.defs);
        for (uint32_t k = 0; k < window.n_locations && rc == 0; k++)
            rc = measure_add(&measure, &served->run.columns, served_levels(served),
                             window.location[k], span);
    }
    if (rc == 0)
        rc = response_json(response, measure_to_json(&measure, &window));
    measure_release(&measure);
    window_release(&window);
    return rc;
}

/* --------------------------------------------------------------------------- as a file */

static void put_name(FILE *out, const char *text)
{
    json_t *json = json_text(text);
    char *quoted = json_dumps(json, JSON_ENCODE_ANY);

    fputs(quoted, out);
    free(quoted);
    json_decref(json);
}

static void put_calls(FILE *out, const struct served *served, uint32_t l,
                      const struct window *window, uint64_t *n_left)
{
    const struct definitions *defs = &served->run.defs;
    struct call_view calls = columns_view(&served->run.columns, l);
    uint32_t end = calls_until(&calls, window->end_ns);
    const char *separator = *n_left == MAX_EXPORTED ? "" : ",\n";

    for (uint32_t i = 0; i<end && * n_left> 0;) {
        uint64_t enter = calls.enter_ns[i], length = calls.inclusive_ns[i];
        uint32_t inside = calls.subtree_len[i];

        if (enter + length < window->begin_ns && enter < window->begin_ns) {
            i += inside > 0 ? inside : 1; /* nothing inside reaches the window either */
            continue;
        }
        if (calls.region[i] < defs->names.n) {
            fprintf(out,
                    "%s{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64
                    ".%03u,\"dur\":%" PRIu64 ".%03u,\"name\":",
                    separator, defs->location[l].rank, defs->location[l].thread, enter / 1000,
                    (unsigned)(enter % 1000), length / 1000, (unsigned)(length % 1000));
            put_name(out, defs->region[calls.region[i]].short_name);
            fputc('}', out);
            separator = ",\n";
            (*n_left)--;
        }
        i++;
    }
}

int api_window(struct worker *worker, const struct request *request, struct response *response)
{
    struct window window;
    uint64_t n_left = MAX_EXPORTED;
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    int rc = window_read(&window, worker->served, request);

    if (rc == 0) {
        out = text_open(&text, &size);
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
        for (uint32_t k = 0; k < window.n_locations && n_left > 0; k++)
            put_calls(out, worker->served, window.location[k], &window, &n_left);
        fputs("\n]}\n", out);
        fclose(out);
        response_bytes(response, "application/json", text, size);
        response->download = "window.json";
        if (n_left == 0) {
            response_release(response);
            rc = err_set(ERR_RANGE, "more than %u calls in this window", MAX_EXPORTED);
        }
    }
    window_release(&window);
    return rc;
}

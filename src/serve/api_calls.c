/*
 * Single calls of the trace: what one is, with its arguments and what counters say of it, and
 * where the next of a region is.
 */
#include "serve/api_calls.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "explain/trace_view.h"
#include "serve/api.h"
#include "serve/arrows.h"
#include "serve/served.h"
#include "stack/call_counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- what a call was called with */

#define EXACT_WHOLE ((int64_t)1 << 53) /* beyond it readers of JSON may round */

/* Checksums that nobody compared do not say it. */
int call_details_check_row(const struct call_view *calls, uint32_t row, uint32_t n_regions)
{
    uint32_t depth = calls->depth[row];
    bool is_good = calls->region[row] < n_regions && depth < calls->n_depths &&
                   calls->subtree_len[row] >= 1 && calls->subtree_len[row] <= calls->n - row;

    for (uint32_t d = 0; is_good && d <= depth + 1 && d < calls->n_depths; d++)
        is_good = calls->depth_start[d] <= calls->depth_start[d + 1] &&
                  calls->depth_start[d + 1] <= calls->n;
    for (uint32_t d = 0; is_good && d < depth; d++)
        is_good = calls->depth_start[d] < calls->depth_start[d + 1] &&
                  calls->region[calls_ancestor(calls, row, (uint16_t)d)] < n_regions;
    return is_good ? 0 : err_set(ERR_FORMAT, "damaged run: calls/ has calls that make no tree");
}

/* ------------------------------------------------------------------------------ arguments */

/* Those beyond what any reader keeps exactly are digits in a text. */
static json_t *whole_json(int64_t value)
{
    char digits[24];

    if (value <= EXACT_WHOLE && value >= -EXACT_WHOLE)
        return json_integer(value);
    snprintf(digits, sizeof digits, "%" PRId64, value);
    return json_string(digits);
}

static json_t *natural_json(uint64_t value)
{
    char digits[24];

    if (value <= (uint64_t)EXACT_WHOLE)
        return json_count(value);
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_string(digits);
}

/* A text ends with its zero, or with those of the location. */
static json_t *text_json(const struct detail_view *details, uint64_t at)
{
    if (at >= details->n_text)
        return json_null();
    return json_text_n(details->text + at, strnlen(details->text + at, details->n_text - at));
}

static json_t *value_json(const struct detail_view *details, const struct argument *argument)
{
    switch (argument->kind) {
    case ARGUMENT_WHOLE:
        return whole_json(argument->whole);
    case ARGUMENT_NATURAL:
        return natural_json(argument->natural);
    case ARGUMENT_REAL:
        return json_number(argument->real);
    case ARGUMENT_YES_NO:
        return json_boolean(argument->whole != 0);
    case ARGUMENT_TEXT:
        return text_json(details, argument->natural);
    default:
        return json_null();
    }
}

static void say_arguments(const struct detail_files *files, const struct detail_view *details,
                          uint32_t row, json_t *json)
{
    json_t *all = json_array();
    size_t n;
    const struct argument *argument = call_arguments(details, row, &n);

    for (size_t i = 0; i < n && i < MAX_CALL_DETAILS; i++)
        if (argument[i].name < files->n_arguments)
            json_array_append_new(all, json_pack("{s:o, s:o}", "name",
                                                 json_text(files->argument[argument[i].name]),
                                                 "value", value_json(details, &argument[i])));
    json_object_set_new(json, "arguments", all);
    json_object_set_new(json, "n_arguments", json_count(n));
}

/* ------------------------------------------------------------------------------- counters */

static json_t *number_json(const struct counter_number *number)
{
    if (!number->is_known)
        return json_null();
    return number->is_real ? json_number(number->real) : json_integer(number->whole);
}

static json_t *read_json(const struct detail_reading *r)
{
    if (r == NULL)
        return json_null();
    return r->counter & READING_REAL ? json_number(r->real) : json_integer(r->whole);
}

/* With its time, which is not that of a border of the call. */
static json_t *timed_json(const struct detail_reading *r)
{
    return r ? json_pack("{s:o, s:o}", "time_ns", json_count(r->time_ns), "value", read_json(r))
             : json_null();
}

static json_t *rate_json(const struct counter_number *added, uint64_t ns)
{
    double value = added->is_real ? added->real : (double)added->whole;

    return added->is_known && ns > 0 ? json_number(value / (double)ns * 1e9) : json_null();
}

/* What is said of a call's counters. */
struct saying {
    const struct columns *columns;
    uint64_t enter_ns, leave_ns;
    json_t *all;
    uint64_t n;
};

static json_t *counter_json(const struct saying *s, const struct call_counter *c,
                            json_t *location)
{
    const struct detail_counter *of = &s->columns->details.counter[c->counter];
    bool has_range = c->has_all && c->n > 0;
    json_t *json = json_pack("{s:o, s:o, s:s, s:s, s:o}", "name", json_text(of->name), "unit",
                             json_text(of->is.unit), "mode", counter_mode_name(of->is.mode),
                             "span", counter_span_name(of->is.span), "location", location);

    json_object_set_new(json, "inclusive", number_json(&c->inclusive));
    json_object_set_new(json, "own", number_json(&c->own));
    json_object_set_new(json, "per_s", rate_json(&c->inclusive, s->leave_ns - s->enter_ns));
    json_object_set_new(json, "begin", read_json(c->begin));
    json_object_set_new(json, "end", read_json(c->end));
    json_object_set_new(json, "before", timed_json(c->before));
    json_object_set_new(json, "last", timed_json(c->last));
    json_object_set_new(json, "n_readings", c->has_all ? json_count(c->n) : json_null());
    json_object_set_new(json, "least", has_range ? json_number(c->least) : json_null());
    json_object_set_new(json, "greatest", has_range ? json_number(c->greatest) : json_null());
    return json;
}

static void say_some(struct saying *s, const struct call_counters *found, uint32_t location,
                     bool is_own)
{
    for (uint32_t i = 0; i < found->n; i++)
        if (s->n++ < MAX_CALL_DETAILS)
            json_array_append_new(
                s->all,
                counter_json(s, &found->at[i], is_own ? json_null() : json_count(location)));
}

bool call_details_is_recorder(const struct columns *columns, uint32_t location)
{
    return columns->details.range && columns->range[location].n_calls == 0 &&
           columns->details.range[location].n[DETAIL_READINGS] > 0;
}

static void say_recorders(struct saying *s, const struct definitions *defs, uint32_t rank)
{
    const struct detail_files *files = &s->columns->details;

    for (uint32_t l = 0; l < s->columns->n_locations && s->n < MAX_CALL_DETAILS; l++) {
        struct detail_view details;
        struct call_counters found;

        if (defs->location[l].rank != rank || !call_details_is_recorder(s->columns, l))
            continue;
        details = detail_files_view(files, l);
        call_counters_between(&details, s->enter_ns, s->leave_ns, files->n_counters, &found);
        say_some(s, &found, l, false);
        call_counters_release(&found);
    }
}

static struct counter *meanings(const struct detail_files *files)
{
    struct counter *is = mem_alloc(files->n_counters, sizeof *is);

    for (uint32_t c = 0; c < files->n_counters; c++)
        is[c] = files->counter[c].is;
    return is;
}

static void say_counters(const struct columns *columns, const struct definitions *defs,
                         uint32_t location, uint32_t row, json_t *json)
{
    struct call_view calls = columns_view(columns, location);
    struct counter *is = meanings(&columns->details);
    struct call_counters found;
    struct saying s = {.columns = columns,
                       .enter_ns = calls.enter_ns[row],
                       .leave_ns = calls_leave(&calls, row),
                       .all = json_array()};

    if (columns->details.range) {
        call_counters_of(&calls, row, is, columns->details.n_counters, &found);
        say_some(&s, &found, location, true);
        call_counters_release(&found);
        say_recorders(&s, defs, defs->location[location].rank);
    }
    free(is);
    json_object_set_new(json, "counters", s.all);
    json_object_set_new(json, "n_counters", json_count(s.n));
}

/*
 * "arguments", "n_arguments", "counters", "n_counters" of a call.
 *   location, row  of a call that was checked; nothing else is believed
 */
static void call_details_say(const struct columns *columns, const struct definitions *defs,
                             uint32_t location, uint32_t row, json_t *json)
{
    struct detail_view details = detail_files_view(&columns->details, location);

    say_arguments(&columns->details, &details, row, json);
    say_counters(columns, defs, location, row, json);
}

/* ------------------------------------------------------------------------------ the answers */

#define MAX_MESSAGES 8 /* of one call that are told one by one */
#define MAX_DEPENDENCIES 8

/* The first of a depth, counted from its beginning, whose row is `row` or after it. */
static uint64_t at_depth_from(const struct call_view *calls, uint32_t depth, uint32_t row)
{
    const uint32_t *by_depth = calls->by_depth + calls->depth_start[depth];
    uint64_t n = calls->depth_start[depth + 1] - calls->depth_start[depth];

    return lower_bound_u32(by_depth, n, row);
}

/* The direct children of a call are neighbours in the order of the depth below it. */
static void find_children(const struct call_view *calls, uint32_t row, uint64_t *begin,
                          uint64_t *end)
{
    uint32_t depth = calls->depth[row] + 1u;

    *begin = *end = 0;
    if (depth >= calls->n_depths)
        return;
    *begin = at_depth_from(calls, depth, row);
    *end = at_depth_from(calls, depth, row + calls->subtree_len[row]);
}

/* Without levels, the children are added up one by one. */
static uint64_t own_ns(const struct served *s, uint32_t location, const struct call_view *calls,
                       uint32_t row)
{
    const struct levels *levels = served_levels(s);
    uint64_t begin, end, children = 0;
    uint32_t depth = calls->depth[row] + 1u;

    find_children(calls, row, &begin, &end);
    if (begin < end && levels)
        children = levels_spent(levels, location, depth, begin, end);
    for (uint64_t i = begin; i < end && levels == NULL; i++) {
        uint32_t child = calls->by_depth[calls->depth_start[depth] + i];

        children += child < calls->n ? calls->inclusive_ns[child] : 0;
    }
    return children < calls->inclusive_ns[row] ? calls->inclusive_ns[row] - children : 0;
}

static json_t *path_of(const struct call_view *calls, uint32_t row)
{
    json_t *path = json_array();

    for (uint32_t d = 0; d < calls->depth[row]; d++)
        json_array_append_new(
            path, json_count(calls->region[calls_ancestor(calls, row, (uint16_t)d)]));
    json_array_append_new(path, json_count(calls->region[row]));
    return path;
}

/* Those beside it in its depth, and the first that it called: null where there is none. */
static void set_neighbours(json_t *json, const struct call_view *calls, uint32_t row,
                           uint64_t first_child, uint64_t end_child)
{
    uint32_t depth = calls->depth[row];
    const uint32_t *by_depth = calls->by_depth;
    uint64_t begin = calls->depth_start[depth], end = calls->depth_start[depth + 1];
    uint64_t at = begin + at_depth_from(calls, depth, row);

    json_object_set_new(json, "before",
                        at > begin ? json_count(by_depth[at - 1]) : json_null());
    json_object_set_new(json, "after",
                        at + 1 < end ? json_count(by_depth[at + 1]) : json_null());
    json_object_set_new(json, "first_child",
                        first_child < end_child
                            ? json_count(by_depth[calls->depth_start[depth + 1] + first_child])
                            : json_null());
}

/* Messages whose record lies in a call, and not in one that it called: what it was told to send
 * or receive. */
static json_t *messages_of(const struct call_view *calls, uint32_t row, size_t *n)
{
    json_t *messages = json_array();
    uint64_t leave = calls_leave(calls, row);

    *n = 0;
    for (size_t i = calls_message_from(calls, calls->enter_ns[row]);
         i < calls->n_messages && message_record_ns(&calls->message[i]) <= leave; i++) {
        const struct message *m = &calls->message[i];

        if (m->call != row || ++*n > MAX_MESSAGES)
            continue;
        json_array_append_new(
            messages, json_pack("{s:b, s:I, s:I, s:I}", "is_send", m->kind == MESSAGE_SEND,
                                "peer", (json_int_t)m->peer, "bytes", (json_int_t)m->bytes,
                                "tag", (json_int_t)m->tag));
    }
    return messages;
}

/* The first collective of a call, or null. */
static json_t *collective_of(const struct call_view *calls, uint32_t row)
{
    uint64_t leave = calls_leave(calls, row);

    for (size_t i = calls_collective_from(calls, calls->enter_ns[row]);
         i < calls->n_collectives && calls->collective[i].end_ns <= leave; i++) {
        const struct collective *c = &calls->collective[i];

        if (c->call == row)
            return json_pack("{s:I, s:I, s:o}", "sent_bytes", (json_int_t)c->sent_bytes,
                             "received_bytes", (json_int_t)c->received_bytes, "root",
                             c->root == NO_ROOT ? json_null() : json_count(c->root));
    }
    return json_null();
}

static void say_traffic(const struct call_view *calls, uint32_t row, json_t *json)
{
    size_t n;

    json_object_set_new(json, "messages", messages_of(calls, row, &n));
    json_object_set_new(json, "n_messages", json_count(n));
    json_object_set_new(json, "collective", collective_of(calls, row));
}

/* One end of it is the call, the other is told. */
static json_t *dependency_to_json(const struct columns *columns,
                                  const struct dependency_arrow *a, bool is_from)
{
    uint32_t location = is_from ? a->to : a->from, row = is_from ? a->to_call : a->from_call;
    struct call_view calls = columns_view(columns, location);

    return json_pack("{s:s, s:b, s:I, s:I, s:I, s:f}", "kind", dependency_kind_name(a->kind),
                     "is_from", is_from, "location", (json_int_t)location, "call",
                     (json_int_t)row, "region", (json_int_t)calls.region[row], "delay_ns",
                     (double)a->to_ns - (double)a->from_ns);
}

/* What it launched or had to wait for, and what had to wait for it. */
static void say_dependencies(struct served *s, uint32_t location, uint32_t row, json_t *json)
{
    const struct dependency_ends *ends = dependency_ends_take(&s->dependencies, &s->scattered);
    struct dependency_arrows arrows = {0};
    json_t *all = json_array();

    dependency_arrows_of_call(&arrows, &s->scattered, ends, location, row, s->run.defs.names.n);
    for (size_t i = 0; i < arrows.n && i < MAX_DEPENDENCIES; i++) {
        const struct dependency_arrow *a = &arrows.arrow[i];

        json_array_append_new(
            all,
            dependency_to_json(&s->scattered, a, a->from == location && a->from_call == row));
    }
    json_object_set_new(json, "dependencies", all);
    json_object_set_new(json, "n_dependencies", json_count(arrows.n));
    dependency_arrows_release(&arrows);
    dependency_ends_give_back(&s->dependencies, ends);
}

int api_call(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *s = worker->served;
    const struct columns *columns = &s->scattered;
    int64_t location = request->id[0], row = request->id[1];
    struct call_view calls;
    uint64_t first_child, end_child;
    uint32_t parent;
    json_t *json;
    int rc;

    if (location >= columns->n_locations)
        return err_set(ERR_NOT_FOUND, "the run has no location %lld", (long long)location);
    calls = columns_view(columns, (uint32_t)location);
    if (row >= calls.n)
        return err_set(ERR_NOT_FOUND, "location %lld has %u calls", (long long)location,
                       calls.n);
    rc = call_details_check_row(&calls, (uint32_t)row, s->run.defs.names.n);
    if (rc < 0)
        return rc;
    find_children(&calls, (uint32_t)row, &first_child, &end_child);
    parent = calls_caller(&calls, (uint32_t)row);
    json = json_object();
    json_object_set_new(json, "region", json_count(calls.region[row]));
    json_object_set_new(json, "enter_ns", json_count(calls.enter_ns[row]));
    json_object_set_new(json, "leave_ns", json_count(calls_leave(&calls, (uint32_t)row)));
    json_object_set_new(json, "exclusive_ns",
                        json_count(own_ns(s, (uint32_t)location, &calls, (uint32_t)row)));
    json_object_set_new(json, "depth", json_count(calls.depth[row]));
    json_object_set_new(json, "parent", parent == NO_CALL ? json_null() : json_count(parent));
    json_object_set_new(json, "n_children", json_count(end_child - first_child));
    set_neighbours(json, &calls, (uint32_t)row, first_child, end_child);
    json_object_set_new(json, "path", path_of(&calls, (uint32_t)row));
    say_traffic(&calls, (uint32_t)row, json);
    say_dependencies(worker->served, (uint32_t)location, (uint32_t)row, json);
    call_details_say(columns, &s->run.defs, (uint32_t)location, (uint32_t)row, json);
    return response_json(response, json);
}

/* ------------------------------------------------------------------ the calls of a region */

/* Where a call stands among those of its region: by time, or the longest first. */
struct call_key {
    uint64_t major;
    uint32_t location, row;
};

struct call_search {
    uint32_t region;
    struct window window; /* of which a part of the call lies in it */
    uint64_t until_ns;    /* its end, or behind the end of the trace */
    bool by_length, is_back;
    bool has_from;
    struct call_key from; /* what is sought lies behind it, or before it */
    /* found */
    struct call_key best;
    bool is_found;
    uint64_t total, n_before; /* calls of the region; those that `best` is not before */
};

static int compare_keys(const struct call_key *a, const struct call_key *b)
{
    return ORDER(a->major, b->major) ?:
           ORDER(a->location, b->location) ?:
           ORDER(a->row, b->row);
}

static void look_at(struct call_search *search, const struct call_key *key)
{
    int side = search->has_from ? compare_keys(key, &search->from) : search->is_back ? -1 : 1;
    bool is_better =
        !search->is_found || (compare_keys(key, &search->best) < 0) != search->is_back;

    search->total++;
    if (side < 0 || (side == 0 && !search->is_back))
        search->n_before++;
    if (side != 0 && (side < 0) == search->is_back && is_better) {
        search->best = *key;
        search->is_found = true;
    }
}

static bool is_in(const struct call_search *search, const struct call_view *calls, uint32_t i)
{
    uint64_t enter = calls->enter_ns[i], begin = search->window.begin_ns;

    return enter < search->until_ns && (enter >= begin || calls_leave(calls, i) > begin);
}

/* O(calls of the locations): the column of regions is all that is read, but for those that
 * match. */
static void find_call(struct call_search *search, const struct columns *columns)
{
    for (uint32_t k = 0; k < search->window.n_locations; k++) {
        uint32_t location = search->window.location[k];
        struct call_view calls = columns_view(columns, location);

        for (uint32_t i = 0; i < calls.n; i++) {
            struct call_key key = {.location = location, .row = i};

            if (calls.region[i] != search->region || !is_in(search, &calls, i))
                continue;
            key.major =
                search->by_length ? UINT64_MAX - calls.inclusive_ns[i] : calls.enter_ns[i];
            look_at(search, &key);
        }
    }
}

static int read_choice(const struct request *request, const char *name, const char *first,
                       const char *second, bool *is_second)
{
    const char *said = request_text(request, name, first);

    *is_second = strcmp(said, second) == 0;
    if (!*is_second && strcmp(said, first) != 0)
        return err_set(ERR_USAGE, "'%s' is %s or %s", name, first, second);
    return 0;
}

/* "LOCATION.ROW", or a time. */
static int read_from(const struct request *request, const struct columns *columns,
                     struct call_search *search)
{
    const char *said = request_text(request, "from", NULL);
    unsigned location, row;
    double after = 0;
    char end;
    int rc = request_number(request, "after", 0, REQUEST_MAX_NUMBER, -1, &after);

    if (rc < 0)
        return rc;
    if (said) {
        struct call_view calls;

        if (sscanf(said, "%9u.%9u%c", &location, &row, &end) != 2 ||
            location >= columns->n_locations)
            return err_set(ERR_USAGE,
                           "'from' takes LOCATION.ROW, such as 3.1415 for row 1415 of location "
                           "3, not '%.40s'",
                           said);
        calls = columns_view(columns, location);
        if (row >= calls.n)
            return err_set(ERR_NOT_FOUND, "location %u has %u calls", location, calls.n);
        search->from = (struct call_key){
            search->by_length ? UINT64_MAX - calls.inclusive_ns[row] : calls.enter_ns[row],
            location, row};
    } else if (after >= 0 && !search->by_length) {
        search->from = search->is_back
                           ? (struct call_key){(uint64_t)after, 0, 0}
                           : (struct call_key){(uint64_t)after, UINT32_MAX, UINT32_MAX};
    } else {
        return 0;
    }
    search->has_from = true;
    return 0;
}

/* `location` is one of `locations`, by another name. */
static int read_one_location(const struct request *request, const struct served *s,
                             struct window *window)
{
    double location = -1;
    int rc = request_number(request, "location", 0, UINT32_MAX, -1, &location);

    if (rc < 0 || location < 0)
        return rc;
    if (location >= s->run.columns.n_locations)
        return err_set(ERR_NOT_FOUND, "the run has no such region or location");
    window->location[0] = (uint32_t)location;
    window->n_locations = 1;
    return 0;
}

/* Release search->window in any case. */
static int read_search(const struct request *request, const struct served *s,
                       struct call_search *search)
{
    bool is_to_the_end = request_text(request, "end", NULL) == NULL;
    double region = 0;
    int rc;

    *search = (struct call_search){0};
    rc = window_read(&search->window, s, request);
    search->until_ns = search->window.end_ns + is_to_the_end;
    if (rc == 0)
        rc = read_one_location(request, s, &search->window);
    if (rc == 0)
        rc = request_number(request, "region", 0, UINT32_MAX, -1, &region);
    if (rc == 0)
        rc = read_choice(request, "order", "time", "longest", &search->by_length);
    if (rc == 0)
        rc = read_choice(request, "step", "next", "previous", &search->is_back);
    if (rc == 0)
        rc = read_from(request, &s->run.columns, search);
    if (rc == 0 && (region < 0 || region >= s->run.defs.names.n))
        rc = err_set(ERR_NOT_FOUND, "the run has no such region or location");
    search->region = rc == 0 ? (uint32_t)region : 0;
    return rc;
}

static int answer_found(const struct call_search *search, const struct columns *columns,
                        struct response *response)
{
    struct call_view calls = columns_view(columns, search->best.location);
    uint32_t row = search->best.row;

    return response_json(response,
                         json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "location",
                                   (json_int_t)search->best.location, "call", (json_int_t)row,
                                   "enter_ns", (json_int_t)calls.enter_ns[row], "leave_ns",
                                   (json_int_t)calls_leave(&calls, row), "depth",
                                   (json_int_t)calls.depth[row], "place",
                                   (json_int_t)(search->n_before + (search->is_back ? 0 : 1)),
                                   "total", (json_int_t)search->total));
}

int api_search_next(struct worker *worker, const struct request *request,
                    struct response *response)
{
    const struct served *s = worker->served;
    struct call_search search;
    int rc = read_search(request, s, &search);

    if (rc == 0) {
        find_call(&search, &s->run.columns);
        rc = search.is_found ? answer_found(&search, &s->run.columns, response)
                             : err_set(ERR_NOT_FOUND, "no such call %s that time",
                                       search.is_back ? "before" : "behind");
    }
    window_release(&search.window);
    return rc;
}

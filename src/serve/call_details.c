#include "serve/call_details.h"

#include "base/err.h"
#include "base/mem.h"
#include "explain/trace_view.h"
#include "stack/call_counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void call_details_say(const struct columns *columns, const struct definitions *defs,
                      uint32_t location, uint32_t row, json_t *json)
{
    struct detail_view details = detail_files_view(&columns->details, location);

    say_arguments(&columns->details, &details, row, json);
    say_counters(columns, defs, location, row, json);
}

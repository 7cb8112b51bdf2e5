/*
 * yajl calls back for every token; a small state machine knows where in the file it is. All of
 * the file is put into one more array, so that documents follow each other as its elements do:
 *
 *     depth 1   in that array: events of JSON lines, or documents
 *     +1        in one event, or in a document that is an object: the keys we want are here
 *     +2        inside "args": those that are asked for; inside anything else: skipped
 *
 * An array among events, and one that is called "traceEvents" in an object among them, holds
 * events too: its depth is the one counted from until it ends. Where a document has
 * "traceEvents" that is an object, that one is looked into in its place.
 */
#include "trace/chrome/chrome_json.h"

#include "base/err.h"
#include "base/mem.h"
#include "trace/chrome/json_input.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#define MAX_RESTARTS 10000
#define MAX_RANKS 10000000
#define MAX_DEPTH 1000 /* open brackets */
#define MAX_ARRAYS 16  /* of events, within each other */

enum json_key {
    KEY_OTHER,
    KEY_PH,
    KEY_NAME,
    KEY_CAT,
    KEY_TS,
    KEY_DUR,
    KEY_CPU_DUR,
    KEY_PID,
    KEY_TID,
    KEY_ID,
    KEY_ID2,
    KEY_SCOPE,
    KEY_ARGS,
    /* within KEY_ID2 */
    KEY_LOCAL,
    KEY_GLOBAL,
    /* of a document */
    KEY_EVENTS,
    KEY_DISTRIBUTED,
    KEY_BASE_TIME,
    KEY_DEVICES,
    KEY_ROCPROF, /* of a document that is no trace of this form */
    KEY_METADATA,
    KEY_RANK, /* this and the next within KEY_DISTRIBUTED */
    KEY_WORLD_SIZE,
};

/* Of an array of events that has another one in it. */
struct nested_array {
    int depth;
    bool is_in_object; /* the other one is that of an object, which takes its place */
};

struct chrome_reader {
    const struct chrome_sink *sink;
    struct quality *quality;

    yajl_handle json;
    int depth;                             /* open brackets */
    int events_depth;                      /* depth inside the array of events */
    struct nested_array outer[MAX_ARRAYS]; /* [n_outer] those around it */
    int n_outer;
    bool is_container;    /* the object among events holds, or held, an array of events */
    bool is_empty;        /* it has no keys yet */
    bool is_args, is_id2; /* inside "args", "id2" of an event */
    enum json_key key, outer_key; /* the last one; and that on level 2 */
    struct chrome_arg *arg;       /* what the next value in "args" is for, NULL: nothing */
    size_t arg_length[CHROME_MAX_ARGS]; /* of the names that are asked for */
    struct chrome_record now;
    struct chrome_document document;
    char metadata_key[128]; /* of the next value of otherData */
    uint64_t n_records, n_of_document;
    int n_restarts;
    struct json_filter filter;
    unsigned char *strict; /* what it makes of a piece of the file */
    bool is_of_rocprof;    /* a document of its own form was seen */
    bool is_lost;          /* looking for a line that starts an object */
    bool is_line_start;    /* no more than blanks since the last line end, for that */
};

/* ------------------------------------------------------------------------- values */

/* "123.456" microseconds to nanoseconds, exactly; exponents through double. */
static bool parse_us(const char *text, size_t length, int64_t *ns)
{
    char copy[64];
    double value;
    char *end;

    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strpbrk(copy, "eE") == NULL) {
        bool is_negative = copy[0] == '-';
        char *at = copy + is_negative;
        int64_t us = strtoll(at, &end, 10), rest = 0;

        if (end == at || us > INT64_MAX / 2000)
            return false;
        if (*end == '.') {
            int64_t unit = 100;

            for (end++; isdigit((unsigned char)*end); end++, unit /= 10)
                rest += (*end - '0') * unit;
        }
        *ns = us * 1000 + rest;
        if (is_negative)
            *ns = -*ns;
        return *end == '\0';
    }
    value = strtod(copy, &end) * 1000;
    if (*end != '\0' || !isfinite(value) || fabs(value) > 4e18)
        return false;
    *ns = llrint(value);
    return true;
}

static void copy_text(char *out, size_t size, const unsigned char *text, size_t length)
{
    size_t n = 0;

    for (size_t i = 0; i < length && n + 1 < size; i++)
        if (text[i] != '\0')
            out[n++] = (char)text[i];
    out[n] = '\0';
}

static void set_id_number(struct chrome_id *id, const char *text, size_t length)
{
    char copy[64];

    copy_text(copy, sizeof copy, (const unsigned char *)text, length);
    id->is_set = true;
    id->is_text = false;
    id->number = copy[0] == '-' ? (uint64_t)strtoll(copy, NULL, 10) : strtoull(copy, NULL, 10);
}

/* Whether a text is a number as JSON writes it, of up to 18 digits. */
static bool is_whole_number(const unsigned char *text, size_t length)
{
    size_t n_digits = 0, sign = length > 0 && text[0] == '-';

    while (sign + n_digits < length && isdigit(text[sign + n_digits]))
        n_digits++;
    return n_digits > 0 && n_digits <= 18 && sign + n_digits == length &&
           (text[sign] != '0' || length == 1);
}

/* Some writers quote the number in one kind of record and not in another. */
static void set_id_text(struct chrome_id *id, const unsigned char *text, size_t length)
{
    if (is_whole_number(text, length)) {
        set_id_number(id, (const char *)text, length);
        return;
    }
    id->is_set = id->is_text = true;
    copy_text(id->text, sizeof id->text, text, length);
}

static bool in_event(const struct chrome_reader *r)
{
    return r->depth == r->events_depth + 1;
}

static bool in_args(const struct chrome_reader *r)
{
    return r->is_args && r->depth == r->events_depth + 2;
}

/* Not in "args" of what is known not to be one. */
static bool may_be_counter(const struct chrome_reader *r)
{
    return r->sink->wants_counters && in_args(r) && (r->now.phase == 'C' || !r->now.phase);
}

/* On level 2, in an object that may be a document. */
static bool in_document(const struct chrome_reader *r)
{
    return r->events_depth == 1 && r->depth == 2;
}

/* The name that the next number in "args" has. */
static void note_series(struct chrome_reader *r, const unsigned char *text, size_t length)
{
    if (r->now.n_series < CHROME_SERIES)
        copy_text(r->now.series[r->now.n_series].name, sizeof r->now.series->name, text,
                  length);
}

static void add_series(struct chrome_reader *r, const char *text, size_t length)
{
    bool is_full = r->now.n_series == CHROME_SERIES, is_number;
    struct chrome_series lost, *series = is_full ? &lost : &r->now.series[r->now.n_series];
    char copy[64], *end;

    if (length >= sizeof copy)
        return;
    copy_text(copy, sizeof copy, (const unsigned char *)text, length);
    errno = 0;
    series->whole = strtoll(copy, &end, 10);
    series->is_real = *end != '\0' || errno != 0;
    series->real = strtod(copy, &end);
    is_number = end > copy && *end == '\0' && isfinite(series->real);
    r->now.n_series += is_number && !is_full;
    r->now.n_lost_series += is_number && is_full;
}

/* The name that the next value in "args" has; where there is no more room its value is counted.
 */
static void note_detail(struct chrome_reader *r, const unsigned char *text, size_t length)
{
    if (r->now.n_details < CHROME_DETAILS)
        copy_text(r->now.detail[r->now.n_details].name, sizeof r->now.detail->name, text,
                  length);
}

/* A value in "args" for which there is room, or NULL. */
static struct chrome_detail *next_detail(struct chrome_reader *r)
{
    if (!r->sink->wants_arguments || !in_args(r))
        return NULL;
    if (r->now.n_details < CHROME_DETAILS)
        return &r->now.detail[r->now.n_details++];
    r->now.n_lost_details++;
    return NULL;
}

static void add_number(struct chrome_reader *r, const char *text, size_t length)
{
    struct chrome_detail *detail = next_detail(r);
    char copy[64], *end;

    if (detail == NULL)
        return;
    copy_text(copy, sizeof copy, (const unsigned char *)text, length);
    errno = 0;
    detail->kind = copy[0] == '-' ? ARGUMENT_WHOLE : ARGUMENT_NATURAL;
    if (copy[0] == '-')
        detail->whole = strtoll(copy, &end, 10);
    else
        detail->natural = strtoull(copy, &end, 10);
    if (*end == '\0' && errno == 0)
        return;
    detail->kind = ARGUMENT_REAL;
    detail->real = strtod(copy, &end);
    if (!isfinite(detail->real))
        r->now.n_details--;
}

static void add_text(struct chrome_reader *r, const unsigned char *text, size_t length)
{
    struct chrome_detail *detail = next_detail(r);

    if (detail == NULL)
        return;
    detail->kind = ARGUMENT_TEXT;
    copy_text(detail->text, sizeof detail->text, text, length);
}

static int on_boolean(void *arg, int value)
{
    struct chrome_detail *detail = next_detail(arg);

    if (detail) {
        detail->kind = ARGUMENT_YES_NO;
        detail->natural = value != 0;
    }
    return 1;
}

/* A value in "args" that is asked for; of a list, one more element. */
static void set_arg(struct chrome_reader *r, const char *text, size_t length)
{
    struct chrome_arg *arg = r->arg;
    size_t n;

    if (arg == NULL || !r->is_args)
        return;
    n = arg->is_set ? strlen(arg->text) : 0;
    if (n > 0 && arg->text[n - 1] != '[' && n + 1 < sizeof arg->text)
        arg->text[n++] = ',';
    copy_text(arg->text + n, sizeof arg->text - n, (const unsigned char *)text, length);
    arg->is_set = true;
    if (in_args(r))
        r->arg = NULL;
}

/* A list in "args" begins or ends. */
static void set_arg_bracket(struct chrome_reader *r, const char *bracket)
{
    struct chrome_arg *arg = r->arg;
    size_t n;

    if (arg == NULL || !r->is_args)
        return;
    n = arg->is_set ? strlen(arg->text) : 0;
    if (n > 0 && *bracket == '[' && arg->text[n - 1] == ']' && n + 1 < sizeof arg->text)
        arg->text[n++] = ',';
    copy_text(arg->text + n, sizeof arg->text - n, (const unsigned char *)bracket, 1);
    arg->is_set = true;
}

static void document_number(struct chrome_reader *r, const char *text, size_t length)
{
    struct chrome_id id = {0};

    set_id_number(&id, text, length);
    if (r->key == KEY_RANK && r->depth == 3 && id.number < MAX_RANKS) {
        r->document.has_rank = true;
        r->document.rank = (uint32_t)id.number;
    } else if (r->key == KEY_WORLD_SIZE && r->depth == 3 && id.number < MAX_RANKS) {
        r->document.n_ranks = (uint32_t)id.number;
    } else if (r->key == KEY_BASE_TIME && r->depth == 2 && id.number < INT64_MAX / 2) {
        r->document.base_time_ns = (int64_t)id.number;
    }
}

/* A value of otherData; what is deeper there has no name of its own. */
static void say_metadata(struct chrome_reader *r, const char *text, size_t length)
{
    char value[CHROME_TEXT];

    if (r->depth != 3 || r->events_depth != 1 || r->outer_key != KEY_METADATA ||
        r->sink->metadata == NULL || r->metadata_key[0] == '\0')
        return;
    copy_text(value, sizeof value, (const unsigned char *)text, length);
    r->sink->metadata(r->sink->ctx, r->metadata_key, value);
    r->metadata_key[0] = '\0';
}

static void set_id2(struct chrome_reader *r, const unsigned char *text, size_t length)
{
    if (r->key != KEY_LOCAL && r->key != KEY_GLOBAL)
        return;
    set_id_text(&r->now.id, text, length);
    r->now.is_local_id = r->key == KEY_LOCAL;
}

static int on_number(void *arg, const char *text, size_t length)
{
    struct chrome_reader *r = arg;
    bool is_good = true;

    if (r->events_depth == 1 && r->key >= KEY_EVENTS)
        document_number(r, text, length);
    say_metadata(r, text, length);
    if (may_be_counter(r))
        add_series(r, text, length);
    add_number(r, text, length);
    set_arg(r, text, length);
    set_id2(r, (const unsigned char *)text, length);
    if (!in_event(r))
        return 1;
    switch (r->key) {
    case KEY_TS:
        is_good = r->now.has_time = parse_us(text, length, &r->now.time_ns);
        break;
    case KEY_DUR:
        is_good = r->now.has_duration = parse_us(text, length, &r->now.duration_ns);
        break;
    case KEY_CPU_DUR: /* of the thread's own clock, for want of the other */
        if (!r->now.has_duration)
            r->now.has_duration = parse_us(text, length, &r->now.duration_ns);
        break;
    case KEY_PID:
        set_id_number(&r->now.pid, text, length);
        break;
    case KEY_TID:
        set_id_number(&r->now.tid, text, length);
        break;
    case KEY_ID:
        set_id_number(&r->now.id, text, length);
        break;
    default:
        break;
    }
    r->now.is_bad |= !is_good;
    return 1;
}

/* What stands for NaN too. */
static int on_null(void *arg)
{
    struct chrome_reader *r = arg;

    r->now.is_bad |= in_event(r) && (r->key == KEY_TS || r->key == KEY_DUR);
    return 1;
}

static int on_string(void *arg, const unsigned char *text, size_t length)
{
    struct chrome_reader *r = arg;

    if (may_be_counter(r))
        add_series(r, (const char *)text, length);
    add_text(r, text, length);
    set_arg(r, (const char *)text, length);
    say_metadata(r, (const char *)text, length);
    set_id2(r, text, length);
    if (!in_event(r))
        return 1;
    switch (r->key) {
    case KEY_PH:
        r->now.phase = length > 0 ? (char)text[0] : 0;
        break;
    case KEY_NAME:
        copy_text(r->now.name, sizeof r->now.name, text, length);
        r->quality->n[QUALITY_too_long] +=
            length >= sizeof r->now.name || (length > 0 && text[length - 1] == JSON_CUT);
        break;
    case KEY_CAT:
        copy_text(r->now.category, sizeof r->now.category, text, length);
        break;
    case KEY_SCOPE:
        copy_text(r->now.scope, sizeof r->now.scope, text, length);
        break;
    case KEY_PID:
        set_id_text(&r->now.pid, text, length);
        break;
    case KEY_TID:
        set_id_text(&r->now.tid, text, length);
        break;
    case KEY_ID:
        set_id_text(&r->now.id, text, length);
        break;
    case KEY_TS:
    case KEY_DUR: /* some writers quote numbers */
    case KEY_CPU_DUR:
        return on_number(arg, (const char *)text, length);
    default:
        break;
    }
    return 1;
}

/* ----------------------------------------------------------------------- structure */

struct named_key {
    const char *name;
    enum json_key key;
};

static enum json_key key_of(const struct named_key *keys, const unsigned char *text,
                            size_t length)
{
    for (size_t i = 0; keys[i].name; i++)
        if (strlen(keys[i].name) == length && memcmp(keys[i].name, text, length) == 0)
            return keys[i].key;
    return KEY_OTHER;
}

static void find_arg(struct chrome_reader *r, const unsigned char *text, size_t length)
{
    const struct chrome_sink *sink = r->sink;

    r->arg = NULL;
    for (uint32_t i = 0; i < sink->n_args; i++)
        if (r->arg_length[i] == length && memcmp(sink->arg[i], text, length) == 0)
            r->arg = &r->now.arg[i];
}

static int on_key(void *arg, const unsigned char *text, size_t length)
{
    static const struct named_key of_event[] = {{"ph", KEY_PH},
                                                {"name", KEY_NAME},
                                                {"cat", KEY_CAT},
                                                {"ts", KEY_TS},
                                                {"dur", KEY_DUR},
                                                {"pid", KEY_PID},
                                                {"tid", KEY_TID},
                                                {"id", KEY_ID},
                                                {"args", KEY_ARGS},
                                                {"tdur", KEY_CPU_DUR},
                                                {"scope", KEY_SCOPE},
                                                {"id2", KEY_ID2},
                                                {"traceEvents", KEY_EVENTS},
                                                {NULL, KEY_OTHER}};
    static const struct named_key of_id2[] = {
        {"local", KEY_LOCAL}, {"global", KEY_GLOBAL}, {NULL, KEY_OTHER}};
    static const struct named_key of_document[] = {
        {"distributedInfo", KEY_DISTRIBUTED},  {"baseTimeNanoseconds", KEY_BASE_TIME},
        {"deviceProperties", KEY_DEVICES},     {"otherData", KEY_METADATA},
        {"rocprofiler-sdk-tool", KEY_ROCPROF}, {NULL, KEY_OTHER}};
    static const struct named_key of_job[] = {
        {"rank", KEY_RANK}, {"world_size", KEY_WORLD_SIZE}, {NULL, KEY_OTHER}};
    struct chrome_reader *r = arg;

    r->key = KEY_OTHER;
    r->is_empty = false;
    if (in_args(r)) {
        find_arg(r, text, length);
        if (r->sink->wants_counters)
            note_series(r, text, length);
        if (r->sink->wants_arguments)
            note_detail(r, text, length);
    } else if (in_event(r)) {
        r->key = key_of(of_event, text, length);
        if (r->key == KEY_OTHER && in_document(r))
            r->key = key_of(of_document, text, length);
        if (in_document(r))
            r->outer_key = r->key;
        r->is_of_rocprof |= r->key == KEY_ROCPROF;
    } else if (r->is_id2 && r->depth == r->events_depth + 2) {
        r->key = key_of(of_id2, text, length);
    } else if (r->depth == 3 && r->events_depth == 1 && r->outer_key == KEY_DISTRIBUTED) {
        r->key = key_of(of_job, text, length);
    } else if (r->depth == 3 && r->events_depth == 1 && r->outer_key == KEY_METADATA) {
        copy_text(r->metadata_key, sizeof r->metadata_key, text, length);
    }
    return 1;
}

/* Clearing the first bytes of the texts is enough. */
static void begin_record(struct chrome_reader *r)
{
    r->now.phase = 0;
    r->now.has_time = r->now.has_duration = r->now.is_bad = r->now.is_local_id = false;
    r->now.pid.is_set = r->now.tid.is_set = r->now.id.is_set = false;
    r->now.name[0] = r->now.category[0] = r->now.scope[0] = '\0';
    for (uint32_t i = 0; i < r->sink->n_args; i++)
        r->now.arg[i].is_set = false;
    r->now.n_series = r->now.n_details = 0;
    r->now.n_lost_series = r->now.n_lost_details = 0;
    r->is_args = r->is_id2 = r->is_container = false;
    r->is_empty = true;
}

/* From here on events are at this depth; no more than that are within each other in earnest. */
static void enter_events(struct chrome_reader *r, int depth, bool is_in_object)
{
    if (r->n_outer == MAX_ARRAYS)
        return;
    r->outer[r->n_outer++] = (struct nested_array){r->events_depth, is_in_object};
    r->events_depth = depth;
}

/* The object that what ends here is in is none of its own. */
static void leave_events(struct chrome_reader *r)
{
    r->events_depth = r->outer[--r->n_outer].depth;
    r->is_container = true;
}

static int on_map_start(void *arg)
{
    struct chrome_reader *r = arg;

    if (++r->depth > MAX_DEPTH)
        return 0;
    if (in_event(r)) {
        begin_record(r);
    } else if (r->depth == r->events_depth + 2 && r->key == KEY_EVENTS) {
        enter_events(r, r->depth - 1, true);
        begin_record(r);
    } else if (r->depth == r->events_depth + 2) {
        r->is_args = r->key == KEY_ARGS;
        r->is_id2 = r->key == KEY_ID2;
    }
    r->document.is_of_process |=
        r->depth == 3 && r->events_depth == 1 && r->key == KEY_DISTRIBUTED;
    r->key = KEY_OTHER;
    return 1;
}

static void end_document(struct chrome_reader *r)
{
    if (r->n_of_document > 0 && r->sink->document)
        r->sink->document(r->sink->ctx, &r->document);
    r->n_of_document = 0;
    r->document = (struct chrome_document){0};
}

/* Not an object that holds events, nor an empty one: some writers begin or end with {}. */
static bool is_record(struct chrome_reader *r)
{
    if (r->is_container || r->is_empty)
        return false;
    if (!in_document(r) || r->now.phase)
        return true;
    r->quality->n[QUALITY_bad_record] += r->n_records > 0;
    return false;
}

static int on_map_end(void *arg)
{
    struct chrome_reader *r = arg;

    if (in_event(r) && is_record(r)) {
        r->n_records++;
        r->n_of_document++;
        r->sink->record(r->sink->ctx, &r->now);
    } else if (in_document(r) && r->is_container) {
        end_document(r);
    }
    r->is_container &= !in_event(r);
    r->depth--;
    if (r->depth == r->events_depth && r->n_outer > 0 && r->outer[r->n_outer - 1].is_in_object)
        leave_events(r);
    r->is_args &= r->depth >= r->events_depth + 2;
    r->key = KEY_OTHER;
    return 1;
}

static int on_array_start(void *arg)
{
    struct chrome_reader *r = arg;

    if (++r->depth > MAX_DEPTH)
        return 0;
    if (r->depth == r->events_depth + 1 ||
        (r->depth == r->events_depth + 2 && r->key == KEY_EVENTS))
        enter_events(r, r->depth, false);
    else if (r->depth == 3 && r->events_depth == 1 && r->key == KEY_DEVICES)
        r->document.is_of_process = true;
    set_arg_bracket(r, "[");
    r->key = KEY_OTHER;
    return 1;
}

static int on_array_end(void *arg)
{
    struct chrome_reader *r = arg;

    if (r->depth == r->events_depth && r->n_outer > 0) {
        bool is_document = r->depth == 2;

        leave_events(r);
        if (is_document)
            end_document(r);
    }
    r->depth--;
    set_arg_bracket(r, "]");
    if (in_args(r))
        r->arg = NULL;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_map_key = on_key,
    .yajl_start_map = on_map_start,
    .yajl_end_map = on_map_end,
    .yajl_start_array = on_array_start,
    .yajl_end_array = on_array_end,
};

/* ------------------------------------------------------------------------- reading */

static void start_parser(struct chrome_reader *r)
{
    if (r->json)
        yajl_free(r->json);
    r->json = yajl_alloc(&callbacks, NULL, r);
    yajl_config(r->json, yajl_dont_validate_strings, 1);
    r->depth = 0;
    r->events_depth = 1;
    r->n_outer = 0;
    r->is_args = r->is_id2 = r->is_container = false;
    r->is_empty = true;
    r->arg = NULL;
    r->key = r->outer_key = KEY_OTHER;
    yajl_parse(r->json, (const unsigned char *)"[", 1);
}

/* True when nothing but the end of the file's brackets, or a stray comma, is left. */
static bool is_only_closing(const unsigned char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\r\n,]}", text[i]) == NULL || text[i] == '\0')
            return false;
    return true;
}

/* Where the next line that starts an object begins; length if there is none. */
static size_t find_object_line(struct chrome_reader *r, const unsigned char *text,
                               size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '{' && r->is_line_start)
            return i;
        r->is_line_start =
            text[i] == '\n' || (r->is_line_start && strchr(", \t\r", text[i]) && text[i]);
    }
    return length;
}

/* Parses one stretch of the file, starting anew after what cannot be parsed. */
static void parse_bytes(void *ctx, const unsigned char *raw, size_t n_raw)
{
    struct chrome_reader *r = ctx;
    const unsigned char *text = r->strict;
    size_t at = 0, length = json_filter(&r->filter, raw, n_raw, r->strict);

    while (at < length && r->n_restarts <= MAX_RESTARTS) {
        size_t used;

        if (r->is_lost) {
            at += find_object_line(r, text + at, length - at);
            if (at == length)
                break;
            r->is_lost = false;
            start_parser(r);
        }
        if (yajl_parse(r->json, text + at, length - at) == yajl_status_ok)
            break;
        used = yajl_get_bytes_consumed(r->json);
        at += used > 0 && used <= length - at ? used : 1;
        if (is_only_closing(text + at, length - at) && r->depth <= 3)
            break;
        /* What the parser could not take is behind: an error, if it is not just the end. */
        if (r->depth > 0) { /* else the end of a document whose beginning was lost */
            r->quality->n[QUALITY_bad_record]++;
            r->n_restarts++;
        }
        r->is_lost = true;
        r->is_line_start = at > 0 && text[at - 1] == '\n';
    }
}

bool chrome_json_accepts(const char *path)
{
    unsigned char head[256], strict[JSON_FILTER_ROOM(sizeof head)];
    struct json_filter filter = {0};
    size_t n;

    if (strcmp(path, "-") == 0)
        return true;
    n = json_input_head(path, head, sizeof head);
    if (n > 1 && head[1] == '\0') /* UTF-16 */
        return false;
    n = json_filter(&filter, head, n, strict);
    for (size_t i = 0; i < n; i++)
        if (!isspace(strict[i]))
            return strict[i] == '[' || strict[i] == '{';
    return false;
}

static int conclude(struct chrome_reader *r, const char *path, bool is_cut)
{
    /* inside an event; neither the array nor what is around it need end */
    bool is_truncated = is_cut || r->n_restarts > MAX_RESTARTS ||
                        (!r->is_lost && r->depth > r->events_depth && !r->is_container);

    r->quality->n[QUALITY_truncated] += is_truncated;
    end_document(r);
    if (r->n_records > 0)
        return 0;
    if (is_truncated)
        return err_set(ERR_FORMAT, "'%s' is cut off: it ends before its first event is over",
                       path);
    if (r->filter.n_read == 0)
        return err_set(ERR_FORMAT, "not a trace: '%s' is empty", path);
    if (r->is_of_rocprof)
        return err_set(ERR_FORMAT,
                       "'%s' is of rocprofv3's own form of JSON: with --output-format otf2 it "
                       "writes what is read here",
                       path);
    return err_set(ERR_FORMAT, "no trace events in '%s'", path);
}

int chrome_json_read(const char *path, const struct chrome_sink *sink, struct quality *quality)
{
    struct chrome_reader *r = mem_alloc(1, sizeof *r);
    bool is_cut;
    int rc;

    r->sink = sink;
    r->quality = quality;
    r->is_line_start = true;
    for (uint32_t i = 0; i < sink->n_args; i++)
        r->arg_length[i] = strlen(sink->arg[i]);
    r->strict = mem_alloc(JSON_FILTER_ROOM(JSON_INPUT_PIECE), 1);
    start_parser(r);
    rc = json_input_read(path, parse_bytes, r, &is_cut);
    if (rc == 0)
        rc = conclude(r, strcmp(path, "-") == 0 ? "standard input" : path, is_cut);
    yajl_free(r->json);
    free(r->strict);
    free(r);
    return rc;
}

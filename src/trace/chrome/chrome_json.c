/*
 * yajl calls back for every token; a small state machine knows where in the file it is:
 *
 *     level 0   before anything
 *     level 1   in the outer object, looking for "traceEvents"     (array form: absent)
 *     level 2   in the array of events
 *     level 3   in one event: the keys we want are here
 *     level 4+  inside a value of an event: skipped, but for args.name
 */
#include "trace/chrome/chrome_json.h"

#include "base/err.h"
#include "base/mem.h"
#include "trace/chrome/json_filter.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <yajl/yajl_parse.h>
#include <zstd.h>

#define CHUNK 65536u
#define MOST_RESTARTS 10000
#define MOST_DEPTH 1000 /* open brackets */

enum key { KEY_OTHER, KEY_PH, KEY_NAME, KEY_TS, KEY_DUR, KEY_PID, KEY_TID, KEY_ID, KEY_ARGS };

struct reader {
    void (*record)(void *ctx, const struct chrome_record *r);
    void *ctx;
    struct quality *quality;

    yajl_handle json;
    int depth;           /* open brackets */
    int events_depth;    /* depth inside the array of events; 0 while it is not found */
    bool is_events_next; /* the key "traceEvents" was just read */
    bool is_args;        /* inside "args" of an event */
    bool wants_counters;
    enum key key;
    struct chrome_record now;
    uint64_t n_records;
    int n_restarts;
    struct json_filter filter;
    unsigned char *strict; /* [CHUNK + 2] what it makes of a chunk */
    bool is_lost;          /* looking for a line that starts an object */
    char before;           /* the byte before this chunk, for that */
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

static void set_id_text(struct chrome_id *id, const unsigned char *text, size_t length)
{
    id->is_set = id->is_text = true;
    copy_text(id->text, sizeof id->text, text, length);
}

static void set_id_number(struct chrome_id *id, const char *text, size_t length)
{
    char copy[64];

    copy_text(copy, sizeof copy, (const unsigned char *)text, length);
    id->is_set = true;
    id->is_text = false;
    id->number = copy[0] == '-' ? (uint64_t)strtoll(copy, NULL, 10) : strtoull(copy, NULL, 10);
}

static bool in_event(const struct reader *r)
{
    return r->events_depth > 0 && r->depth == r->events_depth + 1;
}

/* The name that the next number in "args" has. */
static void note_series(struct reader *r, const unsigned char *text, size_t length)
{
    if (r->now.n_series < CHROME_SERIES)
        copy_text(r->now.series[r->now.n_series].name, sizeof r->now.series->name, text,
                  length);
}

static void add_series(struct reader *r, const char *text, size_t length)
{
    struct chrome_series *series = &r->now.series[r->now.n_series];
    char copy[64], *end;

    if (r->now.n_series == CHROME_SERIES || length >= sizeof copy)
        return;
    copy_text(copy, sizeof copy, (const unsigned char *)text, length);
    errno = 0;
    series->whole = strtoll(copy, &end, 10);
    series->is_real = *end != '\0' || errno != 0;
    series->real = strtod(copy, &end);
    r->now.n_series += *end == '\0' && isfinite(series->real);
}

static bool in_args(const struct reader *r)
{
    return r->is_args && r->depth == r->events_depth + 2;
}

static int on_number(void *arg, const char *text, size_t length)
{
    struct reader *r = arg;
    bool is_good = true;

    if (r->wants_counters && in_args(r))
        add_series(r, text, length);
    if (!in_event(r))
        return 1;
    switch (r->key) {
    case KEY_TS:
        is_good = r->now.has_time = parse_us(text, length, &r->now.time_ns);
        break;
    case KEY_DUR:
        is_good = r->now.has_duration = parse_us(text, length, &r->now.duration_ns);
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
    r->quality->n[QUALITY_bad_value] += !is_good;
    return 1;
}

static int on_string(void *arg, const unsigned char *text, size_t length)
{
    struct reader *r = arg;

    if (in_args(r) && r->key == KEY_NAME)
        copy_text(r->now.args_name, sizeof r->now.args_name, text, length);
    if (!in_event(r))
        return 1;
    switch (r->key) {
    case KEY_PH:
        r->now.phase = length > 0 ? (char)text[0] : 0;
        break;
    case KEY_NAME:
        copy_text(r->now.name, sizeof r->now.name, text, length);
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
        return on_number(arg, (const char *)text, length);
    default:
        break;
    }
    return 1;
}

/* ----------------------------------------------------------------------- structure */

static enum key key_of(const unsigned char *text, size_t length)
{
    static const struct {
        const char *name;
        enum key key;
    } keys[] = {{"ph", KEY_PH},   {"name", KEY_NAME}, {"ts", KEY_TS}, {"dur", KEY_DUR},
                {"pid", KEY_PID}, {"tid", KEY_TID},   {"id", KEY_ID}, {"args", KEY_ARGS}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].name) == length && memcmp(keys[i].name, text, length) == 0)
            return keys[i].key;
    return KEY_OTHER;
}

static int on_key(void *arg, const unsigned char *text, size_t length)
{
    static const char events[] = "traceEvents";
    struct reader *r = arg;

    if (r->depth == 1 && r->events_depth == 0)
        r->is_events_next =
            length == sizeof events - 1 && memcmp(text, events, sizeof events - 1) == 0;
    if (r->wants_counters && in_args(r))
        note_series(r, text, length);
    r->key = key_of(text, length);
    return 1;
}

static int on_map_start(void *arg)
{
    struct reader *r = arg;

    if (++r->depth > MOST_DEPTH)
        return 0;
    r->is_events_next = false;
    if (in_event(r)) {
        /* clearing the first bytes of the texts is enough */
        r->now.phase = 0;
        r->now.has_time = r->now.has_duration = false;
        r->now.pid.is_set = r->now.tid.is_set = r->now.id.is_set = false;
        r->now.name[0] = r->now.args_name[0] = '\0';
        r->now.n_series = 0;
        r->is_args = false;
    } else if (r->events_depth > 0 && r->depth == r->events_depth + 2) {
        r->is_args = r->key == KEY_ARGS;
    }
    r->key = KEY_OTHER;
    return 1;
}

static int on_map_end(void *arg)
{
    struct reader *r = arg;

    if (in_event(r)) {
        r->n_records++;
        r->record(r->ctx, &r->now);
    }
    r->depth--;
    r->is_args = false;
    r->key = KEY_OTHER;
    return 1;
}

static int on_array_start(void *arg)
{
    struct reader *r = arg;

    if (++r->depth > MOST_DEPTH)
        return 0;
    if (r->events_depth == 0 && (r->depth == 1 || (r->depth == 2 && r->is_events_next)))
        r->events_depth = r->depth;
    r->is_events_next = false;
    r->key = KEY_OTHER;
    return 1;
}

static int on_array_end(void *arg)
{
    struct reader *r = arg;

    if (r->depth == r->events_depth)
        r->events_depth = -1; /* there is only one array of events */
    r->depth--;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_map_key = on_key,
    .yajl_start_map = on_map_start,
    .yajl_end_map = on_map_end,
    .yajl_start_array = on_array_start,
    .yajl_end_array = on_array_end,
};

/* ------------------------------------------------------------------------- reading */

static void start_parser(struct reader *r)
{
    if (r->json)
        yajl_free(r->json);
    r->json = yajl_alloc(&callbacks, NULL, r);
    yajl_config(r->json, yajl_dont_validate_strings, 1);
    r->depth = r->events_depth = 0;
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
static size_t find_object_line(const struct reader *r, const unsigned char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char before = i > 0 ? text[i - 1] : (unsigned char)r->before;

        if (text[i] == '{' && before == '\n')
            return i;
    }
    return length;
}

/* Feeds one stretch of the file, starting anew after what cannot be parsed. */
static void feed(struct reader *r, const unsigned char *raw, size_t n_raw)
{
    const unsigned char *text = r->strict;
    size_t at = 0, length = json_filter(&r->filter, raw, n_raw, r->strict);

    if (length == 0)
        return;
    while (at < length) {
        size_t used;

        if (r->is_lost) {
            at += find_object_line(r, text + at, length - at);
            if (at == length)
                break;
            r->is_lost = false;
            start_parser(r);
            yajl_parse(r->json, (const unsigned char *)"[", 1);
        }
        if (r->n_restarts > MOST_RESTARTS || r->events_depth < 0)
            break;
        if (yajl_parse(r->json, text + at, length - at) == yajl_status_ok)
            break;
        used = yajl_get_bytes_consumed(r->json);
        at += used > 0 && used <= length - at ? used : 1;
        if (is_only_closing(text + at, length - at) && r->depth <= 2)
            break;
        r->quality->n[QUALITY_bad_record]++;
        r->n_restarts++;
        r->is_lost = true;
        r->before = at > 0 ? (char)text[at - 1] : '\n';
    }
    r->before = (char)text[length - 1];
}

/* Feeds the file as it is. Returns 0 or ERR_IO. */
static int read_plain(struct reader *r, int fd, const char *path, unsigned char *buffer,
                      size_t n_ready)
{
    ssize_t n = (ssize_t)n_ready;

    while (n > 0) {
        feed(r, buffer, (size_t)n);
        do
            n = read(fd, buffer, CHUNK);
        while (n < 0 && errno == EINTR);
    }
    return n < 0 ? err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno)) : 0;
}

static int read_zstd(struct reader *r, int fd, const char *path, unsigned char *buffer,
                     size_t n_ready)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    unsigned char *plain = mem_alloc(CHUNK, 1);
    ssize_t n = (ssize_t)n_ready;
    size_t state = 1;
    int rc = 0;

    while (n > 0 && !ZSTD_isError(state)) {
        ZSTD_inBuffer in = {buffer, (size_t)n, 0};
        ZSTD_outBuffer out;

        do {
            out = (ZSTD_outBuffer){plain, CHUNK, 0};
            state = ZSTD_decompressStream(stream, &out, &in);
            if (!ZSTD_isError(state) && out.pos > 0)
                feed(r, plain, out.pos);
        } while (!ZSTD_isError(state) && (in.pos < in.size || out.pos == CHUNK));
        do
            n = read(fd, buffer, CHUNK);
        while (n < 0 && errno == EINTR);
    }
    if (n < 0)
        rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    else if (state != 0)
        r->quality->n[QUALITY_truncated]++;
    ZSTD_freeDStream(stream);
    free(plain);
    return rc;
}

static bool is_zstd(const unsigned char *text, size_t length)
{
    return length >= 4 && memcmp(text, "\x28\xb5\x2f\xfd", 4) == 0;
}

/* Fills as much of the first chunk as there is at once; 0 at the end of an empty file. */
static ssize_t read_head(int fd, unsigned char *buffer, size_t size)
{
    size_t n = 0;

    while (n < size) {
        ssize_t more = read(fd, buffer + n, size - n);

        if (more < 0 && errno == EINTR)
            continue;
        if (more < 0)
            return -1;
        if (more == 0)
            break;
        n += (size_t)more;
        if (n >= 4)
            break;
    }
    return (ssize_t)n;
}

bool chrome_json_accepts(const char *path)
{
    unsigned char head[256], strict[sizeof head + 2];
    struct json_filter filter = {0};
    ssize_t n;
    int fd;

    if (strcmp(path, "-") == 0)
        return true;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, head, sizeof head);
    close(fd);
    if (n > 0 && is_zstd(head, (size_t)n))
        return true;
    n = n > 0 ? (ssize_t)json_filter(&filter, head, (size_t)n, strict) : 0;
    for (ssize_t i = 0; i < n; i++)
        if (!isspace(strict[i]))
            return strict[i] == '[' || strict[i] == '{';
    return false;
}

static int read_all(struct reader *r, int fd, const char *path, unsigned char *buffer)
{
    ssize_t n = read_head(fd, buffer, CHUNK);
    int rc;

    if (n < 0)
        return err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    rc = is_zstd(buffer, (size_t)n) ? read_zstd(r, fd, path, buffer, (size_t)n)
                                    : read_plain(r, fd, path, buffer, (size_t)n);
    if (rc < 0)
        return rc;
    /* inside an event; the array itself need not end */
    if (!r->is_lost && r->events_depth > 0 && r->depth > r->events_depth)
        r->quality->n[QUALITY_truncated]++;
    r->quality->n[QUALITY_too_long] += r->filter.n_cut;
    if (r->n_records == 0 && r->quality->n[QUALITY_truncated] > 0)
        return err_set(ERR_FORMAT, "'%s' is cut off: it ends before its first event is over",
                       path);
    if (r->n_records == 0)
        return err_set(ERR_FORMAT, "no trace events in '%s'", path);
    return 0;
}

int chrome_json_read(const char *path, bool wants_counters,
                     void (*record)(void *ctx, const struct chrome_record *r), void *ctx,
                     struct quality *quality)
{
    struct reader *r = mem_alloc(1, sizeof *r);
    unsigned char *buffer = mem_alloc(CHUNK, 1);
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    r->record = record;
    r->ctx = ctx;
    r->wants_counters = wants_counters;
    r->quality = quality;
    r->before = '\n';
    r->strict = mem_alloc(CHUNK + 2, 1);
    start_parser(r);
    if (fd < 0)
        rc = err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    else
        rc = read_all(r, fd, is_stdin ? "standard input" : path, buffer);
    if (fd >= 0 && !is_stdin)
        close(fd);
    yajl_free(r->json);
    free(buffer);
    free(r->strict);
    free(r);
    return rc;
}

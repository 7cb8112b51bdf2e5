/*
 *     handler  ->  response  ->  answer  ->  reply  ->  connection
 *                  status,       headers     a head and pieces of
 *                  bytes         of all      a body, which are not copied
 *
 * The machine is little-endian, as the columns of a run are.
 */
#include "http/response.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------- columns of numbers */

static const struct {
    const char *name;
    size_t width;
} types[] = {
    [BUNDLE_U8] = {"u8", 1},   [BUNDLE_I8] = {"i8", 1},   [BUNDLE_U16] = {"u16", 2},
    [BUNDLE_U32] = {"u32", 4}, [BUNDLE_F32] = {"f32", 4}, [BUNDLE_F64] = {"f64", 8},
};

static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

void bundle_add(struct bundle *bundle, const char *name, enum bundle_type type,
                const void *data, size_t n)
{
    size_t c = bundle->n_columns++;

    assert(c < BUNDLE_MAX_COLUMNS);
    snprintf(bundle->column[c].name, sizeof bundle->column[c].name, "%s", name);
    bundle->column[c].type = type;
    bundle->column[c].data = data;
    bundle->column[c].n = n;
    bundle->column[c].own = NULL;
}

static inline double number_at(const char *at, enum bundle_member member)
{
    switch (member) {
    case MEMBER_U8:
        return *(const uint8_t *)at;
    case MEMBER_U32:
        return *(const uint32_t *)at;
    case MEMBER_U64:
        return (double)*(const uint64_t *)at;
    case MEMBER_F32:
        return *(const float *)at;
    default:
        return *(const double *)at;
    }
}

#define GATHER(type)                                                                           \
    for (size_t i = 0; i < n; i++)                                                             \
    ((type *)own)[i] = (type)number_at(at + i * width, field[f].member)

void bundle_gather(struct bundle *bundle, const struct bundle_field *field, size_t n_fields,
                   const void *row, size_t n, size_t width)
{
    for (size_t f = 0; f < n_fields; f++) {
        const char *at = n > 0 ? (const char *)row + field[f].at : NULL;
        void *own = mem_alloc(n, types[field[f].type].width);

        if (field[f].type == BUNDLE_U8)
            GATHER(uint8_t);
        else if (field[f].type == BUNDLE_U32)
            GATHER(uint32_t);
        else if (field[f].type == BUNDLE_F32)
            GATHER(float);
        else
            GATHER(double);
        bundle_add(bundle, field[f].name, field[f].type, own, n);
        bundle->column[bundle->n_columns - 1].own = own;
    }
}

void bundle_say(struct bundle *bundle, const char *name, json_t *value)
{
    if (bundle->header == NULL)
        bundle->header = json_object();
    json_object_set_new(bundle->header, name, value);
}

/* The header as text, and how many bytes of data it describes. */
static char *describe(struct bundle *bundle, size_t *data_size)
{
    json_t *columns = json_array();
    char *text;

    *data_size = 0;
    for (size_t c = 0; c < bundle->n_columns; c++) {
        enum bundle_type type = bundle->column[c].type;

        json_array_append_new(
            columns, json_pack("{s:s, s:s, s:I, s:I}", "name", bundle->column[c].name, "type",
                               types[type].name, "n", (json_int_t)bundle->column[c].n, "offset",
                               (json_int_t)*data_size));
        *data_size += padded(bundle->column[c].n * types[type].width);
    }
    bundle_say(bundle, "columns", columns);
    text = json_dumps(bundle->header, JSON_COMPACT);
    return text;
}

/* Everything before the data. */
static char *make_head(struct bundle *bundle, size_t *size)
{
    size_t data_size, header_size;
    char *header = describe(bundle, &data_size), *head;
    uint32_t length;

    header_size = padded(strlen(header));
    *size = 8 + header_size;
    head = mem_alloc(*size, 1);
    length = (uint32_t)header_size;
    memcpy(head, "SNGC", 4);
    memcpy(head + 4, &length, 4);
    memset(head + 8, ' ', header_size);
    memcpy(head + 8, header, strlen(header));
    free(header);
    return head;
}

/*
 * The same without copying: the columns' data where they are, and what is between them.
 *   part  (BUNDLE_MAX_PARTS) out; free() the data of the first, and nothing else
 * Returns how many there are.
 */
static size_t bundle_parts(struct bundle *bundle, struct bundle_part *part)
{
    static const char padding[8];
    size_t n = 1;

    part[0].data = make_head(bundle, &part[0].size);
    for (size_t c = 0; c < bundle->n_columns; c++) {
        size_t bytes = bundle->column[c].n * types[bundle->column[c].type].width;

        if (bytes > 0)
            part[n++] = (struct bundle_part){bundle->column[c].data, bytes};
        if (bytes % 8 > 0)
            part[n++] = (struct bundle_part){padding, padded(bytes) - bytes};
    }
    return n;
}

void *bundle_bytes(struct bundle *bundle, size_t *size)
{
    struct bundle_part part[BUNDLE_MAX_PARTS];
    size_t n = bundle_parts(bundle, part), at = 0;
    char *bytes;

    *size = 0;
    for (size_t i = 0; i < n; i++)
        *size += part[i].size;
    bytes = mem_alloc(*size, 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(bytes + at, part[i].data, part[i].size);
        at += part[i].size;
    }
    free((void *)(uintptr_t)part[0].data);
    bundle_release(bundle);
    return bytes;
}

void bundle_release(struct bundle *bundle)
{
    for (size_t c = 0; c < bundle->n_columns; c++)
        free(bundle->column[c].own);
    json_decref(bundle->header);
    *bundle = (struct bundle){0};
}

/* ------------------------------------------------------------------------- what is answered */

/* Releases; NULL is harmless. */
static void response_parts_free(struct response_parts *parts)
{
    if (parts == NULL)
        return;
    parts->release(parts->owner);
    free((void *)(uintptr_t)parts->part[0].data);
    free(parts);
}

void response_release(struct response *response)
{
    response_parts_free(response->parts);
    if (!response->is_constant)
        free(response->body);
    *response = (struct response){0};
}

size_t response_held(const struct response *response)
{
    return response->parts ? response->parts->held : response->is_constant ? 0 : response->size;
}

int response_bytes(struct response *response, const char *type, void *body, size_t size)
{
    *response = (struct response){.status = 200, .type = type, .body = body, .size = size};
    return 0;
}

/* A value that Jansson refused is our mistake, but servers watch programs besides: they go on. */
int response_json(struct response *response, json_t *json)
{
    static const char none[] = "{\"type\":\"about:blank\","
                               "\"detail\":\"the answer has a value that JSON cannot say\"}";
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(12));

    json_decref(json);
    if (text)
        return response_bytes(response, "application/json", text, strlen(text));
    *response = (struct response){.status = 500,
                                  .type = "application/problem+json",
                                  .body = (void *)(uintptr_t)none,
                                  .size = sizeof none - 1,
                                  .is_constant = true};
    return 0;
}

int response_bundle(struct response *response, struct bundle *bundle)
{
    size_t size;
    void *bytes = bundle_bytes(bundle, &size);

    return response_bytes(response, BUNDLE_TYPE, bytes, size);
}

int response_parts(struct response *response, struct bundle *bundle, size_t held,
                   void (*release)(void *owner), void *owner)
{
    struct response_parts *parts = mem_alloc(1, sizeof *parts);

    parts->n = bundle_parts(bundle, parts->part);
    for (size_t c = 0; c < bundle->n_columns; c++)
        assert(bundle->column[c].own == NULL);
    bundle_release(bundle);
    parts->held = held;
    parts->release = release;
    parts->owner = owner;
    *response = (struct response){.status = 200, .type = BUNDLE_TYPE, .parts = parts};
    for (size_t i = 0; i < parts->n; i++)
        response->size += parts->part[i].size;
    return 0;
}

/* "Not Found". */
static const char *response_title(unsigned status)
{
    static const struct {
        unsigned status;
        const char *title;
    } titles[] = {
        {200, "OK"},
        {202, "Accepted"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

void response_problem(struct response *response, unsigned status, const char *detail,
                      const char *instance)
{
    json_t *problem = json_pack("{s:s, s:s, s:i, s:o, s:o}", "type", "about:blank", "title",
                                response_title(status), "status", (int)status, "detail",
                                json_text(detail), "instance", json_text(instance));

    response_release(response);
    response_json(response, problem);
    response->status = status;
    response->type = "application/problem+json";
}

unsigned response_status_of(int rc)
{
    switch (rc) {
    case ERR_NOT_FOUND:
        return 404;
    case ERR_USAGE:
    case ERR_RANGE:
        return 400;
    case ERR_EXISTS:
        return 409;
    case ERR_UNSUPPORTED:
        return 501;
    case ERR_INTERRUPTED:
        return 503;
    default:
        return 500;
    }
}

/* ----------------------------------------------------------------------------- what is sent */

static void append(struct reply *reply, const char *text)
{
    size_t n = strlen(text);

    mem_grow(&reply->head, &reply->head_cap, reply->n_head + n);
    memcpy(reply->head + reply->n_head, text, n);
    reply->n_head += n;
}

struct reply *reply_new(unsigned status, const char *title)
{
    struct reply *reply = mem_alloc(1, sizeof *reply);
    char line[64];

    reply->n_users = 1;
    snprintf(line, sizeof line, "HTTP/1.1 %u %s\r\n", status, title);
    append(reply, line);
    return reply;
}

void reply_field(struct reply *reply, const char *name, const char *value)
{
    append(reply, name);
    append(reply, ": ");
    append(reply, value);
    append(reply, "\r\n");
}

void reply_part(struct reply *reply, const void *data, size_t size)
{
    if (size == 0)
        return;
    assert(reply->n_parts < REPLY_MAX_PARTS);
    reply->part[reply->n_parts++] = (struct iovec){(void *)(uintptr_t)data, size};
    reply->body_bytes += size;
}

struct reply *reply_hold(struct reply *reply)
{
    reply->n_users++;
    return reply;
}

void reply_drop(struct reply *reply)
{
    if (reply == NULL || --reply->n_users > 0)
        return;
    if (reply->release)
        reply->release(reply->owner);
    free(reply->head);
    free(reply);
}

/* -------------------------------------------------------------------- answers that are kept */

/*
 * No script but our own files, no style but our own, nothing from elsewhere, no frame around
 * us. Styles that a library sets on an element through the DOM are not inline in this sense.
 */
static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
     "connect-src 'self'; font-src 'self'; worker-src 'self'; manifest-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-cache"},
    {"Accept-Ranges", "none"},
};

static struct reply *reply_with_headers(unsigned status)
{
    struct reply *reply = reply_new(status, response_title(status));

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        reply_field(reply, headers[i][0], headers[i][1]);
    return reply;
}

struct reply *answer_unchanged(const char *etag)
{
    struct reply *reply = reply_with_headers(304);

    reply_field(reply, "ETag", etag);
    return reply;
}

struct reply *answer_stream(const char *type)
{
    struct reply *reply = reply_with_headers(200);

    reply_field(reply, "Content-Type", type);
    return reply;
}

static void hash(const struct response *response, char etag[40])
{
    XXH128_hash_t h = XXH3_128bits(response->body, response->size);

    snprintf(etag, 40, "\"%016llx%016llx\"", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

static void release_body(void *owner)
{
    response_release(owner);
    free(owner);
}

static void set_body(struct reply *reply, const struct response *response)
{
    const struct response_parts *parts = response->parts;
    struct response *owner = mem_alloc(1, sizeof *owner);
    char length[24];

    for (size_t i = 0; parts && i < parts->n; i++)
        reply_part(reply, parts->part[i].data, parts->part[i].size);
    if (parts == NULL)
        reply_part(reply, response->body, response->size);
    snprintf(length, sizeof length, "%llu", (unsigned long long)reply->body_bytes);
    reply_field(reply, "Content-Length", length);
    *owner = *response;
    reply->owner = owner;
    reply->release = release_body;
    reply->held = response_held(response);
}

static void set_fields(struct reply *reply, const struct response *response)
{
    char disposition[128];

    reply_field(reply, "Content-Type", response->type);
    if (response->allow)
        reply_field(reply, "Allow", response->allow);
    if (response->status == 401)
        reply_field(reply, "WWW-Authenticate", "Bearer");
    if (response->status == 503)
        reply_field(reply, "Retry-After", "1");
    if (response->download) {
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"",
                 response->download);
        reply_field(reply, "Content-Disposition", disposition);
    }
}

struct answer answer_of(struct response *response, const char *etag)
{
    struct answer answer = {.status = response->status, .held = response_held(response)};

    if (etag)
        snprintf(answer.etag, sizeof answer.etag, "%s", etag);
    else if (*response->etag)
        memcpy(answer.etag, response->etag, sizeof answer.etag);
    else if (response->status == 200)
        hash(response, answer.etag);
    answer.full = reply_with_headers(response->status);
    set_fields(answer.full, response);
    if (*answer.etag)
        reply_field(answer.full, "ETag", answer.etag);
    set_body(answer.full, response);
    *response = (struct response){0};
    return answer;
}

void answer_release(struct answer *answer)
{
    reply_drop(answer->full);
    *answer = (struct answer){0};
}

/* ---------------------------------------------------------------------------------- kept */

/* With its length before it, as what was escaped in an address may have any byte. */
static size_t add_to_key(char key[ANSWER_KEY_SIZE], size_t n, const char *part)
{
    return n < ANSWER_KEY_SIZE ? n + (size_t)snprintf(key + n, ANSWER_KEY_SIZE - n, "%zu:%s",
                                                      strlen(part), part)
                               : n;
}

bool answer_key(const struct request *request, char key[ANSWER_KEY_SIZE])
{
    size_t n = add_to_key(key, 0, request->path);

    for (size_t i = 0; i < request->n_parameters; i++) {
        n = add_to_key(key, n, request->parameter[i].name);
        n = add_to_key(key, n, request->parameter[i].value);
    }
    return n < ANSWER_KEY_SIZE;
}

const struct answer *kept_answers_find(const struct kept_answers *answers, const char *key)
{
    for (size_t i = 0; i < answers->n; i++)
        if (strcmp(answers->kept[i].key, key) == 0)
            return &answers->kept[i].answer;
    return NULL;
}

const struct answer *kept_answers_keep(struct kept_answers *answers, const char *key,
                                       struct answer *answer)
{
    size_t i;

    if (answers->kept == NULL)
        answers->kept = mem_alloc(MAX_KEPT_ANSWERS, sizeof *answers->kept);
    if (answers->n == MAX_KEPT_ANSWERS ||
        answers->bytes + answer->held > KEPT_ANSWERS_MAX_BYTES)
        kept_answers_clear(answers);
    i = answers->n++;
    answers->bytes += answer->held;
    snprintf(answers->kept[i].key, ANSWER_KEY_SIZE, "%s", key);
    answers->kept[i].answer = *answer;
    *answer = (struct answer){0};
    return &answers->kept[i].answer;
}

void kept_answers_clear(struct kept_answers *answers)
{
    for (size_t i = 0; i < answers->n; i++)
        answer_release(&answers->kept[i].answer);
    answers->n = answers->bytes = 0;
}

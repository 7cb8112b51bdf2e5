#include "http/answer.h"

#include "base/mem.h"
#include "base/xxh.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool answer_key(const struct request *request, char key[ANSWER_KEY_SIZE])
{
    size_t n = (size_t)snprintf(key, ANSWER_KEY_SIZE, "%s", request->path);

    for (size_t i = 0; i < request->n_parameters && n < ANSWER_KEY_SIZE; i++)
        n += (size_t)snprintf(key + n, ANSWER_KEY_SIZE - n, "\x1f%s\x1f%s",
                              request->parameter[i].name, request->parameter[i].value);
    return n < ANSWER_KEY_SIZE;
}

const struct answer *answers_find(const struct answers *answers, const char *key)
{
    for (size_t i = 0; i < answers->n; i++)
        if (strcmp(answers->kept[i].key, key) == 0)
            return &answers->kept[i].answer;
    return NULL;
}

const struct answer *answers_keep(struct answers *answers, const char *key,
                                  struct answer *answer)
{
    size_t i;

    if (answers->kept == NULL)
        answers->kept = mem_alloc(MAX_ANSWERS, sizeof *answers->kept);
    if (answers->n == MAX_ANSWERS || answers->bytes + answer->held > ANSWERS_MAX_BYTES)
        answers_clear(answers);
    i = answers->n++;
    answers->bytes += answer->held;
    snprintf(answers->kept[i].key, ANSWER_KEY_SIZE, "%s", key);
    answers->kept[i].answer = *answer;
    *answer = (struct answer){0};
    return &answers->kept[i].answer;
}

void answers_clear(struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++)
        answer_release(&answers->kept[i].answer);
    answers->n = answers->bytes = 0;
}

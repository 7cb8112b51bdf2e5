#include "web/answer.h"

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
};

void answer_headers(struct MHD_Response *response)
{
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

struct MHD_Response *answer_unchanged(const char *etag)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    answer_headers(response);
    MHD_add_response_header(response, "ETag", etag);
    return response;
}

static void hash(const struct response *response, char etag[40])
{
    XXH128_hash_t h = XXH3_128bits(response->body, response->size);

    snprintf(etag, 40, "\"%016llx%016llx\"", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

static void free_parts(void *parts)
{
    response_parts_free(parts);
}

static struct MHD_Response *body_of(const struct response *response)
{
    struct response_parts *parts = response->parts;
    struct MHD_IoVec vector[BUNDLE_MOST_PARTS];

    if (parts == NULL)
        return MHD_create_response_from_buffer(response->size, response->body,
                                               response->is_constant ? MHD_RESPMEM_PERSISTENT
                                                                     : MHD_RESPMEM_MUST_FREE);
    for (size_t i = 0; i < parts->n; i++)
        vector[i] = (struct MHD_IoVec){parts->part[i].data, parts->part[i].size};
    return MHD_create_response_from_iovec(vector, (unsigned)parts->n, free_parts, parts);
}

struct answer answer_of(struct response *response, const char *etag)
{
    struct answer answer = {.status = response->status, .held = response_held(response)};
    char disposition[128];

    if (etag)
        snprintf(answer.etag, sizeof answer.etag, "%s", etag);
    else if (*response->etag)
        memcpy(answer.etag, response->etag, sizeof answer.etag);
    else if (response->status == 200)
        hash(response, answer.etag);
    answer.full = body_of(response);
    answer_headers(answer.full);
    MHD_add_response_header(answer.full, "Content-Type", response->type);
    if (*answer.etag)
        MHD_add_response_header(answer.full, "ETag", answer.etag);
    if (response->allow)
        MHD_add_response_header(answer.full, "Allow", response->allow);
    if (response->status == 401)
        MHD_add_response_header(answer.full, "WWW-Authenticate", "Bearer");
    if (response->download) {
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"",
                 response->download);
        MHD_add_response_header(answer.full, "Content-Disposition", disposition);
    }
    *response = (struct response){0};
    return answer;
}

void answer_release(struct answer *answer)
{
    if (answer->full)
        MHD_destroy_response(answer->full);
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
        answers->kept = mem_alloc(ANSWERS_MOST, sizeof *answers->kept);
    if (answers->n == ANSWERS_MOST || answers->bytes + answer->held > ANSWERS_MOST_BYTES)
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

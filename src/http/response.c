#include "http/response.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

void response_parts_free(struct response_parts *parts)
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

int response_json(struct response *response, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(12));

    json_decref(json);
    return response_bytes(response, "application/json", text, strlen(text));
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
    parts->held = held;
    parts->release = release;
    parts->owner = owner;
    *response = (struct response){.status = 200, .type = BUNDLE_TYPE, .parts = parts};
    for (size_t i = 0; i < parts->n; i++)
        response->size += parts->part[i].size;
    return 0;
}

const char *response_title(unsigned status)
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
    case ERR_INTERRUPTED:
        return 503;
    default:
        return 500;
    }
}

#include "web/exchange.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_DISCARDED (4 * (size_t)REQUEST_MOST_BYTES)

void exchange_fail(struct exchange *x, unsigned status, const char *detail)
{
    response_problem(&x->response, status, detail, x->request.path);
    x->is_answered = true;
}

const char *exchange_header(const struct exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* ------------------------------------------------------------------------------- checks */

/* The token, where it is asked for: in the URL, as a header, or as the cookie we set. */
static bool has_token(struct exchange *x)
{
    const struct access *access = &x->http->access;
    const char *bearer = exchange_header(x, "Authorization");

    if (access_token(access, request_text(&x->request, "token", NULL))) {
        x->sets_cookie = true;
        return true;
    }
    return (bearer && strncmp(bearer, "Bearer ", 7) == 0 && access_token(access, bearer + 7)) ||
           access_token(access, MHD_lookup_connection_value(x->connection, MHD_COOKIE_KIND,
                                                            x->http->cookie));
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";

    return type && strncasecmp(type, json, sizeof json - 1) == 0 &&
           strchr(" ;", type[sizeof json - 1]) != NULL;
}

static void check_body(struct exchange *x)
{
    const char *length = exchange_header(x, "Content-Length");

    if (!is_json(exchange_header(x, "Content-Type")))
        exchange_fail(x, 415, "a body must be application/json");
    else if (length && strtoull(length, NULL, 10) > REQUEST_MOST_BYTES)
        exchange_fail(x, 413, "a body has 8 MiB at most");
}

/* Everything that can be said before the body is there. */
static void check(struct exchange *x, const char *method)
{
    const char *host = exchange_header(x, "Host"), *allow = "GET, HEAD";
    bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;

    x->request.is_post = strcmp(method, "POST") == 0;
    if (!access_host(&x->http->access, host)) {
        exchange_fail(x, 421, "Host is not a name of this server");
    } else if (!access_origin(exchange_header(x, "Origin"), host)) {
        exchange_fail(x, 403, "Origin is another site");
    } else if (*x->http->access.token && strcmp(x->request.path, "/healthz") != 0 &&
               !has_token(x)) {
        exchange_fail(x, 401, "the token is missing: open the URL that snag printed");
    } else if (is_get || x->request.is_post) {
        x->route = route_find(&x->request, &allow);
        if (x->route == NULL && (allow || x->request.is_post)) {
            exchange_fail(x, allow ? 405 : 404,
                          allow ? "not by this method" : "there is nothing here");
            x->response.allow = allow;
        } else if (x->route && !route_is_of(x->route, x->http->served.live != NULL)) {
            exchange_fail(x, 404,
                          x->http->served.live ? "this is a program that is live, not a run"
                                               : "this is a run: nothing is live");
        } else if (x->request.is_post) {
            check_body(x);
        }
    } else {
        exchange_fail(x, 405, "not by this method");
        x->response.allow = "GET, HEAD, POST";
    }
}

static enum MHD_Result take_parameter(void *ctx, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct request *request = ctx;
    size_t i = request->n_parameters;

    (void)kind;
    if (i == REQUEST_MOST_PARAMETERS)
        return MHD_NO;
    request->parameter[i].name = name;
    request->parameter[i].value = value ? value : "";
    request->n_parameters++;
    return MHD_YES;
}

/* ------------------------------------------------------------------------------ requests */

struct exchange *exchange_new(struct http *http, struct MHD_Connection *connection,
                              const char *path, const char *method)
{
    struct exchange *x = mem_alloc(1, sizeof *x);

    x->http = http;
    x->connection = connection;
    x->request.path = path;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, &x->request);
    check(x, method);
    return x;
}

bool exchange_take(struct exchange *x, const char *data, size_t size)
{
    if (x->is_answered || x->size + size > REQUEST_MOST_BYTES) {
        if (!x->is_answered)
            exchange_fail(x, 413, "a body has 8 MiB at most");
        x->n_discarded += size;
        return x->n_discarded <= MOST_DISCARDED;
    }
    mem_grow(&x->body, &x->cap, x->size + size, 1);
    memcpy(x->body + x->size, data, size);
    x->size += size;
    return true;
}

void exchange_parse(struct exchange *x)
{
    json_error_t error;
    char detail[256];

    x->request.body =
        json_loadb(x->size ? x->body : "", x->size, JSON_REJECT_DUPLICATES, &error);
    if (x->request.body == NULL) {
        snprintf(detail, sizeof detail, "the body is not JSON: %s", error.text);
        exchange_fail(x, 400, detail);
    } else if (!json_is_object(x->request.body)) {
        exchange_fail(x, 400, "the body is not an object");
    }
}

void exchange_free(struct exchange *x)
{
    response_release(&x->response);
    json_decref(x->request.body);
    free(x->body);
    free(x);
}

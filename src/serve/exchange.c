#include "serve/exchange.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void exchange_fail(struct exchange *x, unsigned status, const char *detail)
{
    response_problem(&x->response, status, detail, x->request.path);
    x->is_answered = true;
}

/* ------------------------------------------------------------------------------- checks */

/* The token, where it is asked for: in the URL, as a header, or as the cookie we set. */
static bool has_token(struct exchange *x)
{
    const struct access *access = &exchange_front(x->site)->access;
    char name[EXCHANGE_COOKIE_SIZE], cookie[2 * ACCESS_TOKEN_SIZE];

    if (access_token(access, request_text(&x->request, "token", NULL))) {
        x->sets_cookie = true;
        return true;
    }
    exchange_cookie(x->site, name);
    return access_bearer(access, x->head) ||
           (request_head_cookie(x->head, name, cookie, sizeof cookie) &&
            access_token(access, cookie));
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";

    return type && strncasecmp(type, json, sizeof json - 1) == 0 &&
           strchr(" ;", type[sizeof json - 1]) != NULL;
}

static void fail_method(struct exchange *x)
{
    const char *methods = route_methods(&x->request);

    exchange_fail(x, 405, "not by this method");
    x->response.allow = methods ? methods : "GET, HEAD";
}

static void find_route(struct exchange *x)
{
    static const char *const is[] = {
        [SERVED_RUN] = "this is a run: nothing is live",
        [SERVED_PROGRAM] = "this is a program that is live, not a run",
        [SERVED_COMPARISON] = "this is a comparison: its runs are below /runs/",
        [SERVED_HISTORY] = "this is a history, not a run",
    };
    enum served_what what = x->site->served.what;

    x->route = route_find(&x->request);
    if (x->route == NULL && route_methods(&x->request))
        fail_method(x);
    else if (x->route == NULL && x->request.is_post)
        exchange_fail(x, 404, "there is nothing here");
    else if (x->route && !route_is_of(x->route, what))
        exchange_fail(x, 404, is[what]);
    else if (x->request.is_post && !is_json(x->head->field[FIELD_CONTENT_TYPE]))
        exchange_fail(x, 415, "a body must be application/json");
}

/* Everything that can be said before the body is there. */
static void check(struct exchange *x)
{
    const struct access *access = &exchange_front(x->site)->access;
    bool is_get = x->head->is_head || strcmp(x->head->method, "GET") == 0;
    struct http_refusal refusal = access_refusal(access, x->head);

    if (refusal.status > 0)
        exchange_fail(x, refusal.status, refusal.why);
    else if (*access->token && strcmp(x->request.path, "/healthz") != 0 && !has_token(x))
        exchange_fail(x, 401, "the token is missing: open the URL that snag printed");
    else if (is_get || x->request.is_post)
        find_route(x);
    else
        fail_method(x);
}

/* ------------------------------------------------------------------------------ requests */

/*
 * A page of its own for each run that is compared: what is below /runs/0/ is the first one's.
 * Its URL ends with a slash, as those on the page begin there.
 */
static void enter_room(struct exchange *x)
{
    static const char prefix[] = "/runs/";
    const char *number = x->request.path + sizeof prefix - 1;
    size_t n;

    if (strncmp(x->request.path, prefix, sizeof prefix - 1) != 0)
        return;
    n = strspn(number, "0123456789");
    if (n == 0 || n > 3 || number[n] != '/' || strtoul(number, NULL, 10) >= x->site->n_rooms)
        return;
    x->site = x->site->room[strtoul(number, NULL, 10)];
    x->request.path = number + n;
}

struct exchange *exchange_new(struct site *site, struct connection *connection,
                              const struct request_head *head)
{
    struct exchange *x = mem_alloc(1, sizeof *x);

    x->site = site;
    x->connection = connection;
    x->head = head;
    x->request.path = head->path;
    x->request.is_post = strcmp(head->method, "POST") == 0;
    x->request.parameter = head->parameter;
    x->request.n_parameters = head->n_parameters;
    enter_room(x);
    check(x);
    return x;
}

void exchange_take_body(struct exchange *x)
{
    json_error_t error;
    char detail[256];

    x->request.text = connection_body(x->connection, &x->request.size);
    if (x->route->takes == ROUTE_TAKES_LABELS)
        return;
    x->request.body =
        json_loadb(x->request.text, x->request.size, JSON_REJECT_DUPLICATES, &error);
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
    free(x);
}

void exchange_cookie(struct site *site, char name[EXCHANGE_COOKIE_SIZE])
{
    snprintf(name, EXCHANGE_COOKIE_SIZE, "snag_token_%u",
             server_port(exchange_front(site)->server));
}

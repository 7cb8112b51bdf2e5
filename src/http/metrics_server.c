#include "http/metrics_server.h"

#include "base/mem.h"
#include "base/progress.h"
#include "http/answer.h"
#include "http/server.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

struct metrics_server {
    struct metrics_server_opts opts;
    struct access access;
    struct server *server;
};

/* A request, from its head to the end of its answer. */
struct scrape {
    struct metrics_server *server;
    struct connection *connection;
    const struct request_head *head;
    bool is_answered;
};

static void send(struct scrape *s, struct response *response)
{
    struct answer answer = answer_of(response, "");

    connection_answer(s->connection, answer.full, "");
    answer_release(&answer);
    s->is_answered = true;
}

static void fail(struct scrape *s, unsigned status, const char *detail)
{
    struct response response = {0};

    response_problem(&response, status, detail, s->head ? s->head->path : "");
    response.allow = status == 405 ? "GET, HEAD" : NULL;
    send(s, &response);
}

static bool has_token(const struct scrape *s)
{
    const struct access *access = &s->server->access;

    for (size_t i = 0; i < s->head->n_parameters; i++)
        if (strcmp(s->head->parameter[i].name, "token") == 0 &&
            access_token(access, s->head->parameter[i].value))
            return true;
    return access_bearer(access, s->head);
}

/* What can be said of the head. */
static void check(struct scrape *s)
{
    const struct access *access = &s->server->access;
    const struct request_head *head = s->head;
    struct http_refusal refusal = access_refusal(access, head);

    if (refusal.status > 0)
        fail(s, refusal.status, refusal.why);
    else if (*access->token && strcmp(head->path, "/healthz") != 0 && !has_token(s))
        fail(s, 401, "the token is missing: it is in the URL that snag printed");
    else if (!head->is_head && strcmp(head->method, "GET") != 0)
        fail(s, 405, "not by this method");
}

static void *begin(void *ctx, struct connection *connection, const struct request_head *head,
                   uint64_t *most_body)
{
    struct scrape *s = mem_alloc(1, sizeof *s);

    (void)most_body; /* none */
    *s = (struct scrape){.server = ctx, .connection = connection, .head = head};
    check(s);
    return s;
}

static void answer_metrics(struct scrape *s)
{
    const struct metrics_server_opts *opts = &s->server->opts;
    struct response response = {0};
    struct metrics metrics;

    metrics_init(&metrics, s->head->field[FIELD_ACCEPT]);
    metrics_job(&metrics, &opts->job);
    opts->add(opts->ctx, &metrics);
    metrics_answer(&metrics, &response);
    send(s, &response);
}

static void answer_health(struct scrape *s)
{
    static const char ok[] = "ok\n";
    struct response response = {.status = 200,
                                .type = "text/plain; charset=utf-8",
                                .body = (void *)(uintptr_t)ok,
                                .size = sizeof ok - 1,
                                .is_constant = true};
    char why[METRICS_WHY_SIZE] = "";

    if (s->server->opts.is_well(s->server->opts.ctx, why))
        send(s, &response);
    else
        fail(s, 503, why);
}

static void respond(void *request)
{
    struct scrape *s = request;

    if (s->is_answered)
        return;
    if (strcmp(s->head->path, "/metrics") == 0)
        answer_metrics(s);
    else if (strcmp(s->head->path, "/healthz") == 0)
        answer_health(s);
    else
        fail(s, 404, "there is nothing here but /metrics and /healthz");
}

static void end(void *request)
{
    free(request);
}

static void refuse(void *ctx, struct connection *connection, struct http_refusal refusal)
{
    struct scrape s = {.server = ctx, .connection = connection};

    fail(&s, refusal.status, refusal.why);
}

/* A few scrapers, who have nothing to say but a head. */
static struct server_limits limits(void)
{
    return (struct server_limits){.connections = 64,
                                  .address_connections = 32,
                                  .streams = 1,
                                  .idle_ns = 120 * SECOND_NS,
                                  .head_ns = 10 * SECOND_NS,
                                  .grace_ns = 10 * SECOND_NS,
                                  .least_bytes_per_s = 4096,
                                  .linger_ns = SECOND_NS,
                                  .unfinished_bytes = 1 << 20,
                                  .unsent_bytes = 1 << 20};
}

int metrics_server_open(struct metrics_server **out, const struct metrics_server_opts *opts)
{
    struct metrics_server *s = *out = mem_alloc(1, sizeof *s);
    struct server_opts server = {.address = opts->address,
                                 .port = opts->port,
                                 .n_threads = 1,
                                 .limits = limits(),
                                 .handler = {s, begin, respond, end, refuse}};
    int rc;

    s->opts = *opts;
    s->opts.job.started_ns = clock_ns();
    s->opts.address = s->access.address;
    rc = access_init(&s->access, opts->address);
    return rc < 0 ? rc : server_open(&s->server, &server);
}

void metrics_server_close(struct metrics_server *s)
{
    if (s == NULL)
        return;
    server_quiesce(s->server);
    server_close(s->server);
    free(s);
}

uint16_t metrics_server_port(const struct metrics_server *s)
{
    return server_port(s->server);
}

const struct access *metrics_server_access(const struct metrics_server *s)
{
    return &s->access;
}

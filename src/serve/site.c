/*
 * An exchange is one request and its answer. It belongs to the thread of its connection, but
 * while it is on a queue or being answered by a worker, when that thread does not touch it.
 *
 *     begin     the head is there   checks it, makes the exchange
 *     respond   all is there        answers, or puts it on a queue
 *     worker    answers, wakes the connection
 *     respond   again               sends what the worker left
 */
#include "serve/site.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "http/answer.h"
#include "serve/assets.h"
#include "serve/exchange.h"
#include "serve/health.h"
#include "serve/routes.h"
#include "serve/site_metrics.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 8u
#define MAX_WAITING 1024u /* requests on a queue */
#define WAITING_PART 8u   /* of each queue: fewer than one in so many connections waits */

/* What a thread of the server has of its own. */
struct reader {
    struct worker worker;
    struct answers answers;
};

/* ------------------------------------------------------------------------- the readers */

static void close_reader(void *arg)
{
    struct reader *reader = arg;

    answers_clear(&reader->answers);
    free(reader->answers.kept);
    worker_close(&reader->worker);
    free(reader);
}

/* The reader of this thread; NULL with err_set when the database cannot be opened. */
static struct reader *own_reader(struct site *site)
{
    struct reader *reader = pthread_getspecific(site->reader);

    if (reader)
        return reader;
    reader = mem_alloc(1, sizeof *reader);
    if (worker_open(&reader->worker, &site->served, false) < 0) {
        close_reader(reader);
        return NULL;
    }
    pthread_setspecific(site->reader, reader);
    return reader;
}

/* ----------------------------------------------------------------------------- answering */

static void answer_route(struct exchange *x, struct worker *worker)
{
    int rc = route_answer(x->route, worker, &x->request, &x->response);

    if (rc < 0) {
        if (response_status_of(rc) == 500)
            log_warn("serve", "%s: %s", x->request.path, err_message());
        exchange_fail(x, response_status_of(rc), err_message());
    }
    x->is_answered = true;
}

/* If-None-Match names this ETag. */
static bool is_known(const struct exchange *x, const char *etag)
{
    const char *known = x->head->field[FIELD_IF_NONE_MATCH];

    return known && *etag && (strcmp(known, "*") == 0 || strstr(known, etag) != NULL);
}

static void send_answer(struct exchange *x, const struct answer *answer, const char *fields)
{
    struct reply *unchanged;

    atomic_fetch_add(&x->site->served.n_requests, 1);
    if (answer->status >= 400)
        atomic_fetch_add(&x->site->served.n_failed, 1);
    if (answer->status != 200 || x->request.is_post || !is_known(x, answer->etag)) {
        connection_answer(x->connection, answer->full, fields);
        return;
    }
    unchanged = answer_unchanged(answer->etag);
    connection_answer(x->connection, unchanged, fields);
    reply_drop(unchanged);
}

/* Sends the response of the exchange, once. */
static void send_response(struct exchange *x, const char *etag)
{
    struct answer answer = answer_of(&x->response, etag);
    char name[EXCHANGE_COOKIE_SIZE], cookie[160] = "";

    if (x->sets_cookie) {
        exchange_cookie(x->site, name);
        snprintf(cookie, sizeof cookie,
                 "Set-Cookie: %s=%s; HttpOnly; SameSite=Strict; Path=/\r\n", name,
                 exchange_front(x->site)->access.token);
    }
    send_answer(x, &answer, cookie);
    answer_release(&answer);
}

static void send_problem(struct exchange *x, unsigned status, const char *detail)
{
    exchange_fail(x, status, detail);
    send_response(x, NULL);
}

static void answer_as_reader(struct exchange *x)
{
    struct reader *reader = own_reader(x->site);
    char key[ANSWER_KEY_SIZE];
    const struct answer *kept = NULL;
    bool may_keep = x->route->is_kept && answer_key(&x->request, key);
    struct answer answer;

    if (reader == NULL) {
        send_problem(x, 503, err_message());
        return;
    }
    if (worker_refresh(&reader->worker))
        answers_clear(&reader->answers);
    if (may_keep)
        kept = answers_find(&reader->answers, key);
    if (kept) {
        send_answer(x, kept, "");
        return;
    }
    answer_route(x, &reader->worker);
    if (!may_keep || x->response.status != 200 ||
        response_held(&x->response) > ANSWERS_MAX_BYTES / 4) {
        send_response(x, NULL);
        return;
    }
    answer = answer_of(&x->response, NULL);
    send_answer(x, answers_keep(&reader->answers, key, &answer), "");
}

/* ------------------------------------------------------------------------------- desks */

static void answer_in(struct worker_thread *thread, struct exchange *x)
{
    worker_refresh(&thread->worker);
    answer_route(x, &thread->worker);
    if (x->request.is_post)
        worker_forget(&thread->worker);
}

static void *run_thread(void *arg)
{
    struct worker_thread *thread = arg;
    struct exchange *x;

    if (thread == &thread->site->learner)
        worker_warm(&thread->worker); /* what fails now is said to whoever asks */
    while ((x = queue_take(&thread->queue)) != NULL) {
        if (atomic_load(&thread->site->served.is_closing))
            exchange_fail(x, 503, "the server is closing");
        else
            answer_in(thread, x);
        connection_wake(x->connection);
    }
    return NULL;
}

static int open_thread(struct worker_thread *thread, struct site *site, const char *name,
                       bool is_writing)
{
    int rc;

    thread->site = site;
    queue_init(&thread->queue, site->most_waiting);
    thread->is_open = true;
    rc = worker_open(&thread->worker, &site->served, is_writing);
    if (rc < 0)
        return rc;
    thread->is_running = pthread_create(&thread->id, NULL, run_thread, thread) == 0;
    if (!thread->is_running)
        return err_set(ERR_IO, "cannot start a thread");
    pthread_setname_np(thread->id, name);
    return 0;
}

/* What it has begun is still answered. */
static void close_thread(struct worker_thread *thread)
{
    if (!thread->is_open)
        return;
    queue_close(&thread->queue);
    if (thread->is_running)
        pthread_join(thread->id, NULL);
    worker_close(&thread->worker);
    queue_release(&thread->queue);
}

static struct worker_thread *thread_of(struct exchange *x)
{
    return x->route->by == ROUTE_BY_WRITER    ? &x->site->writer
           : x->route->by == ROUTE_BY_LEARNER ? &x->site->learner
                                              : &x->site->explainer;
}

/* It is woken when it is answered. */
static void hand_over(struct exchange *x)
{
    if (!queue_put(&thread_of(x)->queue, x))
        send_problem(x, 503, "too much is waiting already");
}

/* ----------------------------------------------------------------------- event streams */

static void wake(void *connection)
{
    connection_wake(connection);
}

static ssize_t read_events(void *request, char *out, size_t size)
{
    static const char hello[] = "retry: 2000\n\n";
    struct exchange *x = request;
    struct feed *feed = &x->site->served.events;
    int n;

    if (!x->is_stream) {
        x->is_stream = true;
        x->next = feed_now(feed);
        memcpy(out, hello, sizeof hello - 1);
        return (ssize_t)sizeof hello - 1;
    }
    n = feed_read(feed, &x->next, out, size);
    if (n == 0)
        feed_wait(feed, x->next, x->connection);
    return n;
}

static void stream_events(struct exchange *x)
{
    struct reply *reply = answer_stream("text/event-stream");

    atomic_fetch_add(&x->site->served.n_requests, 1);
    connection_stream(x->connection, reply, read_events);
    reply_drop(reply);
}

/* ------------------------------------------------------------------------------ requests */

static void answer_health(struct exchange *x)
{
    struct reader *reader = own_reader(x->site);

    if (reader == NULL || health_check(&reader->worker) < 0)
        exchange_fail(x, 503, err_message());
    else
        response_bytes(&x->response, "text/plain; charset=utf-8", mem_copy_string("ok\n"), 3);
}

/* What is not of the API: the page, and what watches the server. */
static void answer_other(struct exchange *x)
{
    const char *path = x->request.path;
    const struct asset *asset = asset_find(path);

    if (strcmp(path, "/api/v1/events") == 0) {
        stream_events(x);
        return;
    }
    if (asset) {
        x->response = (struct response){.status = 200,
                                        .type = asset->type,
                                        .body = (void *)(uintptr_t)asset->data,
                                        .size = asset->size,
                                        .is_constant = true};
        send_response(x, asset->etag);
        return;
    }
    if (strcmp(path, "/metrics") == 0)
        site_metrics(&x->site->served, server_connections(exchange_front(x->site)->server),
                     x->head->field[FIELD_ACCEPT], &x->response);
    else if (strcmp(path, "/healthz") == 0)
        answer_health(x);
    else
        exchange_fail(x, 404, "there is nothing here");
    send_response(x, NULL);
}

/* The head is there. A body that nobody wants need not be sent. */
static void *begin(void *ctx, struct connection *connection, const struct request_head *head,
                   uint64_t *most_body)
{
    struct exchange *x = exchange_new(ctx, connection, head);

    if (x->is_answered)
        send_response(x, NULL);
    else if (x->route)
        *most_body = route_most_body(x->route);
    return x;
}

/* All of it is there; or a worker has answered. */
static void respond(void *request)
{
    struct exchange *x = request;

    if (!x->is_answered && x->request.is_post)
        exchange_take_body(x);
    if (x->is_answered)
        send_response(x, NULL);
    else if (x->route == NULL)
        answer_other(x);
    else if (x->route->by == ROUTE_BY_READER)
        answer_as_reader(x);
    else
        hand_over(x);
}

static void end(void *request)
{
    struct exchange *x = request;

    if (x->is_stream)
        feed_leave(&x->site->served.events, x->connection);
    exchange_free(x);
}

static void refuse(void *ctx, struct connection *connection, struct http_refusal refusal)
{
    struct exchange x = {.site = ctx, .connection = connection, .request = {.path = ""}};

    x.request.is_post = true; /* has no ETag to be compared */
    send_problem(&x, refusal.status, refusal.why);
}

/* --------------------------------------------------------------------------- the server */

static unsigned n_readers(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 2 ? 2 : n > (long)MAX_THREADS ? MAX_THREADS : (unsigned)n;
}

static int open_desks(struct site *site)
{
    int rc = open_thread(&site->writer, site, "snag-writer", true);

    if (rc == 0)
        rc = open_thread(&site->learner, site, "snag-learner", true);
    if (rc == 0)
        rc = open_thread(&site->explainer, site, "snag-explainer", false);
    return rc;
}

/* All but to listen. */
static int open_inside(struct site *site, const struct served_opts *opts, size_t most_waiting)
{
    struct served_opts served = *opts;
    int rc;

    served.wake = wake;
    site->most_waiting = most_waiting;
    rc = served_open(&site->served, &served);
    if (rc < 0)
        return rc;
    site->has_key = pthread_key_create(&site->reader, close_reader) == 0;
    return site->has_key ? open_desks(site) : err_set(ERR_IO, "cannot start threads");
}

static int open_rooms(struct site *front, const struct site_opts *opts)
{
    int rc = 0;

    assert(opts->n_rooms <= SITE_MAX_ROOMS);
    for (size_t i = 0; i < opts->n_rooms && rc == 0; i++) {
        struct site *room = front->room[front->n_rooms++] = mem_alloc(1, sizeof *room);

        room->front = front;
        rc = open_inside(room, &opts->room[i], front->most_waiting);
    }
    return rc;
}

int site_open(struct site **out, const struct site_opts *opts)
{
    struct site *site = *out = mem_alloc(1, sizeof *site);
    struct server_opts server = {.address = opts->address ? opts->address : "127.0.0.1",
                                 .port = opts->port,
                                 .n_threads = n_readers(),
                                 .limits = server_limits_usual(),
                                 .handler = {site, begin, respond, end, refuse}};
    unsigned part = server.limits.connections / WAITING_PART;
    int rc = access_init(&site->access, server.address);

    if (rc == 0)
        rc = open_inside(site, &opts->served, part < MAX_WAITING ? part : MAX_WAITING);
    if (rc == 0)
        rc = open_rooms(site, opts);
    if (rc == 0)
        rc = server_open(&site->server, &server);
    return rc < 0 || opts->served.live == NULL
               ? rc
               : live_notifier_open(&site->notifier, &site->served);
}

/* Nobody waits for anything of it any more. */
static void close_desks(struct site *site)
{
    struct served *served = &site->served;

    for (size_t i = 0; i < site->n_rooms; i++)
        close_desks(site->room[i]);
    atomic_store(&served->is_closing, true);
    if (served->has_opened)
        feed_close(&served->events);
    close_thread(&site->writer);
    close_thread(&site->learner);
    close_thread(&site->explainer);
    if (served->has_projected)
        pthread_join(served->projecting, NULL);
}

/* The threads of the server have ended. */
static void free_site(struct site *site)
{
    struct served *served = &site->served;

    for (size_t i = 0; i < site->n_rooms; i++)
        free_site(site->room[i]);
    if (site->has_key)
        pthread_key_delete(site->reader);
    if (served->has_opened)
        served_close(served);
    free(site);
}

void site_close(struct site *site)
{
    if (site == NULL)
        return;
    live_notifier_close(&site->notifier);
    server_quiesce(site->server);
    close_desks(site);
    server_close(site->server);
    free_site(site);
}

uint16_t site_port(const struct site *site)
{
    return server_port(site->server);
}

const struct access *site_access(const struct site *site)
{
    return &site->access;
}

void site_tick(struct site *site)
{
    feed_tell(&site->served.events, ": still here\n\n");
    for (size_t i = 0; i < site->n_rooms; i++)
        site_tick(site->room[i]);
}

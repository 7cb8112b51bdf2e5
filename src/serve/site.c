/*
 * An exchange is one request and its answer, from the head to the last byte. It belongs to the
 * thread of its connection, but while it is on a queue or being answered by a worker, when
 * that thread does not touch it but for what says whether anybody still waits.
 *
 *     begin     the head is there   checks it, makes the exchange
 *     respond   all is there        answers, or puts it on a queue
 *     worker    answers, wakes the connection
 *     respond   again               sends what the worker left
 *
 * Beside the threads that answer one looks at the version of what is live a few times a second
 * and tells the pages that there is something new, so that the thread that judges need not.
 */
#include "serve/site.h"

#include "base/json.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/queue.h"
#include "base/thread.h"
#include "http/response.h"
#include "http/server.h"
#include "monitor/live_state.h"
#include "serve/routes.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------- tells the pages that there is something new */

struct live_notifier {
    struct served *served;
    pthread_t thread;
    bool is_running;
    atomic_bool is_ending;
};

#define LOOK_MS 200u
#define SILENCE_NS                                                                             \
    15000000000u /* a proxy or a tunnel closes a connection that says nothing                  \
                  */

/* The event for what is there now. Returns the version it is of. */
static uint64_t tell(struct served *served)
{
    struct live_state *live = served->live;
    struct live_totals totals;
    uint64_t version;
    bool is_over, knows_calls;

    live_state_lock(live);
    version = live_state_version(live);
    totals = live->totals;
    knows_calls = live_state_knows_calls(live);
    is_over = live->phase == LIVE_OVER || live->phase == LIVE_FAILED;
    live_state_unlock(live);
    served_tell(served, is_over ? "over" : "step",
                json_pack("{s:I, s:o, s:I, s:o, s:I}", "version", (json_int_t)version, "steps",
                          live->opts.is_past ? json_null() : json_count(totals.n_steps),
                          "end_ns", (json_int_t)totals.end_ns, "calls",
                          knows_calls ? json_count(totals.n_calls) : json_null(), "anomalies",
                          (json_int_t)totals.n_anomalies));
    return version;
}

static void *run(void *arg)
{
    struct live_notifier *notifier = arg;
    struct served *served = notifier->served;
    uint64_t told = live_state_version(served->live), told_ns = clock_ns();

    while (!atomic_load(&notifier->is_ending)) {
        const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};

        nanosleep(&pause, NULL);
        if (live_state_version(served->live) != told) {
            told = tell(served);
            told_ns = clock_ns();
        } else if (clock_ns() - told_ns > SILENCE_NS) {
            event_ring_tell(&served->events, ": still here\n\n");
            told_ns = clock_ns();
        }
    }
    return NULL;
}

/* Served has a live state. Returns 0 or ERR_IO. */
static int live_notifier_open(struct live_notifier *notifier, struct served *served)
{
    notifier->served = served;
    return thread_start(&notifier->thread, &notifier->is_running, "snag-notifier", run,
                        notifier);
}

/* Waits for the thread. A zeroed one is harmless. */
static void live_notifier_close(struct live_notifier *notifier)
{
    atomic_store(&notifier->is_ending, true);
    if (notifier->is_running)
        pthread_join(notifier->thread, NULL);
    notifier->is_running = false;
}

#define EXCHANGE_COOKIE_SIZE 32

/* A thread that answers, one after another, what is put on its queue. */
struct worker_thread {
    struct site *site;
    struct queue queue;
    struct worker worker;
    pthread_t id;
    bool is_open, is_running;
};

struct site {
    struct site *front; /* where the runs of a comparison are reached from; NULL: itself */
    struct site *room[SITE_MAX_ROOMS]; /* [n_rooms] the runs of a comparison */
    size_t n_rooms;
    struct served served;
    struct access access;
    struct server *server;
    pthread_key_t reader; /* struct site_reader of each thread of the server */
    bool has_key;
    size_t most_waiting; /* requests on the queue of a worker thread */
    struct worker_thread writer, learner, explainer, querier;
    struct live_notifier notifier; /* where a program is live */
};

struct exchange {
    struct site *site;
    struct connection *connection;
    const struct request_head *head;
    struct request request;
    const struct route *route;
    struct response response;
    bool is_answered, is_stream, sets_cookie;
    uint64_t next; /* of a stream: the next event */
};

/* exchange_front -- the site that listens, and says who may ask. */
static inline struct site *exchange_front(struct site *site)
{
    return site->front ? site->front : site;
}

/* The name of the cookie that holds the token: of this port only. */
static void exchange_cookie(struct site *site, char name[EXCHANGE_COOKIE_SIZE])
{
    snprintf(name, EXCHANGE_COOKIE_SIZE, "snag_token_%u",
             server_port(exchange_front(site)->server));
}

/* Answer by a problem. */
static void exchange_fail(struct exchange *x, unsigned status, const char *detail)
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

static void fail_address(struct exchange *x)
{
    exchange_fail(x, 404,
                  "there is nothing at this address: the page is at /, and docs/serve.md lists "
                  "the others");
}

static void fail_method(struct exchange *x)
{
    const char *methods = route_methods(&x->request);

    exchange_fail(x, 405, "this address takes other methods: Allow names them");
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
        fail_address(x);
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

/* While a worker is at it: the client has left, or the server ends. */
static bool is_unwanted(const void *client)
{
    const struct exchange *x = client;

    return atomic_load(&x->site->served.is_closing) || connection_is_gone(x->connection);
}

/*
 * A request whose head is there, of the site or of a run that is reached from
 * it, whose paths begin with /runs/NUMBER/. It may be answered already, by a problem: a
 * foreign Host or Origin, no token, no such route, a body that is not wanted.
 *   head  stays until the exchange ends
 */
static struct exchange *exchange_new(struct site *site, struct connection *connection,
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
    x->request.is_unwanted = is_unwanted;
    x->request.client = x;
    enter_room(x);
    check(x);
    return x;
}

/* The body is there: keep it as text, or make JSON of it, or a problem. */
static void exchange_take_body(struct exchange *x)
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

static void exchange_free(struct exchange *x)
{
    response_release(&x->response);
    json_decref(x->request.body);
    free(x);
}

#define MAX_THREADS 8u
#define MAX_WAITING 1024u /* requests on a queue */
#define WAITING_PART 8u   /* of each queue: fewer than one in so many connections waits */

/* What a thread of the server has of its own. */
struct site_reader {
    struct worker worker;
    struct kept_answers answers;
};

/* ------------------------------------------------------------------------- the readers */

static void close_reader(void *arg)
{
    struct site_reader *reader = arg;

    kept_answers_clear(&reader->answers);
    free(reader->answers.kept);
    worker_close(&reader->worker);
    free(reader);
}

/* The reader of this thread; NULL with err_set when the database cannot be opened. */
static struct site_reader *own_reader(struct site *site)
{
    struct site_reader *reader = pthread_getspecific(site->reader);

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
    struct site_reader *reader = own_reader(x->site);
    char key[ANSWER_KEY_SIZE];
    const struct answer *kept = NULL;
    bool may_keep = x->route->is_kept && answer_key(&x->request, key);
    struct answer answer;

    if (reader == NULL) {
        send_problem(x, 503, err_message());
        return;
    }
    if (worker_refresh(&reader->worker))
        kept_answers_clear(&reader->answers);
    if (may_keep)
        kept = kept_answers_find(&reader->answers, key);
    if (kept) {
        send_answer(x, kept, "");
        return;
    }
    answer_route(x, &reader->worker);
    if (!may_keep || x->response.status != 200 ||
        response_held(&x->response) > KEPT_ANSWERS_MAX_BYTES / 4) {
        send_response(x, NULL);
        return;
    }
    answer = answer_of(&x->response, NULL);
    send_answer(x, kept_answers_keep(&reader->answers, key, &answer), "");
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
    return thread_start(&thread->id, &thread->is_running, name, run_thread, thread);
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
    static const size_t offset[] = {
        [ROUTE_BY_WRITER] = offsetof(struct site, writer),
        [ROUTE_BY_LEARNER] = offsetof(struct site, learner),
        [ROUTE_BY_EXPLAINER] = offsetof(struct site, explainer),
        [ROUTE_BY_QUERIER] = offsetof(struct site, querier),
    };

    return (struct worker_thread *)(void *)((char *)x->site + offset[x->route->by]);
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
    struct event_ring *event_ring = &x->site->served.events;
    int n;

    if (!x->is_stream) {
        x->is_stream = true;
        x->next = event_ring_now(event_ring);
        memcpy(out, hello, sizeof hello - 1);
        return (ssize_t)sizeof hello - 1;
    }
    n = event_ring_read(event_ring, &x->next, out, size);
    if (n == 0)
        event_ring_wait(event_ring, x->next, x->connection);
    return n;
}

/* ------------------------------------------------------------------------------ requests */

static void answer_health(struct exchange *x)
{
    struct site_reader *reader = own_reader(x->site);

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
        struct reply *reply = answer_stream("text/event-stream");

        atomic_fetch_add(&x->site->served.n_requests, 1);
        connection_stream(x->connection, reply, read_events);
        reply_drop(reply);
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
        fail_address(x);
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
        event_ring_leave(&x->site->served.events, x->connection);
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
    if (rc == 0)
        rc = open_thread(&site->querier, site, "snag-querier", false);
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
                                 .limits = server_limits_typical(),
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
        event_ring_close(&served->events);
    close_thread(&site->writer);
    close_thread(&site->learner);
    close_thread(&site->explainer);
    close_thread(&site->querier);
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
    event_ring_tell(&site->served.events, ": still here\n\n");
    for (size_t i = 0; i < site->n_rooms; i++)
        site_tick(site->room[i]);
}

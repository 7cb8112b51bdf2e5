/*
 * An exchange is one request and its answer. It belongs to the thread of its connection, but
 * while it is on a queue or being answered by a desk, when the connection is suspended and
 * libmicrohttpd does not touch it.
 *
 *     on_request   headers are there    checks them, makes the exchange
 *                  body, piece by piece
 *                  all is there         answers, or suspends and puts it on a queue
 *     desk         answers, resumes
 *     on_request   again                sends what the desk left
 */
#include "web/http.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/queue.h"
#include "web/answer.h"
#include "web/assets.h"
#include "web/metrics.h"
#include "web/routes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <microhttpd.h>

#define MOST_THREADS 8u
#define MOST_CONNECTIONS 20000u
#define MOST_WAITING 1024 /* requests on a queue */
#define MOST_DISCARDED (4 * (size_t)REQUEST_MOST_BYTES)
#define IDLE_S 30u          /* an idle connection is closed */
#define HEADER_BYTES 16384u /* of a connection: its buffers */

/* A thread that answers what is handed to it. */
struct desk {
    struct http *http;
    struct queue queue;
    struct worker worker;
    pthread_t thread;
    bool is_open, is_running;
};

struct http {
    struct session session;
    struct access access;
    struct MHD_Daemon *daemon;
    uint16_t port;
    char cookie[32];
    pthread_key_t reader; /* struct reader of each thread of the daemon */
    bool has_key;
    struct desk writer, learner;
};

/* What a thread of the daemon has of its own. */
struct reader {
    struct worker worker;
    struct answers answers;
};

struct exchange {
    struct http *http;
    struct MHD_Connection *connection;
    struct request request;
    const struct route *route;
    char *body; /* [size] as it comes in */
    size_t size, cap, n_discarded;
    struct response response;
    bool is_answered, is_stream, sets_cookie;
    uint64_t next; /* of a stream: the next event */
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
static struct reader *own_reader(struct http *http)
{
    struct reader *reader = pthread_getspecific(http->reader);

    if (reader)
        return reader;
    reader = mem_alloc(1, sizeof *reader);
    if (worker_open(&reader->worker, &http->session, false) < 0) {
        close_reader(reader);
        return NULL;
    }
    pthread_setspecific(http->reader, reader);
    return reader;
}

/* ----------------------------------------------------------------------------- answering */

static void fail(struct exchange *x, unsigned status, const char *detail)
{
    response_problem(&x->response, status, detail, x->request.path);
    x->is_answered = true;
}

static void answer_route(struct exchange *x, struct worker *worker)
{
    int rc = x->route->answer(worker, &x->request, &x->response);

    if (rc < 0) {
        if (response_status_of(rc) == 500)
            log_warn("serve", "%s: %s", x->request.path, err_message());
        fail(x, response_status_of(rc), err_message());
    }
    x->is_answered = true;
}

static const char *header(const struct exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

/* If-None-Match names this ETag. */
static bool is_known(const struct exchange *x, const char *etag)
{
    const char *known = header(x, "If-None-Match");

    return known && *etag && (strcmp(known, "*") == 0 || strstr(known, etag) != NULL);
}

static enum MHD_Result send_answer(struct exchange *x, const struct answer *answer)
{
    struct MHD_Response *unchanged;
    enum MHD_Result result;

    atomic_fetch_add(&x->http->session.n_requests, 1);
    if (answer->status >= 400)
        atomic_fetch_add(&x->http->session.n_failed, 1);
    if (answer->status != 200 || x->request.is_post || !is_known(x, answer->etag))
        return MHD_queue_response(x->connection, answer->status, answer->full);
    unchanged = answer_unchanged(answer->etag);
    result = MHD_queue_response(x->connection, MHD_HTTP_NOT_MODIFIED, unchanged);
    MHD_destroy_response(unchanged);
    return result;
}

/* Sends the response of the exchange, once. */
static enum MHD_Result send_response(struct exchange *x, const char *etag)
{
    struct answer answer = answer_of(&x->response, etag);
    char cookie[160];
    enum MHD_Result result;

    if (x->sets_cookie) {
        snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/",
                 x->http->cookie, x->http->access.token);
        MHD_add_response_header(answer.full, "Set-Cookie", cookie);
    }
    result = send_answer(x, &answer);
    answer_release(&answer);
    return result;
}

static enum MHD_Result answer_as_reader(struct exchange *x)
{
    struct reader *reader = own_reader(x->http);
    char key[ANSWER_KEY_SIZE];
    const struct answer *kept = NULL;
    bool may_keep = x->route->is_kept && answer_key(&x->request, key);
    struct answer answer;

    if (reader == NULL) {
        fail(x, 503, err_message());
        return send_response(x, NULL);
    }
    if (worker_refresh(&reader->worker))
        answers_clear(&reader->answers);
    if (may_keep)
        kept = answers_find(&reader->answers, key);
    if (kept)
        return send_answer(x, kept);
    answer_route(x, &reader->worker);
    if (!may_keep || x->response.status != 200 || x->response.size > ANSWERS_MOST_BYTES / 4)
        return send_response(x, NULL);
    answer = answer_of(&x->response, NULL);
    return send_answer(x, answers_keep(&reader->answers, key, &answer));
}

/* ------------------------------------------------------------------------------- desks */

static void *run_desk(void *arg)
{
    struct desk *desk = arg;
    struct exchange *x;

    while ((x = queue_take(&desk->queue)) != NULL) {
        worker_refresh(&desk->worker);
        answer_route(x, &desk->worker);
        if (x->request.is_post)
            worker_forget(&desk->worker);
        MHD_resume_connection(x->connection);
    }
    return NULL;
}

static int open_desk(struct desk *desk, struct http *http, const char *name)
{
    int rc;

    desk->http = http;
    queue_init(&desk->queue, MOST_WAITING);
    desk->is_open = true;
    rc = worker_open(&desk->worker, &http->session, true);
    if (rc < 0)
        return rc;
    desk->is_running = pthread_create(&desk->thread, NULL, run_desk, desk) == 0;
    if (!desk->is_running)
        return err_set(ERR_IO, "cannot start a thread");
    pthread_setname_np(desk->thread, name);
    return 0;
}

/* What is on its queue is still answered. */
static void close_desk(struct desk *desk)
{
    if (!desk->is_open)
        return;
    queue_close(&desk->queue);
    if (desk->is_running)
        pthread_join(desk->thread, NULL);
    worker_close(&desk->worker);
    queue_release(&desk->queue);
}

static enum MHD_Result hand_over(struct exchange *x)
{
    struct desk *desk = x->route->by == ROUTE_BY_WRITER ? &x->http->writer : &x->http->learner;

    MHD_suspend_connection(x->connection);
    if (!queue_put(&desk->queue, x)) {
        fail(x, 503, "too much is waiting already");
        MHD_resume_connection(x->connection);
    }
    return MHD_YES;
}

/* ----------------------------------------------------------------------- event streams */

static void wake(void *connection)
{
    MHD_resume_connection(connection);
}

static ssize_t read_events(void *arg, uint64_t position, char *out, size_t size)
{
    static const char hello[] = "retry: 2000\n\n";
    struct exchange *x = arg;
    struct feed *feed = &x->http->session.events;
    int n;

    if (position == 0 && size >= sizeof hello) {
        memcpy(out, hello, sizeof hello - 1);
        return (ssize_t)sizeof hello - 1;
    }
    n = feed_read(feed, &x->next, out, size);
    if (n < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (n == 0) {
        MHD_suspend_connection(x->connection);
        feed_wait(feed, x->next, x->connection);
    }
    return n;
}

static enum MHD_Result stream_events(struct exchange *x)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_events, x, NULL);
    enum MHD_Result result;

    atomic_fetch_add(&x->http->session.n_requests, 1);
    x->is_stream = true;
    x->next = feed_now(&x->http->session.events);
    answer_headers(response);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_set_connection_option(x->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    result = MHD_queue_response(x->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

/* ------------------------------------------------------------------------------- checks */

/* The token, where it is asked for: in the URL, as a header, or as the cookie we set. */
static bool has_token(struct exchange *x)
{
    const struct access *access = &x->http->access;
    const char *bearer = header(x, "Authorization");

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
    const char *length = header(x, "Content-Length");

    if (!is_json(header(x, "Content-Type")))
        fail(x, 415, "a body must be application/json");
    else if (length && strtoull(length, NULL, 10) > REQUEST_MOST_BYTES)
        fail(x, 413, "a body has 8 MiB at most");
}

/* Everything that can be said before the body is there. */
static void check(struct exchange *x, const char *method)
{
    const char *host = header(x, "Host"), *allow = "GET, HEAD";
    bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;

    x->request.is_post = strcmp(method, "POST") == 0;
    if (!access_host(&x->http->access, host)) {
        fail(x, 421, "Host is not a name of this server");
    } else if (!access_origin(header(x, "Origin"), host)) {
        fail(x, 403, "Origin is another site");
    } else if (*x->http->access.token && strcmp(x->request.path, "/healthz") != 0 &&
               !has_token(x)) {
        fail(x, 401, "the token is missing: open the URL that snag serve printed");
    } else if (is_get || x->request.is_post) {
        x->route = route_find(&x->request, &allow);
        if (x->route == NULL && (allow || x->request.is_post)) {
            fail(x, allow ? 405 : 404, allow ? "not by this method" : "there is nothing here");
            x->response.allow = allow;
        } else if (x->request.is_post) {
            check_body(x);
        }
    } else {
        fail(x, 405, "not by this method");
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

static struct exchange *begin(struct http *http, struct MHD_Connection *connection,
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

/* Returns false when a client goes on and on. */
static bool take_body(struct exchange *x, const char *data, size_t size)
{
    if (x->is_answered || x->size + size > REQUEST_MOST_BYTES) {
        if (!x->is_answered)
            fail(x, 413, "a body has 8 MiB at most");
        x->n_discarded += size;
        return x->n_discarded <= MOST_DISCARDED;
    }
    mem_grow(&x->body, &x->cap, x->size + size, 1);
    memcpy(x->body + x->size, data, size);
    x->size += size;
    return true;
}

static void parse_body(struct exchange *x)
{
    json_error_t error;
    char detail[256];

    x->request.body =
        json_loadb(x->size ? x->body : "", x->size, JSON_REJECT_DUPLICATES, &error);
    if (x->request.body == NULL) {
        snprintf(detail, sizeof detail, "the body is not JSON: %s", error.text);
        fail(x, 400, detail);
    } else if (!json_is_object(x->request.body)) {
        fail(x, 400, "the body is not an object");
    }
}

/* What is not of the API: the page, and what watches the server. */
static enum MHD_Result answer_other(struct exchange *x)
{
    const char *path = x->request.path;
    const struct asset *asset = asset_find(path);

    if (strcmp(path, "/api/v1/events") == 0)
        return stream_events(x);
    if (asset) {
        x->response = (struct response){.status = 200,
                                        .type = asset->type,
                                        .body = (void *)(uintptr_t)asset->data,
                                        .size = asset->size,
                                        .is_constant = true};
        return send_response(x, asset->etag);
    }
    if (strcmp(path, "/metrics") == 0)
        metrics(&x->http->session, x->http->daemon, &x->response);
    else if (strcmp(path, "/healthz") == 0)
        response_bytes(&x->response, "text/plain; charset=utf-8", mem_copy_string("ok\n"), 3);
    else
        fail(x, 404, "there is nothing here");
    return send_response(x, NULL);
}

static enum MHD_Result finish(struct exchange *x)
{
    if (!x->is_answered && x->request.is_post && x->request.body == NULL)
        parse_body(x);
    if (x->is_answered)
        return send_response(x, NULL);
    if (x->route == NULL)
        return answer_other(x);
    return x->route->by == ROUTE_BY_READER ? answer_as_reader(x) : hand_over(x);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *size, void **ctx)
{
    struct exchange *x = *ctx;

    (void)version;
    if (x == NULL) {
        *ctx = x = begin(arg, connection, path, method);
        /* A body that nobody wants need not be sent. */
        return x->is_answered && x->request.is_post ? send_response(x, NULL) : MHD_YES;
    }
    if (*size > 0) {
        bool is_fine = take_body(x, data, *size);

        *size = 0;
        return is_fine ? MHD_YES : MHD_NO;
    }
    return finish(x);
}

static void on_end(void *arg, struct MHD_Connection *connection, void **ctx,
                   enum MHD_RequestTerminationCode code)
{
    struct exchange *x = *ctx;

    (void)arg;
    (void)code;
    if (x == NULL)
        return;
    if (x->is_stream)
        feed_leave(&x->http->session.events, connection);
    response_release(&x->response);
    json_decref(x->request.body);
    free(x->body);
    free(x);
    *ctx = NULL;
}

/* --------------------------------------------------------------------------- the daemon */

/* As many connections as files may be open, with some left for the run. */
static unsigned most_connections(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 512;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 256)
        return 64;
    return limit.rlim_cur - 128 > MOST_CONNECTIONS ? MOST_CONNECTIONS
                                                   : (unsigned)limit.rlim_cur - 128;
}

static unsigned n_readers(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 2 ? 2 : n > (long)MOST_THREADS ? MOST_THREADS : (unsigned)n;
}

static int listen_at(struct http *http, const char *address, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    const union MHD_DaemonInfo *info;

    if (!is_v6)
        inet_pton(AF_INET, address, &v4.sin_addr);
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME | (is_v6 ? MHD_USE_IPv6 : 0u),
        port, NULL, NULL, on_request, http, MHD_OPTION_SOCK_ADDR,
        is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4, MHD_OPTION_NOTIFY_COMPLETED,
        on_end, NULL, MHD_OPTION_CONNECTION_LIMIT, most_connections(),
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_BYTES, MHD_OPTION_THREAD_POOL_SIZE, n_readers(),
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (http->daemon == NULL)
        return err_set(ERR_IO, "cannot listen on %s, port %u: %s", address, port,
                       strerror(errno));
    info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    http->port = info ? info->port : port;
    snprintf(http->cookie, sizeof http->cookie, "snag_token_%u", http->port);
    return 0;
}

int http_open(struct http **out, const struct http_opts *opts)
{
    const char *address = opts->address ? opts->address : "127.0.0.1";
    struct session_opts session = opts->session;
    struct http *http = *out = mem_alloc(1, sizeof *http);
    int rc = access_init(&http->access, address);

    session.wake = wake;
    if (rc == 0)
        rc = session_open(&http->session, &session);
    if (rc < 0)
        return rc;
    http->has_key = pthread_key_create(&http->reader, close_reader) == 0;
    if (!http->has_key)
        return err_set(ERR_IO, "cannot start threads");
    rc = open_desk(&http->writer, http, "snag-writer");
    if (rc == 0)
        rc = open_desk(&http->learner, http, "snag-learner");
    return rc < 0 ? rc : listen_at(http, address, opts->port);
}

void http_close(struct http *http)
{
    struct session *session;

    if (http == NULL)
        return;
    session = &http->session;
    if (http->daemon)
        close(MHD_quiesce_daemon(http->daemon));
    atomic_store(&session->is_cancelled, true);
    if (session->has_opened)
        feed_close(&session->events);
    close_desk(&http->writer);
    close_desk(&http->learner);
    if (session->has_projected)
        pthread_join(session->projecting, NULL);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    if (http->has_key)
        pthread_key_delete(http->reader);
    if (session->has_opened)
        session_close(session);
    free(http);
}

uint16_t http_port(const struct http *http)
{
    return http->port;
}

const struct access *http_access(const struct http *http)
{
    return &http->access;
}

void http_tick(struct http *http)
{
    feed_tell(&http->session.events, ": still here\n\n");
}

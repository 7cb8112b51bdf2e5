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
#include "web/answer.h"
#include "web/assets.h"
#include "web/exchange.h"
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
#define MOST_WAITING 1024   /* requests on a queue */
#define IDLE_S 30u          /* an idle connection is closed */
#define HEADER_BYTES 16384u /* of a connection: its buffers */

/* What a thread of the daemon has of its own. */
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
static struct reader *own_reader(struct http *http)
{
    struct reader *reader = pthread_getspecific(http->reader);

    if (reader)
        return reader;
    reader = mem_alloc(1, sizeof *reader);
    if (worker_open(&reader->worker, &http->served, false) < 0) {
        close_reader(reader);
        return NULL;
    }
    pthread_setspecific(http->reader, reader);
    return reader;
}

/* ----------------------------------------------------------------------------- answering */

static void answer_route(struct exchange *x, struct worker *worker)
{
    int rc = x->route->answer(worker, &x->request, &x->response);

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
    const char *known = exchange_header(x, "If-None-Match");

    return known && *etag && (strcmp(known, "*") == 0 || strstr(known, etag) != NULL);
}

static enum MHD_Result send_answer(struct exchange *x, const struct answer *answer)
{
    struct MHD_Response *unchanged;
    enum MHD_Result result;

    atomic_fetch_add(&x->http->served.n_requests, 1);
    if (answer->status >= 400)
        atomic_fetch_add(&x->http->served.n_failed, 1);
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
        exchange_fail(x, 503, err_message());
        return send_response(x, NULL);
    }
    if (worker_refresh(&reader->worker))
        answers_clear(&reader->answers);
    if (may_keep)
        kept = answers_find(&reader->answers, key);
    if (kept)
        return send_answer(x, kept);
    answer_route(x, &reader->worker);
    if (!may_keep || x->response.status != 200 ||
        response_held(&x->response) > ANSWERS_MOST_BYTES / 4)
        return send_response(x, NULL);
    answer = answer_of(&x->response, NULL);
    return send_answer(x, answers_keep(&reader->answers, key, &answer));
}

/* ------------------------------------------------------------------------------- desks */

static void *run_desk(void *arg)
{
    struct desk *desk = arg;
    struct exchange *x;

    if (desk == &desk->http->learner)
        worker_warm(&desk->worker); /* what fails now is said to whoever asks */
    while ((x = queue_take(&desk->queue)) != NULL) {
        worker_refresh(&desk->worker);
        answer_route(x, &desk->worker);
        if (x->request.is_post)
            worker_forget(&desk->worker);
        MHD_resume_connection(x->connection);
    }
    return NULL;
}

static int open_desk(struct desk *desk, struct http *http, const char *name, bool is_writing)
{
    int rc;

    desk->http = http;
    queue_init(&desk->queue, MOST_WAITING);
    desk->is_open = true;
    rc = worker_open(&desk->worker, &http->served, is_writing);
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

static struct desk *desk_of(struct exchange *x)
{
    return x->route->by == ROUTE_BY_WRITER    ? &x->http->writer
           : x->route->by == ROUTE_BY_LEARNER ? &x->http->learner
                                              : &x->http->explainer;
}

static enum MHD_Result hand_over(struct exchange *x)
{
    struct desk *desk = desk_of(x);

    MHD_suspend_connection(x->connection);
    if (!queue_put(&desk->queue, x)) {
        exchange_fail(x, 503, "too much is waiting already");
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
    struct feed *feed = &x->http->served.events;
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

    atomic_fetch_add(&x->http->served.n_requests, 1);
    x->is_stream = true;
    x->next = feed_now(&x->http->served.events);
    answer_headers(response);
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_set_connection_option(x->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    result = MHD_queue_response(x->connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
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
        metrics(&x->http->served, &x->response);
    else if (strcmp(path, "/healthz") == 0)
        health(&x->http->served, &x->response);
    else
        exchange_fail(x, 404, "there is nothing here");
    return send_response(x, NULL);
}

static enum MHD_Result finish(struct exchange *x)
{
    if (!x->is_answered && x->request.is_post && x->request.body == NULL)
        exchange_parse(x);
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
        *ctx = x = exchange_new(arg, connection, path, method);
        /* A body that nobody wants need not be sent. */
        return x->is_answered && x->request.is_post ? send_response(x, NULL) : MHD_YES;
    }
    if (*size > 0) {
        bool is_fine = exchange_take(x, data, *size);

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
        feed_leave(&x->http->served.events, connection);
    exchange_free(x);
    *ctx = NULL;
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **ctx,
                          enum MHD_ConnectionNotificationCode code)
{
    struct served *served = arg;

    (void)connection;
    (void)ctx;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        atomic_fetch_add(&served->n_connections, 1);
    else
        atomic_fetch_sub(&served->n_connections, 1);
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

/* Returns -1 with errno when it cannot listen there. */
static int open_socket(const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address, size) != 0 || listen(fd, 1024) != 0) {
        int failed = errno;

        close(fd);
        errno = failed;
        return -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in6 at = {.sin6_port = 0}; /* the port of IPv4 is in the same place */
    socklen_t size = sizeof at;

    getsockname(fd, (struct sockaddr *)&at, &size);
    return ntohs(at.sin6_port);
}

/* All that threads of the daemon look at is there before it starts. */
static int listen_at(struct http *http, const char *address, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    int fd;

    if (!is_v6)
        inet_pton(AF_INET, address, &v4.sin_addr);
    fd = is_v6 ? open_socket((struct sockaddr *)&v6, sizeof v6)
               : open_socket((struct sockaddr *)&v4, sizeof v4);
    if (fd < 0)
        return err_set(ERR_IO, "cannot listen on %s, port %u: %s", address, port,
                       strerror(errno));
    http->port = port_of(fd);
    snprintf(http->cookie, sizeof http->cookie, "snag_token_%u", http->port);
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME, 0, NULL, NULL, on_request, http,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, &http->served, MHD_OPTION_CONNECTION_LIMIT,
        most_connections(), MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_THREAD_POOL_SIZE,
        n_readers(), MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (http->daemon == NULL) {
        close(fd);
        return err_set(ERR_IO, "cannot start the server");
    }
    return 0;
}

int http_open(struct http **out, const struct http_opts *opts)
{
    const char *address = opts->address ? opts->address : "127.0.0.1";
    struct served_opts served = opts->served;
    struct http *http = *out = mem_alloc(1, sizeof *http);
    int rc = access_init(&http->access, address);

    served.wake = wake;
    if (rc == 0)
        rc = served_open(&http->served, &served);
    if (rc < 0)
        return rc;
    http->has_key = pthread_key_create(&http->reader, close_reader) == 0;
    if (!http->has_key)
        return err_set(ERR_IO, "cannot start threads");
    rc = open_desk(&http->writer, http, "snag-writer", true);
    if (rc == 0)
        rc = open_desk(&http->learner, http, "snag-learner", true);
    if (rc == 0)
        rc = open_desk(&http->explainer, http, "snag-explainer", false);
    if (rc == 0)
        rc = listen_at(http, address, opts->port);
    return rc < 0 || opts->served.live == NULL ? rc
                                               : live_teller_open(&http->teller, &http->served);
}

void http_close(struct http *http)
{
    struct served *served;

    if (http == NULL)
        return;
    served = &http->served;
    live_teller_close(&http->teller);
    if (http->daemon)
        close(MHD_quiesce_daemon(http->daemon));
    atomic_store(&served->is_cancelled, true);
    if (served->has_opened)
        feed_close(&served->events);
    close_desk(&http->writer);
    close_desk(&http->learner);
    close_desk(&http->explainer);
    if (served->has_projected)
        pthread_join(served->projecting, NULL);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    if (http->has_key)
        pthread_key_delete(http->reader);
    if (served->has_opened)
        served_close(served);
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
    feed_tell(&http->served.events, ": still here\n\n");
}

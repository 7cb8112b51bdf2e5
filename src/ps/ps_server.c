/*
 * A socket is made before the thread that uses it is started and then belongs to that thread,
 * which closes it. Shutting the context down ends all waiting, in any thread.
 */
#include "ps/ps_server.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/thread.h"
#include "ps/libzmq.h"
#include "ps/ps_socket.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACK "inproc://workers"
#define MAX_WAITING 64 /* messages of one client that wait; more are dropped, */
#define MAX_UNREAD 4   /* ... and answers: who waits for each has one at a time */
#define MAX_WORKERS 256u
#define LAST_WORDS_MS 5000 /* for the server above, at the end */

struct server_worker {
    struct ps_server *server;
    unsigned index;
    void *socket;
    pthread_t thread;
    bool is_started;
};

struct ps_server {
    struct ps_store *store;
    struct ps_client *upstream; /* its thread is the publisher's */
    struct ps_key key;
    unsigned interval_ms, n_workers;
    char address[256];
    void *zmq, *front, *back, *guard;
    struct server_worker *worker; /* [n_workers] */
    pthread_t proxy_thread, publisher_thread, guard_thread;
    bool has_proxy, has_publisher, has_guard; /* started */
    bool is_stopped;
};

/* -------------------------------------------------------------------------------- threads */

static void *run_proxy(void *arg)
{
    struct ps_server *s = arg;

    zmq_proxy(s->front, s->back, NULL); /* until the context is shut down */
    zmq_close(s->front);
    zmq_close(s->back);
    return NULL;
}

static void *run_guard(void *arg)
{
    struct ps_server *s = arg;

    ps_key_guard(&s->key, s->guard);
    return NULL;
}

/* Half of an interval is for the server above, of which it takes as much as that needs. */
static void *run_publisher(void *arg)
{
    struct ps_server *s = arg;

    while (ps_store_wait(s->store, s->interval_ms)) {
        if (ps_store_publish(s->store) < 0)
            log_warn("ps", "%s", err_message());
        if (s->upstream)
            ps_store_relay(s->store, (int)(s->interval_ms / 2));
    }
    return NULL;
}

/* One message. Returns false when the context is shut down. */
static bool receive_part(void *socket, zmq_msg_t *part)
{
    int status;

    do
        status = zmq_msg_recv(part, socket, 0);
    while (status < 0 && errno == EINTR);
    return status >= 0;
}

/*
 * Who asks, and the request. Of messages of another number of parts the rest is thrown away.
 * Returns false when the context is shut down.
 */
static bool receive_request(void *socket, zmq_msg_t *who, zmq_msg_t *request, bool *is_good)
{
    int n = 1;

    if (!receive_part(socket, who))
        return false;
    for (zmq_msg_t *last = who; zmq_msg_more(last); n++) {
        if (!receive_part(socket, request))
            return false;
        last = request;
    }
    *is_good = n == 2;
    return true;
}

static void *run_worker(void *arg)
{
    struct server_worker *w = arg;
    struct pack reply = {0};
    zmq_msg_t who, request;
    bool is_good = false;

    zmq_msg_init(&who);
    zmq_msg_init(&request);
    while (receive_request(w->socket, &who, &request, &is_good)) {
        if (!is_good)
            continue;
        ps_store_answer(w->server->store, w->index, zmq_msg_data(&request),
                        zmq_msg_size(&request), &reply);
        if (zmq_msg_send(&who, w->socket, ZMQ_SNDMORE) >= 0)
            zmq_send(w->socket, reply.data, reply.n, 0);
    }
    zmq_msg_close(&who);
    zmq_msg_close(&request);
    pack_release(&reply);
    zmq_close(w->socket);
    return NULL;
}

/* --------------------------------------------------------------------------------- opening */

static int fail(const char *what)
{
    return err_set(ERR_IO, "%s: %s", what, zmq_strerror(errno));
}

static int bind_front(struct ps_server *s, const struct ps_server_opts *opts)
{
    const char *listen = opts->listen ? opts->listen : "tcp://127.0.0.1:*";
    int64_t most_bytes = PS_MAX_FRAME_BYTES;
    int most = MAX_WAITING, most_unread = MAX_UNREAD, rc = 0;
    size_t bytes = sizeof s->address;

    s->front = zmq_socket(s->zmq, ZMQ_ROUTER);
    if (s->front == NULL)
        return fail("cannot make a socket");
    zmq_setsockopt(s->front, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
    zmq_setsockopt(s->front, ZMQ_RCVHWM, &most, sizeof most);
    zmq_setsockopt(s->front, ZMQ_SNDHWM, &most_unread, sizeof most_unread);
    if (opts->key_file)
        rc = ps_key_serve(&s->key, s->front);
    if (rc < 0)
        return rc;
    if (zmq_bind(s->front, listen) != 0)
        return err_set(ERR_IO, "cannot listen at '%s': %s", listen, zmq_strerror(errno));
    zmq_getsockopt(s->front, ZMQ_LAST_ENDPOINT, s->address, &bytes);
    return 0;
}

static int bind_guard(struct ps_server *s)
{
    s->guard = zmq_socket(s->zmq, ZMQ_REP);
    if (s->guard == NULL || zmq_bind(s->guard, PS_KEY_GUARD_ADDRESS) != 0)
        return fail("cannot guard the server");
    return 0;
}

static int bind_back(struct ps_server *s)
{
    s->back = zmq_socket(s->zmq, ZMQ_DEALER);
    if (s->back == NULL || zmq_bind(s->back, BACK) != 0)
        return fail("cannot reach the workers");
    s->worker = mem_alloc(s->n_workers, sizeof *s->worker);
    for (unsigned i = 0; i < s->n_workers; i++) {
        s->worker[i] = (struct server_worker){.server = s, .index = i};
        s->worker[i].socket = zmq_socket(s->zmq, ZMQ_DEALER);
        if (s->worker[i].socket == NULL || zmq_connect(s->worker[i].socket, BACK) != 0)
            return fail("cannot start a worker");
    }
    return 0;
}

static int start_all(struct ps_server *s)
{
    char name[16];
    int rc = 0;

    if (s->guard)
        rc = thread_start(&s->guard_thread, &s->has_guard, "snag-ps-guard", run_guard, s);
    for (unsigned i = 0; rc == 0 && i < s->n_workers; i++) {
        struct server_worker *w = &s->worker[i];

        snprintf(name, sizeof name, "snag-ps-%u", i % 1000);
        rc = thread_start(&w->thread, &w->is_started, name, run_worker, w);
    }
    if (rc == 0)
        rc = thread_start(&s->publisher_thread, &s->has_publisher, "snag-ps-publish",
                          run_publisher, s);
    if (rc == 0)
        rc = thread_start(&s->proxy_thread, &s->has_proxy, "snag-ps-proxy", run_proxy, s);
    return rc;
}

/* ZeroMQ takes 99999 for 34463. */
static bool has_bad_port(const char *listen)
{
    const char *colon = strrchr(listen, ':');

    return strncmp(listen, "tcp://", 6) == 0 && strtoul(colon + 1, NULL, 10) > UINT16_MAX;
}

static int check(const struct ps_server_opts *opts)
{
    if (opts->listen && strstr(opts->listen, "://") == NULL)
        return err_set(ERR_USAGE,
                       "--listen takes an address such as tcp://127.0.0.1:5559, "
                       "not '%s'",
                       opts->listen);
    if (opts->listen && has_bad_port(opts->listen))
        return err_set(ERR_USAGE, "--listen: no such port: '%s'", opts->listen);
    if (opts->listen && !opts->key_file && !opts->is_open && !ps_key_is_local(opts->listen))
        return err_set(ERR_USAGE,
                       "--listen: '%s' can be reached from other machines: that needs "
                       "--curve-key FILE, or --insecure",
                       opts->listen);
    if (opts->upstream && opts->store.snapshot == NULL)
        return err_set(ERR_USAGE, "--upstream needs --snapshot FILE: without it a restarted "
                                  "server would send its counts twice");
    if (opts->upstream &&
        (opts->store.n_clients > 0 || opts->store.is_frozen || opts->store.load))
        return err_set(ERR_USAGE, "--deterministic, --load and --frozen are for the server at "
                                  "the top, not with --upstream");
    return 0;
}

static int open_upstream(struct ps_server *s, const struct ps_server_opts *opts)
{
    struct ps_client_opts above = {.address = opts->upstream, .key_file = opts->key_file};

    return opts->upstream ? ps_client_open(&s->upstream, &above) : 0;
}

static int open_all(struct ps_server *s, const struct ps_server_opts *opts)
{
    struct ps_store_opts store = opts->store;
    int rc = check(opts);

    s->n_workers = store.n_workers ? store.n_workers : 2;
    s->n_workers = s->n_workers < MAX_WORKERS ? s->n_workers : MAX_WORKERS;
    s->interval_ms = opts->interval_ms ? opts->interval_ms : 1000;
    store.n_workers = s->n_workers;
    if (rc == 0 && opts->key_file)
        rc = ps_key_read(&s->key, opts->key_file, true);
    if (rc == 0)
        rc = open_upstream(s, opts);
    store.upstream = s->upstream;
    if (rc == 0)
        rc = ps_store_open(&s->store, &store);
    if (rc < 0)
        return rc;
    s->zmq = zmq_ctx_new();
    if (s->zmq == NULL)
        return fail("cannot start ZeroMQ");
    if (opts->key_file)
        rc = bind_guard(s);
    if (rc == 0)
        rc = bind_back(s);
    if (rc == 0)
        rc = bind_front(s, opts);
    return rc < 0 ? rc : start_all(s);
}

/* A socket whose thread was never started has nobody else to close it. */
static void close_socket(void *socket)
{
    if (socket)
        zmq_close(socket);
}

static void stop_threads(struct ps_server *s)
{
    if (s->store)
        ps_store_stop(s->store);
    if (s->zmq)
        zmq_ctx_shutdown(s->zmq);
    if (s->has_publisher)
        pthread_join(s->publisher_thread, NULL);
    if (s->has_proxy) {
        pthread_join(s->proxy_thread, NULL);
    } else {
        close_socket(s->front);
        close_socket(s->back);
    }
    if (s->has_guard)
        pthread_join(s->guard_thread, NULL);
    else
        close_socket(s->guard);
    for (unsigned i = 0; s->worker && i < s->n_workers; i++) {
        if (s->worker[i].is_started)
            pthread_join(s->worker[i].thread, NULL);
        else
            close_socket(s->worker[i].socket);
    }
}

/* What the server above has not saved yet stays in the snapshot. */
static int say_last_words(struct ps_server *s)
{
    uint64_t end_ns = clock_ns() + LAST_WORDS_MS * UINT64_C(1000000);
    bool is_told = false;
    int rc = 0;

    while (rc == 0 && !is_told && clock_ns() < end_ns) {
        is_told = ps_store_relay(s->store, LAST_WORDS_MS / 50);
        rc = ps_store_publish(s->store);
    }
    if (!is_told)
        log_warn("ps", "the server above has not taken all that this server has sent: the "
                       "snapshot has the rest, for the next server that is started with it");
    return rc;
}

int ps_server_stop(struct ps_server *s)
{
    int rc = 0;

    if (s->is_stopped)
        return 0;
    s->is_stopped = true;
    stop_threads(s);
    if (s->store && s->has_proxy)
        rc = ps_store_publish(s->store);
    if (rc == 0 && s->has_proxy && s->upstream)
        rc = say_last_words(s);
    return rc;
}

int ps_server_close(struct ps_server *s)
{
    int rc;

    if (s == NULL)
        return 0;
    rc = ps_server_stop(s);
    if (s->zmq)
        zmq_ctx_term(s->zmq);
    ps_store_close(s->store);
    ps_client_close(s->upstream);
    free(s->worker);
    free(s);
    return rc;
}

int ps_server_open(struct ps_server **server, const struct ps_server_opts *opts)
{
    struct ps_server *s = mem_alloc(1, sizeof *s);
    int rc = open_all(s, opts);

    *server = rc < 0 ? NULL : s;
    if (rc < 0)
        ps_server_close(s);
    return rc;
}

const char *ps_server_address(const struct ps_server *s)
{
    return s->address;
}

void ps_server_counts(struct ps_server *s, struct ps_counts *counts)
{
    ps_store_counts(s->store, counts);
}

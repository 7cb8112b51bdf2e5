#include "sample_server.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

/* ----------------------------------------------------------------------------- the handler */

struct sample_request {
    struct sample_server *sample;
    struct connection *connection;
    const struct request_head *head;
    pthread_t thread;
    bool is_later, is_stream;
    atomic_bool is_done;
    unsigned n_said;
};

static void answer(struct connection *c, unsigned status, const void *body, size_t n)
{
    struct reply *reply = reply_new(status, "Whatever");
    char length[24];

    reply_part(reply, body, n / 2);
    reply_part(reply, (const char *)body + n / 2, n - n / 2);
    snprintf(length, sizeof length, "%zu", n);
    reply_field(reply, "Content-Length", length);
    reply->held = n;
    connection_answer(c, reply, "X: y\r\n");
    reply_drop(reply);
}

static void *begin(void *ctx, struct connection *connection, const struct request_head *head,
                   uint64_t *most_body)
{
    struct sample_request *r = mem_alloc(1, sizeof *r);

    r->sample = ctx;
    r->connection = connection;
    r->head = head;
    atomic_fetch_add(&r->sample->n_begun, 1);
    *most_body = SAMPLE_MAX_BODY_BYTES;
    if (strcmp(head->path, "/nothing") == 0)
        answer(connection, 404, "", 0);
    return r;
}

static void *wake_later(void *arg)
{
    struct sample_request *r = arg;
    const struct timespec moment = {.tv_nsec = 20 * SAMPLE_MS};

    nanosleep(&moment, NULL);
    atomic_store(&r->is_done, true);
    connection_wake(r->connection);
    return NULL;
}

static void *wake_often(void *arg)
{
    struct sample_request *r = arg;
    const struct timespec moment = {.tv_nsec = 20000};

    while (!atomic_load(&r->is_done)) {
        connection_wake(r->connection);
        nanosleep(&moment, NULL);
    }
    return NULL;
}

static ssize_t say(void *request, char *out, size_t size)
{
    struct sample_request *r = request;

    if (r->n_said++ < 3) {
        memset(out, 'a', size);
        return (ssize_t)size;
    }
    if (strcmp(r->head->path, "/flood") == 0)
        return (ssize_t)size;
    return strcmp(r->head->path, "/say") == 0 ? -1 : 0;
}

static void start_stream(struct sample_request *r)
{
    struct reply *reply = reply_new(200, "OK");

    r->is_stream = true;
    atomic_store(&r->sample->listener, r->connection);
    connection_stream(r->connection, reply, say);
    reply_drop(reply);
}

static void respond(void *request)
{
    struct sample_request *r = request;
    const char *path = r->head->path;
    size_t n;
    const char *body = connection_body(r->connection, &n);

    if (strcmp(path, "/large") == 0) {
        answer(r->connection, 200, r->sample->large, SAMPLE_LARGE);
    } else if (strcmp(path, "/later") == 0 && !atomic_load(&r->is_done)) {
        r->is_later = true;
        pthread_create(&r->thread, NULL, wake_later, r);
    } else if (strcmp(path, "/say") == 0 || strcmp(path, "/flood") == 0 ||
               strcmp(path, "/listen") == 0) {
        start_stream(r);
    } else if (strcmp(path, "/woken") == 0) {
        start_stream(r);
        r->is_later = true;
        pthread_create(&r->thread, NULL, wake_often, r);
    } else if (n > 0) {
        answer(r->connection, 200, body, n);
    } else {
        answer(r->connection, 200, path, strlen(path));
    }
}

static void end(void *request)
{
    struct sample_request *r = request;

    atomic_store(&r->is_done, true);
    if (r->is_later)
        pthread_join(r->thread, NULL);
    atomic_fetch_add(&r->sample->n_ended, 1);
    free(r);
}

static void refuse(void *ctx, struct connection *connection, struct http_refusal refusal)
{
    (void)ctx;
    answer(connection, refusal.status, refusal.why, strlen(refusal.why));
}

/* ----------------------------------------------------------------------------- the clients */

struct server_limits sample_limits(void)
{
    const uint64_t patience_ns = SAMPLE_PATIENCE_MS * SAMPLE_MS;

    return (struct server_limits){.connections = 64,
                                  .address_connections = 64,
                                  .streams = 32,
                                  .idle_ns = patience_ns,
                                  .head_ns = patience_ns,
                                  .grace_ns = patience_ns,
                                  .least_bytes_per_s = 16 << 20,
                                  .linger_ns = patience_ns,
                                  .unfinished_bytes = 1 << 20,
                                  .unsent_bytes = (size_t)1 << 30};
}

void sample_start(struct sample_server *s, struct server_limits limits)
{
    struct server_opts opts = {.address = "127.0.0.1",
                               .n_threads = 2,
                               .limits = limits,
                               .handler = {s, begin, respond, end, refuse}};

    *s = (struct sample_server){.large = malloc(SAMPLE_LARGE)};
    for (size_t i = 0; i < SAMPLE_LARGE; i++)
        s->large[i] = (char)(i * 2654435761u >> 24);
    assert_int_equal(server_open(&s->server, &opts), 0);
}

void sample_stop(struct sample_server *s)
{
    server_close(s->server);
    assert_int_equal(atomic_load(&s->n_begun), atomic_load(&s->n_ended));
    free(s->large);
}

int sample_connect_from(const struct sample_server *s, const char *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(server_port(s->server))};
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct timeval patience = {.tv_sec = SAMPLE_PATIENCE_MS / 1000};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, address, &from.sin_addr);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

int sample_connect(const struct sample_server *s)
{
    return sample_connect_from(s, "127.0.0.1");
}

bool sample_put(int fd, const char *text)
{
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

size_t sample_read_all(int fd, char *out, size_t size)
{
    static char sink[1 << 16];
    size_t n = 0;
    ssize_t got;

    while ((got = recv(fd, sink, sizeof sink, 0)) > 0) {
        if (n < size - 1)
            memcpy(out + n, sink, (size_t)got < size - 1 - n ? (size_t)got : size - 1 - n);
        n += (size_t)got;
    }
    out[n < size - 1 ? n : size - 1] = '\0';
    assert_false(got < 0 && errno == EAGAIN); /* it was not closed */
    close(fd);
    return n;
}

int sample_status(const char *text)
{
    int status = 0;

    return sscanf(text, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

int sample_ask(const struct sample_server *s, const char *text)
{
    char out[256];
    int fd = sample_connect(s);

    sample_put(fd, text);
    sample_read_all(fd, out, sizeof out);
    return sample_status(out);
}

int sample_ask_small(const struct sample_server *s)
{
    return sample_ask(s, "GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
}

bool sample_is_open(int fd)
{
    struct pollfd events = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&events, 1, 0) == 0 || recv(fd, &byte, 1, MSG_PEEK) > 0;
}

void sample_pause(unsigned ms)
{
    const struct timespec time = {.tv_sec = ms / 1000,
                                  .tv_nsec = (long)(ms % 1000 * SAMPLE_MS)};

    nanosleep(&time, NULL);
}

void sample_wait_for(const struct sample_server *s, unsigned n)
{
    for (unsigned ms = 0; server_connections(s->server) > n; ms += 5) {
        assert_true(ms < SAMPLE_PATIENCE_MS);
        sample_pause(5);
    }
}

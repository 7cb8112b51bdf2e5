/* A server with small limits, and clients of every kind. Nothing waits for a time to be short:
 * clients go on until the server has had enough. */
#include "http/server.h"

#include "base/mem.h"
#include "base/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull
#define LARGE (16u << 20)
#define MOST_BODY (256u << 10)
#define PATIENCE_MS 60000

static struct server *server;
static struct connection *_Atomic listener; /* of the last stream */
static atomic_uint n_begun, n_ended;
static char *large;

/* ----------------------------------------------------------------------------- the handler */

struct request {
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
    connection_answer(c, reply, "X: y\r\n");
    reply_drop(reply);
}

static void *begin(void *ctx, struct connection *connection, const struct request_head *head,
                   uint64_t *most_body)
{
    struct request *r = mem_alloc(1, sizeof *r);

    (void)ctx;
    r->connection = connection;
    r->head = head;
    atomic_fetch_add(&n_begun, 1);
    *most_body = MOST_BODY;
    if (strcmp(head->path, "/nothing") == 0)
        answer(connection, 404, "", 0);
    return r;
}

static void *wake_later(void *arg)
{
    struct request *r = arg;
    const struct timespec moment = {.tv_nsec = 20 * MS};

    nanosleep(&moment, NULL);
    atomic_store(&r->is_done, true);
    connection_wake(r->connection);
    return NULL;
}

static ssize_t say(void *request, char *out, size_t size)
{
    struct request *r = request;

    if (r->n_said++ < 3) {
        memset(out, 'a', size);
        return (ssize_t)size;
    }
    if (strcmp(r->head->path, "/flood") == 0)
        return (ssize_t)size;
    return strcmp(r->head->path, "/listen") == 0 ? 0 : -1;
}

static void start_stream(struct request *r)
{
    struct reply *reply = reply_new(200, "OK");

    r->is_stream = true;
    atomic_store(&listener, r->connection);
    connection_stream(r->connection, reply, say);
    reply_drop(reply);
}

static void respond(void *request)
{
    struct request *r = request;
    const char *path = r->head->path;
    size_t n;
    const char *body = connection_body(r->connection, &n);

    if (strcmp(path, "/large") == 0) {
        answer(r->connection, 200, large, LARGE);
    } else if (strcmp(path, "/later") == 0 && !atomic_load(&r->is_done)) {
        r->is_later = true;
        pthread_create(&r->thread, NULL, wake_later, r);
    } else if (strcmp(path, "/say") == 0 || strcmp(path, "/flood") == 0 ||
               strcmp(path, "/listen") == 0) {
        start_stream(r);
    } else if (n > 0) {
        answer(r->connection, 200, body, n);
    } else {
        answer(r->connection, 200, path, strlen(path));
    }
}

static void end(void *request)
{
    struct request *r = request;

    if (r->is_later)
        pthread_join(r->thread, NULL);
    atomic_fetch_add(&n_ended, 1);
    free(r);
}

static void refuse(void *ctx, struct connection *connection, struct http_refusal refusal)
{
    (void)ctx;
    answer(connection, refusal.status, refusal.why, strlen(refusal.why));
}

/* ----------------------------------------------------------------------------- the clients */

static const struct server_limits ample = {.connections = 64,
                                           .address_connections = 64,
                                           .streams = 32,
                                           .idle_ns = PATIENCE_MS * MS,
                                           .head_ns = PATIENCE_MS * MS,
                                           .grace_ns = PATIENCE_MS * MS,
                                           .least_bytes_per_s = 16 << 20,
                                           .linger_ns = PATIENCE_MS * MS,
                                           .unfinished_bytes = 1 << 20};

static void start(struct server_limits limits)
{
    struct server_opts opts = {.address = "127.0.0.1",
                               .n_threads = 2,
                               .limits = limits,
                               .handler = {NULL, begin, respond, end, refuse}};

    atomic_store(&n_begun, 0);
    atomic_store(&n_ended, 0);
    assert_int_equal(server_open(&server, &opts), 0);
}

/* Whatever was begun has ended. */
static void stop(void)
{
    server_close(server);
    server = NULL;
    assert_int_equal(atomic_load(&n_begun), atomic_load(&n_ended));
}

static int connect_from(const char *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(server_port(server))};
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, address, &from.sin_addr);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static int connect_to(void)
{
    return connect_from("127.0.0.1");
}

static bool put(int fd, const char *text)
{
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* Reads until the server closes. Returns how many bytes came; out has what fits. */
static size_t read_all(int fd, char *out, size_t size)
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

static int status_of(const char *answer_text)
{
    int status = 0;

    return sscanf(answer_text, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

/* The status of a request on a connection of its own; 0 when it was not answered. */
static int ask(const char *text)
{
    char out[256];
    int fd = connect_to();

    put(fd, text);
    read_all(fd, out, sizeof out);
    return status_of(out);
}

static int ask_small(void)
{
    return ask("GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
}

static bool is_open(int fd)
{
    struct pollfd events = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&events, 1, 0) == 0 || recv(fd, &byte, 1, MSG_PEEK) > 0;
}

static void pause_ms(unsigned ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000 * MS)};

    nanosleep(&time, NULL);
}

/* Waits until so few connections are left. */
static void wait_for(unsigned n)
{
    for (unsigned ms = 0; server_connections(server) > n; ms += 5) {
        assert_true(ms < PATIENCE_MS);
        pause_ms(5);
    }
}

/* ------------------------------------------------------------------------------- the tests */

static void requests_on_a_connection_are_answered_in_order(void **state)
{
    char out[4096];
    const char *first, *second, *third;
    int fd;

    (void)state;
    start(ample);
    fd = connect_to();
    put(fd, "GET /one HTTP/1.1\r\nHost: a\r\n\r\nPOST /b HTTP/1.1\r\nHost: a\r\n"
            "Content-Length: 5\r\n\r\nsecnd"
            "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
            "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    read_all(fd, out, sizeof out);
    first = strstr(out, "/one");
    second = first ? strstr(first, "\r\n\r\nsecnd") : NULL;
    third = second ? strstr(second, "\r\n\r\n/later") : NULL;
    assert_non_null(third);
    assert_non_null(strstr(third, "404"));
    assert_non_null(strstr(out, "\r\nDate: "));
    stop();
}

static void a_large_answer_is_whole_however_slowly_it_is_read(void **state)
{
    static char chunk[9999];
    size_t n = 0, n_head;
    ssize_t got;
    int fd;

    (void)state;
    start(ample);
    fd = connect_to();
    put(fd, "GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    got = recv(fd, chunk, 400, 0);
    n_head = (size_t)(strstr(chunk, "\r\n\r\n") + 4 - chunk);
    n = (size_t)got - n_head;
    assert_memory_equal(chunk + n_head, large, n);
    while ((got = recv(fd, chunk, sizeof chunk, 0)) > 0) {
        assert_memory_equal(chunk, large + n, (size_t)got);
        n += (size_t)got;
    }
    assert_int_equal(n, LARGE);
    close(fd);
    stop();
}

static void a_head_has_a_time_of_its_own_however_it_drips(void **state)
{
    struct server_limits limits = ample;
    char out[256];
    int fd;

    (void)state;
    limits.head_ns = 200 * MS;
    start(limits);
    fd = connect_to();
    for (unsigned ms = 0; put(fd, ms ? "a" : "GET /") && is_open(fd); ms += 20) {
        struct pollfd events = {.fd = fd, .events = POLLIN};

        assert_true(ms < PATIENCE_MS);
        if (poll(&events, 1, 20) > 0)
            break;
    }
    read_all(fd, out, sizeof out);
    assert_int_equal(status_of(out), 408);
    stop();
}

static void a_body_has_a_time_of_its_own_however_it_drips(void **state)
{
    static const char *const heads[] = {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n"};
    struct server_limits limits = ample;
    char out[256];

    (void)state;
    limits.grace_ns = 200 * MS;
    start(limits);
    for (int i = 0; i < 2; i++) {
        int fd = connect_to();

        for (unsigned ms = 0; put(fd, ms ? "a" : heads[i]); ms += 20) {
            struct pollfd events = {.fd = fd, .events = POLLIN};

            assert_true(ms < PATIENCE_MS);
            if (poll(&events, 1, 20) > 0)
                break;
        }
        read_all(fd, out, sizeof out);
        assert_int_equal(status_of(out), 408);
    }
    stop();
}

static void who_says_nothing_or_takes_nothing_is_let_go_of(void **state)
{
    static const char *const said[] = {
        "", "GET /one HTTP/1.1\r\nHost: a\r\n\r\n", "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /flood HTTP/1.1\r\nHost: a\r\n\r\n", "nonsense\r\n\r\n"};
    struct server_limits limits = ample;
    int fd[sizeof said / sizeof *said];

    (void)state;
    limits.idle_ns = limits.grace_ns = limits.linger_ns = 100 * MS;
    start(limits);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        fd[i] = connect_to();
        put(fd[i], said[i]);
    }
    wait_for(0);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        close(fd[i]);
    stop();
}

static void a_stream_that_is_read_lasts(void **state)
{
    struct server_limits limits = ample;
    char out[64];
    int fd;

    (void)state;
    limits.idle_ns = limits.grace_ns = limits.linger_ns = 100 * MS;
    start(limits);
    assert_true(ask("GET /say HTTP/1.1\r\nHost: a\r\n\r\n") == 200);
    fd = connect_to();
    put(fd, "GET /listen HTTP/1.1\r\nHost: a\r\n\r\n");
    pause_ms(600);
    assert_true(is_open(fd));
    assert_int_equal(server_connections(server), 1);
    connection_wake(atomic_load(&listener));
    server_quiesce(server);
    assert_true(read_all(fd, out, sizeof out) > 3 * 4096);
    stop();
}

static void who_waited_longest_makes_room(void **state)
{
    static const char *const begun[] = {
        "", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"};
    struct server_limits limits = ample;
    int fd[200];

    (void)state;
    limits.connections = limits.address_connections = 20;
    start(limits);
    for (int i = 0; i < 200; i++) {
        fd[i] = connect_to();
        put(fd[i], begun[i % 4]);
    }
    for (int i = 0; i < 10; i++)
        assert_int_equal(ask_small(), 200);
    wait_for(20);
    for (int i = 0; i < 200; i++)
        close(fd[i]);
    stop();
}

static void an_address_takes_no_room_from_others(void **state)
{
    struct server_limits limits = ample;
    int other, fd[100];

    (void)state;
    limits.connections = 40;
    limits.address_connections = 20;
    start(limits);
    other = connect_from("127.0.0.2");
    for (int i = 0; i < 100; i++)
        fd[i] = connect_to();
    wait_for(21);
    assert_true(is_open(other));
    assert_int_equal(ask_small(), 200);
    put(other, "GET /one HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_true(read_all(other, (char[64]){0}, 64) > 0);
    for (int i = 0; i < 100; i++)
        close(fd[i]);
    stop();
}

static void streams_leave_room_for_requests(void **state)
{
    struct server_limits limits = ample;
    int fd[100];

    (void)state;
    limits.connections = limits.address_connections = 20;
    limits.streams = 10;
    start(limits);
    for (int i = 0; i < 100; i++) {
        fd[i] = connect_to();
        put(fd[i], "GET /listen HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    assert_int_equal(ask_small(), 200);
    wait_for(10);
    assert_true(is_open(fd[99]));
    for (int i = 0; i < 100; i++)
        close(fd[i]);
    stop();
}

static void unfinished_requests_share_a_budget(void **state)
{
    static char body[100 << 10];
    struct server_limits limits = ample;
    unsigned n_refused = 0;
    char out[256];
    int fd[40];

    (void)state;
    limits.unfinished_bytes = 1 << 20;
    start(limits);
    memset(body, 'a', sizeof body);
    for (int i = 0; i < 40; i++) {
        fd[i] = connect_to();
        put(fd[i], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 110000\r\n\r\n");
        send(fd[i], body, sizeof body, MSG_NOSIGNAL);
    }
    /* There is room for ten. */
    for (unsigned ms = 0; n_refused < 30; ms += 5) {
        assert_true(ms < PATIENCE_MS);
        pause_ms(5);
        n_refused = 0;
        for (int i = 0; i < 40; i++)
            n_refused += recv(fd[i], out, sizeof out, MSG_PEEK | MSG_DONTWAIT) > 12 &&
                         status_of(out) == 503;
    }
    assert_int_equal(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: "
                         "close\r\n\r\nhere"),
                     200); /* what is small is still taken */
    for (int i = 0; i < 40; i++)
        close(fd[i]);
    wait_for(0);
    fd[0] = connect_to();
    put(fd[0],
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 102400\r\nConnection: close\r\n\r\n");
    send(fd[0], body, sizeof body, MSG_NOSIGNAL);
    assert_true(read_all(fd[0], out, sizeof out) > sizeof body); /* the budget is back */
    assert_int_equal(status_of(out), 200);
    stop();
}

static void a_body_is_asked_for_before_it_is_sent(void **state)
{
    char out[256];
    int fd;

    (void)state;
    start(ample);
    fd = connect_to();
    put(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n"
            "Connection: close\r\n\r\n");
    assert_int_equal(recv(fd, out, sizeof out, 0), 25);
    assert_int_equal(status_of(out), 100);
    put(fd, "body");
    read_all(fd, out, sizeof out);
    assert_int_equal(status_of(out), 200);
    assert_int_equal(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n"
                         "Expect: 100-continue\r\n\r\n"),
                     413);
    stop();
}

static void the_server_ends_whatever_its_clients_are_at(void **state)
{
    static const char *const begun[] = {
        "",
        "GET / HT",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /later HTTP/1.1\r\nHost: a\r\n\r\nGET /later HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /listen HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /flood HTTP/1.1\r\nHost: a\r\n\r\n",
        "nonsense\r\n\r\n"};
    int fd[54];

    (void)state;
    start(ample);
    for (int i = 0; i < 54; i++) {
        fd[i] = connect_to();
        put(fd[i], begun[i % 9]);
        if (i % 5 == 4)
            shutdown(fd[i], SHUT_WR);
    }
    assert_int_equal(ask_small(), 200);
    stop();
    for (int i = 0; i < 54; i++)
        close(fd[i]);
}

static void a_port_that_is_taken_is_said(void **state)
{
    struct server_opts opts = {.address = "127.0.0.1", .n_threads = 1, .limits = ample};
    struct server *other;

    (void)state;
    start(ample);
    opts.port = server_port(server);
    assert_true(server_open(&other, &opts) < 0);
    server_close(other);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_on_a_connection_are_answered_in_order),
        cmocka_unit_test(a_large_answer_is_whole_however_slowly_it_is_read),
        cmocka_unit_test(a_head_has_a_time_of_its_own_however_it_drips),
        cmocka_unit_test(a_body_has_a_time_of_its_own_however_it_drips),
        cmocka_unit_test(who_says_nothing_or_takes_nothing_is_let_go_of),
        cmocka_unit_test(a_stream_that_is_read_lasts),
        cmocka_unit_test(who_waited_longest_makes_room),
        cmocka_unit_test(an_address_takes_no_room_from_others),
        cmocka_unit_test(streams_leave_room_for_requests),
        cmocka_unit_test(unfinished_requests_share_a_budget),
        cmocka_unit_test(a_body_is_asked_for_before_it_is_sent),
        cmocka_unit_test(the_server_ends_whatever_its_clients_are_at),
        cmocka_unit_test(a_port_that_is_taken_is_said),
    };
    int n_failed;

    large = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 2654435761u >> 24);
    n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(large);
    return n_failed;
}

/* Against a whole server: bytes and frames that no client of ours would send. */
#include "ps/ps_server.h"

#include "base/err.h"
#include "ps/libzmq.h"
#include "ps/ps_client.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_ps.h"
#include "test.h"

static struct ps_server *start(void)
{
    struct ps_server_opts opts = {.interval_ms = 20};
    struct ps_server *server;

    assert_int_equal(ps_server_open(&server, &opts), 0);
    return server;
}

static void *connect_socket(void *zmq, int kind, const char *address)
{
    void *socket = zmq_socket(zmq, kind);
    int linger = 0;

    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    assert_int_equal(zmq_connect(socket, address), 0);
    return socket;
}

/* A client of ours still gets through: n calls more, and they come back. */
static void expect_alive(struct ps_server *server)
{
    struct ps_client_opts opts = {.address = ps_server_address(server), .resend_ms = 500};
    struct ps_client *client;
    struct sketch s;
    uint32_t f;

    sketch_init(&s);
    sketch_add(&s, 1000);
    assert_int_equal(ps_client_open(&client, &opts), 0);
    f = ps_client_function(client, "alive", "f");
    ps_client_add(client, f, &s);
    assert_true(ps_client_flush(client, 10000));
    for (int i = 0; i < 1000 && ps_client_model(client, f) == NULL; i++) {
        ps_client_exchange(client, 50);
        usleep(10000);
    }
    assert_non_null(ps_client_model(client, f));
    ps_client_close(client);
    sketch_release(&s);
}

static int raw_connection(const struct ps_server *server)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_port = htons((uint16_t)atoi(strrchr(ps_server_address(server), ':') + 1));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* ZeroMQ's greeting, so that what follows reaches its framing. */
static size_t greeting(unsigned char out[64])
{
    memset(out, 0, 64);
    out[0] = 0xff;
    out[8] = 1; /* length of the signature */
    out[9] = 0x7f;
    out[10] = 3;
    memcpy(out + 12, "NULL", 4);
    return 64;
}

static void raw_bytes_do_no_harm(void **state)
{
    struct ps_server *server = start();
    struct rng rng = {2};

    (void)state;
    for (int i = 0; i < 60; i++) {
        int fd = raw_connection(server);
        unsigned char bytes[256];
        size_t n = i % 2 ? greeting(bytes) : 0;

        while (n < sizeof bytes)
            bytes[n++] = (unsigned char)rng_next(&rng);
        send(fd, bytes, rng_below(&rng, sizeof bytes + 1), MSG_NOSIGNAL);
        close(fd);
    }
    expect_alive(server);
    assert_int_equal(ps_server_close(server), 0);
}

/* A frame that says it is 2^62 bytes long, one of a megabyte that ends in its middle, and a
 * connection that says nothing and stays. */
static void half_messages_do_no_harm(void **state)
{
    static const unsigned char ready[] = "\x04\x29\x05READY\x0bSocket-Type\0\0\0\x06"
                                         "DEALER\x08Identity\0\0\0\0";
    static const unsigned char huge[] = {2, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x99, 1, 1};
    static const unsigned char half[] = {2, 0, 0, 0, 0, 0, 0x10, 0, 0, 0x99, 1, 1};
    struct ps_server *server = start();
    int silent = raw_connection(server);

    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = raw_connection(server);
        unsigned char hello[64], answer[256];

        greeting(hello);
        send(fd, hello, sizeof hello, MSG_NOSIGNAL);
        assert_true(recv(fd, answer, 64, MSG_WAITALL) == 64);
        send(fd, ready, sizeof ready - 1, MSG_NOSIGNAL);
        assert_true(recv(fd, answer, 2, MSG_WAITALL) == 2 && answer[0] == 4);
        send(fd, i ? half : huge, sizeof huge, MSG_NOSIGNAL);
        close(fd);
    }
    expect_alive(server);
    close(silent);
    assert_int_equal(ps_server_close(server), 0);
}

/* No part, one part, many parts, none of them what is expected. */
static void odd_messages_do_no_harm(void **state)
{
    struct ps_server *server = start();
    void *zmq = zmq_ctx_new();
    void *dealer = connect_socket(zmq, ZMQ_DEALER, ps_server_address(server));
    void *req = connect_socket(zmq, ZMQ_REQ, ps_server_address(server));

    (void)state;
    zmq_send(dealer, "", 0, 0);
    zmq_send(dealer, "", 0, ZMQ_SNDMORE);
    zmq_send(dealer, "", 0, 0);
    for (int i = 0; i < 1000; i++)
        zmq_send(dealer, "part", 4, i < 999 ? ZMQ_SNDMORE : 0);
    zmq_send(req, "a request in an envelope", 24, 0);
    expect_alive(server);
    zmq_close(dealer);
    zmq_close(req);
    zmq_ctx_term(zmq);
    assert_int_equal(ps_server_close(server), 0);
}

/* A good frame with a few bytes changed, or bytes that mean nothing. */
static size_t make_garbage(struct rng *rng, const struct pack *good, unsigned char *out)
{
    size_t n = rng_below(rng, 300), changes = rng_below(rng, 8);

    if (rng_below(rng, 4) == 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = (unsigned char)rng_next(rng);
        return n;
    }
    memcpy(out, good->data, good->n);
    for (size_t i = 0; i < changes; i++)
        out[rng_below(rng, good->n)] = (unsigned char)rng_next(rng);
    return rng_below(rng, 8) ? good->n : rng_below(rng, good->n + 1);
}

/* Waits until the server has answered so many requests; it has if it is alive. */
static bool has_answered(struct ps_server *server, uint64_t n)
{
    struct ps_counts counts;

    for (int i = 0; i < 3000; i++) {
        ps_server_counts(server, &counts);
        if (counts.n_requests >= n)
            return true;
        usleep(10000);
    }
    return false;
}

/* Two letters to whoever reads rank 3 of the job, who may be this one. */
static void write_letters(struct pack *out)
{
    const unsigned char *text = (const unsigned char *)"what?";
    struct ps_rank place = {0, 3};
    struct ps_letter q = {.client = 2, .number = 8, .place = place, .body = {text, 5}};
    struct ps_letter a = {.client = 2, .number = 9, .body = {text, 4}};

    ps_write_letters(out, PS_LETTERS,
                     &(struct ps_letters){.client = 1,
                                          .job = {text, 3},
                                          .n_places = 1,
                                          .place = &place,
                                          .n_questions = 1,
                                          .question = &q,
                                          .n_answers = 1,
                                          .answer = &a});
}

/* At full speed, never reading the answers. SNAG_PS_GARBAGE frames, or 30,000; pushes and
 * letters. */
static void garbage_at_full_speed_does_no_harm(void **state)
{
    const char *wanted = getenv("SNAG_PS_GARBAGE");
    uint64_t n = wanted ? strtoull(wanted, NULL, 10) : 30000;
    struct ps_push push = {.client = 1, .sequence = 1, .n_entries = 3};
    struct ps_server *server = start();
    void *zmq = zmq_ctx_new();
    void *dealer = connect_socket(zmq, ZMQ_DEALER, ps_server_address(server));
    struct pack good[2] = {{0}};
    struct ps_counts counts;
    struct rng rng = {9};
    struct sketch s[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        sketch_init(&s[i]);
        sample_calls(&s[i], &rng, 20, 1e4);
    }
    sample_push(&good[0], &push, s);
    write_letters(&good[1]);
    for (uint64_t i = 0; i < n; i++) {
        unsigned char *frame = malloc(good[i % 2].n + 300);

        assert_true(zmq_send(dealer, frame, make_garbage(&rng, &good[i % 2], frame), 0) >= 0);
        free(frame);
    }
    assert_true(has_answered(server, n));
    expect_alive(server);
    ps_server_counts(server, &counts);
    assert_true(counts.n_refused > n / 4);
    for (int i = 0; i < 3; i++)
        sketch_release(&s[i]);
    pack_release(&good[0]);
    pack_release(&good[1]);
    zmq_close(dealer);
    zmq_ctx_term(zmq);
    assert_int_equal(ps_server_close(server), 0);
}

/* ----------------------------------------------------------------------------------- keys */

static void beyond_this_machine_a_key_is_needed(void **state)
{
    static const char *const far[] = {"tcp://*:0",           "tcp://0.0.0.0:0",
                                      "tcp://10.1.2.3:5559", "tcp://example.com:1",
                                      "tcp://1270.0.0.1:1",  "tcp://[::]:0"};
    struct ps_server_opts opts = {.interval_ms = 20};
    struct ps_server *server;

    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        opts.listen = far[i];
        assert_int_equal(ps_server_open(&server, &opts), ERR_USAGE);
        assert_null(server);
    }
    opts.listen = "tcp://0.0.0.0:*";
    opts.is_open = true;
    assert_int_equal(ps_server_open(&server, &opts), 0);
    assert_int_equal(ps_server_close(server), 0);
}

static bool gets_through(const struct ps_server *server, const char *key_file)
{
    struct ps_client_opts opts = {.address = ps_server_address(server), .key_file = key_file};
    struct ps_client *client;
    struct sketch s;
    bool is_through;

    sketch_init(&s);
    sketch_add(&s, 1);
    assert_int_equal(ps_client_open(&client, &opts), 0);
    ps_client_add(client, ps_client_function(client, "p", "f"), &s);
    is_through = ps_client_flush(client, key_file ? 5000 : 300);
    ps_client_close(client);
    sketch_release(&s);
    return is_through;
}

static void only_who_has_the_key_gets_through(void **state)
{
    struct ps_server_opts opts = {.key_file = "ps_server_test.key", .interval_ms = 20};
    struct ps_server *server, *other;
    struct stat info;

    (void)state;
    unlink("ps_server_test.key");
    unlink("ps_server_test2.key");
    assert_int_equal(ps_server_open(&server, &opts), 0);
    assert_int_equal(stat(opts.key_file, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_true(gets_through(server, opts.key_file));
    assert_false(gets_through(server, NULL));
    opts.key_file = "ps_server_test2.key";
    assert_int_equal(ps_server_open(&other, &opts), 0);
    assert_true(gets_through(other, opts.key_file));
    chmod(opts.key_file, 0644);
    assert_int_equal(ps_server_close(other), 0);
    assert_int_equal(ps_server_open(&other, &opts), ERR_RANGE);
    assert_int_equal(ps_server_close(server), 0);
    unlink("ps_server_test.key");
    unlink("ps_server_test2.key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_bytes_do_no_harm),
        cmocka_unit_test(half_messages_do_no_harm),
        cmocka_unit_test(odd_messages_do_no_harm),
        cmocka_unit_test(garbage_at_full_speed_does_no_harm),
        cmocka_unit_test(beyond_this_machine_a_key_is_needed),
        cmocka_unit_test(only_who_has_the_key_gets_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

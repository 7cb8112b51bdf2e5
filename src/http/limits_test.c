/* A server with small limits. Nothing waits for a time to be short: clients go on until the
 * server has had enough. */

#include "http/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sample_server.h"
#include "test.h"

static void a_head_has_a_time_of_its_own_however_it_drips(void **state)
{
    struct sample_server *s = *state;
    struct server_limits limits = sample_limits();
    char out[256];
    int fd;

    limits.head_ns = 200 * SAMPLE_MS;
    sample_start(s, limits);
    fd = sample_connect(s);
    for (unsigned ms = 0; sample_put(fd, ms ? "a" : "GET /") && sample_is_open(fd); ms += 20) {
        struct pollfd events = {.fd = fd, .events = POLLIN};

        assert_true(ms < SAMPLE_PATIENCE_MS);
        if (poll(&events, 1, 20) > 0)
            break;
    }
    sample_read_all(fd, out, sizeof out);
    assert_int_equal(sample_status(out), 408);
    sample_stop(s);
}

static void a_body_has_a_time_of_its_own_however_it_drips(void **state)
{
    struct sample_server *s = *state;
    static const char *const heads[] = {
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n"};
    struct server_limits limits = sample_limits();
    char out[256];

    limits.grace_ns = 200 * SAMPLE_MS;
    sample_start(s, limits);
    for (int i = 0; i < 2; i++) {
        int fd = sample_connect(s);

        for (unsigned ms = 0; sample_put(fd, ms ? "a" : heads[i]); ms += 20) {
            struct pollfd events = {.fd = fd, .events = POLLIN};

            assert_true(ms < SAMPLE_PATIENCE_MS);
            if (poll(&events, 1, 20) > 0)
                break;
        }
        sample_read_all(fd, out, sizeof out);
        assert_int_equal(sample_status(out), 408);
    }
    sample_stop(s);
}

static void who_says_nothing_or_takes_nothing_is_let_go_of(void **state)
{
    struct sample_server *s = *state;
    static const char *const said[] = {
        "", "GET /one HTTP/1.1\r\nHost: a\r\n\r\n", "GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /flood HTTP/1.1\r\nHost: a\r\n\r\n", "nonsense\r\n\r\n"};
    struct server_limits limits = sample_limits();
    int fd[sizeof said / sizeof *said];

    limits.idle_ns = limits.grace_ns = limits.linger_ns = 100 * SAMPLE_MS;
    sample_start(s, limits);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        fd[i] = sample_connect(s);
        sample_put(fd[i], said[i]);
    }
    sample_wait_for(s, 0);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        close(fd[i]);
    sample_stop(s);
}

static void who_waited_longest_makes_room(void **state)
{
    struct sample_server *s = *state;
    static const char *const begun[] = {
        "", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"};
    struct server_limits limits = sample_limits();
    int fd[200];

    limits.connections = limits.address_connections = 20;
    sample_start(s, limits);
    for (int i = 0; i < 200; i++) {
        fd[i] = sample_connect(s);
        sample_put(fd[i], begun[i % 4]);
    }
    for (int i = 0; i < 10; i++)
        assert_int_equal(sample_ask_small(s), 200);
    sample_wait_for(s, 20);
    for (int i = 0; i < 200; i++)
        close(fd[i]);
    sample_stop(s);
}

/* What comes while the loops stand still, each of them sees at once. */
static int gate[2];
static atomic_uint n_standing;

static void stand_still(int number)
{
    int before = errno;
    char byte;

    (void)number;
    atomic_fetch_add(&n_standing, 1);
    while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
        ;
    errno = before;
}

static void hold(const struct sample_server *s)
{
    const struct sigaction standing = {.sa_handler = stand_still};

    assert_int_equal(pipe(gate), 0);
    assert_int_equal(sigaction(SIGUSR1, &standing, NULL), 0);
    for (unsigned i = 0; i < s->server->n_loops; i++)
        pthread_kill(s->server->loop[i]->thread, SIGUSR1);
    while (atomic_load(&n_standing) < s->server->n_loops)
        sample_pause(1);
}

static void let_go(const struct sample_server *s)
{
    for (unsigned i = 0; i < s->server->n_loops; i++)
        assert_int_equal(write(gate[1], "", 1), 1);
}

/* All that are there have said something just now, so none of them has waited for longer. */
static void who_has_just_come_goes_last(void **state)
{
    struct sample_server *s = *state;
    struct server_limits limits = sample_limits();
    char out[256];
    int fd[60], last;

    limits.connections = limits.address_connections = 20;
    sample_start(s, limits);
    for (int i = 0; i < 60; i++)
        fd[i] = sample_connect(s);
    sample_wait_for(s, 20);
    hold(s);
    for (int i = 0; i < 60; i++)
        if (sample_is_open(fd[i]))
            sample_put(fd[i], "GET / HT");
    last = sample_connect(s);
    sample_put(last, "GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let_go(s);
    sample_read_all(last, out, sizeof out);
    assert_int_equal(sample_status(out), 200);
    for (int i = 0; i < 60; i++)
        close(fd[i]);
    sample_stop(s);
    close(gate[0]);
    close(gate[1]);
}

static unsigned count_of(const struct sample_server *s, const char *address)
{
    struct sockaddr_in from = {.sin_family = AF_INET};

    inet_pton(AF_INET, address, &from.sin_addr);
    return slots_address(s->server->seed, (struct sockaddr *)&from);
}

/* A client from an address that does not share the count of 127.0.0.1, as one of 1024 does. */
static int connect_from_elsewhere(const struct sample_server *s)
{
    char address[INET_ADDRSTRLEN];
    unsigned i = 2;

    do
        snprintf(address, sizeof address, "127.0.0.%u", i);
    while (count_of(s, address) == count_of(s, "127.0.0.1") && ++i < 255);
    return sample_connect_from(s, address);
}

static void an_address_takes_no_room_from_others(void **state)
{
    struct sample_server *s = *state;
    struct server_limits limits = sample_limits();
    int other, fd[100];

    limits.connections = 40;
    limits.address_connections = 20;
    sample_start(s, limits);
    other = connect_from_elsewhere(s);
    for (int i = 0; i < 100; i++)
        fd[i] = sample_connect(s);
    sample_wait_for(s, 21);
    assert_true(sample_is_open(other));
    assert_int_equal(sample_ask_small(s), 200);
    sample_put(other, "GET /one HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_true(sample_read_all(other, (char[64]){0}, 64) > 0);
    for (int i = 0; i < 100; i++)
        close(fd[i]);
    sample_stop(s);
}

static void streams_leave_room_for_requests(void **state)
{
    struct sample_server *s = *state;
    struct server_limits limits = sample_limits();
    int fd[100];

    limits.connections = limits.address_connections = 20;
    limits.streams = 10;
    sample_start(s, limits);
    for (int i = 0; i < 100; i++) {
        fd[i] = sample_connect(s);
        sample_put(fd[i], "GET /listen HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    assert_int_equal(sample_ask_small(s), 200);
    sample_wait_for(s, 10);
    assert_true(sample_is_open(fd[99]));
    for (int i = 0; i < 100; i++)
        close(fd[i]);
    sample_stop(s);
}

/* Longer than what is read at once, in chunks that are all allowed. */
static void a_body_in_chunks_is_as_long_as_others_at_most(void **state)
{
    struct sample_server *s = *state;
    static char chunk[4 + 2 + 4096 + 2 + 1] = "1000\r\n";
    char out[256];
    int fd;

    sample_start(s, sample_limits());
    memset(chunk + 6, 'a', 4096);
    strcpy(chunk + 6 + 4096, "\r\n");
    fd = sample_connect(s);
    sample_put(fd, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t n = 0; n < SAMPLE_MAX_BODY_BYTES + 2 * 4096 && sample_put(fd, chunk); n += 4096)
        ;
    sample_put(fd, "0\r\n\r\n");
    sample_read_all(fd, out, sizeof out);
    assert_int_equal(sample_status(out), 413);
    sample_stop(s);
}

static unsigned count_of_v6(const char *address)
{
    struct sockaddr_in6 from = {.sin6_family = AF_INET6};

    inet_pton(AF_INET6, address, &from.sin6_addr);
    return slots_address(1, (struct sockaddr *)&from);
}

/* Who has an address of IPv6 has 2^64 of them. */
static void a_network_of_ipv6_counts_as_one_address(void **state)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};

    (void)state;
    inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr);
    for (unsigned i = 0; i < 16; i++) {
        char address[INET6_ADDRSTRLEN];

        snprintf(address, sizeof address, "2001:db8:1:2:%x::%x", i, i * i);
        assert_int_equal(count_of_v6(address), count_of_v6("2001:db8:1:2::"));
    }
    assert_int_not_equal(count_of_v6("2001:db8:1:3::"), count_of_v6("2001:db8:1:2::"));
    assert_int_equal(count_of_v6("::ffff:192.0.2.1"), slots_address(1, (struct sockaddr *)&v4));
}

static void unfinished_requests_share_a_budget(void **state)
{
    struct sample_server *s = *state;
    static char body[100 << 10];
    struct server_limits limits = sample_limits();
    unsigned n_refused = 0;
    char out[256];
    int fd[40];

    limits.unfinished_bytes = 1 << 20;
    sample_start(s, limits);
    memset(body, 'a', sizeof body);
    for (int i = 0; i < 40; i++) {
        fd[i] = sample_connect(s);
        sample_put(fd[i], "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 110000\r\n\r\n");
        send(fd[i], body, sizeof body, MSG_NOSIGNAL);
    }
    /* There is room for ten. */
    for (unsigned ms = 0; n_refused < 30; ms += 5) {
        assert_true(ms < SAMPLE_PATIENCE_MS);
        sample_pause(5);
        n_refused = 0;
        for (int i = 0; i < 40; i++)
            n_refused += recv(fd[i], out, sizeof out, MSG_PEEK | MSG_DONTWAIT) > 12 &&
                         sample_status(out) == 503;
    }
    assert_int_equal(
        sample_ask(s, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: "
                      "close\r\n\r\nhere"),
        200); /* what is small is still taken */
    for (int i = 0; i < 40; i++)
        close(fd[i]);
    sample_wait_for(s, 0);
    fd[0] = sample_connect(s);
    sample_put(
        fd[0],
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 102400\r\nConnection: close\r\n\r\n");
    send(fd[0], body, sizeof body, MSG_NOSIGNAL);
    assert_true(sample_read_all(fd[0], out, sizeof out) > sizeof body); /* the budget is back */
    assert_int_equal(sample_status(out), 200);
    sample_stop(s);
}

/* Of twelve answers that nobody takes, two are in memory for each of two threads. */
static void answers_that_are_not_taken_share_a_budget(void **state)
{
    struct sample_server *s = *state;
    struct server_limits limits = sample_limits();
    int fd[12];

    limits.unsent_bytes = 4 * SAMPLE_LARGE;
    sample_start(s, limits);
    for (int i = 0; i < 12; i++) {
        fd[i] = sample_connect(s);
        sample_put(fd[i], "GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    }
    sample_wait_for(s, 4);
    assert_int_equal(sample_ask_small(s), 200);
    assert_true(sample_read_all(fd[11], (char[64]){0}, 64) > SAMPLE_LARGE);
    for (int i = 0; i < 11; i++)
        close(fd[i]);
    sample_wait_for(s, 0);
    sample_stop(s);
}

int main(void)
{
    static struct sample_server sample;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_head_has_a_time_of_its_own_however_it_drips, &sample),
        cmocka_unit_test_prestate(a_body_has_a_time_of_its_own_however_it_drips, &sample),
        cmocka_unit_test_prestate(who_says_nothing_or_takes_nothing_is_let_go_of, &sample),
        cmocka_unit_test_prestate(who_waited_longest_makes_room, &sample),
        cmocka_unit_test_prestate(who_has_just_come_goes_last, &sample),
        cmocka_unit_test_prestate(an_address_takes_no_room_from_others, &sample),
        cmocka_unit_test_prestate(streams_leave_room_for_requests, &sample),
        cmocka_unit_test_prestate(a_body_in_chunks_is_as_long_as_others_at_most, &sample),
        cmocka_unit_test(a_network_of_ipv6_counts_as_one_address),
        cmocka_unit_test_prestate(unfinished_requests_share_a_budget, &sample),
        cmocka_unit_test_prestate(answers_that_are_not_taken_share_a_budget, &sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

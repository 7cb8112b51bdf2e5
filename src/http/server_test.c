

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sample_server.h"
#include "test.h"

static void requests_on_a_connection_are_answered_in_order(void **state)
{
    struct sample_server *s = *state;
    char out[4096];
    const char *first, *second, *third;
    int fd;

    sample_start(s, sample_limits());
    fd = sample_connect(s);
    sample_put(fd, "GET /one HTTP/1.1\r\nHost: a\r\n\r\nPOST /b HTTP/1.1\r\nHost: a\r\n"
                   "Content-Length: 5\r\n\r\nsecnd"
                   "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
                   "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    sample_read_all(fd, out, sizeof out);
    first = strstr(out, "/one");
    second = first ? strstr(first, "\r\n\r\nsecnd") : NULL;
    third = second ? strstr(second, "\r\n\r\n/later") : NULL;
    assert_non_null(third);
    assert_non_null(strstr(third, "404"));
    assert_non_null(strstr(out, "\r\nDate: "));
    sample_stop(s);
}

static void a_large_answer_is_whole_however_slowly_it_is_read(void **state)
{
    struct sample_server *s = *state;
    static char chunk[9999];
    size_t n = 0, n_head;
    ssize_t got;
    int fd;

    sample_start(s, sample_limits());
    fd = sample_connect(s);
    sample_put(fd, "GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    got = recv(fd, chunk, 400, 0);
    n_head = (size_t)(strstr(chunk, "\r\n\r\n") + 4 - chunk);
    n = (size_t)got - n_head;
    assert_memory_equal(chunk + n_head, s->large, n);
    while ((got = recv(fd, chunk, sizeof chunk, 0)) > 0) {
        assert_memory_equal(chunk, s->large + n, (size_t)got);
        n += (size_t)got;
    }
    assert_int_equal(n, SAMPLE_LARGE);
    close(fd);
    sample_stop(s);
}

static void a_stream_that_is_read_lasts(void **state)
{
    struct sample_server *s = *state;
    struct server_limits limits = sample_limits();
    char out[64];
    int fd;

    limits.idle_ns = limits.grace_ns = limits.linger_ns = 100 * SAMPLE_MS;
    sample_start(s, limits);
    assert_true(sample_ask(s, "GET /say HTTP/1.1\r\nHost: a\r\n\r\n") == 200);
    fd = sample_connect(s);
    sample_put(fd, "GET /listen HTTP/1.1\r\nHost: a\r\n\r\n");
    sample_pause(600);
    assert_true(sample_is_open(fd));
    assert_int_equal(server_connections(s->server), 1);
    connection_wake(atomic_load(&s->listener));
    server_quiesce(s->server);
    assert_true(sample_read_all(fd, out, sizeof out) > 3 * 4096);
    sample_stop(s);
}

static void a_client_may_go_while_it_is_woken(void **state)
{
    struct sample_server *s = *state;

    sample_start(s, sample_limits());
    for (int i = 0; i < 100; i++) {
        int fd = sample_connect(s);
        char byte;

        sample_put(fd, "GET /woken HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_int_equal(recv(fd, &byte, 1, 0), 1);
        close(fd);
        sample_wait_for(s, 0);
    }
    assert_int_equal(sample_ask_small(s), 200);
    sample_stop(s);
}

static void a_body_is_asked_for_before_it_is_sent(void **state)
{
    struct sample_server *s = *state;
    char out[256];
    int fd;

    sample_start(s, sample_limits());
    fd = sample_connect(s);
    sample_put(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n"
                   "Connection: close\r\n\r\n");
    assert_int_equal(recv(fd, out, sizeof out, 0), 25);
    assert_int_equal(sample_status(out), 100);
    sample_put(fd, "body");
    sample_read_all(fd, out, sizeof out);
    assert_int_equal(sample_status(out), 200);
    assert_int_equal(sample_ask(s, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n"
                                   "Expect: 100-continue\r\n\r\n"),
                     413);
    sample_stop(s);
}

static void the_server_ends_whatever_its_clients_are_at(void **state)
{
    struct sample_server *s = *state;
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

    sample_start(s, sample_limits());
    for (int i = 0; i < 54; i++) {
        fd[i] = sample_connect(s);
        sample_put(fd[i], begun[i % 9]);
        if (i % 5 == 4)
            shutdown(fd[i], SHUT_WR);
    }
    assert_int_equal(sample_ask_small(s), 200);
    sample_stop(s);
    for (int i = 0; i < 54; i++)
        close(fd[i]);
}

static void a_port_that_is_taken_is_said(void **state)
{
    struct sample_server *s = *state;
    struct server_opts opts = {
        .address = "127.0.0.1", .n_threads = 1, .limits = sample_limits()};
    struct server *other;

    sample_start(s, sample_limits());
    opts.port = server_port(s->server);
    assert_true(server_open(&other, &opts) < 0);
    server_close(other);
    sample_stop(s);
}

int main(void)
{
    static struct sample_server sample;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(requests_on_a_connection_are_answered_in_order, &sample),
        cmocka_unit_test_prestate(a_large_answer_is_whole_however_slowly_it_is_read, &sample),
        cmocka_unit_test_prestate(a_stream_that_is_read_lasts, &sample),
        cmocka_unit_test_prestate(a_client_may_go_while_it_is_woken, &sample),
        cmocka_unit_test_prestate(a_body_is_asked_for_before_it_is_sent, &sample),
        cmocka_unit_test_prestate(the_server_ends_whatever_its_clients_are_at, &sample),
        cmocka_unit_test_prestate(a_port_that_is_taken_is_said, &sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Clients against servers that die. A server that is to be killed is this program again, with
 * other arguments: serve ADDRESS SNAPSHOT ROUNDS, where SNAPSHOT may be "" and ROUNDS is the
 * number of clients of a deterministic one, or 0. It writes its address to standard output.
 */
#include "ps/ps_client.h"

#include "base/err.h"
#include "ps/libzmq.h"
#include "ps/ps_server.h"
#include "ps/ps_wire.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sample_ps.h"
#include "test.h"
#include "test_dir.h"

#define FUNCTIONS 4
#define CLIENTS 3

extern char **environ;

/* ------------------------------------------------------------------- a server to be killed */

static int serve(const char *address, const char *snapshot, const char *n_clients)
{
    struct ps_server_opts opts = {.listen = address,
                                  .interval_ms = 30,
                                  .store = {.snapshot = *snapshot ? snapshot : NULL,
                                            .n_clients = (uint32_t)atoi(n_clients)}};
    struct ps_server *server;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
    if (ps_server_open(&server, &opts) != 0)
        return 1;
    printf("%s\n", ps_server_address(server));
    fflush(stdout);
    pause();
    return 0;
}

/* Starts one and reads its address. */
static pid_t start(char address[128], const char *snapshot, const char *n_clients)
{
    char *const args[] = {"ps_test",
                          "ps_client",
                          "serve",
                          address,
                          (char *)(uintptr_t)snapshot,
                          (char *)(uintptr_t)n_clients,
                          NULL};
    posix_spawn_file_actions_t actions;
    char said[128];
    int end[2];
    pid_t pid;
    FILE *in;

    assert_int_equal(pipe(end), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, end[1], 1);
    posix_spawn_file_actions_addclose(&actions, end[0]);
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, args, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(end[1]);
    in = fdopen(end[0], "r");
    assert_non_null(fgets(said, sizeof said, in));
    fclose(in);
    said[strcspn(said, "\n")] = '\0';
    strcpy(address, said);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* -------------------------------------------------------------------------------- clients */

struct instance {
    struct ps_client *client;
    uint32_t function[FUNCTIONS];
};

static void open_instance(struct instance *x, const char *address, unsigned order)
{
    struct ps_client_opts opts = {.address = address, .resend_ms = 100};
    char name[16];

    assert_int_equal(ps_client_open(&x->client, &opts), 0);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        uint32_t f = (i + order) % FUNCTIONS; /* every instance meets them in its own order */

        x->function[f] = ps_client_function(x->client, "prog", sample_name(f, name));
    }
}

/* One step of one instance, also added to what one instance would have that saw everything. */
static void step(struct instance *x, struct rng *rng, struct sketch *whole)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        struct sketch s;

        sketch_init(&s);
        sample_calls(&s, rng, (uint32_t)rng_below(rng, 20), 1e4 * (f + 1));
        ps_client_add(x->client, x->function[f], &s);
        sketch_merge(&whole[f], &s);
        sketch_release(&s);
    }
    ps_client_push(x->client);
}

static bool has_all(struct instance *x, const struct sketch *whole)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        const struct sketch *model = ps_client_model(x->client, x->function[f]);

        if (model == NULL || !sample_same(model, &whole[f]))
            return false;
    }
    return true;
}

/* Every instance's models become those of one that saw everything, bit for bit. */
static void expect_all(struct instance *x, uint32_t n, const struct sketch *whole)
{
    for (uint32_t i = 0; i < n; i++)
        assert_true(ps_client_flush(x[i].client, 10000));
    for (uint32_t i = 0; i < n; i++) {
        for (int tries = 0; tries < 1000 && !has_all(&x[i], whole); tries++) {
            ps_client_exchange(x[i].client, 50);
            usleep(10000);
        }
        assert_true(has_all(&x[i], whole));
    }
}

static void clients_agree_with_one_that_saw_everything(void **state)
{
    struct ps_server_opts opts = {.interval_ms = 10, .store = {.n_workers = 3}};
    struct instance x[CLIENTS];
    struct sketch whole[FUNCTIONS];
    struct ps_server *server;
    struct rng rng = {4};

    (void)state;
    assert_int_equal(ps_server_open(&server, &opts), 0);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_init(&whole[f]);
    for (uint32_t i = 0; i < CLIENTS; i++)
        open_instance(&x[i], ps_server_address(server), i);
    for (int i = 0; i < 200; i++) {
        struct instance *one = &x[rng_below(&rng, CLIENTS)];

        step(one, &rng, whole);
        ps_client_exchange(one->client, (int)rng_below(&rng, 3));
    }
    expect_all(x, CLIENTS, whole);
    for (uint32_t f = 0; f < FUNCTIONS; f++) /* the same index for all */
        for (uint32_t i = 1; i < CLIENTS; i++)
            assert_int_equal(ps_client_index(x[i].client, x[i].function[f]),
                             ps_client_index(x[0].client, x[0].function[f]));
    for (uint32_t i = 0; i < CLIENTS; i++)
        ps_client_close(x[i].client);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_release(&whole[f]);
    assert_int_equal(ps_server_close(server), 0);
}

/* What a client judges by, as far as the server's part is: no call is in it twice. */
static void expect_no_more(struct instance *x, const struct sketch *whole)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        const struct sketch *model = ps_client_model(x->client, x->function[f]);
        struct sketch known;

        sketch_init(&known);
        if (model)
            sketch_merge(&known, model);
        ps_client_unsent(x->client, x->function[f], &known);
        assert_true(known.n <= whole[f].n);
        sketch_release(&known);
    }
}

/* Until every client has noticed that the server is another one. */
static void meet_again(struct instance *x, uint64_t n_restarts, const struct sketch *whole)
{
    struct ps_client_counts counts = {0};

    for (uint32_t i = 0; i < CLIENTS; i++)
        for (int tries = 0; tries < 1000; tries++) {
            ps_client_counts(x[i].client, &counts);
            expect_no_more(&x[i], whole);
            if (counts.n_restarts == n_restarts)
                break;
            ps_client_exchange(x[i].client, 1);
            usleep(5000);
        }
}

/* Killed three times, down for a while each time; clients go on meanwhile. */
static void kill_servers(const char *snapshot, uint64_t n_retold)
{
    char address[128] = "tcp://127.0.0.1:*";
    struct instance x[CLIENTS];
    struct sketch whole[FUNCTIONS];
    struct ps_client_counts counts;
    struct rng rng = {8};
    pid_t pid;

    pid = start(address, snapshot, "0");
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_init(&whole[f]);
    for (uint32_t i = 0; i < CLIENTS; i++)
        open_instance(&x[i], address, i);
    for (int life = 0; life < 4; life++) {
        for (int i = 0; i < 60; i++) {
            step(&x[i % CLIENTS], &rng, whole);
            ps_client_exchange(x[i % CLIENTS].client, 5);
        }
        expect_all(x, CLIENTS, whole);
        if (life == 3)
            break;
        stop(pid);
        for (int i = 0; i < 30; i++) {
            step(&x[i % CLIENTS], &rng, whole);
            ps_client_exchange(x[i % CLIENTS].client, 0);
        }
        pid = start(address, snapshot, "0");
        meet_again(x, (uint64_t)life + 1, whole);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        ps_client_counts(x[i].client, &counts);
        assert_int_equal(counts.n_restarts, 3);
        assert_int_equal(counts.n_retold, n_retold);
        assert_int_equal(counts.n_forgotten, 0);
        assert_int_equal(counts.n_kept, 0);
        ps_client_close(x[i].client);
    }
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_release(&whole[f]);
    stop(pid);
}

static void a_killed_server_loses_nothing(void **state)
{
    char dir[] = "/tmp/snag-ps-client-XXXXXX", snapshot[sizeof dir + sizeof "/snapshot"];

    (void)state;
    assert_non_null(test_dir(dir));
    snprintf(snapshot, sizeof snapshot, "%s/snapshot", dir);
    kill_servers(snapshot, 0);
}

static void a_server_that_has_lost_everything_is_told_again(void **state)
{
    (void)state;
    kill_servers("", 3);
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Nobody listens: calls return in time, and what is kept stays bounded. */
static void without_a_server_nothing_blocks_and_nothing_grows(void **state)
{
    struct instance x;
    struct sketch whole[FUNCTIONS];
    struct ps_client_counts counts;
    struct rng rng = {6};
    double begin_s;

    (void)state;
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_init(&whole[f]);
    open_instance(&x, "tcp://127.0.0.1:9", 0);
    begin_s = now_s();
    for (int i = 0; i < 200; i++) {
        step(&x, &rng, whole);
        assert_false(ps_client_exchange(x.client, 1));
    }
    assert_true(now_s() - begin_s < 30); /* 0.2 s, but for a machine that is busy */
    ps_client_counts(x.client, &counts);
    assert_int_equal(counts.n_kept, PS_CLIENT_DELTAS);
    assert_null(ps_client_model(x.client, 0));
    assert_false(ps_client_flush(x.client, 50));
    ps_client_close(x.client);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_release(&whole[f]);
}

/* Answers the next request to a socket of our own, which is no server, by such a refusal. */
static void refuse_next(void *router, uint64_t sequence)
{
    const struct ps_refusal refusal = {.code = PS_STALE, .epoch = 7, .sequence = sequence};
    unsigned char id[64], request[4096];
    struct pack out;
    int n = zmq_recv(router, id, sizeof id, 0);

    assert_true(n > 0);
    assert_true(zmq_recv(router, request, sizeof request, 0) > 0);
    out = (struct pack){0};
    ps_write_refusal(&out, &refusal);
    zmq_send(router, id, (size_t)n, ZMQ_SNDMORE);
    zmq_send(router, out.data, out.n, 0);
    pack_release(&out);
}

/* It was given up for lost, and asked again; what comes of it late is no answer to the new one.
 */
static void a_refusal_of_an_earlier_request_is_not_looked_at(void **state)
{
    void *context = zmq_ctx_new(), *router = zmq_socket(context, ZMQ_ROUTER);
    struct ps_client_counts counts;
    struct ps_client *client;
    char address[128];
    size_t size = sizeof address;

    (void)state;
    assert_int_equal(zmq_bind(router, "tcp://127.0.0.1:*"), 0);
    zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, address, &size);
    assert_int_equal(ps_client_open(&client, &(struct ps_client_opts){.address = address}), 0);
    ps_client_exchange(client, 0);
    refuse_next(router, 1u << 20);
    ps_client_exchange(client, 200);
    ps_client_counts(client, &counts);
    assert_int_equal(counts.n_refused, 0);
    assert_int_equal(counts.n_sent, 1);
    ps_client_close(client);
    zmq_close(router);
    zmq_ctx_term(context);
}

/* Both that says so, and one of which nothing but its version can be read. */
static void a_server_of_another_version_is_told_apart(void **state)
{
    static const struct {
        unsigned char data[7];
        size_t n;
    } answer[] = {{{0x96, PS_WIRE_VERSION, PS_REFUSAL, PS_OTHER_VERSION, 0, 0, 0}, 7},
                  {{0x93, PS_WIRE_VERSION + 1, 1, 2}, 4}};
    void *context = zmq_ctx_new(), *router = zmq_socket(context, ZMQ_ROUTER);
    struct ps_client_counts counts;
    struct ps_client *client;
    char address[128], id[16], request[256];
    size_t size = sizeof address;
    int n;

    (void)state;
    assert_int_equal(zmq_bind(router, "tcp://127.0.0.1:*"), 0);
    zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, address, &size);
    for (size_t i = 0; i < sizeof answer / sizeof *answer; i++) {
        assert_int_equal(ps_client_open(&client, &(struct ps_client_opts){.address = address}),
                         0);
        ps_client_exchange(client, 0);
        n = zmq_recv(router, id, sizeof id, 0);
        assert_true(n > 0 && zmq_recv(router, request, sizeof request, 0) > 0);
        zmq_send(router, id, (size_t)n, ZMQ_SNDMORE);
        zmq_send(router, answer[i].data, answer[i].n, 0);
        do {
            ps_client_exchange(client, 50);
            ps_client_counts(client, &counts);
        } while (counts.n_foreign == 0 && counts.n_garbage == 0);
        assert_int_equal(counts.n_foreign, 1);
        assert_int_equal(counts.n_replies, 0);
        ps_client_close(client);
    }
    zmq_close(router);
    zmq_ctx_term(context);
}

/* ---------------------------------------------------------------------------------- rounds */

#define ROUNDS 5

static void add_round(struct instance *x, struct rng *rng)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        struct sketch s;

        sketch_init(&s);
        sample_calls(&s, rng, 5, 1e4);
        ps_client_add(x->client, x->function[f], &s);
        sketch_release(&s);
    }
}

static void open_rounds(struct instance x[CLIENTS], const char *address, unsigned turn)
{
    for (uint32_t k = 0; k < CLIENTS; k++) {
        uint32_t i = (k + turn) % CLIENTS;
        struct ps_client_opts client = {
            .address = address, .is_deterministic = true, .resend_ms = 100};
        char name[16];

        assert_int_equal(ps_client_open(&x[i].client, &client), 0);
        for (uint32_t f = 0; f < FUNCTIONS; f++)
            x[i].function[f] =
                ps_client_function(x[i].client, "prog", sample_name((f + i) % FUNCTIONS, name));
    }
}

static void pack_models(const struct instance *x, struct pack *out)
{
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        sketch_pack(ps_client_model(x->client, x->function[f]), out);
}

static void pack_indices(struct instance x[CLIENTS], struct pack *out)
{
    for (uint32_t i = 0; i < CLIENTS; i++)
        for (uint32_t f = 0; f < FUNCTIONS; f++)
            pack_u32(out, ps_client_index(x[i].client, x[i].function[f]));
}

/* When the server is killed, and started anew without all it knew, in a round of two. */
enum moment { NEVER, BEFORE, AMONG, AFTER, N_MOMENTS };

/*
 * In each round the clients take turns in another order. The models after each round go to
 * bytes, one after the other.
 *
 *     round:  BEFORE  first pushes  AMONG  others push, the last hears of it  AFTER  all do
 */
static void play_rounds(unsigned turn, enum moment moment, struct pack *out)
{
    char address[128] = "tcp://127.0.0.1:*";
    pid_t pid = start(address, "", "3");
    struct rng rng[CLIENTS] = {{1}, {2}, {3}};
    struct instance x[CLIENTS];

    open_rounds(x, address, turn);
    for (int round = 0; round < ROUNDS; round++) {
        bool is_killed = round % 2 == 1, is_done[CLIENTS] = {false};
        struct pack models[CLIENTS] = {{0}};
        uint32_t i = 0, n = 0;

        for (uint32_t k = 0; k < CLIENTS; k++) {
            if (is_killed && ((moment == BEFORE && k == 0) || (moment == AMONG && k == 1))) {
                stop(pid);
                pid = start(address, "", "3");
            }
            i = (k * (1 + turn % 2) + turn) % CLIENTS;
            add_round(&x[i], &rng[i]);
            if (k + 1 < CLIENTS) /* not complete before the last one has pushed */
                assert_false(ps_client_round(x[i].client, 20));
        }
        for (int tries = 0; n < CLIENTS && tries < 3000; tries++) {
            uint32_t k = (i + (uint32_t)tries) % CLIENTS;

            if (is_done[k]) { /* as it would in its next round */
                ps_client_exchange(x[k].client, 20);
                continue;
            }
            is_done[k] = ps_client_round(x[k].client, 20);
            n += is_done[k];
            if (is_done[k])
                pack_models(&x[k], &models[k]);
            if (is_killed && moment == AFTER && is_done[k] && n == 1) {
                stop(pid);
                pid = start(address, "", "3");
            }
        }
        assert_int_equal(n, CLIENTS);
        for (uint32_t k = 0; k < CLIENTS; k++) {
            pack_bytes(out, models[k].data, models[k].n);
            pack_release(&models[k]);
        }
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_true(ps_client_flush(x[i].client, 10000));
    pack_indices(x, out);
    for (uint32_t i = 0; i < CLIENTS; i++)
        ps_client_close(x[i].client);
    stop(pid);
}

static void expect_same_rounds(unsigned turn, enum moment moment)
{
    struct pack first = {0}, second = {0};

    play_rounds(0, NEVER, &first);
    play_rounds(turn, moment, &second);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.data, second.data, first.n);
    pack_release(&first);
    pack_release(&second);
}

static void rounds_are_the_same_on_every_run(void **state)
{
    (void)state;
    expect_same_rounds(1, NEVER);
}

static void rounds_go_on_when_the_server_has_lost_everything(void **state)
{
    (void)state;
    for (enum moment moment = BEFORE; moment < N_MOMENTS; moment++)
        expect_same_rounds(moment, moment);
}

/* ----------------------------------------------------------------------- another process */

static struct ps_client *nobody_there(void)
{
    struct ps_client_opts opts = {.address = "tcp://127.0.0.1:9"};
    struct ps_client *client;

    assert_int_equal(ps_client_open(&client, &opts), 0);
    return client;
}

/* A client with three deltas and something pending, as bytes. */
static struct pack packed_client(void)
{
    struct ps_stat stat = {0};
    struct ps_stat_key key = {.program = "p", .region = "", .name = "calls", .rank = 3};
    struct ps_client *client = nobody_there();
    struct pack bytes = {0};
    struct sketch s;

    sketch_init(&s);
    for (uint64_t i = 0; i < 4; i++) {
        uint32_t f = ps_client_function(client, "p", i % 2 ? "odd" : "even");

        sketch_add(&s, 1000 + i);
        ps_client_add(client, f, &s);
        ps_stat_add(&stat, (int64_t)i);
        ps_client_count(client, &key, &stat);
        if (i < 3)
            ps_client_push(client);
    }
    ps_client_pack(client, &bytes);
    ps_client_close(client);
    sketch_release(&s);
    return bytes;
}

static void another_process_goes_on_as_this_client(void **state)
{
    struct pack bytes = packed_client(), again = {0};
    struct ps_client *client = nobody_there();
    struct ps_client_counts counts;
    struct sketch unsent;

    (void)state;
    assert_int_equal(ps_client_unpack(client, &bytes), 0);
    assert_int_equal(bytes.at, bytes.n);
    ps_client_counts(client, &counts);
    assert_int_equal(counts.n_kept, 3);
    assert_true(ps_client_has_pending(client));
    assert_false(ps_client_is_flushed(client));
    assert_int_equal(ps_client_function(client, "p", "odd"), 1);
    sketch_init(&unsent);
    ps_client_unsent(client, 1, &unsent);
    assert_int_equal(unsent.n, 2 + 4);
    ps_client_pack(client, &again);
    assert_int_equal(again.n, bytes.n);
    assert_memory_equal(again.data, bytes.data, bytes.n);
    sketch_release(&unsent);
    ps_client_close(client);
    pack_release(&again);
    pack_release(&bytes);
}

static void a_client_that_is_cut_short_is_refused(void **state)
{
    struct pack bytes = packed_client();

    (void)state;
    for (size_t n = 0; n < bytes.n; n++) {
        struct pack cut = {.data = bytes.data, .n = n};
        struct ps_client *client = nobody_there();

        assert_int_equal(ps_client_unpack(client, &cut), ERR_FORMAT);
        ps_client_close(client);
    }
    pack_release(&bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_agree_with_one_that_saw_everything),
        cmocka_unit_test(a_killed_server_loses_nothing),
        cmocka_unit_test(a_server_that_has_lost_everything_is_told_again),
        cmocka_unit_test(a_refusal_of_an_earlier_request_is_not_looked_at),
        cmocka_unit_test(a_server_of_another_version_is_told_apart),
        cmocka_unit_test(without_a_server_nothing_blocks_and_nothing_grows),
        cmocka_unit_test(rounds_are_the_same_on_every_run),
        cmocka_unit_test(rounds_go_on_when_the_server_has_lost_everything),
        cmocka_unit_test(another_process_goes_on_as_this_client),
        cmocka_unit_test(a_client_that_is_cut_short_is_refused),
    };

    if (argc == 5 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2], argv[3], argv[4]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

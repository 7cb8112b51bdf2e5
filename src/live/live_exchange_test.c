/* What a parameter server is told of a step, against what is in its snapshot afterwards. */
#include "live/live_exchange.h"

#include "base/progress.h"
#include "ps/ps_server.h"
#include "ps/ps_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#define MAX_ANSWER_MS 10000 /* for a server to answer */

/* The sum of a statistic in a snapshot, or -1. */
static int64_t sum_of(const struct ps_snapshot *s, const char *program, uint32_t rank,
                      const char *name)
{
    for (uint32_t i = 0; i < s->state.key.n; i++) {
        char *text = strdup(s->state.key.name[i]);
        struct ps_stat_key key = ps_state_split(text);
        bool is_it = strcmp(key.program, program) == 0 && key.rank == rank &&
                     *key.region == '\0' && strcmp(key.name, name) == 0;

        free(text);
        if (is_it)
            return (int64_t)s->state.stat[i].whole.sum;
    }
    return -1;
}

/* n calls of function 0, a nanosecond each. */
static void push_calls(struct calls *calls, struct callstack *stack, int n)
{
    for (int i = 0; i < n; i++) {
        struct event event[] = {{2 * (uint64_t)i, EVENT_ENTER, 0},
                                {2 * (uint64_t)i + 1, EVENT_LEAVE, 0}};
        struct event_batch batch = {.event = event, .n = 2};

        callstack_push(stack, &batch, 0, 2);
    }
    callstack_step(stack);
    assert_int_equal(calls->n, n);
}

/* Rank 0 of two programs in one stream, and a second thread of one of them. */
static void ranks_of_two_programs_are_counted_apart(void **state)
{
    static const struct {
        uint32_t program, rank, thread;
        int n_calls;
    } of[] = {{3, 0, 0, 5}, {3, 0, 1, 2}, {4, 0, 0, 11}};
    char snapshot[] = "/tmp/snag-exchange-XXXXXX";
    struct ps_server_opts server_opts = {.interval_ms = 20, .store = {.snapshot = snapshot}};
    struct ps_client_opts client_opts = {.resend_ms = 100};
    struct live_exchange_opts opts = {.program = "3"};
    struct definitions defs = {.n_locations = 0};
    struct calls calls[3];
    struct callstack *stack[3];
    struct quality quality = {0};
    struct ps_server *server;
    struct live_exchange *x;
    struct ps_snapshot said;

    (void)state;
    assert_true(close(mkstemp(snapshot)) == 0 && unlink(snapshot) == 0);
    assert_int_equal(ps_server_open(&server, &server_opts), 0);
    client_opts.address = ps_server_address(server);
    assert_int_equal(ps_client_open(&opts.client, &client_opts), 0);
    x = live_exchange_new(&opts);
    definitions_region(&defs, "f");
    for (uint32_t l = 0; l < 3; l++) {
        struct location *location = definitions_location(&defs, l, "t", of[l].program);

        location->program = of[l].program;
        location->rank = of[l].rank;
        location->thread = of[l].thread;
        calls[l] = (struct calls){.has_steps = true};
        stack[l] = callstack_new();
        callstack_begin(stack[l], &calls[l], &quality);
        push_calls(&calls[l], stack[l], of[l].n_calls);
    }
    live_exchange_calls(x, &defs, calls, 3);
    live_exchange_anomalies(x, &(struct ad_step){.defs = &defs});
    assert_true(live_exchange_finish(x, 10000));
    live_exchange_free(x);
    ps_client_close(opts.client);
    assert_int_equal(ps_server_close(server), 0);

    assert_int_equal(ps_snapshot_read(&said, snapshot), 0);
    assert_int_equal(sum_of(&said, "3", 0, "calls"), 7);
    assert_int_equal(sum_of(&said, "4", 0, "calls"), 11);
    ps_snapshot_release(&said);
    for (uint32_t l = 0; l < 3; l++) {
        callstack_free(stack[l]);
        calls_release(&calls[l]);
    }
    definitions_release(&defs);
    unlink(snapshot);
}

static struct ps_server *serve(const char *listen, const struct ps_store_opts *store)
{
    struct ps_server_opts opts = {.listen = listen, .interval_ms = 20, .store = *store};
    struct ps_server *server;

    assert_int_equal(ps_server_open(&server, &opts), 0);
    return server;
}

/* A snapshot that knows n calls of f. */
static void make_snapshot(const char *snapshot, uint64_t n)
{
    struct ps_server *server = serve(NULL, &(struct ps_store_opts){.snapshot = snapshot});
    struct ps_client_opts opts = {.address = ps_server_address(server), .resend_ms = 100};
    struct ps_client *client;
    struct sketch s;

    sketch_init(&s);
    for (uint64_t i = 0; i < n; i++)
        sketch_add(&s, 1000 + i);
    assert_int_equal(ps_client_open(&client, &opts), 0);
    ps_client_add(client, ps_client_function(client, "prog", "f"), &s);
    assert_true(ps_client_flush(client, 10000));
    ps_client_close(client);
    assert_int_equal(ps_server_close(server), 0);
    sketch_release(&s);
}

/* Started anew without its models, it never says them again: what it said still holds. */
static void a_frozen_server_that_forgot_has_said_what_it_said(void **state)
{
    char snapshot[] = "/tmp/snag-exchange-XXXXXX", address[64];
    struct ps_store_opts knows = {.load = snapshot, .is_frozen = true};
    struct ps_client_opts client_opts = {.resend_ms = 100};
    struct live_exchange_opts opts = {.program = "prog"};
    struct ps_client_counts counts = {.n_restarts = 0};
    struct definitions defs = {.n_locations = 0};
    struct live_models models;
    struct ps_server *server;
    struct live_exchange *x;

    (void)state;
    assert_true(close(mkstemp(snapshot)) == 0 && unlink(snapshot) == 0);
    make_snapshot(snapshot, 100);
    server = serve(NULL, &knows);
    snprintf(address, sizeof address, "%s", ps_server_address(server));
    client_opts.address = address;
    assert_int_equal(ps_client_open(&opts.client, &client_opts), 0);
    x = live_exchange_new(&opts);
    definitions_region(&defs, "f");
    live_models_init(&models, &(struct live_models_opts){.has_server = true});
    live_models_follow(&models, &defs);
    sketch_add(&models.model[0].step, 1000);
    for (uint64_t begin = clock_ms();
         models.model[0].shared.n == 0 && clock_ms() - begin < MAX_ANSWER_MS;)
        live_exchange_models(x, &models, &defs);
    assert_int_equal(models.model[0].shared.n, 100);
    assert_int_equal(ps_server_close(server), 0);

    knows.load = NULL;
    server = serve(address, &knows);
    for (uint64_t begin = clock_ms();
         counts.n_restarts == 0 && clock_ms() - begin < MAX_ANSWER_MS;) {
        live_exchange_models(x, &models, &defs);
        ps_client_counts(opts.client, &counts);
    }
    assert_int_equal(counts.n_restarts, 1);
    assert_true(models.model[0].is_shared);
    assert_int_equal(models.model[0].shared.n, 100);

    live_models_release(&models);
    live_exchange_free(x);
    ps_client_close(opts.client);
    assert_int_equal(ps_server_close(server), 0);
    definitions_release(&defs);
    unlink(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frozen_server_that_forgot_has_said_what_it_said),
        cmocka_unit_test(ranks_of_two_programs_are_counted_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

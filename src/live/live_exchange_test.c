/* What a parameter server is told of a step, against what is in its snapshot afterwards. */
#include "live/live_exchange.h"

#include "ps/ps_server.h"
#include "ps/ps_snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_two_programs_are_counted_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

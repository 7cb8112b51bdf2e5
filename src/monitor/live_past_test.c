/* A store that another process writes, and a parameter server, which ends before it. */
#include "monitor/live_past.h"

#include "base/fs.h"
#include "prov/prov_store.h"
#include "ps/ps_client.h"
#include "ps/ps_server.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

/* A process that has a store open until *until is closed. */
static pid_t begin_writer(const char *dir, int *until)
{
    int begun[2], ending[2];
    char byte;
    pid_t child;

    assert_true(pipe(begun) == 0 && pipe(ending) == 0);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct prov_store *store;
        struct prov_metadata row = {.descr = "Hostname", .value = "node7"};

        close(ending[1]);
        if (prov_store_open(dir, NULL, &store) < 0 || !prov_store_put_metadata(store, &row) ||
            write(begun[1], "", 1) != 1 || read(ending[0], &byte, 1) != 0)
            _exit(1);
        _exit(prov_store_close(store) < 0);
    }
    close(begun[1]);
    close(ending[0]);
    assert_int_equal(read(begun[0], &byte, 1), 1);
    close(begun[0]);
    *until = ending[1];
    return child;
}

static void tell_calls(const char *address, uint64_t n)
{
    struct ps_client *client;
    struct sketch sketch;

    sketch_init(&sketch);
    for (uint64_t i = 0; i < n; i++)
        sketch_add(&sketch, 1000);
    assert_int_equal(ps_client_open(&client, &(struct ps_client_opts){.address = address}), 0);
    ps_client_add(client, ps_client_function(client, "0", "f"), &sketch);
    assert_true(ps_client_flush(client, 60000));
    ps_client_close(client);
    sketch_release(&sketch);
}

/* The store is read anew when its writer ends; what the server said last stands. */
static void what_a_server_told_stands_when_it_has_gone_before_the_last_writer(void **state)
{
    struct ps_server_opts opts = {.store = {.n_workers = 1}, .interval_ms = 10};
    char dir[] = "live-past-XXXXXX", address[100];
    struct ps_server *server;
    struct live_past past;
    int until, status;
    pid_t writer;

    (void)state;
    assert_non_null(test_dir(dir));
    writer = begin_writer(dir, &until);
    assert_int_equal(ps_server_open(&server, &opts), 0);
    snprintf(address, sizeof address, "%s", ps_server_address(server));
    tell_calls(address, 300);
    assert_int_equal(
        live_past_open(&past, &(struct live_past_opts){.url = dir, .server = address}), 0);
    while (past.state->totals.n_calls_told < 300)
        live_past_follow(&past);
    assert_int_equal(past.state->phase, LIVE_RUNNING);
    assert_int_equal(ps_server_close(server), 0);
    close(until);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
    live_past_follow(&past);
    assert_int_equal(past.state->phase, LIVE_OVER);
    assert_int_equal(past.state->totals.n_calls_told, 300);
    assert_int_equal(past.state->totals.n_calls, 300);
    assert_int_equal(past.state->n_regions, 1);
    assert_int_equal(past.state->region[0].sketch.n, 300);
    live_past_close(&past);
    assert_int_equal(fs_remove_tree(dir), 0);
}

static void store_calls(const char *dir, const uint32_t *rank, uint64_t n, double mean_us)
{
    struct prov_store *store;
    struct prov_stats stats = {.count = n,
                               .accumulate = (double)n * mean_us,
                               .minimum = mean_us - 1,
                               .maximum = mean_us + 1,
                               .mean = mean_us,
                               .stddev = 0.5};

    assert_int_equal(prov_store_open(dir, &(struct prov_store_opts){.rank = rank}, &store), 0);
    assert_true(prov_store_put_func_stats(
        store,
        &(struct prov_func_stats){.fid = 1, .func = "f", .n_calls = n, .exclusive = stats}));
    assert_int_equal(prov_store_close(store), 0);
}

/* An instance of rank 0 had 300 calls of 2 us, one of rank 5 100 calls of 6 us; then one that
 * reads all ranks had 600 more. No call has a record. */
static void calls_are_those_of_statistics(void **state)
{
    const uint32_t ranks[] = {0, 5};
    char dir[] = "live-past-XXXXXX";
    struct live_past past;

    (void)state;
    assert_non_null(test_dir(dir));
    store_calls(dir, &ranks[0], 300, 2);
    store_calls(dir, &ranks[1], 100, 6);
    assert_int_equal(live_past_open(&past, &(struct live_past_opts){.url = dir}), 0);
    assert_int_equal(past.state->totals.n_calls, 400);
    assert_int_equal(past.state->n_regions, 1);
    assert_int_equal(live_row_calls(&past.state->of_region[0]), 400);
    assert_true(fabs(live_stat_mean(&past.state->of_region[0].exclusive_ns) - 3000) < 1);
    assert_int_equal(past.state->of_region[0].exclusive_ns.maximum, 7000);
    assert_int_equal(past.state->n_ranks, 2);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t row = live_state_find_rank(past.state, 0, ranks[i]);
        const struct live_row *of = &past.state->rank[row];

        assert_int_equal(live_row_calls(of), i ? 100 : 300);
        assert_true(fabs(live_stat_mean(&of->exclusive_ns) - (i ? 6000 : 2000)) < 1);
        assert_true(fabs(live_stat_deviation(&of->exclusive_ns) - 500) < 5);
        assert_int_equal(of->anomalies.n, 0);
    }
    live_past_close(&past);
    store_calls(dir, NULL, 600, 2);
    assert_int_equal(live_past_open(&past, &(struct live_past_opts){.url = dir}), 0);
    assert_int_equal(live_row_calls(&past.state->of_region[0]), 1000);
    assert_int_equal(past.state->n_ranks, 0);
    live_past_close(&past);
    assert_int_equal(fs_remove_tree(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_server_told_stands_when_it_has_gone_before_the_last_writer),
        cmocka_unit_test(calls_are_those_of_statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

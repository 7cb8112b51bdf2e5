/*
 * Whatever the order of events: instances that come and go, a parameter server that is late,
 * away, started anew with other numbers, or never there, a shard that another process holds. A
 * store has one row for each function of a run, whose calls are those that the instance has
 * read.
 *
 * How many orders is the environment variable SNAG_ORDERS, or 24, from number SNAG_ORDERS_FIRST
 * on; SNAG_TOGETHER of them, or 12, are played at the same time, as they mostly wait.
 */
#include "live/live_exchange.h"
#include "live/live_recorder.h"

#include "base/progress.h"
#include "base/rng.h"
#include "prov/prov_dir.h"
#include "prov/prov_reader.h"
#include "ps/ps_server.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define MAX_INSTANCES 3
#define MAX_LIVES 4 /* of the server */
#define N_NAMES 5

/* Functions appear one after another: some are new when the server is there, or has gone. */
static const char program[] =
    "synth:40*step(a@100us 2*b) 40*step(a@100us c) 40*step(d@50us main 2*b);ranks=3;jitter=0.1;"
    "slow=b/10/50";
static const char *const names[N_NAMES] = {"step", "a", "b", "c", "d"};

/* What one order is made of; times are milliseconds from its beginning. */
struct order {
    char dir[32], url[64], server[64];
    uint32_t n_instances, n_shards, n_lives;
    unsigned opens[MAX_LIVES], closes[MAX_LIVES]; /* the server */
    unsigned begins[MAX_INSTANCES], nap_ms;       /* the instances, and between their steps */
    unsigned killed_after[MAX_INSTANCES];         /* 0: not */
    unsigned held_from, held_until;               /* shard 0, by somebody else */
    struct rng rng;
};

/* Shared with the instances. */
struct outcome {
    uint64_t n_calls[MAX_INSTANCES], n_anomalies[MAX_INSTANCES], n_taken_back[MAX_INSTANCES];
    bool is_over[MAX_INSTANCES];
};

static void make_order(struct order *o, uint64_t number)
{
    unsigned at = 0;

    *o = (struct order){.rng = {number}};
    snprintf(o->dir, sizeof o->dir, "/tmp/snag-order-XXXXXX");
    o->n_instances = 1 + (uint32_t)rng_below(&o->rng, MAX_INSTANCES);
    o->n_shards = 1 + (uint32_t)rng_below(&o->rng, 3);
    o->n_lives = (uint32_t)rng_below(&o->rng, MAX_LIVES + 1);
    for (uint32_t i = 0; i < o->n_lives; i++) {
        o->opens[i] = at + (unsigned)rng_below(&o->rng, i == 0 ? 2000 : 300);
        at = o->closes[i] = o->opens[i] + 300 + (unsigned)rng_below(&o->rng, 1500);
    }
    o->nap_ms = (unsigned)rng_below(&o->rng, 120);
    for (uint32_t i = 0; i < o->n_instances; i++) {
        o->begins[i] = (unsigned)rng_below(&o->rng, 300);
        if (rng_below(&o->rng, 4) == 0)
            o->killed_after[i] = 1 + (unsigned)rng_below(&o->rng, 4000);
    }
    if (rng_below(&o->rng, 2) == 0) {
        o->held_from = (unsigned)rng_below(&o->rng, 1500);
        o->held_until = o->held_from + (unsigned)rng_below(&o->rng, 800);
    }
}

static int ms_of(uint64_t begin_ns)
{
    return (int)((clock_ns() - begin_ns) / 1000000);
}

/* ------------------------------------------------------------------------------- instances */

static _Noreturn void run_instance(const struct order *o, uint32_t i, struct outcome *out)
{
    struct stream stream;
    struct stream_opts stream_opts = {.step_ns = 500000, .rank = &i};
    struct live_recorder_opts recorder_opts = {
        .url = o->url, .window = 3, .store = {.rank = &i, .wait_ms = 50}};
    struct ps_client_opts client_opts = {.address = o->server, .resend_ms = 50};
    struct live_exchange_opts exchange_opts = {.program = "0"};
    struct ad_opts opts = ad_default();
    struct live_recorder_counts counts;
    struct live_recorder *recorder;
    struct ad *ad;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* who plays may fail, and end */
    usleep(o->begins[i] * 1000);
    if (stream_open(&stream, program, &stream_opts) < 0 ||
        ps_client_open(&exchange_opts.client, &client_opts) < 0 ||
        live_recorder_open(&recorder, &recorder_opts) < 0)
        _exit(3);
    opts.exchange = live_exchange_new(&exchange_opts);
    opts.least_calls = 10;
    opts.sink = &(struct ad_sink){live_recorder_step, recorder};
    opts.n_sinks = 1;
    ad = ad_new(&stream, &opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        usleep(o->nap_ms * 1000);
    live_recorder_counts(recorder, &counts);
    live_recorder_close(recorder); /* rows that found no room may be lost, and said to be */
    out->n_calls[i] = ad_totals(ad)->n_calls;
    out->n_anomalies[i] = ad_totals(ad)->n_anomalies;
    out->n_taken_back[i] = counts.n_taken_back;
    out->is_over[i] = true;
    _exit(0);
}

/* ------------------------------------------------------------------------- all the others */

/* Another job, whose functions have the first numbers of this life, in an order of its own. */
static void number_differently(struct order *o)
{
    struct ps_client_opts opts = {.address = o->server, .resend_ms = 50};
    struct ps_client *client;
    struct sketch sketch;

    assert_int_equal(ps_client_open(&client, &opts), 0);
    sketch_init(&sketch);
    sketch_add(&sketch, 1000);
    for (uint32_t i = 0, first = (uint32_t)rng_below(&o->rng, N_NAMES); i < N_NAMES - 1; i++)
        ps_client_add(client, ps_client_function(client, "0", names[(first + i) % N_NAMES]),
                      &sketch);
    ps_client_push(client);
    ps_client_exchange(client, 20);
    sketch_release(&sketch);
    ps_client_close(client);
}

static void play_server(struct order *o, int now, uint32_t *life, struct ps_server **server)
{
    struct ps_server_opts opts = {.listen = o->server, .interval_ms = 10};

    if (*server != NULL && now >= (int)o->closes[*life]) {
        ps_server_close(*server);
        *server = NULL;
        ++*life;
    }
    if (*server == NULL && *life < o->n_lives && now >= (int)o->opens[*life]) {
        assert_int_equal(ps_server_open(server, &opts), 0);
        number_differently(o);
    }
}

static void play_holder(const struct order *o, int now, sqlite3 **held)
{
    struct prov_dir place;
    struct prov_file file;

    if (*held != NULL && now >= (int)o->held_until) {
        sqlite3_close(*held);
        *held = NULL;
    }
    if (*held != NULL || now < (int)o->held_from || now >= (int)o->held_until)
        return;
    assert_int_equal(prov_dir_parse(o->url, &place), 0);
    prov_dir_file(&place, -1, 0, &file);
    if (access(file.path, F_OK) != 0)
        return; /* nobody has made it yet */
    assert_int_equal(sqlite3_open(file.path, held), SQLITE_OK);
    sqlite3_exec(*held, "BEGIN IMMEDIATE", NULL, NULL, NULL);
}

static void play(struct order *o, struct outcome *out)
{
    uint64_t begin_ns = clock_ns();
    struct ps_server *server = NULL;
    sqlite3 *held = NULL;
    uint32_t life = 0, n_left = o->n_instances;
    pid_t child[MAX_INSTANCES];

    fflush(NULL);
    for (uint32_t i = 0; i < o->n_instances; i++)
        if ((child[i] = fork()) == 0)
            run_instance(o, i, out);
    while (n_left > 0) {
        int now = ms_of(begin_ns);

        play_server(o, now, &life, &server);
        play_holder(o, now, &held);
        for (uint32_t i = 0; i < o->n_instances; i++) {
            int status;

            if (child[i] > 0 && o->killed_after[i] && now >= (int)o->killed_after[i])
                kill(child[i], SIGKILL);
            if (child[i] > 0 && waitpid(child[i], &status, WNOHANG) == child[i]) {
                assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
                assert_true(WIFEXITED(status) || o->killed_after[i] > 0);
                child[i] = 0;
                n_left--;
            }
        }
        usleep(2000);
    }
    sqlite3_close(held);
    ps_server_close(server);
}

/* -------------------------------------------------------------------------------- checking */

static int64_t ask(struct database *db, const char *sql, uint32_t rank)
{
    sqlite3_stmt *query;
    int64_t n;

    assert_int_equal(sqlite3_prepare_v2(db->sql, sql, -1, &query, NULL), SQLITE_OK);
    if (sqlite3_bind_parameter_count(query) > 0)
        sqlite3_bind_int64(query, 1, rank);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return n;
}

/* Without those that were taken back, if all their records are there; else with them. */
static void check_anomalies(const struct outcome *out, uint32_t i, int64_t n)
{
    if (n != (int64_t)out->n_anomalies[i])
        assert_int_equal(n, out->n_anomalies[i] - out->n_taken_back[i]);
}

static void check(const struct order *o, const struct outcome *out)
{
    struct database db;

    if (!prov_store_is(o->url) || prov_reader_open(o->url, &db) < 0) {
        for (uint32_t i = 0; i < o->n_instances; i++) /* all were killed while they made it */
            assert_false(out->is_over[i]);
        return;
    }
    assert_int_equal(
        ask(&db, "SELECT count(*) - count(DISTINCT run || func) FROM func_stats", 0), 0);
    assert_int_equal(
        ask(&db, "SELECT count(*) - count(DISTINCT run || ' ' || fid) FROM func_stats", 0), 0);
    /* a function has one number, in its records too, where a run has statistics at all */
    assert_int_equal(
        ask(&db,
            "SELECT count(*) FROM (SELECT run, func FROM (SELECT run, func, fid FROM "
            "anomalies UNION SELECT run, func, fid FROM normalexecs UNION SELECT run, "
            "func, fid FROM func_stats) GROUP BY run, func HAVING count(*) > 1)",
            0),
        0);
    for (uint32_t i = 0; i < o->n_instances; i++)
        if (out->is_over[i]) {
            assert_int_equal(ask(&db,
                                 "SELECT total(calls) FROM func_stats JOIN runs USING (run) "
                                 "WHERE rid = ?",
                                 i),
                             out->n_calls[i]);
            check_anomalies(out, i,
                            ask(&db,
                                "SELECT total(anomalies) FROM func_stats JOIN runs USING (run) "
                                "WHERE rid = ?",
                                i));
        }
    database_close(&db);
}

static void play_order(uint64_t number)
{
    struct outcome *out =
        mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct order order;

    make_order(&order, number);
    assert_non_null(test_dir(order.dir));
    snprintf(order.url, sizeof order.url, "sqlite:%s/store?shards=%u", order.dir,
             order.n_shards);
    snprintf(order.server, sizeof order.server, "ipc://%s/server", order.dir);
    play(&order, out);
    check(&order, out);
    munmap(out, sizeof *out);
    assert_int_equal(fs_remove_tree(order.dir), 0);
}

/* Process p of n plays every n-th order. */
static void sums_are_those_of_the_instances_in_any_order(void **state)
{
    const char *orders = getenv("SNAG_ORDERS"), *together = getenv("SNAG_TOGETHER"),
               *from = getenv("SNAG_ORDERS_FIRST");
    uint64_t n = orders ? strtoull(orders, NULL, 10) : 24, n_failed = 0;
    uint64_t first = from ? strtoull(from, NULL, 10) : 1;
    uint64_t n_players = together ? strtoull(together, NULL, 10) : 12;
    int status;

    (void)state;
    fflush(NULL);
    for (uint64_t p = 0; p < n_players; p++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (uint64_t i = p; i < n; i += n_players)
                play_order(first + i);
            _exit(0);
        }
    while (wait(&status) > 0)
        n_failed += status != 0;
    print_message("%llu orders\n", (unsigned long long)n);
    assert_int_equal(n_failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_instances_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A process that judges and records is killed at random moments: the store opens, has every
 * record that was acknowledged by a flush, none twice within a life, and no part of one.
 *
 * How often is the environment variable SNAG_KILLS, or 15.
 */
#include "live/live_recorder.h"

#include "base/fs.h"
#include "base/rng.h"
#include "prov/prov_reader.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define SHARDS 2

#define ROUNDS 1000 /* of one life, at most */

/* Some 200 steps, and about one strange call in each. */
static const char program[] = "synth:2000*step(c@200us >1 <1);ranks=4;jitter=0.05;"
                              "slow=c/100/30";

/* Shared with the child. */
struct life {
    uint32_t number;                  /* its records are of the programs number * ROUNDS .. */
    atomic_uint_fast64_t n_confirmed; /* records that a flush has acknowledged */
    atomic_bool has_store;
};

struct writer {
    struct live_recorder *recorder;
    uint64_t n_before; /* records of the rounds before */
    struct life *life;
};

/* Behind the recorder: what it has put by now is made safe, and that is told. */
static void confirm(void *ctx, const struct ad_step *step)
{
    struct writer *w = ctx;
    struct live_recorder_counts counts;

    (void)step;
    if (live_recorder_flush(w->recorder) < 0)
        _exit(5);
    live_recorder_counts(w->recorder, &counts);
    atomic_store(&w->life->n_confirmed,
                 w->n_before + counts.store.n_anomalies + counts.store.n_normals);
}

/* One run of the program, from beginning to end. */
static void record(const char *url, struct writer *w, uint32_t number)
{
    struct stream stream;
    struct stream_opts stream_settings = {.step_ns = 5000000, .program = number};
    struct live_recorder_opts recorder_settings = {.url = url, .window = 10, .program = number};
    struct ad_opts opts = ad_default();
    struct ad_sink sinks[2];
    struct ad *ad;

    if (stream_open(&stream, program, &stream_settings) < 0 ||
        live_recorder_open(&w->recorder, &recorder_settings) < 0)
        _exit(3);
    atomic_store(&w->life->has_store, true);
    sinks[0] = (struct ad_sink){live_recorder_step, w->recorder};
    sinks[1] = (struct ad_sink){confirm, w};
    opts.sink = sinks;
    opts.n_sinks = 2;
    ad = ad_new(&stream, &opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    if (live_recorder_close(w->recorder) < 0)
        _exit(4);
    ad_free(ad);
    stream_close(&stream);
}

static void record_for_ever(const char *url, struct life *life)
{
    struct writer w = {.life = life};

    for (uint32_t i = 0; i < ROUNDS; i++) {
        record(url, &w, life->number * ROUNDS + i);
        w.n_before = atomic_load(&life->n_confirmed);
    }
    _exit(6); /* it was to be killed before */
}

static int64_t ask(sqlite3 *db, const char *sql, uint32_t life)
{
    sqlite3_stmt *query;
    int64_t n;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
    if (sqlite3_bind_parameter_count(query) > 0)
        sqlite3_bind_int64(query, 1, life);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return n;
}

static bool is_whole(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query;
    bool is_ok;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    is_ok = strcmp((const char *)sqlite3_column_text(query, 0), "ok") == 0;
    sqlite3_finalize(query);
    return is_ok;
}

#define ALL                                                                                    \
    "(SELECT pid, event_id, record FROM anomalies UNION ALL "                                  \
    "SELECT pid, event_id, record FROM normalexecs) WHERE pid / 1000 = ?1"

static int64_t check(const char *url, const struct life *life)
{
    int64_t n;
    struct database db;

    assert_int_equal(prov_reader_open(url, &db), 0);
    n = ask(db.sql, "SELECT count(*) FROM " ALL, life->number);
    assert_true(n >= (int64_t)atomic_load(&life->n_confirmed));
    assert_int_equal(
        ask(db.sql, "SELECT count(DISTINCT pid || ' ' || event_id) FROM " ALL, life->number),
        n);
    assert_int_equal(ask(db.sql, "SELECT count(record) FROM " ALL, life->number), n);
    assert_true(is_whole(db.sql, "PRAGMA s0.integrity_check"));
    assert_true(is_whole(db.sql, "PRAGMA s1.integrity_check"));
    database_close(&db);
    return n;
}

/* However slow the machine is, most lives are long enough to leave something behind. */
static void wait_for_records(pid_t child, struct life *life)
{
    while (life->number % 3 > 0 && atomic_load(&life->n_confirmed) == 0 &&
           waitpid(child, NULL, WNOHANG) == 0)
        usleep(500);
}

static int64_t one_life(const char *url, struct life *life, useconds_t life_us)
{
    pid_t child;
    int status;

    atomic_store(&life->n_confirmed, 0);
    atomic_store(&life->has_store, false);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        record_for_ever(url, life);
    wait_for_records(child, life);
    usleep(life_us);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return atomic_load(&life->has_store) ? check(url, life) : 0;
}

static void what_was_acknowledged_survives_a_kill(void **state)
{
    const char *times = getenv("SNAG_KILLS");
    uint32_t n = times ? (uint32_t)atoi(times) : 15;
    struct life *life =
        mmap(NULL, sizeof *life, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char dir[] = "recorder-kill-XXXXXX", url[64];
    struct rng rng = {7};
    int64_t n_records = 0;

    (void)state;
    assert_non_null(test_dir(dir));
    snprintf(url, sizeof url, "sqlite:%s?shards=%d", dir, SHARDS);
    for (life->number = 1; life->number <= n; life->number++)
        n_records += one_life(url, life, (useconds_t)(500 + rng_below(&rng, 120000)));
    assert_true(n_records >= n / 2);
    print_message("%u kills, %lld records\n", n, (long long)n_records);
    munmap(life, sizeof *life);
    assert_int_equal(fs_remove_tree(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_acknowledged_survives_a_kill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

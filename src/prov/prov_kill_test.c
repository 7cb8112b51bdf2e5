/*
 * A process that writes to a store is killed at random moments: the store opens, has every
 * record whose flush returned, none twice, and no part of one.
 *
 * How often is the environment variable SNAG_KILLS, or 6.
 */
#include "prov/prov_store.h"

#include "base/fs.h"
#include "base/rng.h"
#include "prov/prov_reader.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

#define PER_FLUSH 7

/* Shared with the child: what it has put, and what of that it knows to be stored. */
struct progress_page {
    atomic_uint_fast64_t n_put, n_acknowledged;
};

static void write_for_ever(const char *url, struct progress_page *page, uint64_t from)
{
    struct arena arena = {0};
    struct prov_store *store;
    struct prov_record record;

    if (prov_store_open(url, NULL, &store) < 0)
        _exit(3);
    for (uint64_t i = from;; i++) {
        struct arena_mark mark = arena_mark(&arena);

        sample_record((uint32_t)(i % 4), i, &arena, &record);
        atomic_store(&page->n_put, i + 1);
        if (!prov_store_put(store, PROV_ANOMALY, &record))
            _exit(4);
        arena_restore(&arena, mark);
        if (i % PER_FLUSH != 0)
            continue;
        if (prov_store_flush(store) < 0)
            _exit(5);
        atomic_store(&page->n_acknowledged, i + 1);
    }
}

static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query;
    int64_t n;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    n = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return n;
}

static bool says_ok(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query;
    bool is_ok;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    is_ok = strcmp((const char *)sqlite3_column_text(query, 0), "ok") == 0;
    sqlite3_finalize(query);
    return is_ok;
}

/* Record i has the step i / 100 and the number 1000 + i at the end of its id. */
#define NUMBER_OF "substr(event_id, length(rid || ':' || io_step || ':') + 1) - 1000 "

/* Of what was put in this life; the lives before were looked at when they ended. */
static void check(const char *url, uint64_t from, uint64_t n_acknowledged, uint64_t n_put)
{
    char sql[512];
    struct database db;

    assert_int_equal(prov_reader_open(url, &db), 0);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM anomalies WHERE io_step >= %llu AND record IS NULL",
             (unsigned long long)from / 100);
    assert_int_equal(ask(db.sql, sql), 0);
    snprintf(sql, sizeof sql,
             "SELECT count(*) - count(DISTINCT event_id) FROM anomalies WHERE io_step >= %llu",
             (unsigned long long)from / 100);
    assert_int_equal(ask(db.sql, sql), 0);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM anomalies WHERE io_step >= %llu AND " NUMBER_OF
             "BETWEEN %llu AND %lld",
             (unsigned long long)from / 100, (unsigned long long)from,
             (long long)n_acknowledged - 1);
    assert_int_equal(ask(db.sql, sql), n_acknowledged - from);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM anomalies WHERE io_step >= %llu AND " NUMBER_OF ">= %llu",
             (unsigned long long)from / 100, (unsigned long long)n_put);
    assert_int_equal(ask(db.sql, sql), 0);
    assert_true(says_ok(db.sql, "PRAGMA s0.integrity_check"));
    assert_true(says_ok(db.sql, "PRAGMA s1.integrity_check"));
    database_close(&db);
}

/* However slow the machine is, every other life is long enough to leave something behind. */
static void wait_for_records(pid_t child, const struct progress_page *page, uint64_t from)
{
    while (atomic_load(&page->n_acknowledged) == from && waitpid(child, NULL, WNOHANG) == 0)
        usleep(500);
}

static uint64_t one_life(const char *url, struct progress_page *page, uint64_t from,
                         useconds_t life_us)
{
    uint64_t n_put;
    pid_t child;
    int status;

    atomic_store(&page->n_put, from);
    atomic_store(&page->n_acknowledged, from);
    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        write_for_ever(url, page, from);
    if (life_us % 2)
        wait_for_records(child, page, from);
    usleep(life_us);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    n_put = atomic_load(&page->n_put);
    if (n_put > 0) /* else it may have been killed while it made the store */
        check(url, from, atomic_load(&page->n_acknowledged), n_put);
    return n_put;
}

static void what_was_acknowledged_survives_a_kill(void **state)
{
    const char *times = getenv("SNAG_KILLS");
    int n = times ? atoi(times) : 6;
    struct progress_page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char dir[] = "prov-kill-XXXXXX", url[64];
    struct rng rng = {7};
    uint64_t from = 0;

    (void)state;
    assert_non_null(test_dir(dir));
    snprintf(url, sizeof url, "sqlite:%s?shards=2", dir);
    for (int i = 0; i < n; i++)
        from = one_life(url, page, from, (useconds_t)(500 + rng_below(&rng, 250000)));
    assert_true(n == 0 || from > 0);
    print_message("%d kills, %llu records put\n", n, (unsigned long long)from);
    munmap(page, sizeof *page);
    assert_int_equal(fs_remove_tree(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_acknowledged_survives_a_kill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "prov/prov_store.h"

#include "base/err.h"
#include "base/fs.h"
#include "prov/prov_reader.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_answer.h"
#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

struct scene {
    char dir[64], url[128];
    struct arena arena;
    struct prov_store *store;
};

static void begin(struct scene *s, const char *shards)
{
    *s = (struct scene){.store = NULL};
    strcpy(s->dir, "prov-store-XXXXXX");
    assert_non_null(test_dir(s->dir));
    snprintf(s->url, sizeof s->url, "sqlite:%s%s", s->dir, shards);
    assert_int_equal(prov_store_open(s->url, NULL, &s->store), 0);
}

static void end(struct scene *s)
{
    assert_int_equal(prov_store_close(s->store), 0);
    assert_int_equal(fs_remove_tree(s->dir), 0);
    arena_release(&s->arena);
}

static void put_some(struct scene *s, uint32_t n_ranks, uint64_t n)
{
    struct arena_mark mark = arena_mark(&s->arena);
    struct prov_record record;

    for (uint64_t i = 0; i < n; i++) {
        sample_record((uint32_t)(i % n_ranks), i / n_ranks, &s->arena, &record);
        assert_true(prov_store_put(s->store, i % 5 ? PROV_ANOMALY : PROV_NORMAL, &record));
        arena_restore(&s->arena, mark);
    }
}

static void assert_answer(const struct scene *s, const char *sql, const char *expected)
{
    sample_answer_is(s->url, sql, expected);
}

static void records_are_in_the_shard_of_their_rank_in_order(void **state)
{
    struct prov_counts counts;
    struct scene s;

    (void)state;
    begin(&s, "?shards=3");
    put_some(&s, 8, 1200);
    assert_int_equal(prov_store_flush(s.store), 0);
    prov_store_counts(s.store, &counts);
    assert_true(counts.n_stored == 1200 && counts.n_waiting == 0 && counts.n_dropped == 0);
    assert_answer(&s, "SELECT count(*) FROM anomalies", "960");
    assert_answer(&s, "SELECT count(*) FROM normalexecs", "240");
    assert_answer(&s, "SELECT count(*) FROM anomalies WHERE shard <> rid % 3", "0");
    assert_answer(&s, "SELECT count(DISTINCT shard) FROM anomalies", "3");
    assert_answer(&s,
                  "SELECT count(*) FROM (SELECT io_step < lag(io_step) OVER (PARTITION BY rid "
                  "ORDER BY __id) AS is_late FROM anomalies) WHERE is_late",
                  "0");
    end(&s);
}

/* What a view says of a record is what its JSON says, which has 15 digits. */
static void columns_and_json_agree(void **state)
{
    static const char *const same[] = {
        "pid",       "rid",           "tid",           "event_id",          "fid",
        "func",      "entry",         "exit",          "io_step",           "p",
        "is_pruned", "runtime_total", "outlier_score", "runtime_exclusive", "outlier_severity"};
    struct scene s;

    (void)state;
    begin(&s, "?shards=2");
    put_some(&s, 4, 100);
    assert_int_equal(prov_store_flush(s.store), 0);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char sql[256];

        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM (SELECT %s AS x, json_extract(record, '$.%s') AS y "
                 "FROM anomalies) WHERE x = y OR abs(x - y) < 1e-14 * abs(x)",
                 same[i], same[i]);
        assert_answer(&s, sql, "80");
    }
    end(&s);
}

static void more_shards_than_sqlite_attaches(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "?shards=23");
    put_some(&s, 46, 460);
    assert_int_equal(prov_store_flush(s.store), 0);
    assert_answer(&s, "SELECT count(*) FROM anomalies", "368");
    assert_answer(&s, "SELECT count(DISTINCT shard) FROM normalexecs", "23");
    assert_answer(&s,
                  "SELECT count(*) FROM anomalies WHERE func IS json_extract(record, '$.func')",
                  "368");
    end(&s);
}

static void the_other_collections(void **state)
{
    struct prov_stats stats = {.count = 3, .accumulate = 6, .mean = 2, .kurtosis = NAN};
    struct prov_model model = {.version = 1,
                               .func = "f",
                               .algorithm = "hbos",
                               .data = "sketch",
                               .bytes = 6,
                               .stats = stats};
    struct scene s;

    (void)state;
    begin(&s, "?shards=2");
    prov_store_put_metadata(
        s.store,
        &(struct prov_metadata){.rank = 1, .descr = "CPU Vendor", .value = "GenuineIntel"});
    for (uint64_t n = 1; n <= 2; n++)
        prov_store_put_func_stats(s.store, &(struct prov_func_stats){.fid = 7,
                                                                     .func = "f",
                                                                     .n_calls = 10 * n,
                                                                     .n_anomalies = n,
                                                                     .exclusive = stats});
    prov_store_put_counter_stats(
        s.store, &(struct prov_counter_stats){.counter = "PAPI_TOT_CYC", .stats = stats});
    prov_store_put_model(s.store, &model);
    model.version = 2;
    prov_store_put_model(s.store, &model);
    assert_int_equal(prov_store_flush(s.store), 0);
    assert_answer(&s, "SELECT rid || descr || value || shard FROM metadata",
                  "1CPU VendorGenuineIntel1");
    assert_answer(&s, "SELECT count(*) || ':' || max(calls) FROM func_stats", "1:20");
    assert_answer(&s, "SELECT json_extract(exclusive, '$.accumulate') FROM func_stats", "6.0");
    assert_answer(&s, "SELECT json_extract(stats, '$.kurtosis') IS NULL FROM counter_stats",
                  "1");
    assert_answer(&s, "SELECT count(*) FROM ad_model WHERE length(data) > 6", "2");
    end(&s);
}

/* Filters on what people filter by do not read every record. */
static void conditions_use_the_indexes(void **state)
{
    static const char *const conditions[] = {"rid = 3",
                                             "rid = 3 AND tid = 1",
                                             "func = 'MPI_Wait()'",
                                             "entry > 1e12",
                                             "exit < 1000",
                                             "outlier_score > 1000",
                                             "io_step = 7",
                                             "pid = 1",
                                             "outlier_severity > 1e9"};
    struct scene s;

    (void)state;
    begin(&s, "?shards=2");
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        sqlite3_stmt *query;
        struct database db;
        char sql[256];
        int n_searches = 0;

        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN SELECT record FROM anomalies WHERE %s",
                 conditions[i]);
        assert_int_equal(prov_reader_open(s.url, &db), 0);
        assert_int_equal(sqlite3_prepare_v2(db.sql, sql, -1, &query, NULL), SQLITE_OK);
        while (sqlite3_step(query) == SQLITE_ROW) {
            const char *plan = (const char *)sqlite3_column_text(query, 3);

            n_searches += strncmp(plan, "SEARCH r USING INDEX record_", 28) == 0;
        }
        if (n_searches != 2)
            fail_msg("%s: %d shards are searched by an index", conditions[i], n_searches);
        sqlite3_finalize(query);
        database_close(&db);
    }
    end(&s);
}

/* Strange when above 60 by the final model, which is stricter than the first. */
static void judge(void *ctx, enum prov_kind kind, const struct prov_record *record,
                  struct prov_final *final)
{
    ++*(int *)ctx;
    if (record->event.rank == 2)
        return;
    *final = (struct prov_final){.is_judged = true,
                                 .is_pruned = (record->score > 60) != (kind == PROV_ANOMALY),
                                 .score = record->score / 2,
                                 .p = 0.5};
}

static void rejudging_marks_and_deletes_nothing(void **state)
{
    struct prov_rejudged counts;
    struct scene s;
    int n = 0;

    (void)state;
    begin(&s, "?shards=2");
    put_some(&s, 4, 2400); /* of each shard more than are read at once */
    for (int again = 0; again < 2; again++) {
        assert_int_equal(prov_store_rejudge(s.store, judge, &n, &counts), 0);
        assert_true(counts.n_records == 2400 && counts.n_judged == 1800);
        assert_true(counts.n_damaged == 0 && counts.n_pruned > 0);
    }
    assert_int_equal(n, 4800);
    assert_answer(&s, "SELECT count(*) FROM anomalies", "1920");
    assert_answer(&s,
                  "SELECT count(*) FROM anomalies WHERE rid <> 2 AND "
                  "(is_pruned <> (outlier_score <= 60) OR final_score <> outlier_score / 2)",
                  "0");
    assert_answer(&s,
                  "SELECT count(*) FROM normalexecs WHERE rid <> 2 AND "
                  "is_pruned <> (outlier_score > 60)",
                  "0");
    assert_answer(&s, "SELECT count(*) FROM anomalies WHERE rid = 2 AND final_p IS NOT NULL",
                  "0");
    assert_answer(&s, "SELECT count(*) FROM anomalies WHERE final_p = 0.5", "1440");
    assert_answer(&s,
                  "SELECT count(*) FROM anomalies WHERE json_extract(record, '$.final_score') "
                  "IS NOT final_score OR json_extract(record, '$.is_pruned') <> is_pruned",
                  "0");
    end(&s);
}

static void a_store_can_be_opened_again_with_as_many_shards(void **state)
{
    struct prov_store *other = NULL;
    char url[128];
    struct scene s;

    (void)state;
    begin(&s, "?shards=2");
    put_some(&s, 4, 100);
    assert_int_equal(prov_store_open(s.dir, NULL, &other), 0); /* beside the first */
    assert_int_equal(prov_store_close(s.store), 0);
    s.store = other;
    put_some(&s, 4, 100);
    assert_int_equal(prov_store_flush(s.store), 0);
    assert_answer(&s, "SELECT count(*) FROM anomalies", "160");
    snprintf(url, sizeof url, "sqlite:%s?shards=3", s.dir);
    assert_int_equal(prov_store_open(url, NULL, &other), ERR_FORMAT);
    assert_null(other);
    end(&s);
}

#define LIMITED 8000u
#define WORST 100u
#define LATER 1500u            /* of the next run */
#define LIMIT_SLACK (1u << 20) /* of one transaction */

/* A program that is strange for weeks: the worst of it is kept, in a store that does not grow.
 */
static void a_store_has_a_limit(void **state)
{
    struct prov_store_opts opts = {.limit_bytes = 2u << 20};
    struct arena arena = {0};
    struct prov_counts counts;
    struct prov_record record;
    struct stat info;
    struct scene s;
    char text[256];

    (void)state;
    begin(&s, "");
    assert_int_equal(prov_store_close(s.store), 0);
    assert_int_equal(prov_store_open(s.dir, &opts, &s.store), 0);
    for (uint64_t i = 0; i < LIMITED; i++) {
        struct arena_mark mark = arena_mark(&arena);

        sample_record(0, i, &arena, &record);
        record.severity_ns = i * 7919 % LIMITED; /* each once */
        while (!prov_store_put(s.store, i % 4 ? PROV_ANOMALY : PROV_NORMAL, &record))
            ;
        if (i % 100 == 0)
            prov_store_put_cost(s.store,
                                &(struct prov_cost){.event = record.event, .cost_ns = 1});
        arena_restore(&arena, mark);
    }
    arena_release(&arena);
    assert_int_equal(prov_store_flush(s.store), 0);
    prov_store_counts(s.store, &counts);
    assert_true(counts.n_removed > 0 && counts.n_dropped == 0);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(LIMITED - counts.n_removed));
    assert_answer(
        &s, "SELECT (SELECT count(*) FROM anomalies) + (SELECT count(*) FROM normalexecs)",
        text);
    snprintf(text, sizeof text, "%s/shard-0000.db", s.dir);
    assert_int_equal(stat(text, &info), 0);
    assert_true(info.st_size <= (off_t)(opts.limit_bytes + LIMIT_SLACK));
    /* of the anomalies, the worst of all */
    snprintf(text, sizeof text, "%u", WORST * 3 / 4);
    assert_answer(&s, "SELECT count(*) FROM anomalies WHERE outlier_severity >= 7.9", text);
    /* what is there already leaves the next run as much room */
    assert_int_equal(prov_store_close(s.store), 0);
    assert_int_equal(prov_store_open(s.dir, &opts, &s.store), 0);
    put_some(&s, 1, LATER);
    assert_int_equal(prov_store_flush(s.store), 0);
    prov_store_counts(s.store, &counts);
    assert_true(counts.n_removed == 0 && counts.n_stored == LATER);
    snprintf(text, sizeof text, "%s/shard-0000.db", s.dir);
    assert_int_equal(stat(text, &info), 0);
    assert_true(info.st_size > (off_t)opts.limit_bytes);
    end(&s);
}

/* Another run writes to the same store, as it may to compare them. */
static void run_again(struct scene *s)
{
    assert_int_equal(prov_store_close(s->store), 0);
    assert_int_equal(prov_store_open(s->dir, NULL, &s->store), 0);
}

static void put_func_stats(struct scene *s, uint64_t n_calls)
{
    assert_true(prov_store_put_func_stats(
        s->store, &(struct prov_func_stats){.fid = 7, .func = "f", .n_calls = n_calls}));
    assert_int_equal(prov_store_flush(s->store), 0);
}

#define MANY_FUNCTIONS 1500u

/* Statistics alone are more than the limit, and cannot be removed: no record gives way to them. */
static void a_limit_is_of_records(void **state)
{
    struct prov_store_opts opts = {.limit_bytes = 1u << 20};
    struct prov_counts counts;
    struct scene s;
    char func[1024];

    (void)state;
    begin(&s, "");
    assert_int_equal(prov_store_close(s.store), 0);
    assert_int_equal(prov_store_open(s.dir, &opts, &s.store), 0);
    for (uint32_t i = 0; i < MANY_FUNCTIONS; i++) {
        snprintf(func, sizeof func, "%1000u", i);
        while (!prov_store_put_func_stats(s.store,
                                          &(struct prov_func_stats){.fid = i, .func = func}))
            ;
    }
    put_some(&s, 1, 100);
    assert_int_equal(prov_store_flush(s.store), 0);
    prov_store_counts(s.store, &counts);
    assert_int_equal(counts.n_removed, 0);
    assert_answer(&s, "SELECT count(*) FROM anomalies", "80");
    assert_true(counts.bytes > opts.limit_bytes);
    end(&s);
}

static void statistics_are_of_a_run(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "");
    put_func_stats(&s, 1000);
    put_func_stats(&s, 1234); /* the run goes on: not in addition */
    run_again(&s);
    put_func_stats(&s, 66);
    assert_answer(&s, "SELECT sum(calls) FROM func_stats WHERE func = 'f'", "1300");
    assert_answer(&s, "SELECT group_concat(run || ':' || calls) FROM func_stats_of_runs",
                  "1:1234,2:66");
    assert_answer(&s, "SELECT count(*) FROM runs WHERE began > 1.6e15",
                  "2"); /* us since 1970 */
    end(&s);
}

static void equal_events_of_two_runs_are_told_apart(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "?shards=2");
    put_some(&s, 4, 100);
    run_again(&s);
    put_some(&s, 4, 100);
    assert_int_equal(prov_store_flush(s.store), 0);
    assert_answer(&s, "SELECT count(DISTINCT event_id) FROM anomalies", "80");
    assert_answer(&s, "SELECT count(*) FROM (SELECT DISTINCT run, event_id FROM anomalies)",
                  "160");
    assert_answer(
        &s, "SELECT count(*) FROM anomalies WHERE json_extract(record, '$.run') = run", "160");
    end(&s);
}

static void a_later_run_leaves_the_verdicts_of_an_earlier_one(void **state)
{
    struct prov_rejudged counts;
    struct scene s;
    int n = 0;

    (void)state;
    begin(&s, "?shards=2");
    put_some(&s, 4, 400);
    assert_int_equal(prov_store_flush(s.store), 0);
    run_again(&s);
    put_some(&s, 4, 40);
    assert_int_equal(prov_store_rejudge(s.store, judge, &n, &counts), 0);
    assert_int_equal(n, 40);
    assert_answer(&s, "SELECT count(*) FROM anomalies WHERE final_p IS NOT NULL", "24");
    end(&s);
}

static void what_is_no_store_is_refused(void **state)
{
    char path[FS_PATH_SIZE];
    struct prov_store *store;
    struct scene s;
    struct database db;
    FILE *out;

    (void)state;
    begin(&s, "?shards=2");
    assert_int_equal(prov_reader_open("nowhere", &db), ERR_NOT_FOUND);
    assert_int_equal(prov_store_open("postgresql://me:word@here", NULL, &store), ERR_USAGE);
    assert_int_equal(prov_store_open("no/such/parent", NULL, &store), ERR_IO);
    assert_int_equal(prov_store_close(s.store), 0);
    fs_join(path, s.dir, "shard-0001.db");
    unlink(path);
    assert_int_equal(prov_reader_open(s.url, &db), ERR_FORMAT);
    out = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is not SQLite\n", out);
    fclose(out);
    assert_int_equal(prov_reader_open(s.url, &db), ERR_FORMAT);
    assert_null(db.sql);
    assert_int_equal(prov_store_open(s.url, NULL, &store), ERR_FORMAT);
    s.store = NULL;
    end(&s);
}

static void a_damaged_record_is_null_and_the_others_are_not(void **state)
{
    struct prov_rejudged counts;
    char path[FS_PATH_SIZE];
    struct scene s;
    sqlite3 *db;
    int n = 0;

    (void)state;
    begin(&s, "");
    put_some(&s, 1, 20);
    assert_int_equal(prov_store_flush(s.store), 0);
    fs_join(path, s.dir, "shard-0000.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE record SET data = substr(data, 1, 100) WHERE id = 2",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_answer(&s, "SELECT count(*) FROM anomalies WHERE record IS NULL", "1");
    assert_int_equal(prov_store_rejudge(s.store, judge, &n, &counts), 0);
    assert_int_equal(counts.n_damaged, 1);
    assert_int_equal(n, 19);
    end(&s);
}

/* Reads until it has seen all; what it sees only grows and is whole. */
struct watcher {
    const char *url;
    pthread_t thread;
    uint64_t all;
    bool is_good;
};

static void *watch(void *arg)
{
    struct watcher *w = arg;
    sqlite3_stmt *query = NULL;
    int64_t n = 0, before = 0;
    struct database db;

    w->is_good = prov_reader_open(w->url, &db) == 0 &&
                 sqlite3_prepare_v2(db.sql,
                                    "SELECT count(*), count(json_extract(record, '$.func')) "
                                    "FROM anomalies",
                                    -1, &query, NULL) == SQLITE_OK;
    while (w->is_good && n < (int64_t)w->all) {
        w->is_good = sqlite3_step(query) == SQLITE_ROW;
        n = sqlite3_column_int64(query, 0);
        w->is_good = w->is_good && n >= before && sqlite3_column_int64(query, 1) == n;
        before = n;
        sqlite3_reset(query);
    }
    sqlite3_finalize(query);
    database_close(&db);
    return NULL;
}

static void two_readers_look_on_while_it_is_written(void **state)
{
    struct watcher watcher[2];
    struct scene s;

    (void)state;
    begin(&s, "?shards=2");
    for (int i = 0; i < 2; i++) {
        watcher[i] = (struct watcher){.url = s.url, .all = 4 * 80};
        pthread_create(&watcher[i].thread, NULL, watch, &watcher[i]);
    }
    for (int i = 0; i < 4; i++) {
        put_some(&s, 4, 100);
        assert_int_equal(prov_store_flush(s.store), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(watcher[i].thread, NULL);
        assert_true(watcher[i].is_good);
    }
    end(&s);
}

static void *put_and_flush(void *arg)
{
    struct scene mine = {.store = arg};
    bool is_good = true;

    for (int i = 0; i < 4; i++) {
        put_some(&mine, 6, 100);
        is_good = is_good && prov_store_flush(mine.store) == 0;
    }
    arena_release(&mine.arena);
    return is_good ? arg : NULL;
}

static void several_threads_put(void **state)
{
    pthread_t thread[3];
    struct scene s;

    (void)state;
    begin(&s, "?shards=2");
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, put_and_flush, s.store);
    for (int i = 0; i < 3; i++) {
        void *good;

        pthread_join(thread[i], &good);
        assert_non_null(good);
    }
    assert_answer(&s, "SELECT count(*) FROM anomalies", "960");
    end(&s);
}

#define N_PROCESSES 6

/* Each says which rank it writes, and makes the store unless it is there. */
static void several_processes_make_and_fill_a_store(void **state)
{
    pid_t child[N_PROCESSES];
    char dir[] = "prov-store-XXXXXX";

    (void)state;
    assert_non_null(test_dir(dir));
    fflush(NULL);
    for (int i = 0; i < N_PROCESSES; i++) {
        const uint32_t rank = (uint32_t)i;
        const struct prov_store_opts opts = {.rank = &rank};
        struct scene mine = {.store = NULL};

        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] > 0)
            continue;
        if (prov_store_open(dir, &opts, &mine.store) < 0)
            _exit(1);
        put_some(&mine, 2, 50);
        _exit(prov_store_close(mine.store) < 0);
    }
    for (int i = 0; i < N_PROCESSES; i++) {
        int status;

        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    sample_answer_is(dir, "SELECT count(record) FROM anomalies", "240");
    assert_int_equal(fs_remove_tree(dir), 0);
}

int main(void)
{
    const struct CMUnitTest of_threads[] = {
        cmocka_unit_test(rejudging_marks_and_deletes_nothing),
        cmocka_unit_test(two_readers_look_on_while_it_is_written),
        cmocka_unit_test(several_threads_put),
    };
    const struct CMUnitTest of_one[] = {
        cmocka_unit_test(records_are_in_the_shard_of_their_rank_in_order),
        cmocka_unit_test(columns_and_json_agree),
        cmocka_unit_test(more_shards_than_sqlite_attaches),
        cmocka_unit_test(the_other_collections),
        cmocka_unit_test(conditions_use_the_indexes),
        cmocka_unit_test(a_store_can_be_opened_again_with_as_many_shards),
        cmocka_unit_test(a_store_has_a_limit),
        cmocka_unit_test(a_limit_is_of_records),
        cmocka_unit_test(statistics_are_of_a_run),
        cmocka_unit_test(equal_events_of_two_runs_are_told_apart),
        cmocka_unit_test(a_later_run_leaves_the_verdicts_of_an_earlier_one),
        cmocka_unit_test(what_is_no_store_is_refused),
        cmocka_unit_test(a_damaged_record_is_null_and_the_others_are_not),
        cmocka_unit_test(several_processes_make_and_fill_a_store),
    };

    return cmocka_run_group_tests(of_threads, NULL, NULL) +
           (test_is_for_races() ? 0 : cmocka_run_group_tests(of_one, NULL, NULL));
}

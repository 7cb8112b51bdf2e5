/*
 * Stores in a PostgreSQL that tests/postgres/server.sh has started for this program: the same
 * answers as of SQLite; writers while it is killed and started again; what is damaged, refused,
 * full or of another version.
 *
 * How often it is killed is the environment variable SNAG_POSTGRES_KILLS, or 3.
 */
#include "prov/prov_store.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "prov/prov_pg_rows.h"
#include "prov/prov_reader.h"
#include "prov/prov_spool.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_answer.h"
#include "sample_pg.h"
#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

#define WRITERS 8
#define MAX_RSS_KIB (300 * 1024)

static void nap(void)
{
    usleep(2000);
}

/* A database and a spool of its own for each test. */
struct scene {
    char name[32], url[64], dir[32], spool[64];
    struct prov_store_opts opts;
    struct arena arena;
};

static void begin(struct scene *s, const char *name)
{
    *s = (struct scene){.opts = {.spool = s->spool}};
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->url, sizeof s->url, "postgresql:///%s", name);
    strcpy(s->dir, "prov-pg-XXXXXX");
    assert_non_null(test_dir(s->dir));
    snprintf(s->spool, sizeof s->spool, "%s/spool", s->dir);
    sample_pg_database(name);
}

static void end(struct scene *s)
{
    arena_release(&s->arena);
    assert_int_equal(fs_remove_tree(s->dir), 0);
}

static void put_records(struct scene *s, struct prov_store *store, uint32_t rank, uint64_t from,
                        uint64_t n)
{
    for (uint64_t i = from; i < from + n; i++) {
        struct arena_mark mark = arena_mark(&s->arena);
        struct prov_record record;

        sample_record(rank, i, &s->arena, &record);
        assert_true(prov_store_put(store, i % 5 ? PROV_ANOMALY : PROV_NORMAL, &record));
        arena_restore(&s->arena, mark);
    }
}

/* ---------------------------------------------------------------------------- same answers */

/* All of a store has. */
static void put_everything(struct scene *s, struct prov_store *store)
{
    const struct prov_stats stats = {3, 6.5, 1, 4, 2.1666666666666665, 1.5, INFINITY, -1};

    for (uint32_t rank = 0; rank < 4; rank++)
        put_records(s, store, rank, 0, 300);
    for (uint64_t i = 0; i < 150; i += 7) {
        struct arena_mark mark = arena_mark(&s->arena);
        struct prov_record record;

        sample_record(1, i, &s->arena, &record);
        for (uint64_t twice = 0; twice < 2; twice++)
            prov_store_put_cost(store, &(struct prov_cost){.event = record.event,
                                                           .program = record.program,
                                                           .cost_ns = 1000 * i + twice,
                                                           .is_bound = i % 2});
        arena_restore(&s->arena, mark);
    }
    prov_store_put_metadata(store, &(struct prov_metadata){0, 1, 2, "host", "n\xff\xc3\xa9"});
    for (uint32_t fid = 0; fid < 30; fid++)
        prov_store_put_func_stats(store, &(struct prov_func_stats){.fid = fid % 20,
                                                                   .func = "work(int)",
                                                                   .n_calls = 1000 + fid,
                                                                   .n_anomalies = fid,
                                                                   .exclusive = stats,
                                                                   .inclusive = stats});
    prov_store_put_counter_stats(store, &(struct prov_counter_stats){0, "PAPI", stats});
    prov_store_put_model(store, &(struct prov_model){.version = 3,
                                                     .fid = 1,
                                                     .func = "f",
                                                     .algorithm = "hbos",
                                                     .stats = stats,
                                                     .data = "bytes\0of it",
                                                     .bytes = 11});
}

static void judge(void *ctx, enum prov_kind kind, const struct prov_record *record,
                  struct prov_final *final)
{
    (void)ctx, (void)kind;
    *final = (struct prov_final){.is_judged = record->event.index % 2 == 0,
                                 .is_pruned = record->event.index % 6 == 0,
                                 .score = (double)record->event.index / 3,
                                 .p = NAN};
}

/* Conditions and orders that are handed on, and some that are not. */
static const char *const questions[] = {
    "SELECT * FROM anomalies ORDER BY __id",
    "SELECT * FROM normalexecs ORDER BY __id",
    "SELECT event_id FROM anomalies ORDER BY outlier_severity DESC, __id, shard LIMIT 7",
    "SELECT event_id, cost_ns FROM anomalies ORDER BY cost_ns IS NULL, cost_is_bound, "
    "cost_ns "
    "DESC, outlier_severity DESC, event_id LIMIT 30",
    "SELECT event_id FROM anomalies ORDER BY cost_ns, __id LIMIT 300 OFFSET 100",
    "SELECT event_id FROM anomalies ORDER BY func DESC, entry, rid LIMIT 20",
    "SELECT func, count(*), sum(outlier_severity) FROM anomalies GROUP BY func ORDER BY 1",
    "SELECT count(*) FROM anomalies WHERE rid = 2 AND NOT is_pruned",
    "SELECT count(*) FROM anomalies WHERE rid = 2.5",
    "SELECT count(*) FROM anomalies WHERE rid = '2'",
    "SELECT count(*) FROM anomalies WHERE rid < 1.5",
    "SELECT count(*) FROM anomalies WHERE rid IS NULL",
    "SELECT count(*) FROM anomalies WHERE cost_ns > NULL",
    "SELECT count(*) FROM anomalies WHERE func = 'none' OR tid >= 1",
    "SELECT event_id FROM anomalies WHERE entry >= 200000 AND entry < 400000 ORDER BY "
    "entry "
    "DESC, __id",
    "SELECT event_id FROM anomalies WHERE event_id = '1:0:1007'",
    "SELECT count(*) FROM anomalies WHERE func = (SELECT func FROM normalexecs ORDER BY "
    "__id "
    "LIMIT 1)",
    "SELECT a.event_id FROM anomalies a JOIN runs USING (run) WHERE a.io_step = 1 ORDER BY "
    "a.event_id",
    "SELECT json_extract(record, '$.call_stack[0].func') FROM anomalies WHERE __id % 50 = "
    "0 "
    "ORDER BY __id",
    "SELECT count(*) FROM anomalies WHERE run_id = 'job-7'",
    "SELECT event_id, stored_ns FROM anomalies ORDER BY stored_ns DESC, __id LIMIT 9",
    "SELECT run, pid, rid, tid, descr, stored_ns FROM metadata",
    "SELECT * FROM func_stats ORDER BY fid",
    "SELECT * FROM counter_stats",
    "SELECT * FROM ad_model",
    "SELECT run, pid, rid, run_id, backed_up, dropped, shard FROM runs",
    "SELECT began > 1.7e15, ended >= began FROM runs",
};

/* Times of storing that both have; before, each its own. */
static void set_stored(const struct scene *s, const char *sqlite)
{
    static const char sql[] = "UPDATE record SET stored_ns = 1700000000123456789 + enter_ns; "
                              "UPDATE metadata_row SET stored_ns = 1700000000123456789";
    char path[128], text[256];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/shard-0000.db", sqlite);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    snprintf(text, sizeof text, "SET search_path TO snag; %s", sql);
    sample_pg_tell(s->name, text);
}

static void it_answers_as_sqlite_does(void **state)
{
    struct scene s;
    struct prov_store *one, *other;
    struct prov_rejudged was, is;
    struct prov_counts counts;
    char sqlite[64];
    int64_t before_ns = (int64_t)text_now_ns();

    (void)state;
    begin(&s, "same");
    s.opts.run_id = "job-7";
    snprintf(sqlite, sizeof sqlite, "%s/store", s.dir);
    assert_int_equal(prov_store_open(sqlite, &s.opts, &one), 0);
    assert_int_equal(prov_store_open(s.url, &s.opts, &other), 0);
    put_everything(&s, one);
    put_everything(&s, other);
    assert_int_equal(prov_store_rejudge(one, judge, NULL, &was), 0);
    assert_int_equal(prov_store_rejudge(other, judge, NULL, &is), 0);
    assert_memory_equal(&was, &is, sizeof was);
    prov_store_counts(other, &counts);
    assert_int_equal(counts.n_stored, 4 * 300 + 1 + 1);
    assert_int_equal(counts.n_waiting, 0);
    assert_int_equal(counts.n_normals, 4 * 60);
    assert_int_equal(prov_store_close(one), 0);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(ended_ns) FROM snag.run"), 0);
    assert_int_equal(prov_store_close(other), 0);
    assert_int_equal(fs_exists(s.spool), 0);
    assert_true(sample_pg_ask(
                    s.name, "SELECT least(min(r.stored_ns), min(began_ns), min(m.stored_ns)) "
                            "FROM snag.record r, snag.metadata_row m, snag.run") >= before_ns);
    assert_true(
        sample_pg_ask(s.name,
                      "SELECT min(ended_ns) - max(stored_ns) FROM snag.record, snag.run") > 0);
    set_stored(&s, sqlite);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        char *expected = sample_answer(sqlite, questions[i]),
             *text = sample_answer(s.url, questions[i]);

        if (strcmp(expected, text) != 0)
            fail_msg("%s:\n%.2000s---\n%.2000s", questions[i], expected, text);
        free(expected);
        free(text);
    }
    end(&s);
}

/* Kills the database once, in the middle. */
static void judge_and_kill(void *ctx, enum prov_kind kind, const struct prov_record *record,
                           struct prov_final *final)
{
    if (++*(int *)ctx == 1500) {
        sample_pg_server("kill");
        sample_pg_server("start");
    }
    judge(NULL, kind, record, final);
}

static void final_verdicts_are_found_anew_when_a_connection_breaks(void **state)
{
    struct prov_rejudged counts;
    struct prov_store *store;
    struct scene s;
    int n = 0;

    (void)state;
    begin(&s, "again");
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    put_records(&s, store, 0, 0, 3000);
    assert_int_equal(prov_store_rejudge(store, judge_and_kill, &n, &counts), 0);
    assert_true(n > 3000 && n < 6000);
    assert_true(counts.n_records == 3000 && counts.n_judged == 1500);
    assert_int_equal(prov_store_close(store), 0);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE is_pruned = "
                                           "(idx % 6 = 0)::int AND final_score IS NOT NULL"),
                     1500);
    assert_int_equal(
        sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE is_pruned IS NULL"),
        1500);
    end(&s);
}

static void one_run_of_many_can_be_asked_for(void **state)
{
    struct scene s;
    struct prov_store *store;
    char url[100], *text;

    (void)state;
    begin(&s, "several");
    for (uint32_t run = 1; run <= 3; run++) {
        assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
        put_records(&s, store, run, 0, 10 * run);
        assert_int_equal(prov_store_close(store), 0);
    }
    snprintf(url, sizeof url, "%s#2", s.url);
    text = sample_answer(
        url, "SELECT count(*), min(rid), (SELECT count(*) FROM runs) FROM anomalies");
    assert_string_equal(text, "1 16|1 2|1 1|\n");
    free(text);
    snprintf(url, sizeof url, "%s#2-3", s.url);
    text = sample_answer(url, "SELECT count(*), (SELECT count(*) FROM runs) FROM anomalies");
    assert_string_equal(text, "1 40|1 2|\n");
    free(text);
    end(&s);
}

/* --------------------------------------------------------------------------------- trouble */

#define LIMITED 12000u /* records, */
#define WITH_COST 500u /* of which the first have a cost: they all fit */

static int64_t used_by(const struct scene *s, int64_t run)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "SELECT coalesce(sum(" PROV_PG_RECORD_BYTES "), 0) FROM snag.record WHERE run = "
             "%" PRId64,
             run);
    return sample_pg_ask(s->name, sql);
}

/* What a run that lasts for weeks has in the database: its worst, and no more than was said. */
static void a_run_has_a_limit_where_one_is_said(void **state)
{
    struct scene s;
    struct prov_store *store, *other;
    struct prov_counts counts;
    struct prov_record record;
    int64_t n_costs;

    (void)state;
    begin(&s, "bounded");
    assert_int_equal(prov_store_open(s.url, &s.opts, &other), 0);
    put_records(&s, other, 1, 0, 3000);
    assert_int_equal(prov_store_close(other), 0);
    s.opts.limit_bytes = 2u << 20;
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    for (uint64_t i = 0; i < LIMITED; i++) {
        struct arena_mark mark = arena_mark(&s.arena);

        sample_record(0, i, &s.arena, &record);
        record.severity_ns = i * 7919 % LIMITED; /* each once */
        assert_true(prov_store_put(store, i % 4 ? PROV_ANOMALY : PROV_NORMAL, &record));
        if (i < WITH_COST)
            prov_store_put_cost(store, &(struct prov_cost){.event = record.event,
                                                           .program = record.program,
                                                           .is_execution = record.is_execution,
                                                           .cost_ns = 1});
        if (i % WITH_COST == WITH_COST - 1)
            assert_int_equal(prov_store_flush(store), 0);
        arena_restore(&s.arena, mark);
    }
    assert_int_equal(prov_store_flush(store), 0);
    prov_store_counts(store, &counts);
    assert_int_equal(prov_store_close(store), 0);
    assert_true(counts.n_removed > 0 && counts.n_dropped == 0 && !counts.is_failing);
    assert_true(used_by(&s, 2) <= (int64_t)s.opts.limit_bytes);
    assert_true(used_by(&s, 2) > (int64_t)s.opts.limit_bytes / 2);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE run = 2"),
                     LIMITED - counts.n_removed);
    /* of the anomalies the worst of all, and no cost of what is gone */
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE run = 2 AND "
                                           "is_normal = 0 AND severity_ns >= 11900"),
                     75);
    n_costs = sample_pg_ask(s.name, "SELECT count(*) FROM snag.cost_row");
    assert_true(n_costs > 0 && n_costs < WITH_COST);
    assert_int_equal(sample_pg_ask(s.name,
                                   "SELECT count(*) FROM snag.cost_row JOIN snag.record "
                                   "USING (run, program, rank, step, idx)"),
                     n_costs);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE run = 1"),
                     3000);
    end(&s);
}

static void a_row_that_is_never_taken_is_lost_alone(void **state)
{
    struct scene s;
    struct prov_store *store;
    struct prov_counts counts;

    (void)state;
    begin(&s, "odd");
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    sample_pg_tell(s.name, "ALTER TABLE snag.record ADD CHECK (idx <> 1077)");
    put_records(&s, store, 0, 0, 300);
    assert_int_equal(prov_store_flush(store), ERR_IO);
    prov_store_counts(store, &counts);
    assert_int_equal(counts.n_stored, 299);
    assert_int_equal(counts.n_dropped, 1);
    assert_int_equal(counts.n_waiting, 0);
    assert_false(counts.is_failing);
    prov_store_close(store);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record"), 299);
    end(&s);
}

static void what_does_not_fit_into_the_spool_is_counted(void **state)
{
    struct scene s;
    struct prov_store *store;
    struct prov_counts counts;
    struct arena_mark mark;
    struct prov_record record;
    uint64_t n = 0;

    (void)state;
    begin(&s, "narrow");
    s.opts.spool_bytes = 100000;
    s.opts.wait_ms = 1;
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    sample_pg_server("kill");
    do {
        mark = arena_mark(&s.arena);
        sample_record(0, n++, &s.arena, &record);
        prov_store_put(store, PROV_ANOMALY, &record);
        arena_restore(&s.arena, mark);
        prov_store_counts(store, &counts);
        if (!counts.is_failing)
            nap();
    } while (!counts.is_failing || counts.n_dropped < 20);
    assert_true(counts.n_waiting > 20);
    sample_pg_server("start");
    while (prov_store_counts(store, &counts), counts.n_waiting > 0)
        nap();
    assert_int_equal(counts.n_stored + counts.n_dropped, n);
    assert_int_equal(prov_store_close(store), ERR_IO); /* some were dropped */
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record"),
                     counts.n_stored);
    end(&s);
}

/* Of the spools, while there is one. */
static struct prov_spool_opts spools_of(const struct scene *s, char id[64])
{
    char command[200];
    FILE *list;

    snprintf(command, sizeof command, "ls '%s'", s->spool);
    list = popen(command, "r");
    assert_int_equal(fscanf(list, "%32s", id), 1);
    pclose(list);
    return (struct prov_spool_opts){
        .dir = s->spool, .store = id, .version = PROV_PG_ROWS_VERSION, .most_bytes = 1 << 30};
}

/* What lies in a spool that nobody has, in rows. */
static uint64_t rows_left(const struct scene *s, int64_t run)
{
    char id[64];
    struct prov_spool_opts opts = spools_of(s, id);
    struct prov_frame frame = {0};
    struct prov_spool *spool = NULL;
    uint64_t n = 0;

    run--;
    assert_int_equal(prov_spool_left(&opts, 0, &run, &spool), 1);
    while (prov_spool_read(spool, &frame) == 1)
        n += frame.n;
    prov_spool_close(spool);
    pack_release(&frame.payload);
    return n;
}

/* Puts until it is killed; says when the database is not there. */
/* Keeps how many rows are said to wait. */
static void take_waiting(void *ctx, enum log_level level, const char *text)
{
    uint64_t n;

    (void)level;
    if (strstr(text, "wait in '") && sscanf(text, "%" SCNu64 " rows", &n) == 1)
        *(uint64_t *)ctx = n;
}

/* At the end it is said how many rows the spool has: those that did not fit are not in it. */
static void as_many_rows_are_said_to_wait_as_are_in_the_spool(void **state)
{
    struct scene s;
    struct prov_store *store;
    struct prov_counts counts = {0};
    struct prov_record record;
    uint64_t n_waiting = 0;

    (void)state;
    begin(&s, "waiting");
    s.opts.spool_bytes = 100000;
    s.opts.wait_ms = 1;
    log_set_level(LOG_WARN);
    log_to(take_waiting, &n_waiting);
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    sample_pg_server("kill");
    for (uint64_t i = 0; counts.n_dropped < 20; i++) {
        struct arena_mark mark = arena_mark(&s.arena);

        sample_record(0, i, &s.arena, &record);
        prov_store_put(store, PROV_ANOMALY, &record);
        arena_restore(&s.arena, mark);
        prov_store_counts(store, &counts);
        if (!counts.is_failing)
            nap();
    }
    assert_int_equal(prov_store_close(store), ERR_IO);
    log_to(NULL, NULL);
    log_set_level(LOG_NONE);
    assert_true(n_waiting > 0);
    assert_int_equal(n_waiting, rows_left(&s, 1));
    sample_pg_server("start");
    end(&s);
}

static void write_until_killed(struct scene *s, atomic_int *has_begun)
{
    struct prov_store *store;
    struct prov_counts counts;

    if (prov_store_open(s->url, &s->opts, &store) < 0)
        _exit(1);
    atomic_store(has_begun, 1);
    for (uint64_t i = 0;; i += 10) {
        put_records(s, store, 0, i, 10);
        prov_store_counts(store, &counts);
        atomic_store(has_begun, counts.is_failing && i > 2000 ? 2 : 1);
        nap();
    }
}

static void what_waits_when_the_instance_is_killed_is_sent_by_the_next(void **state)
{
    atomic_int *has_begun =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct scene s;
    struct prov_store *store;
    uint64_t n_left;
    int64_t n_before;
    pid_t child;

    (void)state;
    begin(&s, "orphans");
    fflush(NULL);
    child = fork();
    if (child == 0)
        write_until_killed(&s, has_begun);
    while (atomic_load(has_begun) < 1)
        nap();
    while (sample_pg_ask(s.name, "SELECT count(*) FROM snag.record") < 100)
        nap();
    sample_pg_server("kill");
    while (atomic_load(has_begun) < 2)
        nap();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    n_left = rows_left(&s, 1);
    assert_true(n_left > 1000);
    sample_pg_server("start");
    n_before = sample_pg_ask(s.name, "SELECT count(*) FROM snag.record");
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    put_records(&s, store, 3, 0, 5);
    assert_int_equal(prov_store_close(store), 0);
    /* its first rows may be some that were stored already */
    assert_int_equal(
        sample_pg_ask(s.name, "SELECT count(*) - max(id) FROM snag.record WHERE run = 1"), 0);
    assert_int_equal(
        sample_pg_ask(s.name, "SELECT max(r.id) - stored FROM snag.record r JOIN snag.run ON "
                              "run.id = r.run WHERE r.run = 1 GROUP BY stored"),
        0);
    assert_true(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE run = 1") >=
                (int64_t)n_left);
    assert_true(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE run = 1") >
                n_before);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record WHERE run <> 1"),
                     5);
    assert_int_equal(
        sample_pg_ask(s.name, "SELECT count(*) FROM snag.run WHERE ended_ns IS NULL"), 1);
    assert_int_equal(sample_pg_ask(s.name, "SELECT id FROM snag.run WHERE ended_ns IS NULL"),
                     1);
    assert_int_equal(fs_exists(s.spool), 0);
    print_message("%" PRIu64 " rows waited, of a process that was killed\n", n_left);
    munmap(has_begun, 4096);
    end(&s);
}

/* As after a restore from a dump that is older than the run. */
static void a_spool_whose_run_is_gone_holds_up_nobody(void **state)
{
    static const unsigned char row[] = {PROV_TABLE_RECORD, 0, 0, 1, 0, 0, 0, 'x'};
    struct pack payload = {0};
    struct prov_spool_opts opts;
    struct prov_spool *spool;
    struct prov_store *store;
    struct scene s;
    char id[64];

    (void)state;
    begin(&s, "restored");
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    opts = spools_of(&s, id);
    assert_int_equal(prov_spool_open(&opts, 57, &spool), 0);
    pack_bytes(&payload, row, sizeof row);
    assert_int_equal(prov_spool_append(spool, 1, 1, &payload), 0);
    prov_spool_close(spool);
    pack_release(&payload);
    assert_int_equal(prov_store_close(store), 0);
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    put_records(&s, store, 3, 0, 5);
    assert_int_equal(prov_store_close(store), 0);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record"), 5);
    assert_int_equal(rows_left(&s, 57), 1);
    end(&s);
}

/* ------------------------------------------------------------------- writers and the killer */

struct writer_page {
    atomic_uint_fast64_t n_put, n_stored, n_waiting;
    atomic_bool is_failing;
};

struct war {
    atomic_bool is_over;
    struct writer_page writer[WRITERS];
    pid_t child[WRITERS];
};

/* Puts some again and again, at a pace that the server keeps up with while it is there. */
static int write_in_war(struct scene *s, struct war *war, uint32_t rank)
{
    struct writer_page *page = &war->writer[rank];
    struct prov_store *store;
    struct prov_counts counts;

    s->opts.rank = &rank;
    if (prov_store_open(s->url, &s->opts, &store) < 0) {
        fprintf(stderr, "%s\n", err_message());
        return 1;
    }
    for (uint64_t i = 0; !atomic_load(&war->is_over); i += 20) {
        put_records(s, store, rank, i, 20);
        prov_store_counts(store, &counts);
        atomic_store(&page->n_put, i + 20);
        atomic_store(&page->n_stored, counts.n_stored);
        atomic_store(&page->n_waiting, counts.n_waiting);
        atomic_store(&page->is_failing, counts.is_failing);
        if (counts.n_dropped > 0 || counts.n_stored + counts.n_waiting < i + 20) {
            fprintf(stderr,
                    "%" PRIu64 " put, %" PRIu64 " stored, %" PRIu64 " waiting, %" PRIu64
                    " dropped: %s\n",
                    i + 20, counts.n_stored, counts.n_waiting, counts.n_dropped,
                    counts.why ? counts.why : "");
            return 2;
        }
        usleep(counts.n_waiting > 100 ? 20000 : 10000);
    }
    while (prov_store_flush(store) < 0) /* it is there again, but not everybody knows */
        nap();
    prov_store_counts(store, &counts);
    if (counts.n_stored != atomic_load(&page->n_put) || counts.n_waiting || counts.is_failing)
        return 3;
    atomic_store(&page->n_stored, counts.n_stored);
    return prov_store_close(store) < 0 ? 4 : 0;
}

static uint64_t sum(struct war *war, bool of_stored)
{
    uint64_t n = 0;

    for (int i = 0; i < WRITERS; i++)
        n += atomic_load(of_stored ? &war->writer[i].n_stored : &war->writer[i].n_put);
    return n;
}

static void check_alive(const struct war *war)
{
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;

        if (waitpid(war->child[i], &status, WNOHANG) != 0)
            fail_msg("writer %d has ended: %x", i, (unsigned)status);
    }
}

/* Everybody has got further, or knows that it is gone. */
static void wait_for_all(struct war *war, bool is_up)
{
    uint64_t before[WRITERS];

    for (int i = 0; i < WRITERS; i++)
        before[i] = atomic_load(is_up ? &war->writer[i].n_stored : &war->writer[i].n_put);
    for (int i = 0; i < WRITERS; i++) {
        struct writer_page *w = &war->writer[i];

        while (is_up
                   ? atomic_load(&w->is_failing) || atomic_load(&w->n_stored) <= before[i]
                   : !atomic_load(&w->is_failing) || atomic_load(&w->n_put) < before[i] + 500) {
            check_alive(war);
            nap();
        }
    }
}

static uint64_t bytes_of(const char *dir)
{
    char command[200];
    unsigned long long kib = 0;
    FILE *out;

    snprintf(command, sizeof command, "du -sk '%s' 2>/dev/null", dir);
    out = popen(command, "r");
    if (fscanf(out, "%llu", &kib) != 1)
        kib = 0;
    pclose(out);
    return 1024 * kib;
}

static void end_war(struct war *war, uint64_t most_spool)
{
    long most_rss = 0;

    atomic_store(&war->is_over, true);
    for (int i = 0; i < WRITERS; i++) {
        struct rusage usage;
        int status;

        assert_int_equal(wait4(war->child[i], &status, 0, &usage), war->child[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        most_rss = usage.ru_maxrss > most_rss ? usage.ru_maxrss : most_rss;
    }
    print_message("%" PRIu64 " records, spools of %" PRIu64
                  " KiB at most, a process of %ld KiB\n",
                  sum(war, false), most_spool >> 10, most_rss);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(most_rss < MAX_RSS_KIB);
#endif
}

static void each_record_of_eight_writers_is_there_once_however_often_it_is_killed(void **state)
{
    const char *times = getenv("SNAG_POSTGRES_KILLS");
    int n_kills = times ? atoi(times) : 3;
    struct war *war =
        mmap(NULL, sizeof *war, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct scene s;
    uint64_t most_spool = 0;

    (void)state;
    begin(&s, "war");
    s.opts.spool_bytes = 256 << 20;
    fflush(NULL);
    for (uint32_t i = 0; i < WRITERS; i++) {
        pid_t child = fork();

        if (child == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
            _exit(write_in_war(&s, war, i));
        war->child[i] = child;
    }
    for (int k = 0; k < n_kills; k++) {
        uint64_t spool;

        wait_for_all(war, true);
        print_message("%d: %" PRIu64 " stored\n", k, sum(war, true));
        sample_pg_server(k % 2 ? "stop" : "kill");
        wait_for_all(war, false);
        spool = bytes_of(s.spool);
        most_spool = spool > most_spool ? spool : most_spool;
        sample_pg_server("start");
    }
    wait_for_all(war, true);
    end_war(war, most_spool);
    assert_true(most_spool <= WRITERS * (s.opts.spool_bytes + 8192));
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.record"),
                     sum(war, false));
    assert_int_equal(sum(war, true), sum(war, false));
    assert_int_equal(
        sample_pg_ask(s.name,
                      "SELECT count(*) FROM (SELECT DISTINCT rank, step, idx, is_normal "
                      "FROM snag.record) x"),
        sum(war, false));
    assert_int_equal(
        sample_pg_ask(s.name, "SELECT count(*) FROM snag.run WHERE stored <> (SELECT count(*) "
                              "FROM snag.record WHERE run = run.id) OR ended_ns IS NULL"),
        0);
    assert_int_equal(fs_exists(s.spool), 0);
    munmap(war, sizeof *war);
    end(&s);
}

/* -------------------------------------------------------------------------------- versions */

static void an_older_schema_is_brought_up_to_date_and_a_newer_one_refused(void **state)
{
    struct pg_schema old = prov_pg_schema;
    struct scene s;
    struct prov_store *store;
    struct database reader;
    PGconn *connection;
    char *text;

    (void)state;
    begin(&s, "versions");
    old.n_versions = 1;
    connection = sample_pg_connect(s.name);
    assert_int_equal(pg_schema_update(connection, &old), 0);
    PQfinish(connection);
    sample_pg_tell(
        s.name, "INSERT INTO snag.run (program, began_ns, run_id) VALUES (5, 1, ''); "
                "INSERT INTO snag.metadata_row VALUES (1, 1, 5, 0, 0, 'from', 'version 1', 2)");
    assert_int_equal(prov_reader_open(s.url, &reader), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "brings it there"));
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    assert_int_equal(prov_store_close(store), 0);
    text = sample_answer(s.url, "SELECT value FROM metadata");
    assert_string_equal(text, "3 version 1|\n");
    free(text);
    assert_int_equal(sample_pg_ask(s.name, "SELECT count(*) FROM snag.schema_version"), 3);
    sample_pg_tell(s.name, "INSERT INTO snag.schema_version VALUES (4)");
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "use a snag that is as new"));
    assert_int_equal(prov_reader_open(s.url, &reader), ERR_FORMAT);
    end(&s);
}

static void who_is_not_let_in_is_told_in_one_line(void **state)
{
    struct prov_store *store;
    struct database reader;

    (void)state;
    assert_int_equal(prov_store_open("postgresql://nobody_here@/postgres", NULL, &store),
                     ERR_DATABASE);
    assert_non_null(strstr(err_message(), "nobody_here"));
    assert_null(strchr(err_message(), '\n'));
    assert_int_equal(prov_reader_open("postgresql:///no_such_database", &reader), ERR_DATABASE);
    assert_int_equal(prov_reader_open("postgresql:///template1", &reader), ERR_NOT_FOUND);
}

static void a_run_id_is_quoted(void **state)
{
    struct scene s;
    struct prov_store *store;
    char *text;

    (void)state;
    begin(&s, "quotes");
    s.opts.run_id = "it's; DROP \\";
    assert_int_equal(prov_store_open(s.url, &s.opts, &store), 0);
    assert_int_equal(prov_store_close(store), 0);
    text = sample_answer(s.url, "SELECT run_id FROM runs");
    assert_string_equal(text, "3 it's; DROP \\|\n");
    free(text);
    end(&s);
}

/* Somebody listens, and never says a word. */
static void a_server_that_says_nothing_is_given_up(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct database reader;
    char url[64];

    (void)state;
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
    snprintf(url, sizeof url, "postgresql://snag@127.0.0.1:%u/traces", ntohs(at.sin_port));
    assert_int_equal(prov_reader_open(url, &reader), ERR_DATABASE);
    assert_non_null(strstr(err_message(), "cannot reach the database"));
    assert_null(strchr(err_message(), '\n'));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_answers_as_sqlite_does),
        cmocka_unit_test(final_verdicts_are_found_anew_when_a_connection_breaks),
        cmocka_unit_test(one_run_of_many_can_be_asked_for),
        cmocka_unit_test(a_run_has_a_limit_where_one_is_said),
        cmocka_unit_test(a_row_that_is_never_taken_is_lost_alone),
        cmocka_unit_test(what_does_not_fit_into_the_spool_is_counted),
        cmocka_unit_test(as_many_rows_are_said_to_wait_as_are_in_the_spool),
        cmocka_unit_test(what_waits_when_the_instance_is_killed_is_sent_by_the_next),
        cmocka_unit_test(a_spool_whose_run_is_gone_holds_up_nobody),
        cmocka_unit_test(each_record_of_eight_writers_is_there_once_however_often_it_is_killed),
        cmocka_unit_test(an_older_schema_is_brought_up_to_date_and_a_newer_one_refused),
        cmocka_unit_test(who_is_not_let_in_is_told_in_one_line),
        cmocka_unit_test(a_run_id_is_quoted),
        cmocka_unit_test(a_server_that_says_nothing_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

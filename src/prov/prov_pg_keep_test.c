/*
 * Backups of stores in a PostgreSQL that tests/postgres/server.sh has started for this program,
 * and drops: nothing goes that is in no backup, whoever writes meanwhile.
 */
#include "prov/prov_keep.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/text.h"
#include "prov/prov_pg_rows.h"
#include "prov/prov_store.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_answer.h"
#include "sample_pg.h"
#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

#define N_RECORDS 300 /* of a run */
#define DAY_NS (UINT64_C(86400) * 1000000000)

static char dir[64], url[64], spool[96], name[32];

static void begin(const char *database)
{
    snprintf(name, sizeof name, "%s", database);
    snprintf(url, sizeof url, "postgresql:///%s", database);
    strcpy(dir, "prov-pg-keep-XXXXXX");
    assert_non_null(test_dir(dir));
    snprintf(spool, sizeof spool, "%s/spool", dir);
    sample_pg_database(database);
}

static void end(void)
{
    assert_int_equal(fs_remove_tree(dir), 0);
}

static const char *beside(const char *what)
{
    static char path[2][128];
    static int which;

    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", dir, what);
    return path[which];
}

/* ---------------------------------------------------------------------------------- writing */

static struct prov_store *open_store(void)
{
    struct prov_store_opts opts = {.spool = spool, .run_id = "job"};
    struct prov_store *store;

    if (prov_store_open(url, &opts, &store) < 0)
        fail_msg("%s", err_message());
    return store;
}

static void put_records(struct prov_store *store, uint64_t n)
{
    struct arena arena = {0};

    for (uint64_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(&arena);
        struct prov_record record;

        sample_record((uint32_t)(i % 4), i, &arena, &record);
        assert_true(prov_store_put(store, i % 5 ? PROV_ANOMALY : PROV_NORMAL, &record));
        if (i % 7 == 0)
            prov_store_put_cost(store, &(struct prov_cost){.event = record.event,
                                                           .program = record.program,
                                                           .cost_ns = 1000 * i,
                                                           .is_bound = i % 2});
        arena_restore(&arena, mark);
    }
    assert_int_equal(prov_store_flush(store), 0);
    arena_release(&arena);
}

static void put_the_rest(struct prov_store *store)
{
    const struct prov_stats stats = {3, 6.5, 1, 4, 2.1666666666666665, 1.5, INFINITY, -1};

    prov_store_put_metadata(store, &(struct prov_metadata){0, 1, 2, "host", "n\xff\xc3\xa9"});
    for (uint32_t fid = 0; fid < 20; fid++)
        prov_store_put_func_stats(store, &(struct prov_func_stats){.fid = fid,
                                                                   .func = "work(int)",
                                                                   .n_calls = 1000 + fid,
                                                                   .exclusive = stats,
                                                                   .inclusive = stats});
    prov_store_put_counter_stats(store, &(struct prov_counter_stats){0, "PAPI", stats});
    prov_store_put_counter_stats(store, &(struct prov_counter_stats){0, "\xc3\xa9", stats});
    prov_store_put_model(store, &(struct prov_model){.version = 3,
                                                     .fid = 1,
                                                     .func = "f",
                                                     .algorithm = "hbos",
                                                     .stats = stats,
                                                     .data = "bytes\0of it",
                                                     .bytes = 11});
}

static void write_run(void)
{
    struct prov_store *store = open_store();

    put_records(store, N_RECORDS);
    put_the_rest(store);
    assert_int_equal(prov_store_close(store), 0);
}

/* A process that has put some records, and goes on until it is killed. */
static pid_t write_in_child(uint64_t n)
{
    int said[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(said), 0);
    fflush(NULL);
    pid = fork();
    if (pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) {
        put_records(open_store(), n);
        _exit(write(said[1], "y", 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    close(said[1]);
    return pid;
}

/* And until the server has seen it. */
static void kill_child(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    while (sample_pg_ask(name, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND "
                               "objsubid = 2") > 0)
        usleep(2000);
}

/* ------------------------------------------------------------------------------------ asking
 */

/* Strange and normal ones. */
static int64_t n_of_run(const char *store, int64_t run)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "SELECT (SELECT count(*) FROM anomalies WHERE run = %" PRId64
             ") + (SELECT count(*) FROM normalexecs WHERE run = %" PRId64 ")",
             run, run);
    return sample_answer_number(store, sql);
}

static struct prov_backed_up back_up(const char *to)
{
    struct prov_backed_up out;

    if (prov_backup(url, to, &out) < 0)
        fail_msg("%s", err_message());
    return out;
}

static struct prov_pruned prune(double days, uint64_t bytes)
{
    struct prov_prune_opts opts = {
        .most_days = days, .most_bytes = bytes, .now_ns = text_now_ns() + 10 * DAY_NS};
    struct prov_pruned out;

    if (prov_prune(url, &opts, &out) < 0)
        fail_msg("%s", err_message());
    return out;
}

/* -------------------------------------------------------------------------------------- tests
 */

static void a_backup_is_a_store_with_the_same_answers(void **state)
{
    static const char *const questions[] = {
        "SELECT * FROM anomalies ORDER BY __id",
        "SELECT * FROM normalexecs ORDER BY __id",
        "SELECT run, pid, rid, began, run_id, ended, dropped, shard FROM runs ORDER BY run",
        "SELECT * FROM metadata ORDER BY run, descr",
        "SELECT * FROM func_stats ORDER BY run, fid",
        "SELECT * FROM counter_stats ORDER BY run, counter",
        "SELECT * FROM ad_model ORDER BY run, version",
    };
    struct prov_backed_up copied;

    (void)state;
    begin("same");
    write_run();
    write_run();
    copied = back_up(beside("copy"));
    assert_int_equal(copied.n_runs, 2);
    assert_int_equal(copied.n_open, 0);
    assert_true(copied.bytes > 100000);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        char *there = sample_answer(url, questions[i]),
             *here = sample_answer(beside("copy"), questions[i]);

        assert_string_equal(there, here);
        assert_true(strlen(there) > 10);
        free(there);
        free(here);
    }
    copied = back_up(beside("again"));
    assert_int_equal(copied.n_runs, 0); /* they are marked */
    end();
}

static void only_what_is_backed_up_is_dropped(void **state)
{
    struct prov_pruned dropped;

    (void)state;
    begin("marked");
    write_run();
    dropped = prune(5, UINT64_MAX);
    assert_int_equal(dropped.n_dropped, 0);
    assert_int_equal(dropped.n_kept, 1);
    assert_int_equal(back_up(beside("b1")).n_runs, 1);
    write_run();
    assert_int_equal(prune(20, UINT64_MAX).n_dropped, 0); /* too young */
    dropped = prune(5, UINT64_MAX);
    assert_int_equal(dropped.n_dropped, 1);
    assert_int_equal(dropped.n_kept, 1);
    assert_true(dropped.bytes < dropped.bytes_before);
    assert_false(dropped.is_given_back); /* the other has rows beside it */
    assert_int_equal(n_of_run(url, 1), 0);
    assert_int_equal(n_of_run(url, 2), N_RECORDS);
    assert_int_equal(n_of_run(beside("b1"), 1), N_RECORDS);
    assert_int_equal(sample_pg_ask(name, "SELECT (SELECT count(*) FROM snag.metadata_row WHERE "
                                         "run = 1) + (SELECT count(*) FROM snag.cost_row WHERE "
                                         "run = 1) + (SELECT count(*) FROM snag.ad_model_row "
                                         "WHERE run = 1)"),
                     0);
    assert_int_equal(
        sample_answer_number(url, "SELECT count(*) FROM runs WHERE dropped IS NOT NULL"), 1);
    assert_int_equal(prune(5, UINT64_MAX).n_dropped, 0); /* it is gone already */

    assert_int_equal(back_up(beside("b2")).n_runs, 1);
    dropped = prune(5, UINT64_MAX);
    assert_int_equal(dropped.n_dropped, 1);
    assert_true(dropped.is_given_back); /* nobody is left in the partition */
    assert_int_equal(sample_pg_ask(name, "SELECT pg_relation_size('snag.record_0')"), 0);
    write_run();
    assert_int_equal(n_of_run(url, 3), N_RECORDS); /* no number comes again */
    end();
}

static void a_run_that_goes_on_is_copied_but_not_marked(void **state)
{
    struct prov_backed_up copied;
    struct prov_pruned dropped;
    pid_t pid;

    (void)state;
    begin("open");
    write_run();
    pid = write_in_child(10);
    copied = back_up(beside("b1"));
    assert_int_equal(copied.n_runs, 1);
    assert_int_equal(copied.n_open, 1);
    assert_int_equal(n_of_run(beside("b1"), 2), 10);
    dropped = prune(0, UINT64_MAX);
    assert_int_equal(dropped.n_dropped, 1);
    assert_int_equal(dropped.n_kept, 1);
    assert_int_equal(n_of_run(url, 2), 10);

    kill_child(pid); /* it is over, though it never said so */
    copied = back_up(beside("b2"));
    assert_int_equal(copied.n_runs, 1);
    assert_int_equal(copied.n_open, 0);
    assert_int_equal(prune(0, UINT64_MAX).n_dropped, 1);
    end();
}

/* As by the next instance, of what waited in the spool of one that was killed. */
static void send_rows(int64_t run, uint64_t n)
{
    struct prov_pg_batch batch = {.n_added = 0};
    PGconn *connection;
    enum pg_trouble why;
    uint64_t stored;

    assert_int_equal(pg_open(url, prov_pg_schema.name, &connection), 0);
    assert_int_equal(prov_pg_prepare(connection), 0);
    assert_int_equal(prov_pg_stored(connection, run, &stored, &why), 0);
    assert_int_equal(prov_pg_store(connection, &batch, run, stored, stored + n, &why), 0);
    prov_pg_batch_release(&batch);
    PQfinish(connection);
}

static void rows_that_come_later_are_not_in_the_backup(void **state)
{
    struct prov_pruned dropped;

    (void)state;
    begin("later");
    write_run();
    assert_int_equal(back_up(beside("b1")).n_runs, 1);
    assert_int_equal(
        sample_answer_number(url, "SELECT count(*) FROM runs WHERE backed_up IS NOT NULL"), 1);
    send_rows(1, 5);
    assert_int_equal(
        sample_answer_number(url, "SELECT count(*) FROM runs WHERE backed_up IS NOT NULL"), 0);
    dropped = prune(0, UINT64_MAX);
    assert_int_equal(dropped.n_dropped, 0);
    assert_int_equal(dropped.n_kept, 1);
    assert_int_equal(n_of_run(url, 1), N_RECORDS);
    assert_int_equal(back_up(beside("b2")).n_runs, 1);
    assert_int_equal(prune(0, UINT64_MAX).n_dropped, 1);

    send_rows(1, 5); /* a run that was dropped, and is not any more */
    assert_int_equal(
        sample_answer_number(url, "SELECT count(*) FROM runs WHERE dropped IS NOT NULL"), 0);
    dropped = prune(0, UINT64_MAX);
    assert_int_equal(dropped.n_dropped, 0);
    assert_int_equal(dropped.n_kept, 1);
    end();
}

static void the_oldest_go_until_the_others_fit(void **state)
{
    struct prov_pruned dropped;

    (void)state;
    begin("fit");
    for (int i = 0; i < 3; i++)
        write_run();
    sample_pg_tell(name, "ALTER TABLE snag.run ALTER COLUMN id RESTART WITH 256");
    for (int i = 0; i < 3; i++)
        write_run();
    assert_int_equal(back_up(beside("b1")).n_runs, 6);
    dropped = prune(-1, UINT64_MAX - 1);
    assert_int_equal(dropped.n_dropped, 0);
    dropped = prune(-1, dropped.bytes_before * 55 / 100);
    assert_int_equal(dropped.n_dropped, 3);
    assert_true(dropped.is_given_back); /* a whole partition */
    assert_int_equal(sample_pg_ask(name, "SELECT pg_relation_size('snag.record_0')"), 0);
    for (int64_t run = 1; run <= 3; run++) {
        assert_int_equal(n_of_run(url, run), 0);
        assert_int_equal(n_of_run(url, 255 + run), N_RECORDS);
    }
    end();
}

/* What a reader looks at is not emptied under its hands: its rows are deleted instead. */
static void a_reader_keeps_what_it_looks_at(void **state)
{
    PGconn *reader;
    PGresult *rows;

    (void)state;
    begin("reader");
    write_run();
    back_up(beside("b1"));
    reader = sample_pg_connect(name);
    assert_int_equal(pg_run(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ; "
                                    "SELECT count(*) FROM snag.record"),
                     0);
    assert_int_equal(prune(0, UINT64_MAX).n_dropped, 1);
    rows = PQexec(reader, "SELECT count(*) FROM snag.record");
    assert_string_equal(PQgetvalue(rows, 0, 0), "300");
    PQclear(rows);
    PQfinish(reader);
    assert_int_equal(n_of_run(url, 1), 0);
    end();
}

static void some_runs_are_enough(void **state)
{
    char some[80];
    struct prov_backed_up copied;

    (void)state;
    begin("some_runs");
    for (int i = 0; i < 3; i++)
        write_run();
    snprintf(some, sizeof some, "%s#2", url);
    assert_int_equal(prov_backup(some, beside("b1"), &copied), 0);
    assert_int_equal(copied.n_runs, 1);
    assert_int_equal(n_of_run(beside("b1"), 1), 0);
    assert_int_equal(n_of_run(beside("b1"), 2), N_RECORDS);
    assert_int_equal(prune(0, UINT64_MAX).n_dropped, 1);
    assert_int_equal(n_of_run(url, 1), N_RECORDS);
    assert_int_equal(n_of_run(url, 2), 0);
    end();
}

/* The disk fills up on the way. */
static void a_backup_that_fails_marks_nothing(void **state)
{
    struct prov_backed_up copied;
    int status;
    pid_t pid;

    (void)state;
    begin("fails");
    write_run();
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){200000, 200000});
        _exit(prov_backup(url, beside("b1"), &copied) < 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_false(fs_exists(beside("b1")));
    assert_int_equal(prune(0, UINT64_MAX).n_dropped, 0);
    assert_int_equal(back_up(beside("b1")).n_runs, 1); /* what was left is in nobody's way */
    assert_int_equal(prov_backup(url, beside("b1"), &copied), ERR_EXISTS);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backup_is_a_store_with_the_same_answers),
        cmocka_unit_test(only_what_is_backed_up_is_dropped),
        cmocka_unit_test(a_run_that_goes_on_is_copied_but_not_marked),
        cmocka_unit_test(rows_that_come_later_are_not_in_the_backup),
        cmocka_unit_test(the_oldest_go_until_the_others_fit),
        cmocka_unit_test(a_reader_keeps_what_it_looks_at),
        cmocka_unit_test(some_runs_are_enough),
        cmocka_unit_test(a_backup_that_fails_marks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

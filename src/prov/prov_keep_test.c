/*
 * Nothing is dropped that is in no backup, whoever is killed when.
 *
 * How often is the environment variable SNAG_KILLS, or 6.
 */
#include "prov/prov_keep.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/text.h"
#include "prov/prov_store.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_answer.h"
#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

#define N_RECORDS 400 /* of a run */
#define DAY_NS (UINT64_C(86400) * 1000000000)

static char top[64], store[128];

static int begin(void **state)
{
    (void)state;
    strcpy(top, "prov-keep-XXXXXX");
    if (test_dir(top) == NULL)
        return -1;
    snprintf(store, sizeof store, "%s/store", top);
    return 0;
}

/* A place beside the store. */
static const char *beside(const char *name)
{
    static char path[2][256];
    static int which;

    which = !which;
    snprintf(path[which], sizeof path[which], "%s/%s", top, name);
    return path[which];
}

static struct prov_store *open_store(const char *run_id)
{
    struct prov_store_opts opts = {.run_id = run_id};
    struct prov_store *s;
    char url[160];

    snprintf(url, sizeof url, "sqlite:%s?shards=3", store);
    assert_int_equal(prov_store_open(url, &opts, &s), 0);
    return s;
}

static void put_records(struct prov_store *s, uint64_t n)
{
    struct arena arena = {0};

    for (uint64_t i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(&arena);
        struct prov_record record;

        sample_record((uint32_t)(i % 4), i, &arena, &record);
        assert_true(prov_store_put(s, PROV_ANOMALY, &record));
        arena_restore(&arena, mark);
    }
    assert_true(prov_store_put_metadata(
        s, &(struct prov_metadata){.rank = 1, .descr = "Hostname", .value = "node7"}));
    assert_int_equal(prov_store_flush(s), 0);
    arena_release(&arena);
}

static void write_run(const char *run_id)
{
    struct prov_store *s = open_store(run_id);

    put_records(s, N_RECORDS);
    assert_int_equal(prov_store_close(s), 0);
}

static int64_t n_of_run(const char *url, int64_t run)
{
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT count(*) FROM anomalies WHERE run = %lld",
             (long long)run);
    return sample_answer_number(url, sql);
}

static struct prov_pruned prune(double days, uint64_t bytes, uint64_t now_ns)
{
    struct prov_prune_opts opts = {.most_days = days, .most_bytes = bytes, .now_ns = now_ns};
    struct prov_pruned out;

    assert_int_equal(prov_prune(store, &opts, &out), 0);
    return out;
}

static void a_run_has_its_id_and_times(void **state)
{
    int64_t before_us = (int64_t)(text_now_ns() / 1000);

    (void)state;
    write_run("job-77");
    assert_int_equal(
        sample_answer_number(store, "SELECT count(*) FROM runs WHERE run_id = 'job-77' AND "
                                    "ended >= began AND backed_up IS NULL AND dropped IS NULL"),
        1);
    assert_true(sample_answer_number(store, "SELECT min(stored_ns) / 1000 FROM anomalies") >=
                before_us);
    assert_true(sample_answer_number(store, "SELECT min(stored_ns) / 1000 FROM metadata") >=
                before_us);
    assert_int_equal(sample_answer_number(
                         store, "SELECT count(*) FROM anomalies WHERE record ->> 'run_id' = "
                                "'job-77' AND record ->> 'stored_utc' GLOB "
                                "'20[0-9]*-*-*T*:*:*.*Z' AND run_id = 'job-77'"),
                     N_RECORDS);
}

static void only_what_is_backed_up_is_dropped(void **state)
{
    uint64_t later = text_now_ns() + 10 * DAY_NS;
    struct prov_backed_up copied;
    struct prov_pruned dropped;

    (void)state;
    write_run("first");
    dropped = prune(5, UINT64_MAX, later);
    assert_int_equal(dropped.n_dropped, 0);
    assert_int_equal(dropped.n_kept, 1);
    assert_int_equal(prov_backup(store, beside("b1"), &copied), 0);
    assert_int_equal(copied.n_runs, 1);
    assert_int_equal(copied.n_open, 0);
    assert_int_equal(n_of_run(beside("b1"), 1), N_RECORDS);
    write_run("second");
    assert_int_equal(prune(5, UINT64_MAX, text_now_ns()).n_dropped, 0); /* too young */
    dropped = prune(5, UINT64_MAX, later);
    assert_int_equal(dropped.n_dropped, 1);
    assert_int_equal(dropped.n_kept, 1);
    assert_true(dropped.is_given_back);
    assert_true(dropped.bytes < dropped.bytes_before);
    assert_int_equal(n_of_run(store, 1), 0);
    assert_int_equal(sample_answer_number(store, "SELECT count(*) FROM metadata WHERE run = 1"),
                     0);
    assert_int_equal(n_of_run(store, 2), N_RECORDS);
    assert_int_equal(
        sample_answer_number(store, "SELECT count(*) FROM runs WHERE dropped IS NOT NULL"), 1);
    assert_int_equal(prune(5, UINT64_MAX, later).n_dropped, 0); /* it is gone already */
    write_run("third");
    assert_int_equal(n_of_run(store, 3), N_RECORDS); /* no number comes again */
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
    if (pid == 0) {
        put_records(open_store("victim"), n);
        _exit(write(said[1], "y", 1) == 1 ? pause() : 1);
    }
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    close(said[1]);
    return pid;
}

static void kill_child(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_run_that_goes_on_is_copied_but_not_marked(void **state)
{
    uint64_t later = text_now_ns() + 10 * DAY_NS;
    struct prov_backed_up copied;
    struct prov_pruned dropped;
    pid_t pid;

    (void)state;
    write_run("done");
    pid = write_in_child(10);
    assert_int_equal(prov_backup(store, beside("b1"), &copied), 0);
    assert_int_equal(copied.n_runs, 1);
    assert_int_equal(copied.n_open, 1);
    assert_int_equal(n_of_run(beside("b1"), 2), 10);
    dropped = prune(0, UINT64_MAX, later);
    assert_int_equal(dropped.n_dropped, 1);
    assert_int_equal(dropped.n_kept, 1);
    assert_false(dropped.is_given_back); /* who writes would have to wait */
    assert_int_equal(n_of_run(store, 2), 10);

    kill_child(pid); /* nobody writes now: it is over, though it never said so */
    assert_int_equal(prov_backup(store, beside("b2"), &copied), 0);
    assert_int_equal(copied.n_runs, 1);
    assert_int_equal(copied.n_open, 0);
    assert_int_equal(n_of_run(beside("b2"), 2), 10);
    assert_int_equal(prune(0, UINT64_MAX, later).n_dropped, 1);
}

static void the_oldest_go_until_the_others_fit(void **state)
{
    struct prov_backed_up copied;
    struct prov_pruned dropped;

    (void)state;
    for (int i = 0; i < 6; i++)
        write_run("one of six");
    assert_int_equal(prov_backup(store, beside("b1"), &copied), 0);
    assert_int_equal(copied.n_runs, 6);
    dropped = prune(-1, UINT64_MAX - 1, text_now_ns());
    assert_int_equal(dropped.n_dropped, 0);
    dropped = prune(-1, dropped.bytes_before / 2, text_now_ns());
    assert_true(dropped.bytes <= dropped.bytes_before / 2);
    assert_in_range(dropped.n_dropped, 2, 5);
    for (int64_t i = 1; i <= 6; i++)
        assert_int_equal(n_of_run(store, i), i <= (int64_t)dropped.n_dropped ? 0 : N_RECORDS);
}

static void a_backup_needs_a_new_directory_and_a_store(void **state)
{
    struct prov_backed_up copied;

    (void)state;
    assert_int_equal(prov_backup(store, beside("b1"), &copied), ERR_NOT_FOUND);
    write_run("one");
    assert_int_equal(prov_backup(store, store, &copied), ERR_EXISTS);
    assert_int_equal(prov_backup(store, beside("not/there"), &copied), ERR_IO);
    assert_int_equal(
        sample_answer_number(store, "SELECT count(*) FROM runs WHERE backed_up IS NOT NULL"),
        0);
}

/* Whatever is marked is in some whole backup, and what is not marked is all there. */
static void check(int n_runs, int n_backups)
{
    for (int64_t run = 1; run <= n_runs; run++) {
        char sql[128];
        bool is_safe = false;

        for (int b = 0; b < n_backups && !is_safe; b++) {
            char name[16];

            snprintf(name, sizeof name, "b%d", b);
            is_safe = fs_exists(beside(name)) && n_of_run(beside(name), run) == N_RECORDS;
        }
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM runs WHERE run = %lld AND backed_up IS NOT NULL",
                 (long long)run);
        if (sample_answer_number(store, sql) == 1)
            assert_true(is_safe);
        else
            assert_int_equal(n_of_run(store, run), N_RECORDS);
    }
}

/* A backup, and then drops all it may: killed after so many microseconds. */
static void keep_and_be_killed(int i, useconds_t after_us)
{
    char name[16];
    pid_t pid;

    snprintf(name, sizeof name, "b%d", i);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        struct prov_prune_opts opts = {
            .most_days = 0, .most_bytes = UINT64_MAX, .now_ns = text_now_ns() + DAY_NS};
        struct prov_backed_up copied;
        struct prov_pruned dropped;
        int rc = prov_backup(store, beside(name), &copied);

        _exit(rc == 0 && prov_prune(store, &opts, &dropped) == 0 ? 0 : 1);
    }
    usleep(after_us);
    kill_child(pid);
}

static void nothing_is_lost_by_kills(void **state)
{
    const char *said = getenv("SNAG_KILLS");
    int n = said ? atoi(said) : 6;

    (void)state;
    for (int i = 0; i < n; i++) {
        write_run("kept");
        keep_and_be_killed(i, (useconds_t)(i * 7919 % 60000)); /* some after all is done */
        check(i + 1, i + 1);
    }
    keep_and_be_killed(n, 60000);
    check(n, n + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_run_has_its_id_and_times, begin),
        cmocka_unit_test_setup(only_what_is_backed_up_is_dropped, begin),
        cmocka_unit_test_setup(a_run_that_goes_on_is_copied_but_not_marked, begin),
        cmocka_unit_test_setup(the_oldest_go_until_the_others_fit, begin),
        cmocka_unit_test_setup(a_backup_needs_a_new_directory_and_a_store, begin),
        cmocka_unit_test_setup(nothing_is_lost_by_kills, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Histories in a PostgreSQL that tests/postgres/server.sh has started for this program. */
#include "compare/run_history.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "compare/summary_pack.h"

#include <sys/wait.h>
#include <unistd.h>

#include "sample_pg.h"
#include "sample_summary.h"
#include "test.h"
#include "test_dir.h"

#define PROGRAM                                                                                \
    "synth:20*main2(step(solve@1ms) step(solve@1ms io@2ms(write@1ms)));ranks=3;jitter=0.05"
#define WRITERS 8
#define RUNS 6 /* of a writer */

/* A run of two functions of interest, another one for each seed. */
static int add(struct history *h, unsigned seed, const char *commit, int64_t *id)
{
    struct history_tags tags = {0};
    struct summary step, solve;
    struct history_part part[] = {{.foi = "step", .n_anomalies = 2, .summary = &step},
                                  {.foi = "solve", .summary = &solve}};
    char program[120];
    int rc;

    snprintf(program, sizeof program, PROGRAM ";seed=%u", seed);
    sample_summary(program, "step", &step);
    sample_summary(program, "solve", &solve);
    history_tags_set(&tags, "commit", commit);
    history_tags_set(&tags, "branch", "it's main");
    rc = history_add(h, "a 'run'.snag", &tags, part, 2, id);
    history_tags_release(&tags);
    summary_release(&step);
    summary_release(&solve);
    return rc;
}

/* ------------------------------------------------------------------------ as in a file */

struct telling {
    struct history *history;
    FILE *out;
};

static int tell_tags(const struct telling *t, int64_t run)
{
    struct history_tags tags;
    int rc = history_tags(t->history, run, &tags);

    for (size_t i = 0; i < tags.n; i++)
        fprintf(t->out, " %s=%s", tags.tag[i].key, tags.tag[i].value);
    history_tags_release(&tags);
    return rc;
}

/* All that can be asked about a run, but when it was added. */
static int tell_run(void *ctx, const struct history_run *run)
{
    struct telling *t = ctx;
    struct summary summary;
    struct pack pack = {0};
    int rc = history_load(t->history, run->id, run->foi, &summary);

    summary_pack(&pack, &summary);
    fprintf(t->out, "%lld %s %s %u %llu %llu %llu %llu %llu %zu ", (long long)run->id,
            run->source, run->foi, run->n_ranks, (unsigned long long)run->n_executions,
            (unsigned long long)run->n_anomalies, (unsigned long long)run->time_ns,
            (unsigned long long)run->median_ns, (unsigned long long)run->p99_ns, pack.n);
    for (size_t i = 0; i < pack.n; i++)
        fprintf(t->out, "%02x", pack.data[i]);
    rc = rc < 0 ? rc : tell_tags(t, run->id);
    fputs("\n", t->out);
    pack_release(&pack);
    summary_release(&summary);
    return rc;
}

/* Free it. */
static char *all_of(const char *path, const struct history_filter *filter)
{
    struct history h;
    char *text = NULL;
    size_t n;
    struct telling t = {&h, open_memstream(&text, &n)};

    assert_int_equal(history_open(&h, path, DATABASE_READ), 0);
    assert_int_equal(history_each(&h, filter, tell_run, &t), 0);
    history_close(&h);
    fclose(t.out);
    return text;
}

static void assert_alike(const char *a, const char *b, const struct history_filter *filter,
                         bool is_any)
{
    char *here = all_of(a, filter), *there = all_of(b, filter);

    assert_string_equal(here, there);
    assert_int_equal(here[0] != '\0', is_any);
    free(here);
    free(there);
}

static void assert_all_alike(const char *a, const char *b)
{
    struct history_tags tags = {0};

    history_tags_set(&tags, "commit", "odd");
    assert_alike(a, b, &(struct history_filter){0}, true);
    assert_alike(a, b, &(struct history_filter){.foi = "solve", .last = 2}, true);
    assert_alike(a, b, &(struct history_filter){.tags = &tags}, true);
    assert_alike(a, b, &(struct history_filter){.foi = "none"}, false);
    history_tags_release(&tags);
}

static void fill_and_prune(const char *path)
{
    struct history h;
    uint64_t n_removed;
    int64_t id;

    assert_int_equal(history_open(&h, path, DATABASE_MAKE), 0);
    for (unsigned seed = 1; seed <= 6; seed++) {
        assert_int_equal(add(&h, seed, seed % 2 ? "odd" : "even", &id), 0);
        assert_int_equal(id, seed);
    }
    assert_int_equal(add(&h, 3, "again", &id), ERR_EXISTS);
    assert_non_null(strstr(err_message(), "number 3"));
    history_close(&h);
    assert_int_equal(history_open(&h, path, DATABASE_WRITE), 0);
    assert_int_equal(history_remove(&h, 4), 0);
    assert_int_equal(history_remove(&h, 4), ERR_NOT_FOUND);
    assert_int_equal(history_keep(&h, 4, &n_removed), 0);
    assert_int_equal(n_removed, 1);
    history_close(&h);
}

static void answers_are_those_of_a_file(void **state)
{
    char dir[] = "/tmp/snag-history-XXXXXX", path[FS_PATH_SIZE];

    (void)state;
    assert_non_null(test_dir(dir));
    snprintf(path, sizeof path, "%s/history.db", dir);
    sample_pg_database("alike");
    fill_and_prune(path);
    fill_and_prune("postgresql:///alike#history");
    assert_all_alike(path, "postgresql:///alike");
    assert_int_equal(sample_pg_ask("alike", "SELECT count(*) FROM snag_history.tag"), 8);
    assert_int_equal(sample_pg_ask("alike", "SELECT count(*) FROM snag_history.digest"), 8);
    assert_int_equal(fs_remove_tree(dir), 0);
}

/* ------------------------------------------------------------------------- many at once */

/* Adds until each run is there; one whose answer was lost is there already. */
static int write_runs(unsigned writer)
{
    unsigned n = 0;

    while (n < RUNS) {
        struct history h;
        int64_t id;
        int rc = history_open(&h, "postgresql:///many", DATABASE_MAKE);

        while (rc == 0 && n < RUNS) {
            rc = add(&h, 1 + writer * RUNS + n, "x", &id);
            rc = rc == ERR_EXISTS ? 0 : rc;
            n += rc == 0;
        }
        history_close(&h);
        if (rc < 0 && rc != ERR_DATABASE)
            return 1;
        usleep(2000);
    }
    return 0;
}

static int64_t n_runs(void)
{
    struct history h;
    int64_t n = 0;

    if (history_open(&h, "postgresql:///many", DATABASE_READ) == 0)
        n = sample_pg_ask("many", "SELECT count(*) FROM snag_history.run");
    history_close(&h);
    return n;
}

static void each_run_is_there_once_however_often_the_database_is_killed(void **state)
{
    pid_t child[WRITERS];

    (void)state;
    sample_pg_database("many");
    fflush(NULL);
    for (unsigned i = 0; i < WRITERS; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(write_runs(i));
        assert_true(child[i] > 0);
    }
    for (int64_t kills = 1; kills <= 3; kills++) {
        while (n_runs() < kills * 5)
            usleep(2000);
        sample_pg_server("kill");
        sample_pg_server("start");
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        int status;

        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(n_runs(), WRITERS * RUNS);
    assert_int_equal(sample_pg_ask("many", "SELECT count(*) FROM snag_history.digest"),
                     2 * WRITERS * RUNS);
    assert_int_equal(
        sample_pg_ask("many", "SELECT count(DISTINCT hash) FROM snag_history.digest"),
        2 * WRITERS * RUNS);
}

/* ------------------------------------------------------------------------------- refused */

static void what_cannot_be_a_history_is_refused(void **state)
{
    struct history h;

    (void)state;
    sample_pg_database("refused");
    assert_true(history_is("postgresql:///refused#history"));
    assert_int_equal(history_open(&h, "postgresql:///refused", DATABASE_READ), ERR_NOT_FOUND);
    assert_int_equal(history_open(&h, "postgresql:///refused", DATABASE_WRITE), ERR_NOT_FOUND);
    assert_int_equal(history_open(&h, "postgresql:///refused#3", DATABASE_MAKE), ERR_USAGE);
    assert_int_equal(history_open(&h, "postgresql://a:b@/refused", DATABASE_MAKE), ERR_USAGE);
    assert_int_equal(history_open(&h, "postgresql:///nowhere", DATABASE_MAKE), ERR_DATABASE);
    assert_int_equal(history_open(&h, "postgresql:///refused", DATABASE_MAKE), 0);
    history_close(&h);
    sample_pg_tell("refused", "INSERT INTO snag_history.schema_version (version) VALUES (99)");
    assert_int_equal(history_open(&h, "postgresql:///refused", DATABASE_READ), ERR_FORMAT);
    assert_int_equal(history_open(&h, "postgresql:///refused", DATABASE_MAKE), ERR_FORMAT);
}

/* A text that another program has put there is no summary. */
static void damaged_rows_do_no_harm(void **state)
{
    struct history h;
    struct summary summary;
    int64_t id;

    (void)state;
    sample_pg_database("damaged");
    assert_int_equal(history_open(&h, "postgresql:///damaged", DATABASE_MAKE), 0);
    assert_int_equal(add(&h, 1, "x", &id), 0);
    history_close(&h);
    sample_pg_tell("damaged",
                   "UPDATE snag_history.digest SET data = 'nothing' WHERE foi = 'step'");
    assert_int_equal(history_open(&h, "postgresql:///damaged", DATABASE_READ), 0);
    assert_int_equal(history_load(&h, id, "step", &summary), ERR_FORMAT);
    summary_release(&summary);
    assert_int_equal(history_load(&h, id, "solve", &summary), 0);
    summary_release(&summary);
    history_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_a_file),
        cmocka_unit_test(each_run_is_there_once_however_often_the_database_is_killed),
        cmocka_unit_test(what_cannot_be_a_history_is_refused),
        cmocka_unit_test(damaged_rows_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

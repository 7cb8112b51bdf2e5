/*
 * Run directories that somebody else has made, with intent: nothing outside them is written,
 * removed or read, nothing crashes or goes on for ever, and one line says what is the matter.
 *
 * Each test takes a copy of a run that snag made, changes it, and tries some of the commands on
 * it: others after each change, or all of them where SNAG_LONG is set.
 */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "file_set.h"
#include "sample_trace.h"
#include "spawn.h"
#include "test.h"
#include "test_dir.h"

struct scene {
    char dir[64], run[96], made[96], victim[96], model[96], out[96];
    struct file_set files;
};

/* What is done with a run. */
static const char *const commands[][10] = {
    {"list", "--json", "--all", "RUN"},
    {"list", "--incidents", "--json", "--all", "RUN"},
    {"list", "--executions", "--by", "cost", "RUN"},
    {"ranks", "--by", "thread", "RUN"},
    {"compare", "RUN", "MADE"},
    {"compare", "MADE", "RUN"},
    {"show", "RUN", "#2-7"},
    {"show", "--subtrees", "RUN", "#1-3"},
    {"what-if", "--without", "anomalies", "--without", "rank=1", "RUN"},
    {"next", "RUN"},
    {"label", "RUN", "#2-7=abnormal", "#1-3=normal"},
    {"retrain", "RUN"},
    {"retrain", "--learner", "ocsvm", "RUN"},
    {"project", "--method", "pca", "RUN"},
    {"model", "save", "RUN", "MODEL"},
    {"export", "RUN", "--format", "chrome"},
    {"export", "RUN", "--what", "calls"},
    {"export", "RUN", "--format", "chrome", "--what", "calls"},
    {"query", "RUN", "SELECT * FROM execution"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)
#define TURNS 11 /* changes after which each command was tried; no divisor of N_COMMANDS */

static void run_command(const struct scene *s, size_t i, struct outcome *o)
{
    const char *args[12] = {0};
    struct spawn spawn;

    for (size_t k = 0; commands[i][k]; k++)
        args[k] = strcmp(commands[i][k], "RUN") == 0     ? s->run
                  : strcmp(commands[i][k], "MADE") == 0  ? s->made
                  : strcmp(commands[i][k], "MODEL") == 0 ? s->model
                                                         : commands[i][k];
    spawn_begin(&spawn, NULL, NULL, args);
    spawn_end(&spawn, 20, o);
}

/* Commands end by themselves, in time, and well or with one line. Returns how many did not. */
static int try_commands(const struct scene *s, const char *what, bool must_fail)
{
    static size_t turn;
    size_t step = getenv("SNAG_LONG") ? 1 : TURNS;
    int n_wrong = 0;

    for (size_t i = turn++ % step; i < N_COMMANDS; i += step) {
        char full[300];
        struct outcome o;

        snprintf(full, sizeof full, "%s, snag %s %s", what, commands[i][0], commands[i][1]);
        run_command(s, i, &o);
        if (o.status != 0)
            n_wrong += !outcome_is_clean(&o, full);
        if (must_fail && o.status == 0) {
            fprintf(stderr, "%s: status 0\n", full);
            n_wrong++;
        }
        if (getenv("SNAG_FUZZ_VERBOSE"))
            fprintf(stderr, "%s: %d %s", full, o.status, o.n_err ? o.err : "\n");
        outcome_release(&o);
    }
    return n_wrong;
}

static void assert_victim(const struct scene *s)
{
    char text[16] = "";
    int fd = open(s->victim, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, sizeof text), 6);
    assert_memory_equal(text, "victim", 6);
    close(fd);
}

static void in_run(const struct scene *s, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", s->run, name);
}

static void put_file(const char *path, const void *data, size_t n)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), n);
    close(fd);
}

/* A byte of one of its files anew. */
static void put_byte(const struct scene *s, const char *name, long at, unsigned char byte)
{
    char path[256];
    int fd;

    in_run(s, name, path);
    fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void run_sql(const struct scene *s, const char *sql)
{
    char path[256], *error = NULL;
    sqlite3 *db;

    in_run(s, "run.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, error);
    assert_null(error);
    sqlite3_close(db);
}

/* ----------------------------------------------------------------------- what files are */

static void a_journal_does_not_have_files_removed(void **state)
{
    static const unsigned char magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    const struct scene *s = *state;
    unsigned char journal[1024] = {0};
    uint32_t sum = 0, n = (uint32_t)strlen(s->victim);
    char path[256];
    size_t at =
        512 + 4; /* a header of a sector, and the page number that says: no more pages */

    memcpy(journal, magic, sizeof magic);
    memset(journal + 8, 0, 4);           /* no records */
    journal[22] = 2, journal[26] = 0x10; /* sectors of 512, pages of 4,096 bytes */
    memcpy(journal + at, s->victim, n);
    for (uint32_t i = 0; i < n; i++)
        sum += (unsigned char)s->victim[i];
    at += n;
    for (int i = 3; i >= 0; i--)
        journal[at++] = (unsigned char)(n >> 8 * i);
    for (int i = 3; i >= 0; i--)
        journal[at++] = (unsigned char)(sum >> 8 * i);
    memcpy(journal + at, magic, sizeof magic);
    in_run(s, "run.db-journal", path);
    put_file(path, journal, at + sizeof magic);
    assert_int_equal(try_commands(s, "a journal that names a file", true), 0);
    assert_victim(s);
}

static void links_and_pipes_are_refused(void **state)
{
    const struct scene *s = *state;
    int n_wrong = 0;

    for (size_t i = 0; i < s->files.n; i++)
        for (int kind = 0; kind < 2; kind++) {
            char path[256], what[256];

            in_run(s, s->files.file[i].name, path);
            if (unlink(path) != 0) /* of SQLite's, removed by a command that wrote */
                assert_int_equal(errno, ENOENT);
            if (kind == 0)
                assert_int_equal(symlink(s->victim, path), 0);
            else
                assert_int_equal(mkfifo(path, 0666), 0);
            snprintf(what, sizeof what, "%s is a %s", s->files.file[i].name,
                     kind ? "pipe" : "link");
            n_wrong += try_commands(
                s, what, strstr(path, "-shm") == NULL && strstr(path, "levels") == NULL);
            assert_victim(s);
            assert_int_equal(unlink(path), 0);
            file_set_put(&s->files, i, s->run, s->files.file[i].data, s->files.file[i].n);
        }
    assert_int_equal(n_wrong, 0);
}

static void a_directory_of_calls_elsewhere_is_refused(void **state)
{
    const struct scene *s = *state;
    char calls[256], other[256];

    in_run(s, "calls", calls);
    snprintf(other, sizeof other, "%s/elsewhere", s->dir);
    assert_int_equal(rename(calls, other), 0);
    assert_int_equal(symlink(other, calls), 0);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        struct outcome o;

        run_command(s, i, &o);
        assert_int_equal(o.status, 1);
        outcome_release(&o);
    }
    fs_remove_tree(other);
}

/* What is written through one name is written in the other. */
static void a_database_with_a_second_name_is_not_written(void **state)
{
    const struct scene *s = *state;
    char path[256], second[256];
    struct outcome o;

    in_run(s, "run.db", path);
    snprintf(second, sizeof second, "%s/second", s->dir);
    assert_int_equal(link(path, second), 0);
    spawn_run(&o, "list", s->run, NULL);
    assert_int_equal(o.status, 0);
    outcome_release(&o);
    spawn_run(&o, "label", s->run, "#2-7=abnormal", NULL);
    assert_int_equal(o.status, 1);
    assert_non_null(strstr(o.err, "has a second name"));
    outcome_release(&o);
    unlink(second);
}

/* ---------------------------------------------------------------------- what is in them */

static void numbers_of_calls_are_not_believed(void **state)
{
    static const struct {
        const char *name;
        long at;
        unsigned char byte;
    } damage[] = {
        {"calls/region.u32", 0, 0xff},      {"calls/region.u32", 403, 0x80},
        {"calls/subtree_len.u32", 0, 0},    {"calls/subtree_len.u32", 4, 0},
        {"calls/subtree_len.u32", 7, 0x7f}, {"calls/subtree_len.u32", 0, 0xff},
        {"calls/depth.u16", 2, 0},          {"calls/depth.u16", 11, 0xff},
        {"calls/by_depth.u32", 7, 0xff},    {"calls/depth_start.u64", 9, 0xff},
        {"calls/enter_ns.u64", 7, 0xff},    {"calls/inclusive_ns.u64", 15, 0xff},
        {"calls/messages.rec", 35, 0x55},   {"calls/messages.rec", 31, 0x55},
        {"calls/messages.rec", 42, 0x77},   {"calls/collectives.rec", 38, 0x66},
    };
    const struct scene *s = *state;
    int n_wrong = 0;

    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        char what[128];

        put_byte(s, damage[i].name, damage[i].at, damage[i].byte);
        snprintf(what, sizeof what, "%s, byte %ld", damage[i].name, damage[i].at);
        n_wrong += try_commands(s, what, false);
        file_set_write(&s->files, s->run, s->files.n);
    }
    assert_int_equal(n_wrong, 0);
}

/* Takes the constraints out of a table's definition, which goes to `kept`, or puts `back`
 * there. */
static void swap_schema(const struct scene *s, const char *table, const char *back, char *kept)
{
    char path[256];
    sqlite3_stmt *statement;
    sqlite3 *db;

    in_run(s, "run.db", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (kept) {
        sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE name = ?", -1, &statement,
                           NULL);
        sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        snprintf(kept, 4000, "%s", sqlite3_column_text(statement, 0));
        sqlite3_finalize(statement);
    }
    sqlite3_exec(db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "UPDATE sqlite_schema SET sql = "
                                        "coalesce(?2, replace(sql, 'NOT NULL', '')) "
                                        "WHERE name = ?1",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, back, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

/* The schema of a run says NOT NULL; who edits the file need not care. */
static void nulls_where_there_should_be_none_do_no_harm(void **state)
{
    static const char *const columns[][2] = {
        {"location", "source_id"}, {"location", "name"},     {"comm", "name"},
        {"execution", "verdict"},  {"execution", "why"},     {"execution", "detector_verdict"},
        {"region", "name"},        {"region", "short_name"}, {"region", "kind"},
        {"foi", "settings"},       {"foi", "features"},      {"foi", "detector"},
        {"model", "data"},         {"model", "bytes"},       {"location", "rank"},
        {"execution", "score"},    {"execution", "call"},    {"execution", "location"},
        {"meta", "value"},         {"incident", "why"},      {"incident", "head"},
        {"incident", "score"},     {"incident", "begin_ns"}, {"execution", "lost_ns"},
    };
    const struct scene *s = *state;
    int n_wrong = 0;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *table = columns[i][0], *column = columns[i][1];
        char sql[200], kept[4000], what[128];

        swap_schema(s, table, NULL, kept);
        snprintf(sql, sizeof sql, "UPDATE %s SET %s = NULL", table, column);
        run_sql(s, sql);
        swap_schema(s, table, kept, NULL);
        snprintf(what, sizeof what, "%s.%s is null", table, column);
        n_wrong += try_commands(s, what, false);
        file_set_write(&s->files, s->run, s->files.n);
    }
    assert_int_equal(n_wrong, 0);
}

static void what_a_run_does_not_have_is_refused(void **state)
{
    static const char *const more[] = {
        "CREATE TRIGGER t AFTER INSERT ON label BEGIN DELETE FROM execution; END",
        "CREATE VIEW v AS SELECT * FROM execution",
        "DROP VIEW labelled; CREATE VIEW labelled AS WITH RECURSIVE n(i) AS (SELECT 1 UNION "
        "ALL "
        "SELECT i + 1 FROM n) SELECT i AS foi, 1 AS rank, 1 AS thread, 1 AS idx, 'x' AS label, "
        "'x' AS author, 'x' AS at FROM n",
        "CREATE INDEX i ON execution (abs(score))",
        "ALTER TABLE execution ADD COLUMN more",
        "DROP TABLE retrain",
    };
    const struct scene *s = *state;
    int n_wrong = 0;

    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        run_sql(s, more[i]);
        n_wrong += try_commands(s, more[i], true);
        file_set_write(&s->files, s->run, s->files.n);
    }
    assert_int_equal(n_wrong, 0);
}

static void numbers_of_the_database_are_not_believed(void **state)
{
    static const char *const changes[] = {
        "UPDATE execution SET call = 4000000000",
        "UPDATE execution SET call = -1",
        "UPDATE execution SET location = 77",
        "UPDATE execution SET tree = tree + 1000000",
        "UPDATE execution SET enter_ns = -9e18, duration_ns = 9e18",
        "UPDATE execution SET score = 'high', verdict = x'00ff', part = 7",
        "UPDATE execution SET rank = -5, thread = 1e10, idx = -1",
        "UPDATE foi SET region = 99999",
        "UPDATE foi SET trees = 4000000000, vertices = -1",
        "UPDATE foi SET settings = '[[[[[[[[[['",
        "UPDATE foi SET settings = '{\"neighbours\": 1e300, \"seed\": \"x\"}'",
        "UPDATE foi SET detector = 'none', features = 'none'",
        "UPDATE model SET bytes = -1",
        "UPDATE model SET bytes = 99999999999999",
        "UPDATE model SET data = zeroblob(100000)",
        "UPDATE location SET rank = 4294967295",
        "UPDATE location SET rank = rank + 16777000",
        "UPDATE location SET thread = -1",
        "UPDATE location SET id = id + 1 WHERE id = (SELECT max(id) FROM location)",
        "UPDATE comm SET members = 1e18",
        "UPDATE region SET id = id + 1 WHERE id = (SELECT max(id) FROM region)",
        "UPDATE region SET kind = 'x'",
        "DELETE FROM execution WHERE tree % 3 = 0",
        "DELETE FROM region",
        "DELETE FROM foi",
        "DELETE FROM model",
        "UPDATE execution SET incident = 4000000000",
        "UPDATE execution SET lost_ns = -9e18, cost_ns = 9e18, cost = x'00ff'",
        "UPDATE incident SET head = 4000000000, location = 77, rank = -1",
        "UPDATE incident SET begin_ns = 9e18, end_ns = -9e18, lost_ns = 'much'",
        "UPDATE incident SET executions = -1, ranks = 1e18, turns = 0, period = -1",
        "UPDATE foi SET anomalies_cost_ns = 9e18, anomalies_carrying = -1",
        "DELETE FROM incident",
        "UPDATE meta SET value = -1",
        "UPDATE meta SET value = 'x' WHERE key <> 'format'",
        "INSERT INTO label (foi, rank, thread, idx, label, author, at) VALUES (1, 2, 0, 7, "
        "'so so', x'c328', 9)",
        "INSERT INTO label (foi, rank, thread, idx, label, author, at) VALUES (9, -2, 0, 1e18, "
        "'normal', '', '')",
    };
    const struct scene *s = *state;
    int n_wrong = 0;

    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        run_sql(s, changes[i]);
        n_wrong += try_commands(s, changes[i], false);
        file_set_write(&s->files, s->run, s->files.n);
    }
    assert_int_equal(n_wrong, 0);
}

/* ------------------------------------------------------------------------------- scene */

static int make_copy(void **state)
{
    struct scene *s = *state;

    file_set_write(&s->files, s->run, s->files.n);
    put_file(s->victim, "victim", 6);
    return 0;
}

static int remove_copy(void **state)
{
    struct scene *s = *state;

    fs_remove_tree(s->run);
    return 0;
}

static int setup(void **state)
{
    struct scene *s = calloc(1, sizeof *s);
    char trace[128];
    struct outcome o;

    strcpy(s->dir, "/tmp/snag-stranger-XXXXXX");
    assert_non_null(test_dir(s->dir));
    snprintf(trace, sizeof trace, "%s/trace", s->dir);
    snprintf(s->made, sizeof s->made, "%s/made.snag", s->dir);
    snprintf(s->run, sizeof s->run, "%s/run.snag", s->dir);
    snprintf(s->victim, sizeof s->victim, "%s/victim", s->dir);
    snprintf(s->model, sizeof s->model, "%s/model", s->dir);
    sample_trace_write(trace, 12);
    spawn_run(&o, "analyze", "--foi", "step", trace, "-o", s->made, NULL);
    assert_int_equal(o.status, 0);
    outcome_release(&o);
    file_set_load(&s->files, s->made);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;

    fs_remove_tree(s->dir);
    file_set_release(&s->files);
    free(s);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_copy, remove_copy)
    const struct CMUnitTest tests[] = {
        TEST(a_journal_does_not_have_files_removed),
        TEST(links_and_pipes_are_refused),
        TEST(a_directory_of_calls_elsewhere_is_refused),
        TEST(a_database_with_a_second_name_is_not_written),
        TEST(numbers_of_calls_are_not_believed),
        TEST(nulls_where_there_should_be_none_do_no_harm),
        TEST(what_a_run_does_not_have_is_refused),
        TEST(numbers_of_the_database_are_not_believed),
    };
#undef TEST

    return cmocka_run_group_tests(tests, setup, teardown);
}

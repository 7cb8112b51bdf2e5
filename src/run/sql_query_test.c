/* Questions, and what somebody may send who means no question. */
#include "run/sql_query.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/progress.h"
#include "run/rundb.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

/* A run.db with ten communicators, opened to be read, for each question anew. */
struct scene {
    char path[64];
    int dir;
    struct database db;
    struct sql_query_limits limits;
    json_t *answer;
};

static struct scene s;

static void begin(void)
{
    s = (struct scene){.limits = {10000000000u, (uint64_t)64 << 20, 1 << 20, 100, NULL, NULL}};
    strcpy(s.path, "sql-query-XXXXXX");
    assert_non_null(test_dir(s.path));
    assert_int_equal(rundb_create(s.path, &s.db), 0);
    rundb_set(s.db.sql, "format", RUNDB_FORMAT);
    assert_int_equal(
        rundb_exec(s.db.sql, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                             "LIMIT 10) INSERT INTO comm SELECT i, 'c' || i, 100 * i FROM n"),
        0);
    assert_int_equal(rundb_finish(s.db.sql), 0);
    database_close(&s.db);
    s.dir = open(s.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(s.dir >= 0);
}

static void end(void)
{
    json_decref(s.answer);
    s.answer = NULL;
    database_close(&s.db);
    close(s.dir);
}

static int ask(const char *sql)
{
    int rc;

    json_decref(s.answer);
    s.answer = NULL;
    database_close(&s.db);
    assert_int_equal(rundb_open(s.dir, s.path, false, &s.db), 0);
    rc = sql_query_answer(&s.db, sql, &s.limits, &s.answer);
    assert_true((rc == 0) == (s.answer != NULL));
    return rc;
}

static void is_answered(const char *sql, const char *expected)
{
    json_t *want = json_loads(expected, 0, NULL);

    assert_non_null(want);
    assert_int_equal(ask(sql), 0);
    if (!json_equal(s.answer, want))
        assert_string_equal(json_dumps(s.answer, JSON_SORT_KEYS), expected);
    json_decref(want);
}

static void is_refused(const char *sql, const char *why)
{
    assert_int_equal(ask(sql), ERR_USAGE);
    if (strstr(err_message(), why) == NULL)
        assert_string_equal(err_message(), why);
}

static void values_are_what_they_are_and_numbers_beyond_javascript_texts(void **state)
{
    (void)state;
    begin();
    is_answered("SELECT 1 AS one, 1.5 AS x, 'a' AS t, NULL AS n, 1e999 AS far",
                "{\"columns\": [\"one\", \"x\", \"t\", \"n\", \"far\"], "
                "\"rows\": [[1, 1.5, \"a\", null, null]], \"total\": 1, \"stopped\": null}");
    is_answered("SELECT 9007199254740991, 9007199254740992, -9007199254740992",
                "{\"columns\": [\"9007199254740991\", \"9007199254740992\", "
                "\"-9007199254740992\"], \"rows\": [[9007199254740991, \"9007199254740992\", "
                "\"-9007199254740992\"]], \"total\": 1, \"stopped\": null}");
    is_answered("SELECT name FROM comm WHERE 0",
                "{\"columns\": [\"name\"], \"rows\": [], \"total\": 0, \"stopped\": null}");
    end();
}

static void rows_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    begin();
    s.limits.rows = 2;
    is_answered("SELECT name FROM comm ORDER BY id DESC",
                "{\"columns\": [\"name\"], \"rows\": [[\"c9\"], [\"c8\"]], \"total\": 10, "
                "\"stopped\": null}");
    s.limits.rows = 100;
    s.limits.answer_bytes = 250; /* 16 a row, 16 and its bytes a value */
    assert_int_equal(ask("SELECT 'a234567890123456789' FROM comm"), 0);
    assert_int_equal(json_array_size(json_object_get(s.answer, "rows")), 4);
    assert_int_equal(json_integer_value(json_object_get(s.answer, "total")), 10);
    end();
}

/* The file is compared before and after. */
static uint64_t content(void)
{
    char path[128], bytes[4096];
    uint64_t sum = 14695981039346656037u;
    size_t n;
    FILE *in;

    snprintf(path, sizeof path, "%s/%s", s.path, RUNDB_NAME);
    in = fopen(path, "rb");
    assert_non_null(in);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        for (size_t i = 0; i < n; i++)
            sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    fclose(in);
    return sum;
}

static const char *const changes[] = {
    "DELETE FROM comm",
    "UPDATE comm SET name = 'x'",
    "INSERT INTO comm VALUES (99, 'x', 1)",
    "WITH x AS (SELECT 1) DELETE FROM comm",
    "DELETE FROM comm RETURNING *",
    "DROP TABLE comm",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x (y)",
    "CREATE VIRTUAL TABLE x USING fts5 (y)",
    "CREATE TEMP TRIGGER x AFTER INSERT ON comm BEGIN SELECT 1; END",
    "CREATE TEMP VIEW x AS SELECT 1",
    "ALTER TABLE comm RENAME TO x",
    "ATTACH '/etc/passwd' AS x",
    "ATTACH ':memory:' AS x",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "SAVEPOINT x",
    "REINDEX",
    "ANALYZE",
    "PRAGMA writable_schema = 1",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA query_only = 0",
    "PRAGMA trusted_schema = 1",
    "PRAGMA temp_store_directory = '.'",
    "PRAGMA mmap_size = 1000000000",
    "PRAGMA hard_heap_limit = 1",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA optimize",
    "PRAGMA database_list",
    "EXPLAIN DELETE FROM comm",
    "SELECT 1; DELETE FROM comm",
    "SELECT 1; PRAGMA writable_schema = 1",
    "",
    "-- nothing",
    ";",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('x', 'y')",
    "SELECT edit('x', 'sh')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('simple', x'0000000000000000')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_journal_mode('delete')",
    "SELECT * FROM fsdir('/')",
};

static void what_is_no_question_is_refused_and_changes_nothing(void **state)
{
    uint64_t before;

    (void)state;
    begin();
    before = content();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (ask(changes[i]) != ERR_USAGE)
            assert_string_equal(changes[i], "refused");
    assert_int_equal(content(), before);
    assert_int_equal(access("copy.db", F_OK), -1);
    is_refused("DELETE FROM comm", "query only reads: 'DELETE FROM comm' would change");
    is_refused("SELECT nowhere FROM comm", "bad SQL: no such column: nowhere");
    is_refused("SELECT abs(-9223372036854775807 - 1)", "the query failed: integer overflow");
    end();
}

static void what_there_is_may_be_asked_for(void **state)
{
    (void)state;
    begin();
    assert_int_equal(ask("PRAGMA table_info(comm)"), 0);
    assert_int_equal(json_integer_value(json_object_get(s.answer, "total")), 3);
    assert_int_equal(ask("SELECT sql FROM sqlite_schema"), 0);
    assert_int_equal(ask("SELECT * FROM labelled"), 0); /* a view of ours */
    assert_int_equal(ask("SELECT value FROM json_each('[1, 2]')"), 0);
    assert_int_equal(ask("EXPLAIN QUERY PLAN SELECT * FROM comm"), 0);
    end();
}

static void a_question_without_end_is_stopped(void **state)
{
    static const char *const endless[] = {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT count(*) FROM n",
        "SELECT count(*) FROM comm a, comm b, comm c, comm d, comm e, comm f, comm g, comm h, "
        "comm i, comm j, comm k",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT 1 FROM n WHERE i < 0",
    };
    uint64_t begin_ns;

    (void)state;
    begin();
    s.limits.time_ns = 100000000;
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        begin_ns = clock_ns();
        is_refused(endless[i], "the query was stopped: it took longer than 0.1 s");
        assert_true(clock_ns() - begin_ns < 5000000000u);
    }
    /* Rows that were there by then are answered. */
    s.limits.rows = 3;
    assert_int_equal(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                         "SELECT i FROM n"),
                     0);
    assert_int_equal(json_array_size(json_object_get(s.answer, "rows")), 3);
    assert_true(json_integer_value(json_object_get(s.answer, "total")) > 3);
    assert_string_equal(json_string_value(json_object_get(s.answer, "stopped")),
                        "it took longer than 0.1 s");
    end();
}

static void memory_is_bounded(void **state)
{
    static const char *const large[] = {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT randomblob(1000) AS b FROM n ORDER BY b",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT count(DISTINCT randomblob(1000)) FROM n",
        "WITH RECURSIVE n(b) AS (SELECT x'00' UNION ALL SELECT randomblob(100000) FROM n) "
        "SELECT count(*) FROM (SELECT b FROM n ORDER BY b)",
    };
    sqlite3_int64 before;

    (void)state;
    begin();
    before = sqlite3_memory_used();
    sqlite3_memory_highwater(1);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        is_refused(large[i], "the query was stopped: it took more than 64 MiB of memory");
    assert_true(sqlite3_memory_highwater(0) - before < (sqlite3_int64)256 << 20);
    is_refused("SELECT length(hex(zeroblob(1000000)))",
               "the query failed: string or blob too big");
    is_refused("SELECT zeroblob(2000000000)", "the query failed: string or blob too big");
    is_refused("SELECT group_concat(hex(zeroblob(40000))) FROM comm",
               "the query failed: string or blob too big");
    end();
}

static bool is_never_wanted(const void *ctx)
{
    (void)ctx;
    return true;
}

static int n_asked;

static bool is_soon_unwanted(const void *ctx)
{
    (void)ctx;
    return n_asked++ > 2;
}

static void what_nobody_waits_for_is_given_up(void **state)
{
    (void)state;
    begin();
    s.limits.is_unwanted = is_never_wanted;
    assert_int_equal(ask("SELECT 1"), ERR_INTERRUPTED);
    s.limits.is_unwanted = is_soon_unwanted;
    assert_int_equal(ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                         "SELECT i FROM n"),
                     ERR_INTERRUPTED);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_what_they_are_and_numbers_beyond_javascript_texts),
        cmocka_unit_test(rows_beyond_the_limit_are_counted),
        cmocka_unit_test(what_is_no_question_is_refused_and_changes_nothing),
        cmocka_unit_test(what_there_is_may_be_asked_for),
        cmocka_unit_test(a_question_without_end_is_stopped),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(what_nobody_waits_for_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

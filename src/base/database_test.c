/* Each test is an attack: what a stranger can put beside a database, or into it. */
#include "base/database.h"

#include "base/err.h"
#include "base/fs.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define MADE                                                                                   \
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"             \
    "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, -- in order\n x TEXT);"             \
    "CREATE INDEX IF NOT EXISTS t_x ON t (x);"
#define VICTIM "not ours to change"

/* A directory with t.db in it, which has ten rows, and a file outside. */
struct scene {
    char outside[64], inside[128], victim[128];
    struct database_file file;
    struct database d;
};

static void write_file(const char *path, const void *data, size_t n)
{
    FILE *out = fopen(path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, n, out), n);
    fclose(out);
}

static char *in(const struct scene *s, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", s->inside, name);
    return path;
}

static void begin(struct scene *s)
{
    *s = (struct scene){.file.name = "t.db", .file.path = "scene/t.db"};
    strcpy(s->outside, "database-XXXXXX");
    assert_non_null(test_dir(s->outside));
    snprintf(s->inside, sizeof s->inside, "%s/inside", s->outside);
    snprintf(s->victim, sizeof s->victim, "%s/victim", s->outside);
    write_file(s->victim, VICTIM, strlen(VICTIM));
    assert_int_equal(mkdir(s->inside, 0777), 0);
    s->file.dir = open(s->inside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(s->file.dir >= 0);
    assert_int_equal(database_open(&s->d, &s->file, DATABASE_MAKE), 0);
    assert_int_equal(
        sqlite3_exec(s->d.sql,
                     "PRAGMA journal_mode = WAL;" MADE
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10)"
                     "INSERT INTO t SELECT i, 'x' || i FROM n",
                     NULL, NULL, NULL),
        SQLITE_OK);
    database_close(&s->d);
}

static void end(struct scene *s)
{
    char content[64] = "";
    FILE *in = fopen(s->victim, "rb");

    assert_non_null(in);
    assert_int_equal(fread(content, 1, sizeof content, in), strlen(VICTIM));
    fclose(in);
    assert_string_equal(content, VICTIM);
    database_close(&s->d);
    close(s->file.dir);
    assert_int_equal(fs_remove_tree(s->outside), 0);
}

static int ask(struct database *d, const char *question)
{
    sqlite3_stmt *query = NULL;
    int answer = -1;

    if (sqlite3_prepare_v2(d->sql, question, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        answer = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    return answer;
}

static void expect_refused(struct scene *s, const char *what)
{
    for (enum database_access access = DATABASE_READ; access <= DATABASE_MAKE; access++) {
        assert_int_equal(database_open(&s->d, &s->file, access), ERR_FORMAT);
        assert_non_null(strstr(err_message(), what));
        assert_null(s->d.sql);
    }
    assert_int_equal(database_memory(&s->d, s->file.dir), 0);
    assert_int_equal(database_attach(&s->d, s->file.name, s->file.path, "a"), ERR_FORMAT);
    database_close(&s->d);
}

/* ----------------------------------------------------------------------------------- files */

static void what_was_written_is_read(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_READ), 0);
    assert_int_equal(database_check(&s.d, "main", MADE, "t.db"), 0);
    assert_int_equal(ask(&s.d, "SELECT count(*) FROM t"), 10);
    assert_int_not_equal(sqlite3_exec(s.d.sql, "DELETE FROM t", NULL, NULL, NULL), SQLITE_OK);
    database_close(&s.d);
    database_close(&s.d);
    assert_int_equal(database_memory(&s.d, s.file.dir), 0);
    assert_int_equal(database_attach(&s.d, "t.db", "t.db", "a"), 0);
    assert_int_equal(ask(&s.d, "SELECT count(*) FROM a.t"), 10);
    assert_int_equal(database_attach(&s.d, "no.db", "no.db", "b"), ERR_NOT_FOUND);
    end(&s);
}

/* The journal that SQLite writes when two databases are changed at once, as a stranger would.
 */
static void put_journal(const struct scene *s, const char *super)
{
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char data[1024] = {0}, *at = data + 512;
    size_t n = strlen(super);
    uint32_t sum = 0;
    char path[256];

    memcpy(data, magic, 8);
    data[22] = 2;    /* sector of 512 bytes */
    data[26] = 0x10; /* pages of 4096 */
    at += 4;         /* the page of the lock byte */
    memcpy(at, super, n);
    for (size_t i = 0; i < n; i++)
        sum += (unsigned char)super[i];
    at += n;
    at[3] = (unsigned char)n;
    for (int i = 0; i < 4; i++)
        at[4 + i] = (unsigned char)(sum >> (24 - 8 * i));
    memcpy(at + 8, magic, 8);
    write_file(in(s, "t.db-journal", path), data, (size_t)(at + 16 - data));
}

static void a_journal_cannot_have_another_file_removed(void **state)
{
    char victim[4096];
    struct scene s;

    (void)state;
    begin(&s);
    assert_non_null(realpath(s.victim, victim));
    put_journal(&s, victim);
    expect_refused(&s, "names another file");
    end(&s);
}

/* Each of the files as a link to the victim, as its second name, as a pipe, as a directory. */
static void what_is_beside_it_must_be_files_of_its_own(void **state)
{
    static const char *const names[] = {"t.db-journal", "t.db-wal", "t.db-shm"};
    char path[256];
    struct scene s;

    (void)state;
    begin(&s);
    for (size_t i = 0; i < 3; i++) {
        in(&s, names[i], path);
        assert_int_equal(symlink("../victim", path), 0);
        expect_refused(&s, "is a link");
        unlink(path);
        assert_int_equal(symlink("nowhere", path), 0);
        expect_refused(&s, "is a link");
        unlink(path);
        assert_int_equal(link(s.victim, path), 0);
        expect_refused(&s, "second name");
        unlink(path);
        assert_int_equal(mkfifo(path, 0666), 0);
        expect_refused(&s, "is not a regular file"); /* at once: nobody waits for a writer */
        unlink(path);
        assert_int_equal(mkdir(path, 0777), 0);
        expect_refused(&s, "is not a regular file");
        rmdir(path);
    }
    end(&s);
}

/* Only root can give a file away; for others there is nothing to try. */
static void a_log_of_another_user_is_refused(void **state)
{
    char path[256];
    struct scene s;

    (void)state;
    if (geteuid() != 0)
        skip();
    begin(&s);
    write_file(in(&s, "t.db-wal", path), "", 0);
    assert_int_equal(chown(path, 12345, 12345), 0);
    expect_refused(&s, "belongs to somebody else");
    end(&s);
}

static void the_database_must_be_one_too(void **state)
{
    char path[256], other[256];
    struct scene s;

    (void)state;
    begin(&s);
    in(&s, "t.db", path);
    snprintf(other, sizeof other, "%s/other.db", s.outside);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("../other.db", path), 0);
    expect_refused(&s, "is a link");
    unlink(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    expect_refused(&s, "is not a regular file");
    unlink(path);
    assert_int_equal(link(other, path), 0); /* as backups have them: to be read, not written */
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_WRITE), ERR_FORMAT);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_READ), 0);
    assert_int_equal(ask(&s.d, "SELECT count(*) FROM t"), 10);
    end(&s);
}

/* The link comes when the database is open already. */
static void a_link_that_comes_later_is_not_followed(void **state)
{
    char path[256];
    struct scene s;

    (void)state;
    begin(&s);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_WRITE), 0);
    assert_int_equal(link(s.victim, in(&s, "t.db-wal", path)), 0);
    assert_int_not_equal(sqlite3_exec(s.d.sql, "DELETE FROM t", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(database_error(s.d.sql, "cannot write", "t.db"), ERR_IO);
    end(&s);
}

/* Somebody renames the directory and puts another one, or a link, in its place. */
static void a_directory_that_is_exchanged_is_still_the_one_that_was_opened(void **state)
{
    char away[256];
    struct scene s;

    (void)state;
    begin(&s);
    snprintf(away, sizeof away, "%s/away", s.outside);
    assert_int_equal(rename(s.inside, away), 0);
    assert_int_equal(symlink("/", s.inside), 0);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_WRITE), 0);
    assert_int_equal(sqlite3_exec(s.d.sql, "DELETE FROM t WHERE id > 7", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(ask(&s.d, "SELECT count(*) FROM t"), 7);
    assert_false(database_is_moved(&s.d));
    end(&s);
}

static void a_file_that_was_removed_is_known_to_be(void **state)
{
    char path[256];
    struct scene s;

    (void)state;
    begin(&s);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_WRITE), 0);
    assert_int_equal(ask(&s.d, "SELECT count(*) FROM t"), 10);
    assert_false(database_is_moved(&s.d));
    unlink(in(&s, "t.db", path));
    assert_true(database_is_moved(&s.d));
    end(&s);
}

static void what_was_cut_off_is_rolled_back_as_ever(void **state)
{
    struct scene s;
    int status;

    (void)state;
    begin(&s);
    if (fork() == 0) { /* dies within a transaction that is on disk in part */
        if (database_open(&s.d, &s.file, DATABASE_WRITE) < 0 ||
            sqlite3_exec(s.d.sql,
                         "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1;"
                         "PRAGMA cache_spill = 1; BEGIN; UPDATE t SET x = zeroblob(100000)",
                         NULL, NULL, NULL) != SQLITE_OK)
            _exit(1);
        _exit(0);
    }
    wait(&status);
    assert_int_equal(status, 0);
    assert_int_equal(faccessat(s.file.dir, "t.db-journal", F_OK, 0), 0);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_WRITE), 0);
    assert_int_equal(ask(&s.d, "SELECT count(*) FROM t WHERE length(x) < 4"), 10);
    end(&s);
}

/* As nobody, where we are root, who may write anywhere. */
static void a_directory_that_cannot_be_written_is_read(void **state)
{
    struct scene s;
    int status;

    (void)state;
    begin(&s);
    assert_int_equal(chmod(s.inside, 0555), 0);
    if (fork() == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0 ||
                               prctl(PR_SET_DUMPABLE, 1) != 0)) /* /proc is its own again */
            _exit(1);
        if (faccessat(s.file.dir, ".", W_OK, AT_EACCESS) == 0)
            _exit(2);
        _exit(database_open(&s.d, &s.file, DATABASE_READ) == 0 &&
                      ask(&s.d, "SELECT count(*) FROM t") == 10
                  ? 0
                  : 3);
    }
    wait(&status);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(s.inside, 0777), 0);
    end(&s);
}

/* ------------------------------------------------------------------------------------ within
 */

/* Changes the file as only a stranger's SQLite does. */
static void forge(const struct scene *s, const char *sql)
{
    char path[256], *message = NULL;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(in(s, "t.db", path), &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, &message);
    if (message)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static void what_we_do_not_write_is_refused(void **state)
{
    static const char *const forged[] = {
        "CREATE VIEW v AS SELECT load_extension('x')",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "CREATE INDEX i ON t (hex(x))",
        "CREATE TABLE u (x)",
        "DROP INDEX t_x",
        "DROP TABLE t; CREATE VIEW t AS SELECT 1 AS id, 'x' AS x; DELETE FROM meta",
        "DROP TABLE t; CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT, y AS (hex(x)))",
        "CREATE VIRTUAL TABLE f USING fts4(x)",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 't';"
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (id INTEGER PRIMARY KEY, y)' WHERE "
        "name "
        "= 't'",
    };

    (void)state;
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        struct scene s;
        int rc;

        begin(&s);
        forge(&s, forged[i]);
        rc = database_open(&s.d, &s.file, DATABASE_READ);
        if (rc == 0)
            rc = database_check(&s.d, "main", MADE, "t.db");
        if (rc != ERR_FORMAT)
            fail_msg("taken: %s", forged[i]);
        end(&s);
    }
}

static void comments_and_blanks_may_differ(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_READ), 0);
    assert_int_equal(
        database_check(&s.d, "main",
                       "CREATE TABLE meta (key   TEXT PRIMARY KEY,\n value) WITHOUT ROWID;"
                       "CREATE TABLE t (id INTEGER PRIMARY KEY, -- otherwise\n x TEXT);"
                       "CREATE INDEX t_x ON t (x);",
                       "t.db"),
        0);
    end(&s);
}

static void views_and_triggers_do_nothing(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    forge(&s, "CREATE VIEW v AS SELECT 1;"
              "CREATE TRIGGER g AFTER INSERT ON meta BEGIN DELETE FROM t; END");
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_WRITE), 0);
    assert_int_equal(ask(&s.d, "SELECT * FROM v"), -1);
    sqlite3_exec(s.d.sql, "INSERT INTO meta VALUES ('a', 1)", NULL, NULL, NULL);
    assert_int_equal(ask(&s.d, "SELECT count(*) FROM t"), 10);
    end(&s);
}

static void what_is_no_database_is_said_to_be_none(void **state)
{
    char path[256];
    struct scene s;

    (void)state;
    begin(&s);
    write_file(in(&s, "t.db", path), VICTIM VICTIM, 2 * strlen(VICTIM));
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_READ), ERR_FORMAT);
    end(&s);
}

/*
 * A tree of pages, each of which says of all its children that they are the same one:
 *
 *     page 5 -> 6, 6, 6, ...  page 6 -> 7, 7, 7, ...  ...  the last: a leaf
 *
 * To read all its rows takes (children per page) ^ (depth) steps.
 */
static void put_looping_tree(const struct scene *s)
{
    unsigned char page[4096], leaf[4096];
    char path[256];
    int root, fd, n;
    struct database d;

    assert_int_equal(database_open(&d, &s->file, DATABASE_READ), 0);
    root = ask(&d, "SELECT rootpage FROM sqlite_schema WHERE name = 't'");
    database_close(&d);
    fd = open(in(s, "t.db", path), O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, leaf, 4096, 4096L * (root - 1)), 4096);
    n = (int)(lseek(fd, 0, SEEK_END) / 4096);
    for (int depth = 0; depth < 12; depth++) {
        int self = depth == 0 ? root : n + depth, child = n + depth + 1;

        memset(page, 0, sizeof page);
        page[0] = 5; /* interior, of a table */
        page[4] = 400 % 256;
        page[3] = 400 / 256; /* cells */
        page[5] = 2000 / 256;
        page[6] = 2000 % 256; /* where they begin */
        page[11] = (unsigned char)child;
        for (int c = 0; c < 400; c++) {
            int at = 2000 + 5 * c;

            page[12 + 2 * c] = (unsigned char)(at >> 8);
            page[13 + 2 * c] = (unsigned char)at;
            page[at + 3] = (unsigned char)child;
            page[at + 4] = 10; /* key */
        }
        assert_int_equal(pwrite(fd, page, 4096, 4096L * (self - 1)), 4096);
    }
    assert_int_equal(pwrite(fd, leaf, 4096, 4096L * (n + 11)), 4096);
    n += 12;
    page[0] = (unsigned char)(n >> 24), page[1] = (unsigned char)(n >> 16);
    page[2] = (unsigned char)(n >> 8), page[3] = (unsigned char)n;
    assert_int_equal(pwrite(fd, page, 4, 28), 4); /* pages of the file, in its header */
    close(fd);
}

static void a_tree_that_does_not_end_is_given_up(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    put_looping_tree(&s);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_READ), 0);
    assert_int_equal(ask(&s.d, "SELECT count(x) FROM t WHERE x <> 'a'"), -1);
    assert_int_equal(database_error(s.d.sql, "cannot read", "t.db"), ERR_FORMAT);
    assert_int_equal(ask(&s.d, "SELECT 7"), 7); /* the next question has its own bound */
    end(&s);
}

static void work_within_a_statement_counts(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    assert_int_equal(database_open(&s.d, &s.file, DATABASE_READ), 0);
    assert_true(database_spend(&s.d, 1 << 20));
    assert_false(database_spend(&s.d, (uint64_t)1 << 40));
    assert_int_equal(ask(&s.d, "SELECT 7"), 7);
    assert_true(database_spend(&s.d, 1 << 20));
    database_unbound(&s.d);
    assert_true(database_spend(&s.d, (uint64_t)1 << 40));
    end(&s);
}

static void only_questions_are_compiled(void **state)
{
    static const char *const other[] = {"DELETE FROM a.t", "ATTACH 'file:/etc/passwd' AS p",
                                        "PRAGMA writable_schema = 1", "CREATE TEMP TABLE u (x)",
                                        "BEGIN"};
    struct scene s;

    (void)state;
    begin(&s);
    assert_int_equal(database_memory(&s.d, s.file.dir), 0);
    assert_int_not_equal(
        sqlite3_exec(s.d.sql, "ATTACH 'file:/etc/passwd' AS p", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(database_attach(&s.d, "t.db", "t.db", "a"), 0);
    database_read_only(&s.d);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_int_not_equal(sqlite3_exec(s.d.sql, other[i], NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(ask(&s.d, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                               "LIMIT 3) SELECT max(i) + count(*) FROM n, a.t"),
                     33);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_journal_cannot_have_another_file_removed),
        cmocka_unit_test(what_is_beside_it_must_be_files_of_its_own),
        cmocka_unit_test(a_log_of_another_user_is_refused),
        cmocka_unit_test(the_database_must_be_one_too),
        cmocka_unit_test(a_link_that_comes_later_is_not_followed),
        cmocka_unit_test(a_directory_that_is_exchanged_is_still_the_one_that_was_opened),
        cmocka_unit_test(a_file_that_was_removed_is_known_to_be),
        cmocka_unit_test(what_was_cut_off_is_rolled_back_as_ever),
        cmocka_unit_test(a_directory_that_cannot_be_written_is_read),
        cmocka_unit_test(what_we_do_not_write_is_refused),
        cmocka_unit_test(comments_and_blanks_may_differ),
        cmocka_unit_test(views_and_triggers_do_nothing),
        cmocka_unit_test(what_is_no_database_is_said_to_be_none),
        cmocka_unit_test(a_tree_that_does_not_end_is_given_up),
        cmocka_unit_test(work_within_a_statement_counts),
        cmocka_unit_test(only_questions_are_compiled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

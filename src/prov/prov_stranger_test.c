/* A store that somebody else has made, who means no good: nothing outside it is touched,
 * whoever opens it, and what is read of it has bounds. */
#include "prov/prov_store.h"

#include "base/err.h"
#include "base/fs.h"
#include "prov/prov_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

#define VICTIM "not ours to change"

static char top[64], dir[128], victim[128];

static void write_victim(void)
{
    FILE *out = fopen(victim, "w");

    assert_non_null(out);
    fputs(VICTIM, out);
    fclose(out);
}

static int begin(void **state)
{
    struct prov_store *store;
    struct prov_record record;
    struct arena arena = {0};

    (void)state;
    strcpy(top, "prov-stranger-XXXXXX");
    if (test_dir(top) == NULL)
        return -1;
    snprintf(dir, sizeof dir, "%s/store", top);
    snprintf(victim, sizeof victim, "%s/victim", top);
    write_victim();
    assert_int_equal(prov_store_open(dir, NULL, &store), 0);
    for (uint64_t i = 0; i < 10; i++) {
        sample_record(0, i, &arena, &record);
        prov_store_put(store, PROV_ANOMALY, &record);
    }
    arena_release(&arena);
    return prov_store_close(store);
}

static int end(void **state)
{
    char content[64] = "";
    FILE *in = fopen(victim, "r");

    (void)state;
    assert_non_null(in);
    assert_non_null(fgets(content, sizeof content, in));
    fclose(in);
    assert_string_equal(content, VICTIM);
    return fs_remove_tree(top);
}

static char *in_store(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", dir, name);
    return path;
}

/* Neither read, nor written, nor tidied up. */
static void expect_refused(const char *what)
{
    struct prov_store *store;
    struct database reader;

    assert_int_equal(prov_reader_open(dir, &reader), ERR_FORMAT);
    if (strstr(err_message(), what) == NULL)
        fail_msg("'%s' does not say '%s'", err_message(), what);
    assert_int_equal(prov_store_open(dir, NULL, &store), ERR_FORMAT);
    prov_home_discard(dir);
    assert_true(prov_dir_is_store(dir));
}

/* As SQLite writes it when two databases are changed at once: at the end, what is removed. */
static void a_journal_that_names_another_file(void **state)
{
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char journal[8192] = {0}, *at = journal + 516;
    char path[256], name[4096];
    uint32_t sum = 0;
    size_t n;
    FILE *out;

    (void)state;
    assert_non_null(realpath(victim, name));
    n = strlen(name);
    memcpy(journal, magic, 8);
    journal[22] = 2;    /* sector: 512 bytes */
    journal[26] = 0x10; /* page: 4096 bytes */
    memcpy(at, name, n);
    for (size_t i = 0; i < n; i++)
        sum += (unsigned char)name[i];
    at[n + 2] = (unsigned char)(n >> 8);
    at[n + 3] = (unsigned char)n;
    for (int i = 0; i < 4; i++)
        at[n + 4 + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
    memcpy(at + n + 8, magic, 8);
    out = fopen(in_store("shard-0000.db-journal", path), "wb");
    assert_int_equal(fwrite(journal, 1, (size_t)(at + n + 16 - journal), out),
                     at + n + 16 - journal);
    fclose(out);
    expect_refused("names another file");
}

static void links_in_place_of_files(void **state)
{
    static const char *const names[] = {"shard-0000.db-wal", "shard-0000.db-shm",
                                        "shard-0000.db-journal"};
    char path[256];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        in_store(names[i], path);
        assert_int_equal(symlink("../victim", path), 0);
        expect_refused("is a link");
        unlink(path);
        assert_int_equal(link(victim, path), 0);
        expect_refused("second name");
        unlink(path);
    }
}

static void a_shard_elsewhere(void **state)
{
    char path[256], other[256];

    (void)state;
    in_store("shard-0000.db", path);
    snprintf(other, sizeof other, "%s/other.db", top);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("../other.db", path), 0);
    expect_refused("is a link");
}

static void a_lock_that_is_a_link(void **state)
{
    struct prov_store *store;
    char path[256];

    (void)state;
    assert_int_equal(symlink("../made", in_store("lock", path)), 0);
    assert_int_equal(prov_store_open(dir, NULL, &store), ERR_IO);
    snprintf(path, sizeof path, "%s/made", top);
    assert_false(fs_exists(path));
}

static void forge(const char *sql)
{
    char path[256], *message = NULL;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(in_store("shard-0000.db", path), &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, &message);
    if (message)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static void tables_that_are_not_ours(void **state)
{
    static const char *const forged[] = {
        "DROP TABLE record; CREATE VIEW record AS SELECT 1 AS id, 0 AS is_normal",
        "CREATE TRIGGER g AFTER INSERT ON record BEGIN DELETE FROM function; END",
        "DROP INDEX record_step; CREATE INDEX record_step ON record (hex(data))",
        "ALTER TABLE metadata_row ADD COLUMN x AS (hex(zeroblob(1000000)))",
        "CREATE TABLE more (x)",
    };

    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        forge(forged[i]);
        expect_refused("shard-0000.db' is not what snag writes: it has a ");
        end(state);
        begin(state);
    }
}

static void numbers_that_cannot_be(void **state)
{
    static const char *const forged[] = {
        "UPDATE meta SET value = 100000 WHERE key = 'shards'",
        "UPDATE meta SET value = -1 WHERE key = 'shards'",
        "UPDATE meta SET value = zeroblob(1000) WHERE key = 'shards'",
        "UPDATE meta SET value = 3 WHERE key = 'shard'",
        "DELETE FROM meta",
        "UPDATE meta SET value = 77 WHERE key = 'format'",
    };

    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        struct database reader;

        forge(forged[i]);
        assert_int_equal(prov_reader_open(dir, &reader), ERR_FORMAT);
        end(state);
        begin(state);
    }
}

static json_int_t ask(struct database *reader, const char *question)
{
    sqlite3_stmt *query = NULL;
    json_int_t answer = -1;

    if (sqlite3_prepare_v2(reader->sql, question, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        answer = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return answer;
}

/* Puts a record with these bytes after the others. */
static void put_bytes(const struct pack *plain)
{
    static const char sql[] =
        "INSERT INTO record(run, is_normal, program, rank, thread, step, idx, fid, function, "
        "enter_ns, "
        "leave_ns, inclusive_ns, exclusive_ns, severity_ns, model_version, is_gpu, data, "
        "stored_ns) "
        "VALUES (1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, ?, 1)";
    ZSTD_CCtx *context = prov_compressor();
    struct pack compressed = {0};
    sqlite3_stmt *insert;
    char path[256];
    sqlite3 *db;

    prov_compress(context, plain->data, plain->n, &compressed);
    assert_int_equal(sqlite3_open(in_store("shard-0000.db", path), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &insert, NULL), SQLITE_OK);
    sqlite3_bind_blob(insert, 1, compressed.data, (int)compressed.n, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    ZSTD_freeCCtx(context);
    pack_release(&compressed);
}

/* Two kilobytes that say a million calls, and a long name that is said again and again. */
static void a_record_that_grows_without_end(void **state)
{
    struct prov_call *call = calloc(1000000, sizeof *call);
    struct prov_record record;
    struct arena arena = {0};
    struct pack plain = {0};
    struct database reader;
    char *name = calloc(1, 1 << 20);

    (void)state;
    memset(name, 'x', (1 << 20) - 1);
    sample_record(0, 0, &arena, &record);
    record.stack = call;
    record.n_stack = 1000000;
    for (size_t i = 0; i < record.n_stack; i++)
        call[i].func = "f";
    prov_record_pack(&record, &plain);
    put_bytes(&plain);
    plain.n = 0;
    record.n_stack = 20000;
    for (size_t i = 0; i < record.n_stack; i++)
        call[i].func = name;
    prov_record_pack(&record, &plain);
    put_bytes(&plain);
    assert_int_equal(prov_reader_open(dir, &reader), 0);
    assert_int_equal(ask(&reader, "SELECT count(*) FROM anomalies"), 12);
    assert_int_equal(ask(&reader, "SELECT count(record) FROM anomalies"), 10);
    database_close(&reader);
    pack_release(&plain);
    arena_release(&arena);
    free(call);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_journal_that_names_another_file, begin, end),
        cmocka_unit_test_setup_teardown(links_in_place_of_files, begin, end),
        cmocka_unit_test_setup_teardown(a_shard_elsewhere, begin, end),
        cmocka_unit_test_setup_teardown(a_lock_that_is_a_link, begin, end),
        cmocka_unit_test_setup_teardown(tables_that_are_not_ours, begin, end),
        cmocka_unit_test_setup_teardown(numbers_that_cannot_be, begin, end),
        cmocka_unit_test_setup_teardown(a_record_that_grows_without_end, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The figures by hand, and of a store that was written: bytes of its files, of its runs. */
#include "prov/reduction.h"

#include "base/fs.h"
#include "base/mem.h"
#include "prov/prov_reader.h"

#include <unistd.h>

#include "test.h"

static void the_factor_is_what_is_left(void **state)
{
    const struct prov_counts store = {.bytes = 1 << 20},
                             sent = {.bytes = 4 << 20, .is_sent = true}, empty = {.bytes = 0};
    struct reduction r = reduction_of(20 << 20, NULL, &store);
    char text[REDUCTION_TEXT];

    (void)state;
    assert_true(reduction_factor(&r) == 20);
    assert_string_equal(reduction_text(&r, text),
                        "20.0 MiB of trace read, 1.00 MiB stored: 20 times less");
    r = reduction_of(1 << 20, NULL, &sent);
    assert_string_equal(reduction_text(&r, text),
                        "1.00 MiB of trace read, 4.00 MiB sent to the database: 4 times more");
    r = reduction_of(0, "it is no file", &store);
    assert_true(isnan(reduction_factor(&r)));
    assert_string_equal(
        reduction_text(&r, text),
        "1.00 MiB stored; of how many bytes of trace is not known, because it is "
        "no file");
    r = reduction_of(1 << 20, NULL, NULL);
    assert_string_equal(r.why, "there is no store");
    r = reduction_of(1 << 20, NULL, &empty);
    assert_true(isnan(reduction_factor(&r)));
}

static void write_run(const char *url, uint64_t trace_bytes, struct prov_counts *counts)
{
    struct prov_store *store;

    assert_int_equal(prov_store_open(url, NULL, &store), 0);
    for (uint32_t i = 0; i < 2000; i++)
        prov_store_put_metadata(store, &(struct prov_metadata){0, i, 0, "what", "a value"});
    if (trace_bytes > 0)
        assert_true(prov_store_put_size(store, trace_bytes));
    prov_store_end(store);
    prov_store_counts(store, counts);
    assert_int_equal(prov_store_close(store), 0);
}

static struct reduction read_store(const char *url)
{
    struct database reader;
    struct reduction r;

    assert_int_equal(prov_reader_open(url, &reader), 0);
    assert_int_equal(reduction_read(&reader, url, &r), 0);
    database_close(&reader);
    return r;
}

static void drop_run(const char *dir, int run)
{
    char path[FS_PATH_SIZE], sql[100];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/store/shard-0000.db", dir);
    snprintf(sql, sizeof sql, "UPDATE run SET dropped_ns = 1 WHERE id = %d", run);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Two runs in two shards; a third one that was killed leaves the sum unknown until it is
 * dropped. */
static void a_store_knows_what_its_runs_were_made_of(void **state)
{
    char dir[] = "/tmp/snag-reduction-XXXXXX", url[100], path[FS_PATH_SIZE];
    struct prov_counts first, second, third;
    struct reduction r;
    uint64_t bytes = 0;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(url, sizeof url, "sqlite:%s/store?shards=2", dir);
    write_run(url, 5000000, &first);
    write_run(url, 7000000, &second);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/store/shard-%04d.db", dir, i);
        assert_true(fs_bytes(path) > 0);
        bytes += fs_bytes(path);
    }
    assert_true(first.bytes > 0 && !first.is_sent);
    assert_int_equal(first.bytes + second.bytes, bytes);
    r = read_store(url);
    assert_true(r.trace_bytes == 12000000 && r.stored_bytes == (double)bytes);
    assert_true(fabs(reduction_factor(&r) - 12e6 / (double)bytes) < 1e-9);
    write_run(url, 0, &third);
    r = read_store(url);
    assert_true(isnan(r.trace_bytes));
    assert_string_equal(r.why, "not all of its runs say of how much trace they were made");
    drop_run(dir, 3);
    r = read_store(url);
    assert_true(r.trace_bytes == 12000000 && r.why == NULL);
    fs_remove_tree(dir);
}

/* What no run can have read, in a store that somebody else has made. */
static void numbers_that_cannot_be_say_nothing(void **state)
{
    static const char *const values[] = {"-1", "-9223372036854775808", "9223372036854775807"};
    char dir[] = "/tmp/snag-reduction-XXXXXX", url[100];
    struct prov_counts counts;
    struct reduction r;

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct prov_store *store;
        json_t *object = json_object();

        snprintf(url, sizeof url, "sqlite:%s/%zu", dir, i);
        write_run(url, 0, &counts);
        assert_int_equal(prov_store_open(url, NULL, &store), 0);
        prov_store_put_metadata(
            store, &(struct prov_metadata){.descr = PROV_TRACE_BYTES, .value = values[i]});
        assert_int_equal(prov_store_close(store), 0);
        r = read_store(url);
        assert_true(isnan(r.trace_bytes) && isnan(reduction_factor(&r)));
        reduction_set(object, &r);
        assert_true(json_is_null(json_object_get(object, "trace_bytes")));
        json_decref(object);
    }
    fs_remove_tree(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_factor_is_what_is_left),
        cmocka_unit_test(a_store_knows_what_its_runs_were_made_of),
        cmocka_unit_test(numbers_that_cannot_be_say_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

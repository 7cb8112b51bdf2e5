/*
 * A full disk: nobody waits for long, what is lost is counted, and what is counted as stored is
 * there. When there is room again, writing goes on. On a small tmpfs where we may make one, and
 * with a limit on the size of files everywhere.
 */
#include "base/err.h"
#include "base/fs.h"
#include "prov/prov_store.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sample_answer.h"
#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

#define SMALL "size=700k"
#define LIMIT 300000 /* bytes of a file */

/* What is lost is lost to the disk, not to a writer that has no processor. */
static void wait_for_writer(struct prov_store *store)
{
    struct prov_counts counts;

    do {
        usleep(100);
        prov_store_counts(store, &counts);
    } while (counts.n_waiting > 0 && !counts.is_failing);
}

static void put_some(struct prov_store *store, uint64_t from, uint64_t n)
{
    struct arena arena = {0};
    struct prov_record record;

    for (uint64_t i = from; i < from + n; i++) {
        struct arena_mark mark = arena_mark(&arena);

        sample_record(0, i, &arena, &record);
        prov_store_put(store, PROV_ANOMALY, &record);
        arena_restore(&arena, mark);
        if (i % 100 == 99)
            wait_for_writer(store);
    }
    arena_release(&arena);
}

static int64_t count_stored(const char *url)
{
    return sample_answer_number(url, "SELECT count(record) FROM anomalies");
}

/* Puts far more than there is room for. */
static void fill(struct prov_store *store, struct prov_counts *counts)
{
    put_some(store, 0, 8000);
    assert_int_equal(prov_store_flush(store), ERR_IO);
    assert_non_null(strstr(err_message(), "cannot write"));
    prov_store_counts(store, counts);
    assert_true(counts->is_failing);
    assert_true(counts->n_dropped > 0);
    assert_int_equal(counts->n_stored + counts->n_waiting + counts->n_dropped, 8000);
}

/* Waits until the writer has found out; how long is not ours to judge. */
static void wait_for_recovery(struct prov_store *store)
{
    struct prov_counts counts;

    do {
        usleep(10000);
        prov_store_counts(store, &counts);
    } while (counts.is_failing || counts.n_waiting > 0);
}

static void fill_and_recover(const char *dir, void (*make_room)(const char *dir))
{
    const struct prov_store_opts opts = {.queue = 500, .wait_ms = 20, .limit_bytes = 1u << 30};
    struct prov_store *store;
    struct prov_counts counts;
    uint64_t n_lost;

    assert_int_equal(prov_store_open(dir, &opts, &store), 0);
    fill(store, &counts);
    n_lost = counts.n_dropped;
    make_room(dir);
    wait_for_recovery(store);
    assert_int_equal(prov_store_flush(store), ERR_IO); /* tells of the lost ones, once */
    assert_int_equal(prov_store_flush(store), 0);
    put_some(store, 8000, 100);
    assert_int_equal(prov_store_flush(store), 0);
    prov_store_counts(store, &counts);
    assert_int_equal(counts.n_dropped, n_lost);
    assert_int_equal(counts.n_stored, 8100 - n_lost);
    assert_int_equal(count_stored(dir), counts.n_stored);
    assert_int_equal(prov_store_close(store), ERR_IO);
}

static void lift_limit(const char *dir)
{
    struct rlimit limit;

    (void)dir;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void set_limit(void)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = LIMIT;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void a_file_that_may_not_grow(void **state)
{
    char dir[] = "prov-limit-XXXXXX";

    (void)state;
    assert_non_null(test_dir(dir));
    set_limit();
    fill_and_recover(dir, lift_limit);
    fs_remove_tree(dir);
}

/* Closing does not wait for a disk that stays full. */
static void a_store_is_closed_while_the_disk_is_full(void **state)
{
    const struct prov_store_opts opts = {.queue = 500, .wait_ms = 20, .limit_bytes = 1u << 30};
    char dir[] = "prov-limit-XXXXXX";
    struct prov_store *store;
    struct prov_counts counts;

    (void)state;
    assert_non_null(test_dir(dir));
    set_limit();
    assert_int_equal(prov_store_open(dir, &opts, &store), 0);
    fill(store, &counts);
    assert_int_equal(prov_store_close(store), ERR_IO);
    assert_non_null(strstr(err_message(), "were not stored"));
    lift_limit(dir);
    assert_true(count_stored(dir) >= (int64_t)counts.n_stored);
    fs_remove_tree(dir);
}

static void enlarge(const char *dir)
{
    assert_int_equal(mount("none", dir, "tmpfs", MS_REMOUNT, "size=64m"), 0);
}

static void a_small_file_system(void **state)
{
    char dir[] = "prov-tmpfs-XXXXXX";

    (void)state;
    assert_non_null(test_dir(dir));
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", dir, "tmpfs", 0, SMALL) != 0) {
        rmdir(dir);
        skip();
    }
    fill_and_recover(dir, enlarge);
    umount(dir);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_may_not_grow),
        cmocka_unit_test(a_store_is_closed_while_the_disk_is_full),
        cmocka_unit_test(a_small_file_system),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

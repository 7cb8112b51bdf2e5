/* Whole traces from the synthetic source, read into columns and looked at from both sides. */
#include "run/ingest.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/columns.h"

#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_process_group.h"
#include "test.h"
#include "test_dir.h"

static const char program[] = "synth:60*step(compute@1ms(a 3*b) >1 <1 |);ranks=7;jitter=0.2";

struct result {
    char dir[32];
    struct source source;
    struct ingested ingested;
    int rc;
};

static void run(struct result *r, const char *trace, unsigned n_threads)
{
    struct ingest_opts opts = {.dir = r->dir, .pool = pool_new(n_threads)};

    strcpy(r->dir, "/tmp/snag-ingest-XXXXXX");
    assert_non_null(test_dir(r->dir));
    assert_int_equal(source_open(&r->source, trace), 0);
    r->rc = ingest(&r->source, &opts, &r->ingested);
    pool_free(opts.pool);
}

static void finish(struct result *r)
{
    ingested_release(&r->ingested);
    source_close(&r->source);
    fs_remove_tree(r->dir);
}

static void assert_same_file(const struct result *a, const struct result *b, const char *name)
{
    const void *left, *right;
    size_t n, m;
    char path[128];

    snprintf(path, sizeof path, "%s/calls/%s", a->dir, name);
    assert_int_equal(fs_map(path, &left, &n), 0);
    snprintf(path, sizeof path, "%s/calls/%s", b->dir, name);
    assert_int_equal(fs_map(path, &right, &m), 0);
    assert_int_equal(n, m);
    assert_true(n == 0 || memcmp(left, right, n) == 0);
    fs_unmap(left, n);
    fs_unmap(right, m);
}

static void the_bytes_do_not_depend_on_the_number_of_threads(void **state)
{
    static const char *const others[] = {"depth_start.u64", "messages.rec", "collectives.rec",
                                         "index"};
    struct result one, other;

    (void)state;
    run(&one, program, 1);
    assert_int_equal(one.rc, 0);
    for (unsigned n_threads = 2; n_threads <= 8; n_threads += 3) {
        run(&other, program, n_threads);
        assert_int_equal(other.rc, 0);
        for (int c = 0; c < N_COLUMNS; c++)
            assert_same_file(&one, &other, columns_name(c));
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            assert_same_file(&one, &other, others[i]);
        assert_memory_equal(one.ingested.profile.row, other.ingested.profile.row,
                            one.ingested.profile.n_regions * sizeof *one.ingested.profile.row);
        finish(&other);
    }
    finish(&one);
}

/* Ranks whose clocks disagree, and of which one does more: times on disk are moved. */
static const char skewed[] =
    "synth:60*step(compute@1ms(a 3*b) 2:40*io >1 <1 |);ranks=7;jitter=0.2;skew=5ms;drift=10";

/* In each of several processes: all write to the directory of number 0. */
static int read_together(void *ctx, unsigned me)
{
    struct result *r = ctx;
    struct ingest_opts opts = {.dir = r->dir, .pool = pool_new(2)};
    int rc = process_group_join(&opts.process_group, NULL, 1);

    if (rc == 0)
        rc = process_group_agree(opts.process_group, source_open(&r->source, skewed));
    if (rc == 0)
        rc = ingest(&r->source, &opts, &r->ingested);
    process_group_leave(opts.process_group);
    pool_free(opts.pool);
    if (me > 0) {
        ingested_release(&r->ingested);
        source_close(&r->source);
    }
    return rc;
}

static void assert_same_result(const struct result *one, const struct result *many)
{
    const struct ingested *a = &one->ingested, *b = &many->ingested;

    assert_memory_equal(a->location, b->location, a->n_locations * sizeof *a->location);
    assert_memory_equal(a->profile.row, b->profile.row,
                        a->profile.n_regions * sizeof *a->profile.row);
    assert_memory_equal(a->fix, b->fix, one->source.defs.n_ranks * sizeof *a->fix);
    assert_int_equal(a->loops.n, b->loops.n);
    assert_int_equal(a->n_records, b->n_records);
    assert_int_equal(a->shift_ns, b->shift_ns);
}

static void the_bytes_do_not_depend_on_the_number_of_processes(void **state)
{
    static const char *const others[] = {"depth_start.u64", "messages.rec", "collectives.rec",
                                         "teams.rec",       "barriers.u32", "index"};
    struct result one, many;

    (void)state;
    run(&one, skewed, 1);
    assert_int_equal(one.rc, 0);
    for (unsigned n = 2; n <= 8; n += 3) {
        strcpy(many.dir, "/tmp/snag-ingest-XXXXXX");
        assert_non_null(test_dir(many.dir));
        assert_int_equal(sample_process_group_run(n, read_together, &many), 0);
        for (int c = 0; c < N_COLUMNS; c++)
            assert_same_file(&one, &many, columns_name(c));
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            assert_same_file(&one, &many, others[i]);
        assert_same_result(&one, &many);
        finish(&many);
    }
    finish(&one);
}

static void columns_hold_every_call(void **state)
{
    struct columns columns;
    struct result r;
    uint64_t n = 0;

    (void)state;
    run(&r, program, 2);
    assert_int_equal(columns_open(&columns, r.dir), 0);
    assert_int_equal(columns_verify(&columns), 0);
    assert_int_equal(columns.n_calls, 7 * 60 * 9);
    assert_int_equal(columns.n_messages, 7 * 60 * 2);
    for (uint32_t l = 0; l < columns.n_locations; l++) {
        struct call_view v = columns_view(&columns, l);
        uint64_t roots = 0, exclusive = 0;
        uint32_t *callers = mem_alloc(v.n, sizeof *callers);

        calls_callers(&v, callers);
        for (uint32_t i = 0; i < v.n; i++) {
            exclusive += v.inclusive_ns[i];
            assert_int_equal(calls_caller(&v, i), callers[i]);
            if (callers[i] == NO_CALL)
                roots += v.inclusive_ns[i];
            else
                exclusive -= v.inclusive_ns[i];
        }
        free(callers);
        assert_int_equal(exclusive, roots);
        assert_int_equal(roots, r.ingested.location[l].root_ns);
        n += v.n;
    }
    assert_int_equal(n, columns.n_calls);
    columns_close(&columns);
    columns_close(&columns);
    finish(&r);
}

static void rows_by_depth_are_in_time_order(void **state)
{
    struct columns columns;
    struct call_view v;
    struct result r;

    (void)state;
    run(&r, program, 1);
    assert_int_equal(columns_open(&columns, r.dir), 0);
    v = columns_view(&columns, 3);
    assert_int_equal(v.n_depths, 3);
    assert_int_equal(v.depth_start[0], 0);
    assert_int_equal(v.depth_start[3], v.n);
    for (uint32_t d = 0; d < v.n_depths; d++)
        for (uint64_t i = v.depth_start[d]; i < v.depth_start[d + 1]; i++) {
            uint32_t row = v.by_depth[i];

            assert_int_equal(v.depth[row], d);
            if (i > v.depth_start[d])
                assert_true(v.enter_ns[v.by_depth[i - 1]] <= v.enter_ns[row]);
        }
    columns_close(&columns);
    finish(&r);
}

static void wrong_clocks_are_corrected_in_the_columns_too(void **state)
{
    struct columns columns;
    struct result r;

    (void)state;
    run(&r, "synth:40*step(compute@1ms |);ranks=4;jitter=0.1;skew=3ms", 2);
    assert_int_equal(r.ingested.clock.n_shifted, 3);
    assert_int_equal(r.ingested.quality.n[QUALITY_clock_shifted], 3);
    assert_int_equal(r.ingested.quality.n[QUALITY_collective_order], 0);
    assert_int_equal(columns_open(&columns, r.dir), 0);
    assert_int_equal(columns_verify(&columns), 0);
    for (uint32_t l = 0; l < 4; l++) { /* all ranks start at the same time */
        struct call_view v = columns_view(&columns, l);

        assert_true(v.enter_ns[0] < 200000);
        assert_true(v.collective[0].end_ns <= v.enter_ns[0] + v.inclusive_ns[0]);
    }
    columns_close(&columns);
    finish(&r);
}

static void damage_to_the_files_is_noticed(void **state)
{
    struct columns columns;
    char path[128];
    struct result r;
    FILE *file;

    (void)state;
    run(&r, program, 1);
    snprintf(path, sizeof path, "%s/calls/region.u32", r.dir);
    file = fopen(path, "r+");
    fseek(file, 400, SEEK_SET);
    fputc(0x55, file);
    fclose(file);
    assert_int_equal(columns_open(&columns, r.dir), 0);
    assert_int_equal(columns_verify(&columns), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "region.u32"));
    columns_close(&columns);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(columns_open(&columns, r.dir), ERR_FORMAT);
    columns_close(&columns);
    snprintf(path, sizeof path, "%s/calls/index", r.dir);
    file = fopen(path, "r+");
    fseek(file, 90, SEEK_SET);
    fputc(0x55, file);
    fclose(file);
    assert_int_equal(columns_open(&columns, r.dir), ERR_FORMAT);
    columns_close(&columns);
    assert_int_equal(truncate(path, 3), 0);
    assert_int_equal(columns_open(&columns, r.dir), ERR_FORMAT);
    columns_close(&columns);
    finish(&r);
}

/* Files may not grow beyond 64 KiB: stands for a full disk. */
static void a_full_disk_is_an_error(void **state)
{
    struct rlimit old, small;
    struct result r;

    (void)state;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 65536;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    run(&r, "synth:3000*step(a b c d);ranks=4", 2);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(r.rc, ERR_IO);
    assert_non_null(strstr(err_message(), "calls/enter_ns.u64': File too large"));
    finish(&r);
}

/* Rank 1's clock is behind, so that it begins before 0 until all times are moved. */
static void what_is_corrected_to_before_0_is_in_order(void **state)
{
    struct result r;

    (void)state;
    run(&r, "synth:50*step(1:>1 0:<1 0:>1 1:c@1ms 1:<1);ranks=2;skew=3ms", 1);
    assert_int_equal(r.rc, 0);
    assert_true(r.ingested.clock.n_shifted > 0);
    assert_int_equal(r.ingested.clock.n_wrong_messages, 0);
    assert_int_equal(r.ingested.quality.n[QUALITY_recv_before_send], 0);
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_corrected_to_before_0_is_in_order),
        cmocka_unit_test(the_bytes_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(the_bytes_do_not_depend_on_the_number_of_processes),
        cmocka_unit_test(columns_hold_every_call),
        cmocka_unit_test(rows_by_depth_are_in_time_order),
        cmocka_unit_test(wrong_clocks_are_corrected_in_the_columns_too),
        cmocka_unit_test(damage_to_the_files_is_noticed),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A full disk while calls are recorded: every step is judged as without a store, what is lost
 * is counted, what is counted as stored is there, and in the end it is said.
 */
#include "live/live_recorder.h"

#include "base/err.h"
#include "base/fs.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sample_answer.h"
#include "test.h"
#include "test_dir.h"

#define LIMIT 400000 /* bytes of a file */

static const char program[] = "synth:2000*step(c@200us >1 <1);ranks=4;jitter=0.05;"
                              "slow=c/10/30";

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* What is lost is lost to the disk, not to a writer that has no processor. */
static void wait_for_writer(void *ctx, const struct ad_step *step)
{
    struct live_recorder_counts counts;

    (void)step;
    for (;;) {
        live_recorder_counts(ctx, &counts);
        if (counts.store.n_waiting == 0 || counts.store.why)
            return;
        usleep(100);
    }
}

static struct ad_totals judge(struct live_recorder *recorder)
{
    struct stream stream;
    struct ad_opts opts = ad_default();
    struct ad_totals totals;
    struct ad *ad;

    opts.detector = call_detector_find("sstd");
    opts.detector_opts.sigmas = 1.5; /* every tenth call is nothing rare */
    opts.sink = (struct ad_sink[]){{live_recorder_step, recorder}, {wait_for_writer, recorder}};
    opts.n_sinks = recorder ? 2 : 0;
    assert_int_equal(stream_open(&stream, program, &(struct stream_opts){.step_ns = 5000000}),
                     0);
    ad = ad_new(&stream, &opts);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    totals = *ad_totals(ad);
    ad_free(ad);
    stream_close(&stream);
    return totals;
}

static uint64_t count_stored(const char *url)
{
    return (uint64_t)sample_answer_number(url, "SELECT (SELECT count(record) FROM anomalies) + "
                                               "(SELECT count(record) FROM normalexecs) + "
                                               "(SELECT count(*) FROM ad_model)");
}

static void a_full_disk_loses_records_and_nothing_else(void **state)
{
    char dir[] = "recorder-disk-XXXXXX";
    struct live_recorder_opts opts = {
        .url = dir, .window = 10, .store = {.queue = 100, .wait_ms = 20}};
    struct ad_totals without = judge(NULL), with;
    struct live_recorder *recorder;
    struct live_recorder_counts counts;

    (void)state;
    assert_non_null(test_dir(dir));
    limit_files(LIMIT);
    assert_int_equal(live_recorder_open(&recorder, &opts), 0);
    with = judge(recorder);
    live_recorder_counts(recorder, &counts);
    assert_memory_equal(&with, &without, sizeof with);
    assert_true(counts.store.n_dropped > 0);
    assert_true(counts.store.n_stored > 0);
    assert_true(counts.store.n_anomalies < with.n_anomalies);
    assert_non_null(counts.store.why);
    assert_int_equal(live_recorder_close(recorder), ERR_IO);
    assert_non_null(strstr(err_message(), "were not stored"));
    limit_files(RLIM_INFINITY);
    assert_int_equal(counts.store.n_waiting, 0);
    assert_int_equal(count_stored(dir), counts.store.n_stored);
    assert_int_equal((uint64_t)sample_answer_number(dir, "SELECT count(*) FROM anomalies"),
                     counts.store.n_anomalies);
    assert_int_equal((uint64_t)sample_answer_number(dir, "SELECT count(*) FROM normalexecs"),
                     counts.store.n_normals);
    assert_int_equal(fs_remove_tree(dir), 0);
}

/* Somebody removes the store: what was in it is not said to be stored. */
static void a_store_that_is_removed_meanwhile_has_nothing(void **state)
{
    char dir[] = "recorder-disk-XXXXXX";
    struct live_recorder_opts opts = {.url = dir, .window = 10};
    struct live_recorder *recorder;
    struct live_recorder_counts counts;

    (void)state;
    assert_non_null(test_dir(dir));
    assert_int_equal(live_recorder_open(&recorder, &opts), 0);
    assert_int_equal(fs_remove_tree(dir), 0);
    judge(recorder);
    live_recorder_counts(recorder, &counts);
    assert_int_equal(counts.store.n_stored, 0);
    assert_int_equal(counts.store.n_anomalies, 0);
    assert_true(counts.store.n_dropped > 0);
    assert_true(counts.store.is_failing);
    assert_non_null(strstr(counts.store.why, "removed"));
    assert_int_equal(live_recorder_close(recorder), ERR_IO);
    assert_false(fs_exists(dir));
}

/* Room comes back before the end: what was put later is there, with the final verdicts. */
static void make_room(void *ctx, const struct ad_step *step)
{
    struct live_recorder *recorder = ctx;
    struct live_recorder_counts counts;

    live_recorder_counts(recorder, &counts);
    if (counts.store.n_dropped > 0 && !step->is_last)
        limit_files(RLIM_INFINITY);
    while (step->is_last && counts.store.n_waiting > 0) {
        usleep(10000);
        live_recorder_counts(recorder, &counts);
    }
}

static void when_there_is_room_again_it_goes_on(void **state)
{
    char dir[] = "recorder-disk-XXXXXX";
    struct live_recorder_opts opts = {
        .url = dir, .window = 10, .store = {.queue = 100, .wait_ms = 20}};
    struct live_recorder *recorder;
    struct live_recorder_counts counts;
    struct stream stream;
    struct ad_opts settings = ad_default();
    struct ad_sink sinks[2];
    struct ad *ad;

    (void)state;
    assert_non_null(test_dir(dir));
    limit_files(LIMIT);
    assert_int_equal(live_recorder_open(&recorder, &opts), 0);
    sinks[0] = (struct ad_sink){make_room, recorder};
    sinks[1] = (struct ad_sink){live_recorder_step, recorder};
    settings.detector = call_detector_find("sstd");
    settings.detector_opts.sigmas = 1.5;
    settings.sink = sinks;
    settings.n_sinks = 2;
    assert_int_equal(stream_open(&stream, program, &(struct stream_opts){.step_ns = 50000000}),
                     0);
    ad = ad_new(&stream, &settings);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    live_recorder_counts(recorder, &counts);
    assert_true(counts.store.n_dropped > 0);
    assert_int_equal(live_recorder_close(recorder), ERR_IO);
    ad_free(ad);
    stream_close(&stream);
    assert_true(count_stored(dir) > 0);
    assert_int_equal(fs_remove_tree(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_loses_records_and_nothing_else),
        cmocka_unit_test(a_store_that_is_removed_meanwhile_has_nothing),
        cmocka_unit_test(when_there_is_room_again_it_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

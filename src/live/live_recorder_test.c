/*
 * What ends up in a store, of programs that are said call by call. w is called often and takes
 * 10 or 11 us; when it takes 5 ms that is strange. A window is two calls on either side.
 */
#include "live/live_recorder.h"

#include "base/err.h"
#include "base/fs.h"

#include <jansson.h>
#include <unistd.h>

#include "sample_stream.h"
#include "sample_answer.h"
#include "test.h"
#include "test_dir.h"

#define US 1000u
#define MS 1000000u

static struct sample_stream program;
static struct live_trees *trees;
static char dir[32];

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "recorder-XXXXXX");
    assert_non_null(test_dir(dir));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sample_stream_close(&program);
    live_trees_free(trees);
    trees = NULL;
    assert_int_equal(fs_remove_tree(dir), 0);
    return 0;
}

/* n typical calls, 100 us apart. */
static void say_typical(uint32_t location, uint64_t from_ns, int n)
{
    for (int i = 0; i < n; i++)
        sample_call(&program, location, from_ns + (uint64_t)i * 100 * US, "w",
                    (10u + (unsigned)i % 2) * US);
}

static struct live_recorder_counts run_with(const struct live_recorder_opts *opts,
                                            struct ad_opts ad_settings)
{
    struct live_recorder *recorder;
    struct live_recorder_counts counts;
    struct ad *ad;

    assert_int_equal(live_recorder_open(&recorder, opts), 0);
    ad_settings.detector = call_detector_find("sstd");
    ad_settings.sink = &(struct ad_sink){live_recorder_step, recorder};
    ad_settings.n_sinks = 1;
    ad = ad_new(&program.stream, &ad_settings);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    live_recorder_counts(recorder, &counts);
    assert_int_equal(live_recorder_close(recorder), 0);
    ad_free(ad);
    return counts;
}

/* With "solve" as the function of interest. */
static struct live_recorder_counts run_with_trees(const char *pattern)
{
    struct live_trees_opts trees_opts = live_trees_default();
    struct live_recorder_opts opts = {.url = dir, .window = 2};
    struct ad_opts ad_settings = ad_default();
    struct live_recorder_counts counts;
    struct live_recorder *recorder;
    struct ad_sink sink[2];
    struct ad *ad;

    trees_opts.pattern = &pattern;
    trees_opts.n_patterns = 1;
    assert_int_equal(live_trees_new(&trees_opts, &trees), 0);
    opts.trees = trees;
    assert_int_equal(live_recorder_open(&recorder, &opts), 0);
    sink[0] = (struct ad_sink){live_trees_step, trees};
    sink[1] = (struct ad_sink){live_recorder_step, recorder};
    ad_settings.detector = call_detector_find("sstd");
    ad_settings.sink = sink;
    ad_settings.n_sinks = 2;
    ad = ad_new(&program.stream, &ad_settings);
    while (ad_next(ad, 0) == STREAM_STEP)
        ;
    live_recorder_counts(recorder, &counts);
    assert_int_equal(live_recorder_close(recorder), 0);
    ad_free(ad);
    return counts;
}

static struct live_recorder_counts run(void)
{
    return run_with(&(struct live_recorder_opts){.url = dir, .window = 2, .hostname = "here"},
                    ad_default());
}

static void assert_says(const char *sql, const char *expected)
{
    sample_answer_is(dir, sql, expected);
}

/* Of a list in all anomalies, "name@event" of each call, with * for those that are strange and
 * ... for those that are not over. */
#define CALLS(list)                                                                            \
    "SELECT group_concat(c.value ->> 'func' || '@' || (c.value ->> 'event_id') || "            \
    "iif(c.value ->> 'is_anomaly', '*', '') || iif(c.value ->> 'exit' = 0, '...', ''), ' ') "  \
    "FROM anomalies, json_each(record, '" list "') AS c"

/* Of all anomalies, the links of their causes. */
#define CHAIN                                                                                  \
    "SELECT group_concat((l.value ->> 'rank') || ' ' || (l.value ->> 'function') || ' ' || "   \
    "coalesce(l.value ->> 'waits_for', 'nothing'), ', ') "                                     \
    "FROM anomalies, json_each(record, '$.cause') AS l"

/* Step 0 ends 300 us after the last typical call; call 200 is strange and its last but one. */
static void windows_go_across_steps(void **state)
{
    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_enter(&program, 0, 21 * MS, "main");
    sample_call(&program, 0, 22 * MS, "w", 5 * MS);
    sample_call(&program, 0, 29 * MS, "a", US);
    sample_stream_step(&program, 40 * MS);
    sample_call(&program, 0, 31 * MS, "b", US);
    sample_call(&program, 0, 32 * MS, "c", US);
    sample_leave(&program, 0, 33 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CALLS("$.event_window.exec_window"),
                "w@0:0:199 main@0:0:200 w@0:0:201* a@0:0:202 b@0:1:0");
    assert_says(CALLS("$.call_stack"), "w@0:0:201* main@0:0:200...");
    assert_says("SELECT event_id || ' ' || entry || ' ' || exit || ' ' || io_step || ' ' || "
                "(record ->> 'io_step_tend') || ' ' || (record ->> 'hostname') FROM anomalies",
                "0:0:201 22000.0 27000.0 0 30000 here");
    assert_says("SELECT group_concat(c.value ->> 'parent_event_id') FROM anomalies, "
                "json_each(record, '$.event_window.exec_window') AS c",
                "0:0:200,0:0:200,0:0:200");
}

/* main, and in it w, are open for three steps; what was before them is not forgotten. */
static void calls_that_last_for_steps_keep_their_surroundings(void **state)
{
    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_call(&program, 0, 28 * MS, "a", US);
    sample_enter(&program, 0, 29 * MS, "w");
    sample_call(&program, 0, 29 * MS + 5 * US, "b", US);
    sample_stream_step(&program, 40 * MS);
    sample_stream_step(&program, 50 * MS);
    sample_call(&program, 0, 41 * MS, "c", US);
    sample_call(&program, 0, 42 * MS, "d", US);
    sample_leave(&program, 0, 43 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CALLS("$.event_window.exec_window"),
                "w@0:0:199 a@0:0:200 w@0:0:201* b@0:0:202 c@0:2:0");
    assert_says("SELECT event_id || ' ' || io_step || ' ' || runtime_total || ' ' || "
                "runtime_exclusive FROM anomalies",
                "0:0:201 0 14000.0 13997.0");
}

/*
 *     rank 0   [ main [ w (waits)            ] ]
 *     rank 1      [ x ][ late ...     ][ send ]
 */
static void partners_and_causes_are_told(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 40 * MS);
    for (int i = 0; i < 200; i++) {
        uint64_t at_ns = (uint64_t)i * 100 * US;

        sample_call(&program, 1, at_ns, "x", 4 * US);
        sample_enter(&program, 1, at_ns + 5 * US, "MPI_Send");
        sample_message(&program, 1, at_ns + 5 * US, MESSAGE_SEND, 0, 64);
        sample_leave(&program, 1, at_ns + 6 * US);
        sample_enter(&program, 0, at_ns, "MPI_Recv");
        sample_message(&program, 0, at_ns + 9 * US, MESSAGE_RECV, 1, 64);
        sample_leave(&program, 0, at_ns + (10u + (unsigned)i % 2) * US);
    }
    sample_call(&program, 1, 20 * MS, "x", 4 * US);
    sample_call(&program, 1, 20 * MS + 10 * US, "late", 4 * MS);
    sample_enter(&program, 1, 25 * MS, "MPI_Send");
    sample_message(&program, 1, 25 * MS, MESSAGE_SEND, 0, 64);
    sample_leave(&program, 1, 25 * MS + US);
    sample_enter(&program, 0, 20 * MS, "MPI_Recv");
    sample_message(&program, 0, 25 * MS + 4 * US, MESSAGE_RECV, 1, 64);
    sample_leave(&program, 0, 25 * MS + 5 * US);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CALLS("$.event_window.exec_window"),
                "MPI_Recv@0:0:198 MPI_Recv@0:0:199 MPI_Recv@0:0:200*");
    assert_says(CALLS("$.partners[0].event_window.exec_window"),
                "x@1:0:400 late@1:0:401 MPI_Send@1:0:402");
    assert_says("SELECT group_concat((m.value ->> 'type') || ' ' || (m.value ->> 'src') || ' ' "
                "|| (m.value ->> 'tar') || ' ' || (m.value ->> 'execdata_key'), ', ') "
                "FROM anomalies, json_each(record, '$.event_window.comm_window') AS m",
                "RECV 1 0 0:0:198, RECV 1 0 0:0:199, RECV 1 0 0:0:200");
    assert_says(CHAIN, "0 MPI_Recv sender, 1 late nothing");
}

/* Rank 1 does y for a millisecond, and sends to rank 0, which waits for it, 200 times. */
static void say_exchange(void)
{
    sample_enter(&program, 1, 0, "main");
    for (unsigned i = 0; i < 200; i++) {
        uint64_t at_ns = i * 1200ull * US;

        sample_call(&program, 1, at_ns, "y", MS);
        sample_enter(&program, 1, at_ns + MS, "MPI_Send");
        sample_message(&program, 1, at_ns + MS, MESSAGE_SEND, 0, 64);
        sample_leave(&program, 1, at_ns + MS + US);
        sample_enter(&program, 0, at_ns + MS, "MPI_Recv");
        sample_message(&program, 0, at_ns + MS + 9 * US, MESSAGE_RECV, 1, 64);
        sample_leave(&program, 0, at_ns + MS + (10u + i % 2) * US);
    }
}

/* Rank 1 sends at a time, and rank 0 has waited for it since another. */
static void say_wait(uint64_t from_ns, uint64_t until_ns)
{
    sample_enter(&program, 1, until_ns, "MPI_Send");
    sample_message(&program, 1, until_ns, MESSAGE_SEND, 0, 64);
    sample_leave(&program, 1, until_ns + US);
    sample_enter(&program, 0, from_ns, "MPI_Recv");
    sample_message(&program, 0, until_ns + 4 * US, MESSAGE_RECV, 1, 64);
    sample_leave(&program, 0, until_ns + 5 * US);
}

/*
 *     step       0                 |    1
 *     rank 0     [ MPI_Recv        :          ]
 *     rank 1   [ main   [ late ]   : [ x ][ send ]     main called late, not in this step
 */
static void nothing_is_said_of_what_was_before_the_step(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 300 * MS);
    say_exchange();
    sample_call(&program, 1, 281 * MS, "late", 18 * MS);
    sample_stream_step(&program, 310 * MS);
    sample_call(&program, 1, 301 * MS, "x", MS);
    say_wait(280 * MS, 303 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CHAIN, "0 MPI_Recv sender");
}

/* The same, but late is still open, and has called nothing: all of it is known. */
static void what_is_open_when_a_step_begins_counts_from_its_begin(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 300 * MS);
    say_exchange();
    sample_enter(&program, 1, 281 * MS, "late");
    sample_stream_step(&program, 310 * MS);
    sample_leave(&program, 1, 301 * MS);
    sample_call(&program, 1, 301 * MS, "x", MS);
    say_wait(280 * MS, 303 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CHAIN, "0 MPI_Recv sender, 1 late nothing");
    assert_says("SELECT record ->> '$.cause[1].time_ns' FROM anomalies", "20000000");
}

/* What main called before is no part of the delay; the call that is named is all of it. */
static void a_cause_is_told_by_its_call_and_not_by_the_part_that_matters(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 310 * MS);
    sample_enter(&program, 1, 0, "all");
    say_exchange();
    sample_leave(&program, 1, 301 * MS);
    sample_call(&program, 1, 301 * MS, "x", MS);
    say_wait(280 * MS, 303 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CHAIN, "0 MPI_Recv sender, 1 main nothing");
    assert_says("SELECT record ->> '$.cause[1].begin_ns' FROM anomalies", "0");
    assert_says("SELECT record ->> '$.cause[1].end_ns' FROM anomalies", "301000000");
}

/* late was before the step; y fills the wait, but takes what it always takes. */
static void what_took_as_long_as_ever_is_no_cause(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 300 * MS);
    say_exchange();
    sample_call(&program, 1, 281 * MS, "late", 18 * MS);
    sample_stream_step(&program, 310 * MS);
    sample_call(&program, 1, 302 * MS, "y", MS);
    say_wait(302 * MS, 303 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CHAIN, "0 MPI_Recv sender");
}

/* A message at the moment in which the call began is that of the call before. */
static void messages_of_neighbours_have_no_part_in_it(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 40 * MS);
    say_typical(0, 0, 200);
    sample_enter(&program, 0, 21 * MS, "MPI_Send");
    sample_message(&program, 0, 22 * MS, MESSAGE_SEND, 1, 1);
    sample_counter(&program, 0, 22 * MS, "PAPI_TOT_CYC", 1);
    sample_leave(&program, 0, 22 * MS);
    sample_call(&program, 0, 22 * MS, "w", 5 * MS);
    sample_call(&program, 1, 22 * MS, "x", 5 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says("SELECT json_array_length(record, '$.partners') || ' ' || "
                "json_array_length(record, '$.event_window.comm_window') || ' ' || "
                "json_array_length(record, '$.counter_events') FROM anomalies",
                "0 1 0");
}

/* The message was sent in one step and is received in the next, after another one. */
static void messages_find_their_ends_across_steps(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_enter(&program, 1, 28 * MS, "MPI_Send");
    sample_message(&program, 1, 28 * MS, MESSAGE_SEND, 0, 1);
    sample_leave(&program, 1, 28 * MS + US);
    sample_stream_step(&program, 50 * MS);
    sample_call(&program, 1, 30 * MS, "x", 2 * MS);
    sample_enter(&program, 1, 38 * MS, "MPI_Send");
    sample_message(&program, 1, 38 * MS, MESSAGE_SEND, 0, 2);
    sample_leave(&program, 1, 38 * MS + US);
    sample_call(&program, 1, 39 * MS, "y", 2 * MS);
    sample_call(&program, 1, 44 * MS, "z", US);
    sample_message(&program, 0, 31 * MS, MESSAGE_RECV, 1, 1);
    sample_enter(&program, 0, 32 * MS, "w");
    sample_message(&program, 0, 45 * MS, MESSAGE_RECV, 1, 2);
    sample_leave(&program, 0, 46 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CALLS("$.partners[0].event_window.exec_window"),
                "MPI_Send@1:0:0 x@1:1:0 MPI_Send@1:1:1 y@1:1:2 z@1:1:3");
}

/* Rank 1 sent in main, in the step before; when rank 0 recorded the message it was in y. */
static void what_is_told_of_a_partner_is_of_the_time_of_the_message(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_enter(&program, 1, 0, "main");
    sample_call(&program, 1, MS, "a", US);
    sample_message(&program, 1, 28 * MS, MESSAGE_SEND, 0, 1);
    sample_stream_step(&program, 50 * MS);
    sample_call(&program, 1, 30 * MS, "x", 2 * MS);
    sample_call(&program, 1, 39 * MS, "y", 2 * MS);
    sample_call(&program, 1, 44 * MS, "z", US);
    sample_enter(&program, 0, 32 * MS, "w");
    sample_message(&program, 0, 40 * MS, MESSAGE_RECV, 1, 1);
    sample_leave(&program, 0, 46 * MS);
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says(CALLS("$.partners[0].event_window.exec_window"),
                "a@1:0:1 x@1:1:0 y@1:1:1 z@1:1:2");
}

static void counters_belong_to_calls_or_to_the_node(void **state)
{
    struct live_recorder_opts opts = {
        .url = dir, .window = 2, .counter_prefix = "monitoring: "};

    (void)state;
    sample_stream_open(&program, 1);
    definitions_metadata(&program.defs, &(struct metadata){0, 0, 0, "Hostname", "node7"});
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_counter(&program, 0, 21 * MS, "monitoring: load", 3);
    sample_enter(&program, 0, 22 * MS, "w");
    sample_counter(&program, 0, 23 * MS, "PAPI_TOT_CYC", 12345);
    sample_counter(&program, 0, 24 * MS, "monitoring: load", 4);
    sample_leave(&program, 0, 27 * MS);
    sample_counter(&program, 0, 28 * MS, "PAPI_TOT_CYC", 99);
    assert_int_equal(run_with(&opts, ad_default()).store.n_anomalies, 1);
    assert_says("SELECT record -> '$.counter_events' FROM anomalies",
                "[{\"counter_idx\":1,\"counter_name\":\"PAPI_TOT_CYC\",\"counter_value\":12345,"
                "\"pid\":0,\"rid\":0,\"tid\":0,\"ts\":23000}]");
    assert_says("SELECT record -> '$.node_state' FROM anomalies",
                "{\"timestamp\":24000,\"data\":[{\"field\":\"load\",\"value\":4}]}");
    assert_says("SELECT record ->> 'hostname' FROM anomalies", "node7");
    assert_says("SELECT descr || '=' || value FROM metadata", "Hostname=node7");
    assert_says("SELECT (stats ->> 'count') || ' ' || (stats ->> 'accumulate') FROM "
                "counter_stats WHERE counter = 'PAPI_TOT_CYC'",
                "2 12444.0");
}

static void a_list_says_what_to_watch(void **state)
{
    char path[64];
    struct live_recorder_opts opts = {.url = dir, .window = 2, .watchlist = path};
    struct live_recorder *recorder;
    FILE *f;

    (void)state;
    snprintf(path, sizeof path, "%s/list.json", dir);
    assert_int_equal(live_recorder_open(&recorder, &opts), ERR_IO);
    f = fopen(path, "w");
    fputs("[[\"PAPI_TOT_CYC\"]]", f);
    fclose(f);
    assert_int_equal(live_recorder_open(&recorder, &opts), ERR_FORMAT);
    f = fopen(path, "w");
    fputs("[[\"PAPI_TOT_CYC\", \"cycles\"], [\"x\", \"y\"]]", f);
    fclose(f);
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_counter(&program, 0, 21 * MS, "PAPI_TOT_CYC", 5);
    sample_call(&program, 0, 22 * MS, "w", 5 * MS);
    run_with(&opts, ad_default());
    assert_says("SELECT record -> '$.node_state.data' FROM anomalies",
                "[{\"field\":\"cycles\",\"value\":5}]");
}

/* The kernel's strange run is reported in step 1; the launch was in step 0. */
static void kernels_know_who_launched_them(void **state)
{
    (void)state;
    sample_stream_open(&program, 2);
    program.defs.location[1].is_gpu = true;
    program.defs.location[1].gpu_device = 3;
    sample_stream_step(&program, 30 * MS);
    say_typical(1, 0, 200);
    sample_enter(&program, 0, 20 * MS, "main");
    sample_enter(&program, 0, 21 * MS, "cudaLaunchKernel");
    sample_counter(&program, 0, 21 * MS + US, "Correlation ID", 77);
    sample_leave(&program, 0, 21 * MS + 2 * US);
    sample_stream_step(&program, 40 * MS);
    sample_enter(&program, 1, 31 * MS, "w");
    sample_counter(&program, 1, 31 * MS, "Correlation ID", 77);
    sample_leave(&program, 1, 36 * MS);
    program.defs.location[1].rank = 0; /* of the same process */
    program.defs.location[1].thread = 1;
    assert_int_equal(run().store.n_anomalies, 1);
    assert_says("SELECT record -> '$.gpu_location' FROM anomalies",
                "{\"context\":0,\"device\":3,\"stream\":0,\"thread\":1}");
    assert_says("SELECT (record -> '$.gpu_parent') ->> 'event_id' FROM anomalies", "0:0:1");
    assert_says(CALLS("$.gpu_parent.call_stack"), "cudaLaunchKernel@0:0:1 main@0:0:0...");
}

/* Judged when there are 300 of them: the strange one is of step 0 then. */
static void late_verdicts_have_no_window(void **state)
{
    struct live_recorder_opts opts = {.url = dir, .window = 2};
    struct ad_opts ad_settings = ad_default();
    struct live_recorder_counts counts;

    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_call(&program, 0, 22 * MS, "w", 5 * MS);
    sample_stream_step(&program, 60 * MS);
    say_typical(0, 30 * MS, 200);
    ad_settings.least_calls = 300;
    counts = run_with(&opts, ad_settings);
    assert_int_equal(counts.store.n_anomalies, 1);
    assert_int_equal(counts.store.n_late, 1);
    assert_says(CALLS("$.call_stack"), "w@0:0:200*");
    assert_says("SELECT json_array_length(record, '$.event_window.exec_window') FROM anomalies",
                "0");
    assert_says("SELECT event_id || ' ' || entry || ' ' || io_step FROM anomalies",
                "0:0:200 22000.0 0");
}

/*
 * Step 0 has two strange calls: one normal one goes with them, the first that took 11 us, which
 * is the median of 202 calls of which 100 took 10. Step 1 has one and nothing else: that of
 * step 0 is gone, so the next typical call goes with it, in step 2.
 */
static void a_normal_call_goes_with_strange_ones(void **state)
{
    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 40 * MS);
    say_typical(0, 0, 200);
    sample_call(&program, 0, 21 * MS, "w", 5 * MS);
    sample_call(&program, 0, 31 * MS, "w", 5 * MS);
    sample_stream_step(&program, 50 * MS);
    sample_call(&program, 0, 41 * MS, "w", 5 * MS);
    sample_stream_step(&program, 60 * MS);
    sample_call(&program, 0, 51 * MS, "w", 10 * US);
    assert_int_equal(run().store.n_normals, 2);
    assert_says("SELECT group_concat(event_id, ' ') FROM normalexecs", "0:0:1 0:2:0");
    assert_says("SELECT group_concat(c.value ->> 'event_id', ' ') FROM normalexecs, "
                "json_each(record, '$.event_window.exec_window') AS c WHERE io_step = 2",
                "0:0:201 0:1:0 0:2:0");
}

/* 200 calls of 10 or 11 us, and one of 5 ms: mean (2100 + 5000) / 201. */
static void statistics_and_models_are_left_behind(void **state)
{
    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    sample_enter(&program, 0, 0, "main");
    say_typical(0, 0, 200);
    sample_call(&program, 0, 22 * MS, "w", 5 * MS);
    sample_leave(&program, 0, 29 * MS);
    run();
    assert_says("SELECT calls || ' ' || anomalies || ' ' || (exclusive ->> 'accumulate') || "
                "' ' || (inclusive ->> 'maximum') || ' ' || (severity ->> 'count') FROM "
                "func_stats WHERE func = 'w'",
                "201 1 7100.0 5000.0 1");
    assert_says("SELECT (exclusive ->> 'accumulate') || ' ' || (inclusive ->> 'accumulate') "
                "FROM func_stats WHERE func = 'main'",
                "21900.0 29000.0");
    assert_says("SELECT group_concat(version || func || algorithm) FROM ad_model",
                "1wsstd,2wsstd");
    assert_says("SELECT model_version || is_pruned || (final_score = outlier_score) FROM "
                "anomalies",
                "101");
}

/* In the end calls of 5 ms are as typical as any. */
static void what_turns_out_to_be_usual_is_marked(void **state)
{
    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    say_typical(0, 0, 200);
    sample_call(&program, 0, 22 * MS, "w", 5 * MS);
    sample_stream_step(&program, 1000 * MS);
    for (unsigned i = 0; i < 100; i++)
        sample_call(&program, 0, (31 + 6 * i) * MS, "w", 5 * MS);
    assert_int_equal(run().n_pruned, 1);
    assert_says("SELECT is_pruned FROM anomalies WHERE io_step = 0", "1");
    assert_says("SELECT is_pruned FROM normalexecs WHERE io_step = 0", "0");
}

/* n times solve, each of 10 us with a and b in it, 100 us apart. */
static void say_solves(uint64_t from_ns, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t at_ns = from_ns + (uint64_t)i * 100 * US;

        sample_enter(&program, 0, at_ns, "solve");
        sample_call(&program, 0, at_ns + US, "a", 2 * US);
        sample_call(&program, 0, at_ns + 5 * US, "b", 4 * US);
        sample_leave(&program, 0, at_ns + 10 * US);
    }
}

/*
 *     step 0  main [ solve ... solve  solve [ a  b |
 *     step 1                                  | c [ a ] MPI_Send ] ... ]
 *
 * The median of 10 us is the middle of a bin, 9984 .. 10112 ns.
 */
static void executions_have_their_calls_as_window(void **state)
{
    struct live_recorder_counts counts;

    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    sample_enter(&program, 0, 0, "main");
    say_solves(US, 200);
    sample_enter(&program, 0, 28 * MS, "solve");
    sample_call(&program, 0, 28 * MS + US, "a", 2 * US);
    sample_enter(&program, 0, 29 * MS, "b");
    sample_stream_step(&program, 40 * MS);
    sample_leave(&program, 0, 31 * MS);
    sample_enter(&program, 0, 32 * MS, "c");
    sample_call(&program, 0, 33 * MS, "a", 2 * US);
    sample_leave(&program, 0, 34 * MS);
    sample_enter(&program, 0, 35 * MS, "MPI_Send");
    sample_message(&program, 0, 35 * MS, MESSAGE_SEND, 0, 64);
    sample_leave(&program, 0, 35 * MS + US);
    sample_leave(&program, 0, 36 * MS);
    sample_call(&program, 0, 37 * MS, "z", US);
    counts = run_with_trees("solve");
    assert_int_equal(counts.store.n_executions, 1);
    assert_int_equal(counts.store.n_normal_executions, 1);
#define EXECUTIONS " FROM (SELECT * FROM anomalies WHERE execution IS NOT NULL) AS x"
    assert_says("SELECT execution || ' ' || calls || ' ' || messages || ' ' || func || ' ' || "
                "event_id || ' ' || runtime_total || ' ' || outlier_severity || ' ' || "
                "is_pruned" EXECUTIONS,
                "200 6 1 solve 0:0:601 8000.0 7989.952 0");
    assert_says("SELECT record -> '$.execution'" EXECUTIONS,
                "{\"id\":\"#0-200\",\"index\":200,\"calls\":6,\"messages\":1,\"threshold\":6.0,"
                "\"typical_ns\":10048,\"why\":\"took 8.00 ms, 7990.0 deviations more than the "
                "mean of the 200 executions before it, 10.0 us\"}");
    assert_says("SELECT record ->> '$.algo_params.algorithm'" EXECUTIONS, "rolling");
    assert_says("SELECT group_concat((c.value ->> 'func') || '@' || (c.value ->> 'event_id') "
                "|| '<' || (c.value ->> 'parent_event_id') || ' ' || (c.value ->> 'entry') || "
                "'+' || ((c.value ->> 'exit') - (c.value ->> 'entry')), ', ') FROM anomalies, "
                "json_each(record, '$.event_window.exec_window') AS c WHERE execution",
                "solve@0:0:601<0:0:0 28000+8000, a@0:0:602<0:0:601 28001+2, "
                "b@0:0:603<0:0:601 29000+2000, c@0:1:0<0:0:601 32000+2000, "
                "a@0:1:1<0:1:0 33000+2, MPI_Send@0:1:2<0:0:601 35000+1");
    assert_says("SELECT record ->> '$.event_window.comm_window[0].execdata_key'" EXECUTIONS,
                "0:1:2");
    assert_says("SELECT group_concat(c.value ->> 'func', ' ') FROM anomalies, "
                "json_each(record, '$.call_stack') AS c WHERE execution",
                "solve main");
    assert_says("SELECT execution || ' ' || event_id || ' ' || (record ->> '$.execution.why' "
                "IS NULL) || json_array_length(record, '$.event_window.exec_window') "
                "FROM normalexecs WHERE execution IS NOT NULL",
                "199 0:0:598 13");
}

/* Of 3001 calls the longest 1000: solve, and of the 3000 below it the 999 that take 3 us. */
static void of_large_executions_the_longest_calls_are_kept(void **state)
{
    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    say_solves(0, 200);
    sample_enter(&program, 0, 21 * MS, "solve");
    for (unsigned i = 0; i < 3000; i++)
        sample_call(&program, 0, 21 * MS + i * 2 * US, i % 3 || i == 0 ? "a" : "b",
                    i % 3 || i == 0 ? US : 1500);
    sample_leave(&program, 0, 28 * MS);
    assert_int_equal(run_with_trees("solve").store.n_executions, 1);
    assert_says("SELECT calls || ' ' || json_array_length(record, '$.event_window.exec_window')"
                " FROM anomalies WHERE execution IS NOT NULL",
                "3001 1000");
    assert_says("SELECT group_concat(DISTINCT c.value ->> 'func') || count(*) FROM anomalies, "
                "json_each(record, '$.event_window.exec_window') AS c WHERE execution",
                "solve,b1000");
}

/* The latest normal one goes along, once; the next strange one waits for another. */
static void a_normal_execution_goes_with_strange_ones(void **state)
{
    struct live_recorder_counts counts;

    (void)state;
    sample_stream_open(&program, 1);
    sample_stream_step(&program, 30 * MS);
    say_solves(0, 200);
    sample_stream_step(&program, 40 * MS);
    sample_call(&program, 0, 31 * MS, "solve", 2 * MS);
    sample_call(&program, 0, 34 * MS, "solve", 2 * MS);
    sample_stream_step(&program, 50 * MS);
    sample_call(&program, 0, 41 * MS, "solve", 2 * MS);
    sample_stream_step(&program, 60 * MS);
    say_solves(51 * MS, 2);
    counts = run_with_trees("solve");
    assert_int_equal(counts.store.n_executions, 3);
    assert_int_equal(counts.store.n_normal_executions, 2);
    assert_says("SELECT group_concat(execution, ' ') FROM (SELECT * FROM normalexecs WHERE "
                "execution IS NOT NULL ORDER BY entry)",
                "199 204");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(windows_go_across_steps),
        TEST(calls_that_last_for_steps_keep_their_surroundings),
        TEST(partners_and_causes_are_told),
        TEST(nothing_is_said_of_what_was_before_the_step),
        TEST(what_is_open_when_a_step_begins_counts_from_its_begin),
        TEST(a_cause_is_told_by_its_call_and_not_by_the_part_that_matters),
        TEST(what_took_as_long_as_ever_is_no_cause),
        TEST(messages_of_neighbours_have_no_part_in_it),
        TEST(messages_find_their_ends_across_steps),
        TEST(what_is_told_of_a_partner_is_of_the_time_of_the_message),
        TEST(counters_belong_to_calls_or_to_the_node),
        TEST(a_list_says_what_to_watch),
        TEST(kernels_know_who_launched_them),
        TEST(late_verdicts_have_no_window),
        TEST(a_normal_call_goes_with_strange_ones),
        TEST(statistics_and_models_are_left_behind),
        TEST(what_turns_out_to_be_usual_is_marked),
        TEST(executions_have_their_calls_as_window),
        TEST(of_large_executions_the_longest_calls_are_kept),
        TEST(a_normal_execution_goes_with_strange_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

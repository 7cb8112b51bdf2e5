/* A trace of several files: what is a rank, what a location, and which time is common. */
#include "trace/source.h"

#include "base/err.h"

#include <sys/stat.h>

#include "test.h"
#include "test_dir.h"

static char dir[] = "/tmp/snag-places-XXXXXX";
static char path[4][80];

static int setup(void **state)
{
    (void)state;
    return test_dir(dir) ? 0 : -1;
}

static void clear(void)
{
    for (size_t i = 0; i < 4; i++)
        if (path[i][0])
            unlink(path[i]);
    memset(path, 0, sizeof path);
}

/* File i of the trace. */
static void write_file(size_t i, const char *name, const char *text)
{
    FILE *file;

    snprintf(path[i], sizeof path[i], "%s/%s", dir, name);
    file = fopen(path[i], "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* "0.0 main; 0.1 GPU 0, stream 7: a+0 a-1000; ..." rank.thread name: events. */
static const char *all_of(struct source *source)
{
    static char out[4096];
    struct source_reader *reader = source_reader_new(source);
    struct quality quality = {0};
    char *at = out;

    for (uint32_t l = 0; l < source->defs.n_locations; l++) {
        const struct location *location = &source->defs.location[l];
        const struct event_batch *batch;

        at += sprintf(at, "%s%u.%u %s:", l ? "; " : "", location->rank, location->thread,
                      location->name);
        source_reader_begin(reader, l, UINT64_MAX);
        while (source_reader_next(reader, &batch) > 0)
            for (size_t i = 0; i < batch->n; i++)
                if (batch->event[i].kind <= EVENT_LEAVE)
                    at +=
                        sprintf(at, " %s%s%lld", source->defs.region[batch->event[i].ref].name,
                                batch->event[i].kind == EVENT_ENTER ? "+" : "-",
                                (long long)batch->event[i].time_ns);
                else
                    at += sprintf(at, " ?");
        source_reader_end(reader, &quality);
    }
    source_reader_free(reader);
    return out;
}

#define X(name, ts, pid, tid)                                                                  \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"ts\":" #ts                       \
    ",\"dur\":1,\"pid\":" #pid ",\"tid\":" #tid "},"
#define KERNEL(name, ts, pid, tid)                                                             \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"ts\":" #ts                       \
    ",\"dur\":1,\"pid\":" #pid ",\"tid\":" #tid "},"
#define RANK(rank, base, events)                                                               \
    "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":" #rank           \
    ",\"world_size\":8},\"traceEvents\":[" events "],\"baseTimeNanoseconds\":" #base           \
    ",\"traceName\":\"x\"}"

/* The GPU's pid is smaller than the process's, the profiler's own is no thread at all. */
static const char three[] = RANK(
    3, 1000000,
    KERNEL("k", 3, 0, 7) X("b", 2, 40, 44)
        X("a", 1, 40,
          40) "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"p\",\"ts\":0,\"dur\":9,"
              "\"pid\":\"Spans\",\"tid\":\"P\"},"
              "{\"ph\":\"s\",\"cat\":\"ac2g\",\"id\":1,\"ts\":1,\"pid\":40,\"tid\":40},"
              "{\"ph\":\"f\",\"cat\":\"ac2g\",\"id\":1,\"ts\":3,\"pid\":0,\"tid\":7},"
              "{\"ph\":\"s\",\"cat\":\"async_gpu\",\"id\":2,\"ts\":1,\"pid\":40,\"tid\":40},"
              "{\"ph\":\"f\",\"cat\":\"async_gpu\",\"id\":2,\"ts\":3,\"pid\":0,\"tid\":7},"
              "{\"ph\":\"s\",\"cat\":\"async_gpu\",\"id\":2,\"ts\":1,\"pid\":40,\"tid\":40},"
              "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,"
              "\"args\":{\"name\":\"stream 7 \"}}");
static const char one[] = RANK(1, 1002000, X("a", 1, 50, 50));

static void files_that_say_their_rank_are_one_trace(void **state)
{
    static const char want[] = "1.0 : a+2000 a-3000; 3.0 : a+0 a-1000; 3.1 : b+1000 b-2000; "
                               "3.2 GPU 0, stream 7: k+2000 k-3000";
    char pattern[80];
    struct source s;

    (void)state;
    write_file(0, "b.json", three);
    write_file(1, "a.json", one);
    assert_int_equal(source_open(&s, dir), 0);
    assert_string_equal(all_of(&s), want);
    assert_true(s.defs.location[3].is_gpu);
    assert_int_equal(s.defs.location[3].gpu_stream, 7);
    assert_int_equal(s.defs.origin_ticks, 1001000);
    assert_false(quality_is_damaged(&s.quality));
    source_close(&s);
    snprintf(pattern, sizeof pattern, "%s/[ab].js*", dir);
    assert_int_equal(source_open(&s, pattern), 0);
    assert_string_equal(all_of(&s), want);
    source_close(&s);
    assert_int_equal(source_open_as(&s, path[0],
                                    &(struct source_opts){
                                        .more = (const char *const[]){path[1]}, .n_more = 1}),
                     0);
    assert_string_equal(all_of(&s), want);
    source_close(&s);
    clear();
}

static void documents_behind_each_other_are_as_files(void **state)
{
    char both[sizeof three + sizeof one];
    struct source s;

    (void)state;
    snprintf(both, sizeof both, "%s\n%s", one, three);
    write_file(0, "both.json", both);
    assert_int_equal(source_open(&s, path[0]), 0);
    assert_string_equal(all_of(&s), "1.0 : a+2000 a-3000; 3.0 : a+0 a-1000; "
                                    "3.1 : b+1000 b-2000; 3.2 GPU 0, stream 7: k+2000 k-3000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 0);
    source_close(&s);
    clear();
}

static void files_of_one_rank_follow_each_other_or_are_refused(void **state)
{
    struct source s;

    (void)state;
    write_file(0, "1.json", RANK(0, 0, X("step#1", 1, 7, 7)));
    write_file(1, "2.json", RANK(0, 0, X("step#2", 2, 7, 7)));
    assert_int_equal(source_open(&s, dir), 0);
    assert_string_equal(all_of(&s), "0.0 : step+0 step-1000 step+1000 step-2000");
    assert_int_equal(s.defs.n_notes, 2);
    assert_string_equal(s.defs.note[0], "calls of step have numbers in the trace: 1 to 2");
    assert_string_equal(s.defs.note[1], "several files of one rank follow each other in time");
    source_close(&s);
    write_file(2, "3.json", RANK(0, 0, X("step#2", 2.5, 7, 7)));
    assert_int_equal(source_open(&s, dir), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "2.json' and"));
    assert_non_null(strstr(err_message(), "3.json' are both of rank 0, at the same time"));
    source_close(&s);
    clear();
}

static void files_without_a_rank_are_numbered_by_name_or_in_order(void **state)
{
    struct source s;

    (void)state;
    write_file(0, "worker10.json", "[" X("a", 1, 7, 7) "]");
    write_file(1, "worker2.json", "[" X("b", 1, 7, 7) "]");
    assert_int_equal(source_open(&s, dir), 0);
    assert_string_equal(all_of(&s), "2.0 : b+0 b-1000; 10.0 : a+0 a-1000");
    assert_string_equal(
        s.defs.note[0],
        "no file says its rank: ranks are the numbers in the names of the files");
    source_close(&s);
    clear();
    write_file(0, "x10.json", "[" X("a", 1, 7, 7) "]");
    write_file(1, "x9.json", "[" X("b", 1, 7, 7) "]");
    assert_int_equal(source_open(&s, dir), 0);
    assert_string_equal(all_of(&s), "0.0 : b+0 b-1000; 1.0 : a+0 a-1000");
    assert_string_equal(s.defs.note[0],
                        "no file says its rank: ranks are numbered in the order of the files");
    source_close(&s);
    write_file(2, "y.json", one);
    assert_int_equal(source_open(&s, dir), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "y.json' says its rank"));
    source_close(&s);
    clear();
}

static void files_of_a_directory_that_are_no_traces_are_left_out(void **state)
{
    struct source s;

    (void)state;
    write_file(0, "a.json", one);
    write_file(1, "config.json", "{\"rank\": 1}");
    write_file(2, "notes.txt", "hello");
    assert_int_equal(source_open(&s, dir), 0);
    assert_int_equal(s.defs.n_locations, 1);
    assert_int_equal(s.defs.n_notes, 1);
    assert_non_null(strstr(s.defs.note[0], "left out: no trace events in"));
    source_close(&s);
    write_file(0, "a.json", "[" X("main", 1, 7, 7) "{\"ph\":\"X\",\"na"); /* cut off: alone */
    assert_int_equal(source_open(&s, dir), 0);
    assert_int_equal(s.quality.n[QUALITY_truncated], 1);
    assert_non_null(strstr(s.defs.note[0], "left out: no trace events in"));
    source_close(&s);
    unlink(path[0]);
    assert_int_equal(source_open(&s, dir), ERR_FORMAT);
    source_close(&s);
    unlink(path[1]);
    assert_int_equal(source_open(&s, dir), ERR_FORMAT);
    assert_non_null(strstr(err_message(), "no trace in directory"));
    source_close(&s);
    clear();
}

/* Who opened one of them would wait, or never come to an end. */
static void what_is_no_file_in_a_directory_is_left_out(void **state)
{
    char pipe[120], link[120], below[120];
    struct source s;

    (void)state;
    snprintf(pipe, sizeof pipe, "%s/b.json", dir);
    snprintf(link, sizeof link, "%s/c.json", dir);
    snprintf(below, sizeof below, "%s/d.json", dir);
    write_file(0, "a.json", one);
    assert_int_equal(mkfifo(pipe, 0666), 0);
    assert_int_equal(symlink("/dev/zero", link), 0);
    assert_int_equal(mkdir(below, 0777), 0);
    assert_int_equal(source_open(&s, dir), 0);
    assert_int_equal(s.defs.n_locations, 1);
    assert_int_equal(s.defs.n_notes, 3);
    assert_non_null(strstr(s.defs.note[0], "b.json' is no file"));
    assert_non_null(strstr(s.defs.note[1], "c.json' is no file"));
    assert_non_null(strstr(s.defs.note[2], "d.json' is no file"));
    source_close(&s);
    unlink(pipe);
    unlink(link);
    rmdir(below);
    clear();
}

#define M(what, text, pid, tid)                                                                \
    "{\"ph\":\"M\",\"name\":\"" what "\",\"pid\":" #pid ",\"tid\":" #tid                       \
    ",\"args\":{\"name\":\"" text "\"}},"

/* As JAX and TensorFlow write it: a pid for each device, and lanes that say again what its streams did. */
static void devices_of_xla_are_of_the_process_that_wrote_the_file(void **state)
{
    static const char jax[] = "{\"traceEvents\":[" M("process_name", "/host:CPU", 701, 0)
        M("process_name", "/device:GPU:1 (NVIDIA A100)", 2, 0)
            M("thread_name", "python3", 701, 4) M("thread_name", "XLA Ops", 2, 3)
                M("thread_name", "Stream #20(Compute)", 2, 20) X("f.1", 5, 2, 3)
                    X("kernel", 5, 2, 20)
                        X("$array.py:600 block_until_ready", 5, 701,
                          4) "{\"ph\":\"X\",\"name\":\"train\",\"ts\":1,\"dur\":9,\"pid\":701,"
                             "\"tid\":4,\"args\":{\"step_num\":\"7\"}}]}";
    struct source s;

    (void)state;
    write_file(0, "host.json", jax);
    assert_int_equal(source_open(&s, path[0]), 0);
    assert_string_equal(
        all_of(&s), "0.0 python3: train+0 $array.py:600 block_until_ready+4000 $array.py:600 "
                    "block_until_ready-5000 train-9000; 0.1 GPU 1, Stream #20(Compute): "
                    "kernel+4000 kernel-5000");
    assert_true(s.defs.location[1].is_gpu);
    assert_int_equal(s.defs.location[1].gpu_device, 1);
    assert_non_null(strstr(s.defs.note[s.defs.n_notes - 1], "1 lane of a GPU is left out"));
    for (uint32_t i = 0; i < s.defs.names.n; i++) {
        const struct region *region = &s.defs.region[i];

        assert_int_equal(region->is_step, strcmp(region->name, "train") == 0);
        assert_int_equal(region->kind == REGION_DEVICE, region->name[0] == '$');
    }
    source_close(&s);
    clear();
}

/* Kineto says pid 0, which is also a GPU, of threads of Python that it does not know. */
static void threads_with_the_number_of_a_gpu_are_no_streams(void **state)
{
    struct source s;

    (void)state;
    write_file(0, "a.json",
               RANK(0, 0,
                    "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_labels\",\"args\":{\"labels\":"
                    "\"GPU 0\"}}," X("main", 1, 7, 7) KERNEL(
                        "k", 3, 0, 9) "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":"
                                      "\"monitor\",\"ts\":1,\"dur\":8,\"pid\":0,\"tid\":0}"));
    assert_int_equal(source_open(&s, path[0]), 0);
    assert_string_equal(all_of(&s), "0.0 : main+0 main-1000; 0.1 : monitor+0 monitor-8000; "
                                    "0.2 GPU 0, stream 9: k+2000 k-3000");
    assert_false(s.defs.location[1].is_gpu);
    source_close(&s);
    clear();
}

/* What a thread calls a step has another extent on the streams that it keeps busy. */
static void annotations_of_streams_are_regions_of_their_own(void **state)
{
    struct source s;

    (void)state;
    write_file(
        0, "a.json",
        RANK(0, 0,
             X("ProfilerStep#4", 1, 7, 7) KERNEL(
                 "k", 3, 0,
                 9) "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#4\","
                    "\"ts\":3,\"dur\":2,\"pid\":0,\"tid\":9}"));
    assert_int_equal(source_open(&s, path[0]), 0);
    assert_string_equal(all_of(&s),
                        "0.0 : ProfilerStep+0 ProfilerStep-1000; 0.1 GPU 0, stream 9: "
                        "ProfilerStep (GPU)+2000 k+2000 k-3000 ProfilerStep (GPU)-4000");
    assert_true(s.defs.region[0].is_step);
    assert_false(s.defs.region[2].is_step);
    source_close(&s);
    clear();
}

static void a_line_may_be_an_object_each(void **state)
{
    struct source s;

    (void)state;
    write_file(0, "a.pfw",
               "[\n{\"ph\":\"X\",\"name\":\"read\",\"ts\":1,\"dur\":2,\"pid\":5,\"tid\":5}\n"
               "{\"ph\":\"X\",\"name\":\"write\",\"ts\":4,\"dur\":1,\"pid\":5,\"tid\":5}\n]\n");
    assert_int_equal(source_open(&s, path[0]), 0);
    assert_string_equal(all_of(&s), "0.0 : read+0 read-2000 write+3000 write-4000");
    source_close(&s);
    write_file(0, "a.pfw",
               "{\"ph\":\"X\",\"name\":\"read\",\"ts\":1,\"dur\":2,\"pid\":5,\"tid\":5}\n"
               "{\"ph\":\"X\",\"name\":bad,\"ts\":1,\"dur\":2,\"pid\":5,\"tid\":5}\n"
               "{\"ph\":\"X\",\"name\":\"write\",\"ts\":4,\"dur\":1,\"pid\":5,\"tid\":5}\n"
               "{\"ph\":\"X\",\"name\":\"close\",\"ts\":5,\"dur\":1,\"pid\":5,\"tid\":5}\n");
    assert_int_equal(source_open(&s, path[0]), 0);
    assert_string_equal(all_of(&s),
                        "0.0 : read+0 read-2000 write+3000 write-4000 close+4000 close-5000");
    assert_int_equal(s.quality.n[QUALITY_bad_record], 1);
    source_close(&s);
    clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_say_their_rank_are_one_trace),
        cmocka_unit_test(documents_behind_each_other_are_as_files),
        cmocka_unit_test(files_of_one_rank_follow_each_other_or_are_refused),
        cmocka_unit_test(files_without_a_rank_are_numbered_by_name_or_in_order),
        cmocka_unit_test(files_of_a_directory_that_are_no_traces_are_left_out),
        cmocka_unit_test(what_is_no_file_in_a_directory_is_left_out),
        cmocka_unit_test(devices_of_xla_are_of_the_process_that_wrote_the_file),
        cmocka_unit_test(threads_with_the_number_of_a_gpu_are_no_streams),
        cmocka_unit_test(annotations_of_streams_are_regions_of_their_own),
        cmocka_unit_test(a_line_may_be_an_object_each),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}

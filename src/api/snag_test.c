/* The library from outside: only snag.h, and a trace that is a sentence. */
#include "snag/snag.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

static const char program[] = "synth:100*step(a@1ms b(c@1ms d@2ms >1 <1));ranks=3;jitter=0.05;"
                              "slow=d/47/5";

static char work[] = "/tmp/snag-api-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return test_dir(work) ? 0 : -1;
}

static const char *path_of(char out[128], const char *name)
{
    snprintf(out, 128, "%s/%s", work, name);
    return out;
}

static void analyze(const char *name, const char *function)
{
    struct snag_analyze_options options = {
        .size = sizeof options, .function = &function, .n_functions = 1, .replace = 1};
    char path[128];

    assert_int_equal(snag_analyze(program, path_of(path, name), &options), SNAG_OK);
}

static snag_run *open_run(const char *name)
{
    snag_run *run;
    char path[128];

    assert_int_equal(snag_run_open(path_of(path, name), &run), SNAG_OK);
    return run;
}

static void a_run_is_read_as_columns(void **state)
{
    struct snag_executions x;
    struct snag_vertices v;
    snag_run *run;
    size_t n_anomalies = 0;
    uint64_t sum = 0;
    char reason[1024];

    (void)state;
    analyze("a.snag", "step");
    run = open_run("a.snag");
    assert_int_equal(snag_run_functions(run), 1);
    assert_string_equal(snag_run_function(run, 0), "step");
    assert_null(snag_run_function(run, 1));
    assert_int_equal(snag_run_executions(run, 0, &x), SNAG_OK);
    assert_int_equal(x.n, 300);
    for (size_t i = 0; i < x.n; i++) {
        assert_int_equal(x.rank[i], i / 100);
        assert_int_equal(x.index[i], i % 100);
        n_anomalies += x.is_anomaly[i];
        if (x.is_anomaly[i])
            assert_int_equal(snag_run_reason(run, 0, i, reason, sizeof reason), SNAG_OK);
    }
    assert_int_equal(n_anomalies, 6);
    assert_non_null(strstr(reason, "b > d"));
    assert_int_equal(snag_run_vertices(run, 0, 7, &v), SNAG_OK);
    assert_int_equal(v.n, x.n_vertices[7]);
    assert_int_equal(v.inclusive_ns[0], x.duration_ns[7]);
    assert_int_equal(v.enter_ns[0], x.enter_ns[7]);
    assert_int_equal(v.parent[0], UINT32_MAX);
    for (size_t i = 0; i < v.n; i++)
        sum += v.exclusive_ns[i];
    assert_int_equal(sum, v.inclusive_ns[0]);
    assert_string_equal(snag_run_region(run, v.region[0]), "step");
    assert_null(snag_run_region(run, UINT32_MAX));
    snag_vertices_release(&v);
    snag_executions_release(&x);
    snag_run_close(run);
}

/* Ranks of 100 steps of 7 calls, `a  b ( c d send recv )`, two ends of messages each. */
static void calls_and_messages_are_shown_as_they_are_mapped(void **state)
{
    struct snag_calls all, one;
    struct snag_messages messages, of_one;
    struct snag_locations l;
    snag_run *run;

    (void)state;
    analyze("c.snag", "step");
    run = open_run("c.snag");
    assert_int_equal(snag_run_locations(run, &l), SNAG_OK);
    assert_int_equal(snag_run_calls(run, SNAG_ALL, &all), SNAG_OK);
    assert_int_equal(snag_run_messages(run, SNAG_ALL, &messages), SNAG_OK);
    assert_int_equal(l.n, 3);
    assert_int_equal(all.n, 3 * 700);
    assert_int_equal(messages.n, 3 * 200);
    for (size_t i = 0; i < l.n; i++) {
        assert_int_equal(l.rank[i], i);
        assert_int_equal(l.thread[i], 0);
        assert_int_equal(l.is_gpu[i], 0);
        assert_int_equal(snag_run_calls(run, i, &one), SNAG_OK);
        assert_int_equal(one.n, l.n_calls[i]);
        assert_ptr_equal(one.enter_ns, all.enter_ns + l.first_call[i]);
        assert_ptr_equal(one.depth, all.depth + l.first_call[i]);
        for (size_t c = 0; c < one.n; c++)
            assert_int_equal(one.subtree_len[c], c % 7 == 0 ? 7 : c % 7 == 2 ? 5 : 1);
        assert_int_equal(snag_run_messages(run, i, &of_one), SNAG_OK);
        assert_ptr_equal(of_one.message, messages.message + l.first_message[i]);
        for (size_t m = 0; m < of_one.n; m++) {
            const struct snag_message *x = &of_one.message[m];
            const struct snag_message *other = &messages.message[x->match];

            assert_int_equal(x->peer, (i + (x->is_receive ? 2 : 1)) % 3);
            assert_int_equal(other->peer, i);
            assert_int_equal(other->is_receive, !x->is_receive);
            assert_true(x->call < one.n);
        }
    }
    assert_string_equal(snag_run_region(run, all.region[2]), "b");
    assert_int_equal(all.depth[3], 2);
    assert_true(all.region[3] < snag_run_regions(run));
    assert_null(snag_run_region(run, (uint32_t)snag_run_regions(run)));
    assert_int_equal(snag_run_check(run, SNAG_ALL), SNAG_OK);
    assert_int_equal(snag_run_check(run, 3), SNAG_ERROR_NOT_FOUND);
    assert_int_equal(snag_run_calls(run, 3, &one), SNAG_ERROR_NOT_FOUND);
    assert_int_equal(one.n, 0);
    assert_int_equal(snag_run_messages(run, 3, &of_one), SNAG_ERROR_NOT_FOUND);
    snag_locations_release(&l);
    snag_run_close(run);
}

static void a_run_says_what_its_executions_lost(void **state)
{
    struct snag_executions x;
    struct snag_losses l;
    struct snag_calls calls;
    snag_run *run;

    (void)state;
    analyze("o.snag", "step");
    run = open_run("o.snag");
    assert_int_equal(snag_run_executions(run, 0, &x), SNAG_OK);
    assert_int_equal(snag_run_losses(run, 0, &l), SNAG_OK);
    assert_int_equal(l.n, x.n);
    for (size_t i = 0; i < l.n; i++) {
        assert_int_equal(l.location[i], x.rank[i]);
        assert_int_equal(l.call[i], 7 * x.index[i]);
        assert_int_equal(snag_run_calls(run, l.location[i], &calls), SNAG_OK);
        assert_int_equal(calls.inclusive_ns[l.call[i]], x.duration_ns[i]);
        assert_true(l.lost_ns[i] == 0 || l.lost_ns[i] == x.duration_ns[i] - l.typical_ns[i]);
        assert_true(x.is_anomaly[i] ? l.lost_ns[i] > 5000000 && l.p[i] < 1e-6
                                    : l.lost_ns[i] < 1000000);
        assert_true(l.cost_ns[i] >= -1);
        assert_int_equal(l.tracer_ns[i] + l.error_ns[i] + l.is_open[i], 0);
    }
    snag_losses_release(&l);
    assert_int_equal(snag_run_losses(run, 1, &l), SNAG_ERROR_NOT_FOUND);
    assert_null(l.p);
    snag_executions_release(&x);
    snag_run_close(run);
}

/* Somebody else wrote a region that there is not. */
static void calls_that_are_damaged_are_refused_when_they_are_checked(void **state)
{
    uint32_t wrong;
    struct snag_calls calls;
    snag_run *run;
    char path[128];
    FILE *file;

    (void)state;
    analyze("d.snag", "step");
    run = open_run("d.snag");
    wrong = (uint32_t)snag_run_regions(run);
    assert_int_equal(snag_run_check_regions(run, SNAG_ALL), SNAG_OK);
    snag_run_close(run);
    file = fopen(path_of(path, "d.snag/calls/region.u32"), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 710 * sizeof wrong, SEEK_SET), 0);
    assert_int_equal(fwrite(&wrong, sizeof wrong, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    run = open_run("d.snag");
    assert_int_equal(snag_run_calls(run, SNAG_ALL, &calls), SNAG_OK);
    assert_int_equal(calls.region[710], wrong);
    assert_int_equal(snag_run_check(run, 0), SNAG_OK);
    assert_int_equal(snag_run_check(run, 1), SNAG_ERROR_FORMAT);
    assert_int_equal(snag_run_check_regions(run, 0), SNAG_OK);
    assert_int_equal(snag_run_check_regions(run, 1), SNAG_ERROR_FORMAT);
    assert_int_equal(snag_run_check_regions(run, SNAG_ALL), SNAG_ERROR_FORMAT);
    assert_int_equal(snag_run_check_regions(run, 3), SNAG_ERROR_NOT_FOUND);
    assert_int_equal(snag_run_check(run, SNAG_ALL), SNAG_ERROR_FORMAT);
    snag_run_close(run);
}

static void keep_warning(void *ctx, const char *text)
{
    snprintf(ctx, 200, "%s", text);
}

static void labels_are_learnt_from_and_taken_back(void **state)
{
    struct snag_analyze_options options = {.size = sizeof options};
    struct snag_executions before, after, undone;
    size_t n_changed;
    snag_model *model;
    snag_run *run;
    char path[128], warning[200] = "";

    (void)state;
    analyze("l.snag", "step");
    run = open_run("l.snag");
    assert_int_equal(snag_run_executions(run, 0, &before), SNAG_OK);
    assert_int_equal(snag_run_label(run, 0, 3, 1, "me"), SNAG_OK);
    assert_int_equal(snag_run_label(run, 0, 5, -1, "me"), SNAG_OK);
    assert_int_equal(snag_run_retrain(run, 0, "me", &n_changed), SNAG_OK);
    assert_true(n_changed >= 1);
    assert_int_equal(snag_run_executions(run, 0, &after), SNAG_OK);
    assert_int_equal(after.label[3], 1);
    assert_int_equal(after.label[5], -1);
    assert_int_equal(after.is_anomaly[3], 1);
    assert_int_equal(snag_run_undo(run, 0, &n_changed), SNAG_OK);
    assert_int_equal(snag_run_executions(run, 0, &undone), SNAG_OK);
    assert_memory_equal(undone.score, before.score, before.n * sizeof *before.score);
    assert_int_equal(snag_run_undo(run, 0, NULL), SNAG_ERROR_NOT_FOUND);
    assert_int_equal(snag_run_label(run, 0, 3, 2, "me"), SNAG_ERROR_USAGE);
    snag_on_warning(keep_warning, warning);
    assert_int_equal(snag_run_save_model(run, 0, path_of(path, "l.model")), SNAG_OK);
    snag_on_warning(NULL, NULL);
    assert_non_null(strstr(warning, "is without 2 labels of the run"));
    assert_int_equal(snag_model_open(path, &model), SNAG_OK);
    assert_string_equal(snag_model_function(model), "step");
    options.model = model;
    assert_int_equal(snag_analyze(program, path_of(path, "again.snag"), &options), SNAG_OK);
    snag_model_close(model);
    snag_executions_release(&before);
    snag_executions_release(&after);
    snag_executions_release(&undone);
    snag_run_close(run);
}

static void what_is_wrong_is_said(void **state)
{
    struct snag_analyze_options options = {.size = 3};
    struct snag_executions x;
    struct snag_vertices v;
    snag_model *model;
    snag_run *run;
    char path[128], reason[16];

    (void)state;
    assert_int_equal(snag_run_open(path_of(path, "none"), &run), SNAG_ERROR_NOT_FOUND);
    assert_null(run);
    assert_non_null(strstr(snag_message(), "none"));
    assert_int_equal(snag_model_open(path, &model), SNAG_ERROR_IO);
    assert_null(model);
    assert_int_equal(snag_analyze(program, path, &options), SNAG_ERROR_USAGE);
    assert_int_equal(snag_analyze("synth:a(", path, NULL), SNAG_ERROR_FORMAT);
    assert_int_equal(access(path, F_OK), -1);
    analyze("w.snag", "step");
    assert_int_equal(snag_analyze(program, path_of(path, "w.snag"), NULL), SNAG_ERROR_EXISTS);
    run = open_run("w.snag");
    assert_int_equal(snag_run_executions(run, 1, &x), SNAG_ERROR_NOT_FOUND);
    assert_null(x.score);
    assert_int_equal(snag_run_vertices(run, 0, 300, &v), SNAG_ERROR_NOT_FOUND);
    assert_int_equal(snag_run_reason(run, 0, SIZE_MAX, reason, sizeof reason),
                     SNAG_ERROR_NOT_FOUND);
    assert_string_equal(reason, "");
    snag_run_close(run);
    snag_run_close(NULL);
    snag_model_close(NULL);
    snag_detector_close(NULL);
}

/* ------------------------------------------------------------------------ events pushed in */

struct told {
    size_t n_executions, n_anomalies;
    char reason[256];
};

static void take_execution(void *ctx, const struct snag_execution *x)
{
    struct told *told = ctx;

    told->n_executions++;
    told->n_anomalies += x->is_anomaly != 0;
    if (x->reason)
        snprintf(told->reason, sizeof told->reason, "%s", x->reason);
}

/* Tells of executions of `step`. */
static snag_detector *open_detector(struct told *told)
{
    const char *function = "step";
    struct snag_detector_options options = {.size = sizeof options,
                                            .function = &function,
                                            .n_functions = 1,
                                            .on_execution = take_execution,
                                            .ctx = told};
    snag_detector *d;

    assert_int_equal(snag_detector_open(&options, &d), SNAG_OK);
    return d;
}

static void events_are_judged_and_wrong_ones_counted(void **state)
{
    struct told told = {.n_executions = 0};
    snag_detector *d = open_detector(&told);
    uint32_t location, step;
    uint64_t now = 5;

    (void)state;
    location = snag_location(d, 7, 1);
    assert_int_equal(snag_location(d, 7, 1), location);
    step = snag_region(d, "step");
    for (int i = 0; i < 200; i++) {
        snag_enter(d, location, now, step);
        snag_send(d, location, now + 1, 3, 0, 8);
        snag_count(d, location, now + 2, snag_counter(d, "flops"), 1e9);
        now += i == 150 ? 90000 : 1000 + (uint64_t)(i % 3);
        snag_leave(d, location, now++, step);
        if (i % 20 == 0)
            assert_int_equal(snag_detector_step(d), SNAG_OK);
    }
    assert_int_equal(snag_detector_damage(d), 0);
    snag_enter(d, location + 1, now, step);
    snag_enter(d, location, now, step + 1);
    snag_enter(d, location, UINT64_MAX, step);
    snag_count(d, location, now, 1, 0);
    assert_int_equal(snag_detector_damage(d), 4);
    snag_enter(d, location, 3, step); /* earlier, and never left */
    assert_int_equal(snag_detector_end(d), SNAG_OK);
    assert_int_equal(snag_detector_damage(d), 6);
    assert_int_equal(snag_detector_step(d), SNAG_ERROR_USAGE);
    assert_int_equal(told.n_executions, 201);
    assert_int_equal(told.n_anomalies, 1);
    assert_non_null(strstr(told.reason, "deviations"));
    snag_detector_close(d);
}

/* They are held until the step ends, and there are many more than it holds. */
static void a_step_has_as_many_events_as_it_likes(void **state)
{
    struct told told = {.n_executions = 0};
    snag_detector *d = open_detector(&told);
    uint32_t location, step;

    (void)state;
    location = snag_location(d, 0, 0);
    step = snag_region(d, "step");
    for (uint64_t i = 0; i < 1000; i++) {
        snag_enter(d, location, 100 * i, step);
        snag_leave(d, location, 100 * i + 50, step);
    }
    assert_int_equal(snag_detector_end(d), SNAG_OK);
    assert_int_equal(snag_detector_damage(d), 0);
    assert_int_equal(told.n_executions, 1000);
    snag_detector_close(d);
}

/* ------------------------------------------------------------------------ a source is read */

static void a_source_is_read_step_by_step(void **state)
{
    const char *function = "step";
    struct told told = {.n_executions = 0};
    struct snag_detector_options options = {.size = sizeof options,
                                            .function = &function,
                                            .n_functions = 1,
                                            .on_execution = take_execution,
                                            .ctx = &told,
                                            .source = program,
                                            .step_ns = 100000000};
    snag_detector *d;
    size_t n_steps = 0;
    int next;

    (void)state;
    assert_int_equal(snag_detector_open(&options, &d), SNAG_OK);
    assert_int_equal(snag_region(d, "step"), UINT32_MAX);
    assert_int_equal(snag_location(d, 0, 0), UINT32_MAX);
    snag_enter(d, 0, 1, 0); /* not pushed */
    assert_int_equal(snag_detector_step(d), SNAG_ERROR_USAGE);
    while ((next = snag_detector_next(d, 1000)) != SNAG_OVER) {
        assert_int_equal(next, SNAG_STEP);
        n_steps++;
    }
    assert_int_equal(snag_detector_next(d, 0), SNAG_OVER);
    assert_int_equal(n_steps, 5); /* of 424 ms */
    assert_int_equal(told.n_executions, 300);
    assert_int_equal(told.n_anomalies, 6);
    assert_int_equal(snag_detector_damage(d), 1);
    snag_detector_close(d);
    function = "stop";
    assert_int_equal(snag_detector_open(&options, &d), SNAG_OK);
    while ((next = snag_detector_next(d, 1000)) == SNAG_STEP)
        continue;
    assert_int_equal(next, SNAG_ERROR_NOT_FOUND); /* never called */
    assert_int_equal(snag_detector_next(d, 0), SNAG_OVER);
    snag_detector_close(d);
    options.source = "replay:/nowhere";
    assert_int_not_equal(snag_detector_open(&options, &d), SNAG_OK);
    assert_null(d);
    d = open_detector(&told);
    assert_int_equal(snag_detector_next(d, 0), SNAG_ERROR_USAGE);
    snag_detector_close(d);
}

/* --------------------------------------------------------------------------------- threads */

static void *live_a_life(void *name)
{
    snag_run *run;
    struct snag_executions x;
    size_t n = 0;

    analyze(name, "step");
    for (int i = 0; i < 10; i++) {
        run = open_run(name);
        assert_int_equal(snag_run_executions(run, 0, &x), SNAG_OK);
        n += x.n;
        assert_int_equal(snag_run_label(run, 0, (size_t)i, 1, name), SNAG_OK);
        assert_int_equal(snag_run_retrain(run, 0, name, NULL), SNAG_OK);
        assert_int_equal(snag_run_open("/nowhere", &(snag_run *){NULL}), SNAG_ERROR_NOT_FOUND);
        snag_executions_release(&x);
        snag_run_close(run);
    }
    return (void *)(uintptr_t)n;
}

static void two_threads_have_two_runs(void **state)
{
    static char name[2][16] = {"t1.snag", "t2.snag"};
    pthread_t thread[2];
    void *n;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, live_a_life, name[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &n);
        assert_int_equal((uintptr_t)n, 3000);
    }
}

/* ---------------------------------------------------------------------------------- memory */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void say_and_leave(size_t bytes)
{
    _exit(bytes > 0 ? 42 : 43);
}

static void out_of_memory_is_told_before_the_process_aborts(void **state)
{
    struct rlimit limit = {(rlim_t)256 << 20, (rlim_t)256 << 20};
    struct snag_detector_options options = {.size = sizeof options};
    int status;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        snag_detector *d;
        uint32_t region;

        setrlimit(RLIMIT_AS, &limit);
        snag_on_out_of_memory(say_and_leave);
        if (snag_detector_open(&options, &d) < 0)
            _exit(1);
        region = snag_region(d, "f");
        snag_location(d, 0, 0);
        for (uint64_t t = 0; t < (uint64_t)1 << 30; t += 2) { /* and never a step */
            snag_enter(d, 0, t, region);
            snag_leave(d, 0, t + 1, region);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_read_as_columns),
        cmocka_unit_test(calls_and_messages_are_shown_as_they_are_mapped),
        cmocka_unit_test(a_run_says_what_its_executions_lost),
        cmocka_unit_test(calls_that_are_damaged_are_refused_when_they_are_checked),
        cmocka_unit_test(labels_are_learnt_from_and_taken_back),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(events_are_judged_and_wrong_ones_counted),
        cmocka_unit_test(a_step_has_as_many_events_as_it_likes),
        cmocka_unit_test(a_source_is_read_step_by_step),
        cmocka_unit_test(two_threads_have_two_runs),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(out_of_memory_is_told_before_the_process_aborts),
#endif
    };

    return cmocka_run_group_tests(tests, make_directory, NULL);
}

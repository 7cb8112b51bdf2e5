#include "base/log.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define N_LINES 200
#define N_THREADS 4

static char top[64], path[128], old[128];

static int begin(void **state)
{
    (void)state;
    strcpy(top, "log-XXXXXX");
    if (test_dir(top) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/log", top);
    snprintf(old, sizeof old, "%s/log.1", top);
    log_set_level(LOG_INFO);
    return log_open(path, "job-1");
}

static int end(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    return fs_remove_tree(top);
}

/* How many lines there are; each must be whole. */
static int count(const char *of)
{
    char line[256], tag[32], level[32], rest[64];
    FILE *in = fopen(of, "r");
    int n = 0;

    assert_non_null(in);
    for (; fgets(line, sizeof line, in); n++) {
        assert_int_equal(sscanf(line, "20%*s %31s %31s %63[^\n]", tag, level, rest), 3);
        assert_string_equal(tag, "job-1");
        assert_string_equal(level, "info");
        assert_int_equal(strncmp(rest, "test: line ", 11), 0);
    }
    fclose(in);
    return n;
}

static void a_line_has_the_time_and_the_tag(void **state)
{
    (void)state;
    assert_true(log_has_file());
    log_info("test", "line %d", 1);
    log_debug("test", "not this");
    log_info("test", "line of\nthe world");
    assert_int_equal(count(path), 2);
}

static void what_is_renamed_is_written_to_no_more(void **state)
{
    (void)state;
    log_info("test", "line 1");
    assert_int_equal(rename(path, old), 0);
    log_info("test", "line 2"); /* nobody has told us */
    log_reopen();
    log_info("test", "line 3");
    log_info("test", "line 4");
    assert_int_equal(count(old), 2);
    assert_int_equal(count(path), 2);
}

/* Somebody sends garbage for hours: 50 lines, and others are not kept back for it. */
static void too_many_of_one_kind_are_counted(void **state)
{
    char line[256];
    int n = 0, n_other = 0;
    FILE *in;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        log_warn("test", "garbage %d", i);
        if (i % 1000 == 0 && i / 1000 < 20)
            log_warn("test", "something else");
    }
    in = fopen(path, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        n += strstr(line, "garbage") != NULL;
        n_other += strstr(line, "something else") != NULL;
    }
    fclose(in);
    assert_true(n >= (int)LOG_BURST &&
                n < (int)LOG_BURST + 20); /* however slow the machine is */
    assert_int_equal(n_other, 20);
}

struct writing {
    atomic_int n_lines; /* relaxed: it must not put in order what the log itself does not */
    atomic_bool is_over;
};

static void *write_lines(void *arg)
{
    struct writing *w = arg;

    while (!atomic_load_explicit(&w->is_over, memory_order_relaxed)) {
        log_info("test", "line %d", 1);
        atomic_fetch_add_explicit(&w->n_lines, 1, memory_order_relaxed);
    }
    return NULL;
}

static void wait_for_lines(struct writing *w, int n)
{
    n += atomic_load_explicit(&w->n_lines, memory_order_relaxed);
    while (atomic_load_explicit(&w->n_lines, memory_order_relaxed) < n)
        sched_yield();
}

static void no_line_of_many_threads_is_lost(void **state)
{
    struct writing writing = {0};
    pthread_t thread[N_THREADS];

    (void)state;
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, write_lines, &writing), 0);
    wait_for_lines(&writing, N_LINES);
    assert_int_equal(rename(path, old), 0);
    for (int i = 0; i < 50; i++) {
        log_reopen();
        wait_for_lines(&writing, N_THREADS);
    }
    atomic_store(&writing.is_over, true);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(thread[i], NULL);
    log_info("test", "line after");
    assert_int_equal(count(old) + count(path), atomic_load(&writing.n_lines) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_has_the_time_and_the_tag, begin, end),
        cmocka_unit_test_setup_teardown(what_is_renamed_is_written_to_no_more, begin, end),
        cmocka_unit_test_setup_teardown(too_many_of_one_kind_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(no_line_of_many_threads_is_lost, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * snag analyze is stopped when it has written so much of what it writes, from nothing to all:
 * what has the final name is whole, the next attempt works, and no process lives on.
 *
 * How often is the environment variable SNAG_INTERRUPTS, or 6 per signal.
 */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn.h"
#include "test.h"
#include "test_dir.h"

static const char trace[] =
    "synth:3000*step(compute(kernel kernel kernel) >1 <1 |);ranks=4;jitter=0.1;"
    "slow=kernel/151/10";

struct scene {
    char dir[64], run[128];
    uint64_t whole_bytes; /* of a run that was left alone */
};

/* What lies below a directory; of files that come and go meanwhile some. */
static uint64_t bytes_below(char *dir)
{
    char *dirs[] = {dir, NULL};
    FTS *tree = fts_open(dirs, FTS_PHYSICAL, NULL);
    uint64_t n = 0;

    for (FTSENT *entry; tree && (entry = fts_read(tree)) != NULL;)
        n += entry->fts_info == FTS_F ? (uint64_t)entry->fts_statp->st_size : 0;
    if (tree)
        fts_close(tree);
    return n;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

/*
 * A leak checker stops all threads when the process ends; that it cannot where they are just
 * ending themselves, it says on standard error.
 */
static void check_no_leaks(void *ctx)
{
    (void)ctx;
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
}

static void begin_analyze(const struct scene *s, struct spawn *p)
{
    const char *args[] = {"analyze", "--quiet", "--force", trace, "-o", s->run, NULL};

    spawn_begin(p, check_no_leaks, NULL, args);
}

static size_t count_named(const char *dir, const char *part)
{
    DIR *files = opendir(dir);
    struct dirent *file;
    size_t n = 0;

    while (files && (file = readdir(files)) != NULL)
        n += strstr(file->d_name, part) != NULL;
    if (files)
        closedir(files);
    return n;
}

static size_t count_parts(const char *dir)
{
    return count_named(dir, ".part-");
}

/* A run of that name, if there is one, is whole. */
static void assert_whole_or_absent(const struct scene *s)
{
    struct outcome o;

    if (!fs_exists(s->run))
        return;
    spawn_run(&o, "query", s->run, "SELECT count(*) FROM execution", NULL);
    assert_true(outcome_is_clean(&o, "query"));
    assert_int_equal(o.status, 0);
    outcome_release(&o);
    spawn_run(&o, "list", "--json", s->run, NULL);
    assert_true(outcome_is_clean(&o, "list"));
    assert_int_equal(o.status, 0);
    assert_true(o.n_out > 0);
    outcome_release(&o);
}

static bool group_is_gone(pid_t group)
{
    return kill(-group, 0) != 0 && errno == ESRCH;
}

/* Nothing of the process group is left after moments. */
static void assert_gone(pid_t group)
{
    for (int i = 0; i < 500 && !group_is_gone(group); i++)
        usleep(10000);
    assert_true(group_is_gone(group));
}

/* Sends sig when so much is written, to the parent alone or, as a terminal does, to all. */
static void interrupt_once(struct scene *s, uint64_t bytes, int sig, bool is_to_all)
{
    struct spawn p;
    struct outcome o;

    if (fs_exists(s->run))
        assert_int_equal(fs_remove_tree(s->run), 0);
    begin_analyze(s, &p);
    while (bytes_below(s->dir) < bytes && !has_ended(p.pid))
        usleep(1000);
    kill(is_to_all ? -p.pid : p.pid, sig);
    spawn_end(&p, 30, &o);
    assert_false(o.is_late);
    assert_string_equal(o.err, "");
    if (o.signal) {
        assert_int_equal(o.signal, sig);
    } else {
        assert_int_equal(o.status, 0); /* had just finished */
    }
    outcome_release(&o);
    assert_gone(p.pid);
    if (sig != SIGKILL)
        assert_int_equal(count_parts(s->dir), 0);
    assert_whole_or_absent(s);
}

static void stop_often(struct scene *s, int sig)
{
    const char *often = getenv("SNAG_INTERRUPTS");
    int n = often ? atoi(often) : 6;
    struct outcome o;

    for (int i = 0; i < n; i++)
        interrupt_once(s, s->whole_bytes * (unsigned)i / (unsigned)n, sig, i % 2 == 1);
    spawn_run(&o, "analyze", "--quiet", "--force", trace, "-o", s->run, NULL);
    assert_true(outcome_is_clean(&o, "after all"));
    assert_int_equal(o.status, 0);
    outcome_release(&o);
    assert_whole_or_absent(s);
    assert_true(fs_exists(s->run));
    assert_int_equal(count_parts(s->dir), 0); /* what was left of killed ones is removed */
    assert_int_equal(fs_remove_tree(s->run), 0);
}

static void sigint_leaves_nothing_half_written(void **state)
{
    stop_often(*state, SIGINT);
}

static void sigterm_leaves_nothing_half_written(void **state)
{
    stop_often(*state, SIGTERM);
}

static void what_sigkill_leaves_is_removed_by_the_next(void **state)
{
    stop_often(*state, SIGKILL);
}

static void work_there(void *dir)
{
    check_no_leaks(NULL);
    setenv("TMPDIR", dir, 1);
}

/* It makes a run of the trace beside, for as long as it needs it. */
static void a_command_that_is_given_a_trace_leaves_no_directory(void **state)
{
    struct scene *s = *state;
    char path[sizeof s->run];
    const char *args[] = {"report", trace, "-o", path, NULL};
    struct spawn p;
    struct outcome o;

    snprintf(path, sizeof path, "%s/report.html", s->dir);
    spawn_begin(&p, work_there, s->dir, args);
    while (bytes_below(s->dir) == 0 && !has_ended(p.pid))
        usleep(1000);
    kill(p.pid, SIGINT);
    spawn_end(&p, 30, &o);
    assert_false(o.is_late);
    assert_int_equal(o.signal, SIGINT);
    outcome_release(&o);
    assert_gone(p.pid);
    assert_int_equal(count_named(s->dir, "snag-"), 0);
}

static int setup(void **state)
{
    struct scene *s = calloc(1, sizeof *s);
    struct spawn p;
    struct outcome o;

    strcpy(s->dir, "/tmp/snag-interrupt-XXXXXX");
    assert_non_null(test_dir(s->dir));
    snprintf(s->run, sizeof s->run, "%s/run.snag", s->dir);
    begin_analyze(s, &p);
    spawn_end(&p, 120, &o);
    assert_int_equal(o.status, 0);
    outcome_release(&o);
    s->whole_bytes = bytes_below(s->dir);
    assert_int_equal(fs_remove_tree(s->run), 0);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;

    fs_remove_tree(s->dir);
    free(s);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sigint_leaves_nothing_half_written),
        cmocka_unit_test(sigterm_leaves_nothing_half_written),
        cmocka_unit_test(what_sigkill_leaves_is_removed_by_the_next),
        cmocka_unit_test(a_command_that_is_given_a_trace_leaves_no_directory),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

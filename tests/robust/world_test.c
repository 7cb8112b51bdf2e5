/*
 * Full disks, missing files, strange names: each is one clear line, status 1, and nothing left
 * behind.
 */
#include "base/fs.h"

#include <dirent.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "sample_trace.h"
#include "spawn.h"
#include "test.h"
#include "test_dir.h"

#define NOBODY 65534

struct scene {
    char dir[64], trace[128], run[128], other[128];
};

/* A path below the directory of the test. */
static const char *below(struct scene *s, const char *name)
{
    snprintf(s->other, sizeof s->other, "%s/%s", s->dir, name);
    return s->other;
}

static void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static size_t count_entries(const char *dir)
{
    DIR *files = opendir(dir);
    size_t n = 0;

    assert_non_null(files);
    while (readdir(files))
        n++;
    closedir(files);
    return n - 2;
}

/* Status 1 and one line with both words in it. */
static void assert_complaint(struct outcome *o, const char *word, const char *other)
{
    if (o->status != 1 || strstr(o->err, word) == NULL || strstr(o->err, other) == NULL)
        fprintf(stderr, "status %d: %s", o->status, o->err);
    assert_true(outcome_is_clean(o, word));
    assert_int_equal(o->status, 1);
    assert_non_null(strstr(o->err, word));
    assert_non_null(strstr(o->err, other));
    outcome_release(o);
}

static void assert_done(struct outcome *o, const char *what)
{
    assert_true(outcome_is_clean(o, what));
    assert_int_equal(o->status, 0);
    outcome_release(o);
}

/* ------------------------------------------------------------------------------ no trace */

static void assert_not_a_trace(struct scene *s, const char *path, const char *why)
{
    struct outcome o;

    spawn_run(&o, "info", path, NULL);
    assert_complaint(&o, path, why);
    spawn_run(&o, "analyze", path, "-o", s->run, NULL);
    assert_complaint(&o, path, why);
    assert_false(fs_exists(s->run));
}

static void what_is_no_trace_is_said_to_be_none(void **state)
{
    struct scene *s = *state;

    assert_not_a_trace(s, below(s, "nothing"), "no such trace");
    assert_not_a_trace(s, below(s, "nothing.otf2"), "no such trace");
    assert_int_equal(mkdir(below(s, "empty"), 0777), 0);
    assert_not_a_trace(s, s->other, "no trace in directory");
    write_text(below(s, "letter.txt"), "Dear reader,\n");
    assert_not_a_trace(s, s->other, "not a trace");
    write_text(below(s, "void"), "");
    assert_not_a_trace(s, s->other, "is empty");
    write_text(below(s, "letter.otf2"), "Dear reader,\n");
    assert_not_a_trace(s, s->other, "not a readable OTF2 archive");
    write_text(below(s, "none.json"), "{\"traceEvents\": []}\n");
    assert_not_a_trace(s, s->other, "no trace events");
    assert_int_equal(mkdir(below(s, "traces.otf2"), 0777), 0);
    assert_not_a_trace(s, s->other, "no OTF2 archive in directory");
}

static void a_run_is_not_a_trace(void **state)
{
    struct scene *s = *state;
    struct outcome o;

    spawn_run(&o, "analyze", s->trace, "-o", s->run, NULL);
    assert_done(&o, "analyze");
    spawn_run(&o, "info", s->run, NULL);
    assert_complaint(&o, s->run, "is a run, not a trace");
    spawn_run(&o, "list", s->trace, NULL);
    assert_complaint(&o, s->trace, "not a run");
    assert_int_equal(fs_remove_tree(s->run), 0);
}

/* A root may read everything, so it becomes somebody else. */
static void become_nobody(void *ctx)
{
    (void)ctx;
    if (getuid() == 0 &&
        (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        _exit(126);
}

static void run_as_nobody(struct outcome *o, const char *const *args)
{
    struct spawn p;

    spawn_begin(&p, become_nobody, NULL, args);
    spawn_end(&p, 60, o);
}

static void info_as_nobody(struct outcome *o, const char *path)
{
    run_as_nobody(o, (const char *const[]){"info", "--json", path, NULL});
}

static void what_may_not_be_read_is_said(void **state)
{
    struct scene *s = *state;
    struct outcome o;

    chmod(s->dir, 0755);
    info_as_nobody(&o, s->trace);
    if (o.status != 0) { /* the program itself may be out of reach */
        outcome_release(&o);
        skip();
    }
    outcome_release(&o);
    assert_int_equal(chmod(below(s, "trace/traces/0.evt"), 0), 0);
    info_as_nobody(&o, s->trace);
    assert_true(outcome_is_clean(&o, "event file"));
    assert_int_equal(o.status, 3);
    assert_non_null(strstr(o.out, "\"missing_file\": 1"));
    outcome_release(&o);
    chmod(s->other, 0644);
    assert_int_equal(chmod(below(s, "trace/traces.def"), 0), 0);
    info_as_nobody(&o, s->trace);
    assert_complaint(&o, "definitions cannot be read", "traces.otf2");
    chmod(s->other, 0644);
    assert_int_equal(chmod(below(s, "trace/traces.otf2"), 0), 0);
    info_as_nobody(&o, s->trace);
    assert_complaint(&o, "Permission denied", "traces.otf2");
    chmod(s->other, 0644);
    assert_int_equal(chmod(s->trace, 0), 0);
    info_as_nobody(&o, s->trace);
    assert_complaint(&o, "Permission denied", s->trace);
    chmod(s->trace, 0755);
}

/* Two runs, one of which nobody else may read. Returns false where nobody may do nothing. */
static bool make_runs(struct scene *s, const char *other)
{
    struct outcome o;
    bool may_run;

    chmod(s->dir, 0755);
    info_as_nobody(&o, s->trace);
    may_run = o.status == 0;
    outcome_release(&o);
    spawn_run(&o, "analyze", "--foi", "step", s->trace, "-o", s->run, NULL);
    assert_done(&o, "analyze");
    spawn_run(&o, "analyze", "--foi", "step", s->trace, "-o", other, NULL);
    assert_done(&o, "analyze");
    return may_run;
}

static void each_command_says_that_a_run_may_not_be_read(void **state)
{
    struct scene *s = *state;
    const char *closed = below(s, "closed.snag");
    const char *const each[][5] = {
        {"list", closed},
        {"show", closed, "#0-0"},
        {"what-if", closed},
        {"ranks", closed},
        {"compare", s->run, closed},
        {"compare", closed, s->run},
        {"label", closed, "#0-0=normal"},
    };

    if (!make_runs(s, closed)) /* the program itself may be out of reach */
        skip();
    chmod(closed, 0);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct outcome o;

        run_as_nobody(&o, each[i]);
        assert_complaint(&o, "Permission denied", closed);
    }
    chmod(closed, 0755);
}

/* As it is when a medium has been copied: SQLite's own files beside it are not there. */
static void each_command_says_that_a_run_may_not_be_written(void **state)
{
    static const char *const beside[] = {"run.db-wal", "run.db-shm"};
    struct scene *s = *state;
    const char *const each[][4] = {
        {"label", s->run, "#0-0=normal"}, {"retrain", s->run}, {"project", s->run}};
    char path[256];
    struct outcome o;

    if (!make_runs(s, below(s, "other.snag")))
        skip();
    for (size_t i = 0; i < 2 * sizeof each / sizeof *each; i++) {
        run_as_nobody(&o, each[i / 2]);
        assert_complaint(&o, "cannot write", "read-only");
        for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
            snprintf(path, sizeof path, "%s/%s", s->run, beside[k]);
            unlink(path);
        }
    }
    run_as_nobody(&o, (const char *const[]){"list", s->run, NULL});
    assert_done(&o, "list");
}

/* Of another version, and none of those that are known. */
static void set_format(const char *run, int format)
{
    char path[256], sql[100];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/run.db", run);
    snprintf(sql, sizeof sql, "UPDATE meta SET value = %d WHERE key = 'format'", format);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_run_of_another_version_says_what_to_do(void **state)
{
    struct scene *s = *state;
    const char *old = below(s, "old.snag");
    const char *const each[][6] = {
        {"list", old},
        {"show", old, "#0-0"},
        {"what-if", old},
        {"ranks", old},
        {"compare", s->run, old},
        {"retrain", old},
        {"query", old, "SELECT 1"},
    };

    make_runs(s, old);
    set_format(old, 2);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct spawn p;
        struct outcome o;

        spawn_begin(&p, NULL, NULL, each[i]);
        spawn_end(&p, 60, &o);
        assert_complaint(&o, "format 2", "into another run");
    }
}

/* ------------------------------------------------------------------ nothing in common */

#define N_RANKS 300
#define N_EACH 100 /* functions of a rank, which no other rank and no other trace has */

/* A run of a trace in which the ranks have nothing in common but a step. */
static void make_uncommon(struct scene *s, const char *prefix, const char *run)
{
    char path[256];
    struct outcome o;
    FILE *out;

    snprintf(path, sizeof path, "%s/%s.json", s->dir, prefix);
    out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "[\n");
    for (int r = 0; r < N_RANKS; r++) {
        fprintf(out,
                "{\"ph\":\"X\",\"name\":\"step\",\"ts\":0,\"dur\":999,\"pid\":%d,\"tid\":0},\n",
                r);
        for (int i = 0; i < N_EACH; i++)
            fprintf(out,
                    "{\"ph\":\"X\",\"name\":\"%s%d_%d\",\"ts\":%d,\"dur\":1,\"pid\":%d,\"tid\":"
                    "0},\n",
                    prefix, r, i, 2 * i + 1, r);
    }
    fprintf(out, "]\n");
    assert_int_equal(fclose(out), 0);
    spawn_run(&o, "analyze", path, "--foi", "step", "-o", run, NULL);
    assert_done(&o, "analyze");
}

static void ranks_without_common_calls_take_no_room_for_what_they_do_not_call(void **state)
{
    struct scene *s = *state;
    struct outcome o, all;

    make_uncommon(s, "a", s->run);
    spawn_run(&all, "list", s->run, "--all", NULL);
    spawn_run(&o, "ranks", s->run, NULL);
    assert_true(o.peak_bytes < 8 * all.peak_bytes);
    outcome_release(&all);
    assert_done(&o, "ranks");
}

static void runs_without_common_calls_are_compared_as_soon_as_those_of_one_trace(void **state)
{
    struct scene *s = *state;
    const char *other = below(s, "b.snag");
    char same[256];
    struct outcome alike, apart;

    snprintf(same, sizeof same, "%s/same.snag", s->dir);
    make_uncommon(s, "a", s->run);
    make_uncommon(s, "a", same);
    make_uncommon(s, "b", other);
    spawn_run(&alike, "compare", s->run, same, NULL);
    spawn_run(&apart, "compare", s->run, other, NULL);
    assert_true(apart.cpu_s < 6 * alike.cpu_s);
    assert_done(&alike, "one trace");
    assert_done(&apart, "two traces");
}

/* ----------------------------------------------------------------------------- no room */

static void small_files_only(void *ctx)
{
    struct rlimit limit = {*(rlim_t *)ctx, *(rlim_t *)ctx};

    setrlimit(RLIMIT_FSIZE, &limit);
}

static void a_full_disk_leaves_nothing(void **state)
{
    struct scene *s = *state;
    const char *args[] = {"analyze", "-q", "synth:2000*step(a b c)", "-o", s->run, NULL};
    size_t n_before = count_entries(s->dir), n_failed = 0;
    struct outcome o;

    for (rlim_t most = 1000; most < 1000000; most *= 3) {
        struct spawn p;

        spawn_begin(&p, small_files_only, &most, args);
        spawn_end(&p, 60, &o);
        assert_true(outcome_is_clean(&o, "file size limit"));
        n_failed += o.status == 1;
        assert_int_equal(count_entries(s->dir), n_before + (o.status == 0));
        outcome_release(&o);
        assert_int_equal(fs_remove_tree(s->run), 0);
    }
    assert_true(n_failed > 3);
}

/* Analyses where there is so much room. Returns the status. */
static int analyze_in(const char *dir, unsigned room_kib, const char *trace)
{
    char run[200], size[32];
    struct outcome o, list;
    int status;

    snprintf(size, sizeof size, "size=%uk", room_kib);
    snprintf(run, sizeof run, "%s/run.snag", dir);
    assert_int_equal(mount("tmpfs", dir, "tmpfs", MS_REMOUNT, size), 0);
    spawn_run(&o, "analyze", "-q", trace, "-o", run, NULL);
    assert_true(outcome_is_clean(&o, size));
    assert_int_equal(count_entries(dir), o.status == 0);
    if (o.status == 0) { /* however little is left, what is there can be read */
        spawn_run(&list, "list", run, NULL);
        assert_done(&list, size);
    }
    status = o.status;
    outcome_release(&o);
    assert_int_equal(fs_remove_tree(run), 0);
    return status;
}

static void a_full_file_system_leaves_nothing(void **state)
{
    struct scene *s = *state;
    const char *dir = below(s, "small");
    int n_failed = 0, n_done = 0;

    assert_int_equal(mkdir(dir, 0777), 0);
    if (mount("tmpfs", dir, "tmpfs", 0, "size=8k") != 0)
        skip(); /* only root may */
    for (unsigned kib = 8; kib <= 256; kib += getenv("SNAG_LONG") ? 4 : 12) {
        int status = analyze_in(dir, kib, s->trace);

        n_failed += status == 1;
        n_done += status == 0;
    }
    assert_true(n_failed > 3 && n_done > 3);
    umount(dir);
}

static void an_export_that_cannot_be_written_is_said(void **state)
{
    struct scene *s = *state;
    struct outcome o;

    spawn_run(&o, "analyze", s->trace, "-o", s->run, NULL);
    assert_done(&o, "analyze");
    spawn_run(&o, "export", s->run, "--what", "calls", "-o", "/dev/full", NULL);
    assert_complaint(&o, "/dev/full", "No space left");
    spawn_run(&o, "export", s->run, "-o", "/nonexistent/x.csv", NULL);
    assert_complaint(&o, "/nonexistent/x.csv", "No such file");
    assert_int_equal(fs_remove_tree(s->run), 0);
}

/* ------------------------------------------------------------------------- what is there */

static void what_exists_is_replaced_only_when_told_and_only_a_run(void **state)
{
    struct scene *s = *state;
    const char *letter;
    struct outcome o;

    spawn_run(&o, "analyze", s->trace, "-o", s->run, NULL);
    assert_done(&o, "analyze");
    spawn_run(&o, "analyze", s->trace, "-o", s->run, NULL);
    assert_complaint(&o, "exists already", "--force");
    spawn_run(&o, "analyze", "--force", "--foi", "kernel", s->trace, "-o", s->run, NULL);
    assert_done(&o, "analyze --force");
    spawn_run(&o, "query", s->run, "SELECT name FROM foi", NULL);
    assert_non_null(strstr(o.out, "kernel"));
    assert_done(&o, "query");
    spawn_run(&o, "analyze", "--force", "/nonexistent", "-o", s->run, NULL);
    assert_complaint(&o, "no such trace", "/nonexistent");
    assert_true(fs_exists(s->run)); /* the old one stays when there is no new one */
    letter = below(s, "precious");
    write_text(letter, "Dear reader,\n");
    spawn_run(&o, "analyze", "--force", s->trace, "-o", letter, NULL);
    assert_complaint(&o, "is not a run", letter);
    assert_true(fs_exists(letter));
    assert_int_equal(fs_remove_tree(s->run), 0);
    spawn_run(&o, "analyze", s->trace, "-o", "/nonexistent/run.snag", NULL);
    assert_complaint(&o, "cannot create a run in '/nonexistent'", "No such file");
}

static void a_function_that_is_not_there_names_near_ones(void **state)
{
    struct scene *s = *state;
    struct outcome o;

    spawn_run(&o, "analyze", s->trace, "--foi", "Forse::compute", "-o", s->run, NULL);
    assert_complaint(&o, "no function matches 'Forse::compute'", "near: Force::compute");
    spawn_run(&o, "analyze", s->trace, "--foi", "/xyz/", "-o", s->run, NULL);
    assert_complaint(&o, "no function matches '/xyz/'", "snag info");
    assert_false(fs_exists(s->run));
}

static void names_may_contain_anything(void **state)
{
    static const char *const names[] = {
        "with space", "\u00fcml\u00e4ut", "new\nline", "per%cent?#&",
        "it's",       "\"quoted\"",       "*",         "\x80\xff"};
    struct scene *s = *state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *trace = below(s, names[i]);
        char run[200], archive[200];
        struct outcome o;

        snprintf(run, sizeof run, "%s.snag", trace);
        snprintf(archive, sizeof archive, "%s/nothing.otf2", trace);
        sample_trace_write(trace, 3);
        spawn_run(&o, "analyze", "--json", trace, "-o", run, NULL);
        assert_done(&o, names[i]);
        spawn_run(&o, "show", run, "#0-0", NULL);
        assert_done(&o, names[i]);
        spawn_run(&o, "info", archive, NULL);
        assert_complaint(&o, "no such trace", "nothing.otf2");
    }
}

static int setup(void **state)
{
    struct scene *s = calloc(1, sizeof *s);

    strcpy(s->dir, "/tmp/snag-world-XXXXXX");
    assert_non_null(test_dir(s->dir));
    snprintf(s->trace, sizeof s->trace, "%s/trace", s->dir);
    snprintf(s->run, sizeof s->run, "%s/run.snag", s->dir);
    sample_trace_write(s->trace, 8);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;

    umount(below(s, "small"));
    fs_remove_tree(s->dir);
    free(s);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define EACH(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        EACH(what_is_no_trace_is_said_to_be_none),
        EACH(a_run_is_not_a_trace),
        EACH(what_may_not_be_read_is_said),
        EACH(each_command_says_that_a_run_may_not_be_read),
        EACH(each_command_says_that_a_run_may_not_be_written),
        EACH(a_run_of_another_version_says_what_to_do),
        EACH(ranks_without_common_calls_take_no_room_for_what_they_do_not_call),
        EACH(runs_without_common_calls_are_compared_as_soon_as_those_of_one_trace),
        EACH(a_full_disk_leaves_nothing),
        EACH(a_full_file_system_leaves_nothing),
        EACH(an_export_that_cannot_be_written_is_said),
        EACH(what_exists_is_replaced_only_when_told_and_only_a_run),
        EACH(a_function_that_is_not_there_names_near_ones),
        EACH(names_may_contain_anything),
#undef EACH
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

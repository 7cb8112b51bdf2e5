#include "run/rundir.h"

#include "base/err.h"
#include "run/ingest.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

static char base[] = "/tmp/snag-rundir-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return test_dir(base) ? 0 : -1;
}

static size_t n_entries(void)
{
    DIR *dir = opendir(base);
    size_t n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void path_of(char out[FS_PATH_SIZE], const char *name)
{
    assert_int_equal(fs_join(out, base, name), 0);
}

/* A small finished run; returns what rundir_commit says. */
static int make_run(const char *path, bool may_replace)
{
    struct source source;
    struct ingested ingested;
    struct rundir dir;
    struct ingest_opts opts = {.pool = pool_new(1)};
    struct database db;
    int rc = rundir_begin(&dir, path, may_replace);

    if (rc == 0) {
        opts.dir = dir.part;
        assert_int_equal(source_open(&source, "synth:5*main(a b);ranks=2"), 0);
        assert_int_equal(ingest(&source, &opts, &ingested), 0);
        assert_int_equal(rundb_create(dir.part, &db), 0);
        assert_int_equal(run_summary_save(db.sql, &source, &ingested), 0);
        assert_int_equal(rundb_finish(db.sql), 0);
        database_close(&db);
        rc = rundir_commit(&dir);
        ingested_release(&ingested);
        source_close(&source);
    }
    rundir_abandon(&dir);
    pool_free(opts.pool);
    return rc;
}

static void a_run_is_there_when_it_is_finished(void **state)
{
    struct definitions defs;
    char path[FS_PATH_SIZE];
    struct run run;

    (void)state;
    path_of(path, "a.snag/");
    assert_int_equal(make_run(path, false), 0);
    assert_int_equal(n_entries(), 1);
    assert_int_equal(run_open(&run, path, false), 0);
    assert_int_equal(run.columns.n_calls, 30);
    assert_int_equal(rundb_get(run.db, "n_calls"), 30);
    assert_int_equal(run_summary_regions(run.db, &defs), 0);
    assert_string_equal(defs.region[0].name, "main");
    definitions_release(&defs);
    run_close(&run);
    run_close(&run);
}

static void an_existing_run_is_replaced_only_when_that_is_said(void **state)
{
    char path[FS_PATH_SIZE], file[FS_PATH_SIZE + 8];

    (void)state;
    path_of(path, "b.snag");
    assert_int_equal(make_run(path, false), 0);
    assert_int_equal(make_run(path, false), ERR_EXISTS);
    assert_int_equal(make_run(path, true), 0);
    path_of(path, "precious");
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(make_run(path, true), ERR_EXISTS);
    snprintf(file, sizeof file, "%s/x", path);
    assert_int_equal(mkdir(file, 0777), 0); /* still there, and not a run */
}

static void what_is_abandoned_leaves_nothing(void **state)
{
    char path[FS_PATH_SIZE];
    size_t before = n_entries();
    struct rundir dir;

    (void)state;
    path_of(path, "c.snag");
    assert_int_equal(rundir_begin(&dir, path, false), 0);
    assert_int_equal(n_entries(), before + 1);
    rundir_abandon(&dir);
    rundir_abandon(&dir);
    assert_int_equal(n_entries(), before);
}

/* A process that is killed leaves a hidden directory; the next one removes it. */
static void leftovers_of_the_dead_are_removed(void **state)
{
    char path[FS_PATH_SIZE];
    size_t before = n_entries();
    pid_t child;
    int status;

    (void)state;
    path_of(path, "d.snag");
    child = fork();
    if (child == 0) {
        struct rundir dir;

        _exit(rundir_begin(&dir, path, false) == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(n_entries(), before + 1);
    assert_false(fs_exists(path));
    assert_int_equal(make_run(path, false), 0);
    assert_int_equal(n_entries(), before + 1);
}

/* What only looks like one: a link of that name, a directory of another user; and the name that
 * ours could have is taken. */
static void what_others_put_there_stays_and_is_not_in_the_way(void **state)
{
    char path[FS_PATH_SIZE], link[FS_PATH_SIZE], theirs[FS_PATH_SIZE], ours[FS_PATH_SIZE],
        host[65] = "";
    struct rundir dir;

    (void)state;
    path_of(path, "f.snag");
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    snprintf(link, sizeof link, "%s/.f.snag.part-%s-999999999-1", base, host);
    snprintf(theirs, sizeof theirs, "%s/.f.snag.part-%s-999999999-2", base, host);
    snprintf(ours, sizeof ours, "%s/.f.snag.part-%s-%ld", base, host, (long)getpid());
    assert_int_equal(symlink("/", link), 0);
    assert_int_equal(mkdir(theirs, 0777), 0);
    assert_int_equal(mkdir(ours, 0777), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(theirs, 65534, (gid_t)-1), 0);
    assert_int_equal(rundir_begin(&dir, path, false), 0);
    assert_true(fs_exists(link));
    assert_true(fs_exists(ours));
    assert_int_equal(fs_exists(theirs), geteuid() == 0);
    rundir_abandon(&dir);
    assert_true(fs_exists(link));
}

static void other_things_are_not_runs(void **state)
{
    char path[FS_PATH_SIZE], db[FS_PATH_SIZE];
    struct run run;
    FILE *file;

    (void)state;
    path_of(path, "nothing");
    assert_int_equal(run_open(&run, path, false), ERR_NOT_FOUND);
    run_close(&run);
    path_of(path, "e");
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(run_open(&run, path, false), ERR_FORMAT);
    run_close(&run);
    assert_int_equal(fs_join(db, path, "run.db"), 0);
    file = fopen(db, "w");
    fputs("this is not a database, although it has the name of one", file);
    fclose(file);
    assert_int_equal(run_open(&run, path, false), ERR_FORMAT);
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_there_when_it_is_finished),
        cmocka_unit_test(an_existing_run_is_replaced_only_when_that_is_said),
        cmocka_unit_test(what_is_abandoned_leaves_nothing),
        cmocka_unit_test(leftovers_of_the_dead_are_removed),
        cmocka_unit_test(what_others_put_there_stays_and_is_not_in_the_way),
        cmocka_unit_test(other_things_are_not_runs),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}

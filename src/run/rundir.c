/*
 * "dir/R.snag" is made as "dir/.R.snag.part-HOST-PID-RANDOM": the host tells whether the
 * process can be asked if it is still alive; the random number keeps others from taking the
 * name first.
 */
#include "run/rundir.h"

#include "base/err.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Splits "a/b/c/" into "a/b" and "c". */
static int split(const char *path, char dir[FS_PATH_SIZE], char name[FS_PATH_SIZE])
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    if (end >= FS_PATH_SIZE - 100 || end == begin)
        return err_set(ERR_RANGE, "not a name for a run: '%.200s'", path);
    snprintf(name, FS_PATH_SIZE, "%.*s", (int)(end - begin), path + begin);
    if (begin == 0)
        snprintf(dir, FS_PATH_SIZE, ".");
    else
        snprintf(dir, FS_PATH_SIZE, "%.*s", begin > 1 ? (int)begin - 1 : 1, path);
    return 0;
}

static void host_name(char out[65])
{
    if (gethostname(out, 65) != 0)
        snprintf(out, 65, "localhost");
    out[64] = '\0';
}

static bool is_our_directory(int dir, const char *name)
{
    struct stat info;

    return fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode) &&
           info.st_uid == geteuid();
}

/* Removes what dead processes of ours on this machine left of the same run. */
static void remove_leftovers(const char *dir, const char *name)
{
    char start[2 * FS_PATH_SIZE], host[65];
    DIR *files = opendir(dir);
    struct dirent *file;

    host_name(host);
    snprintf(start, sizeof start, ".%s.part-%s-", name, host);
    while (files && (file = readdir(files)) != NULL) {
        char path[FS_PATH_SIZE];
        long pid;

        if (strncmp(file->d_name, start, strlen(start)) != 0)
            continue;
        pid = strtol(file->d_name + strlen(start), NULL, 10);
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
            is_our_directory(dirfd(files), file->d_name) &&
            fs_join(path, dir, file->d_name) == 0)
            fs_remove_tree(path);
    }
    if (files)
        closedir(files);
}

bool rundir_is_run(const char *path)
{
    char db[FS_PATH_SIZE];

    return fs_join(db, path, "run.db") == 0 && fs_exists(db);
}

static int check_free(const struct rundir *r)
{
    if (!fs_exists(r->path))
        return 0;
    if (!rundir_is_run(r->path))
        return err_set(ERR_EXISTS, "exists and is not a run: '%s' is left alone", r->path);
    if (!r->may_replace)
        return err_set(ERR_EXISTS, "exists already: '%s' (--force replaces a run)", r->path);
    return 0;
}

/* Labels of a run that is replaced are kept, so they must be readable: asked now, not at the
 * end. */
static int check_readable(const struct rundir *r)
{
    struct database db = {.dir = -1};
    int dir, rc;

    if (!r->may_replace || !rundir_is_run(r->path))
        return 0;
    rc = fs_open_dir(r->path, &dir);
    if (rc < 0)
        return rc;
    rc = rundb_open_labels(dir, r->path, &db);
    database_close(&db);
    close(dir);
    return rc;
}

int rundir_begin(struct rundir *r, const char *path, bool may_replace)
{
    char dir[FS_PATH_SIZE], name[FS_PATH_SIZE], host[65];
    uint64_t number = 0;
    int rc;

    *r = (struct rundir){.may_replace = may_replace};
    rc = split(path, dir, name);
    if (rc == 0 && strchr(path, '/') == NULL)
        snprintf(r->path, sizeof r->path, "%s", name);
    else if (rc == 0)
        rc = fs_join(r->path, dir, name);
    if (rc == 0)
        rc = check_free(r);
    if (rc == 0)
        rc = check_readable(r);
    if (rc == 0 && getrandom(&number, sizeof number, 0) != sizeof number)
        rc = err_set(ERR_IO, "cannot draw a random number: %s", strerror(errno));
    if (rc < 0) {
        r->path[0] = '\0';
        return rc;
    }
    host_name(host);
    remove_leftovers(dir, name);
    snprintf(r->part, sizeof r->part, "%.3000s/.%.900s.part-%s-%ld-%016" PRIx64, dir, name,
             host, (long)getpid(), number);
    if (mkdir(r->part, 0777) != 0) {
        rc = err_set(ERR_IO, "cannot create a run in '%s': %s", dir, strerror(errno));
        r->path[0] = r->part[0] = '\0';
    }
    return rc;
}

static int rename_with(const char *from, const char *to, unsigned flags)
{
#ifdef SYS_renameat2
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
#else
    (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

#define NO_REPLACE 1u
#define EXCHANGE 2u

int rundir_commit(struct rundir *r)
{
    bool is_there = fs_exists(r->path);
    int rc = check_free(r);

    if (rc < 0)
        return rc;
    if (is_there && rename_with(r->part, r->path, EXCHANGE) == 0) {
        fs_remove_tree(r->part); /* the old run, now */
        r->part[0] = '\0';
        return 0;
    }
    if (is_there && (rc = fs_remove_tree(r->path)) < 0)
        return rc;
    if (rename_with(r->part, r->path, NO_REPLACE) != 0 &&
        (errno == EEXIST || rename(r->part, r->path) != 0))
        return err_set(ERR_IO, "cannot rename the finished run to '%s': %s", r->path,
                       strerror(errno));
    r->part[0] = '\0';
    return 0;
}

void rundir_abandon(struct rundir *r)
{
    if (r->part[0])
        fs_remove_tree(r->part);
    r->part[0] = '\0';
}

static bool has(const struct run *run, const char *name)
{
    struct stat info;

    return fstatat(run->dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What is not there, and what is something else. */
static int open_directory(struct run *run, const char *path)
{
    int rc = fs_open_dir(path, &run->dir);

    if (rc == ERR_NOT_FOUND)
        return err_set(rc, "no such run: '%s'", path);
    if (rc == ERR_FORMAT)
        return err_set(rc, "not a run: '%s' is a file (snag analyze TRACE -o RUN makes a run)",
                       path);
    if (rc < 0 || has(run, RUNDB_NAME))
        return rc;
    if (errno != ENOENT)
        return err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    if (has(run, "shard-0000.db"))
        return err_set(ERR_FORMAT,
                       "not a run: '%s' is a store of provenance (snag provdb, query, export "
                       "and serve read those)",
                       path);
    return err_set(ERR_FORMAT, "not a run: '%s' (snag analyze TRACE -o RUN makes one)", path);
}

/* Functions of interest are regions of the run, and have no more executions than it has calls.
 */
static int check_fois(const struct run *run)
{
    sqlite3_stmt *query;
    int rc = rundb_query(run->db, &query,
                         "SELECT 1 FROM foi WHERE typeof(trees) <> 'integer' OR "
                         "trees NOT BETWEEN 0 AND ?1 OR typeof(region) <> 'integer' OR "
                         "region < 0 OR region >= ?2",
                         "ii", (int64_t)run->columns.n_calls, (int64_t)run->defs.names.n);

    if (rc == 0 && sqlite3_step(query) != SQLITE_DONE)
        rc = err_set(ERR_FORMAT, "damaged run: '%s' has impossible functions of interest",
                     run->path);
    sqlite3_finalize(query);
    return rc;
}

int run_open(struct run *run, const char *path, bool is_writable)
{
    int rc;

    *run = (struct run){.dir = -1, .database.dir = -1, .columns.dir = -1};
    rc = open_directory(run, path);
    if (rc < 0)
        return rc;
    snprintf(run->path, sizeof run->path, "%s", path);
    rc = rundb_open(run->dir, path, is_writable, &run->database);
    run->db = run->database.sql;
    if (rc == 0)
        rc = columns_open_at(&run->columns, run->dir, path);
    if (rc == 0)
        rc = run_summary_definitions(run->db, &run->defs);
    if (rc == 0 && run->defs.n_locations != run->columns.n_locations)
        rc =
            err_set(ERR_FORMAT, "damaged run: in '%s' calls/ are of %u locations, run.db of %u",
                    path, run->columns.n_locations, run->defs.n_locations);
    return rc == 0 ? check_fois(run) : rc;
}

int run_check_same(const struct run *run)
{
    struct stat open, there;

    if (fstat(run->dir, &open) < 0 || stat(run->path, &there) < 0)
        return err_set(ERR_NOT_FOUND, "the run that is open is not in '%s' any more: %s",
                       run->path, strerror(errno));
    if (!fs_is_same(&open, &there))
        return err_set(ERR_NOT_FOUND,
                       "'%s' was made anew, and is another run than the one that is open: open "
                       "it again",
                       run->path);
    return 0;
}

int run_connect(const struct run *run, bool is_writable, struct database *db)
{
    return rundb_open(run->dir, run->path, is_writable, db);
}

void run_close(struct run *run)
{
    definitions_release(&run->defs);
    database_close(&run->database);
    columns_close(&run->columns);
    if (run->dir > 0)
        close(run->dir);
    *run = (struct run){.dir = -1};
}

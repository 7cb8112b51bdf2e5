/*
 * rundir -- a run is a directory that is either complete or not there.
 *
 * It is made beside its final place under a hidden name and renamed at the end. What was
 * interrupted never has the final name; what is left of an interrupted one on this machine is
 * removed by the next attempt.
 */
#ifndef SNAG_RUN_RUNDIR_H
#define SNAG_RUN_RUNDIR_H

#include "base/fs.h"
#include "run/columns.h"

#include <stdbool.h>

#include <sqlite3.h>

struct rundir {
    char path[FS_PATH_SIZE]; /* where it will be; "" when nothing is being made */
    char part[FS_PATH_SIZE]; /* where it is being made */
    bool may_replace;
};

/*
 * rundir_begin -- make an empty directory to write to.
 *   may_replace  an existing run of that name is replaced at the end
 * Returns 0, ERR_EXISTS when something of that name is there (and is not a run, or must not be
 * replaced), or ERR_IO.
 */
int rundir_begin(struct rundir *dir, const char *path, bool may_replace);

/* rundir_is_run -- true when path looks like a run from outside: a directory with a run.db. */
bool rundir_is_run(const char *path);

/* rundir_commit -- give the finished directory its name. Returns 0, ERR_EXISTS or ERR_IO. */
int rundir_commit(struct rundir *dir);

/* rundir_abandon -- remove what was made. After a commit, or twice, it does nothing. */
void rundir_abandon(struct rundir *dir);

/* A run that is open for reading. */
struct run {
    char path[FS_PATH_SIZE];
    sqlite3 *db;
    struct columns columns;
};

/*
 * run_open -- open a finished run.
 *   is_writable  run.db will be written to
 * Instant, whatever the size. Returns 0, ERR_NOT_FOUND, ERR_FORMAT or ERR_IO. Close in any
 * case.
 */
int run_open(struct run *run, const char *path, bool is_writable);
void run_close(struct run *run);

#endif

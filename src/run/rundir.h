/*
 * rundir -- a run is a directory that is either complete or not there.
 *
 * It is made beside its final place under a hidden name and renamed at the end. What was
 * interrupted never has the final name; what is left of an interrupted one on this machine is
 * removed by the next attempt.
 */
#ifndef SNAG_RUN_RUNDIR_H
#define SNAG_RUN_RUNDIR_H

#include "base/database.h"
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
 * replaced), ERR_IO, or as rundb_open_labels for one whose labels cannot be read.
 */
int rundir_begin(struct rundir *dir, const char *path, bool may_replace);

/* rundir_is_run -- true when path looks like a run from outside: a directory with a run.db. */
bool rundir_is_run(const char *path);

/* rundir_commit -- give the finished directory its name. Returns 0, ERR_EXISTS or ERR_IO. */
int rundir_commit(struct rundir *dir);

/* rundir_abandon -- remove what was made. After a commit, or twice, it does nothing. */
void rundir_abandon(struct rundir *dir);

/* A run that is open. Stays where it is. */
struct run {
    char path[FS_PATH_SIZE];
    int dir; /* handle of it: all that is in it is reached from there */
    struct database database;
    sqlite3 *db; /* its connection */
    struct columns columns;
    struct definitions defs; /* regions, locations, communicators, numbered as in the columns */
};

/*
 * run_open -- open a finished run.
 *   is_writable  run.db will be written to
 * What run.db and calls/ say of each other is checked here; the calls of a location are when
 * they are used (columns_check). Instant, whatever the size. Returns 0, ERR_NOT_FOUND,
 * ERR_FORMAT, ERR_IO or ERR_DATABASE. Close in any case.
 */
int run_open(struct run *run, const char *path, bool is_writable);
void run_close(struct run *run);

/*
 * run_check_same -- see that its path still names the run that is open: not one that was made
 * in its place, nor nothing. Returns 0 or ERR_NOT_FOUND. Exact, as the directory that is open
 * keeps its inode.
 */
int run_check_same(const struct run *run);

/* run_connect -- one more connection to its run.db, for another thread. As rundb_open. */
int run_connect(const struct run *run, bool is_writable, struct database *db);

#endif

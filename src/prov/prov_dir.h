/*
 * prov_dir -- where a provenance store is: `sqlite:DIR?shards=N`, or just DIR; and the
 * directory of one that is written: made when it is not there, locked by the process that
 * writes, left alone when it is a run.
 *
 *     DIR/shard-0000.db ... shard-NNNN.db
 *     DIR/lock                             while somebody writes it
 *
 * Instances of a job may write to one store if each has said which rank of which program it
 * writes; what is locked twice is refused.
 */
#ifndef SNAG_PROV_PROV_DIR_H
#define SNAG_PROV_PROV_DIR_H

#include "base/database.h"
#include "base/fs.h"
#include "base/lock_file.h"

#include <stdbool.h>
#include <stdint.h>

#define PROV_MAX_SHARDS 256u
#define PROV_FORMAT 5 /* meta 'format' of every shard; another one is refused */

struct prov_dir {
    char dir[FS_PATH_SIZE];
    uint32_t n_shards; /* 0: not said */
};

/*
 * prov_dir_parse -- take a store's URL apart; nothing is looked at.
 * Returns 0, ERR_UNSUPPORTED for a database that this build cannot use, or ERR_USAGE.
 */
int prov_dir_parse(const char *url, struct prov_dir *place);

/* prov_dir_missing -- raises ERR_NOT_FOUND: the directory is no store, and what makes one. */
int prov_dir_missing(const char *dir);

/* prov_dir_open -- a handle of the directory; close it. Returns 0, ERR_NOT_FOUND or ERR_IO.
 */
int prov_dir_open(const struct prov_dir *place, int *dir);

/* The file of a shard; it points into itself. */
struct prov_file {
    struct database_file file;
    char name[32], path[FS_PATH_SIZE];
};

/* prov_dir_file -- the file of a shard in a directory. Returns file->file. */
const struct database_file *prov_dir_file(const struct prov_dir *place, int dir, uint32_t shard,
                                          struct prov_file *file);

/* prov_dir_is_store -- there is a store; false also for what is no URL. */
bool prov_dir_is_store(const char *url);

struct prov_home {
    int dir; /* handle of the directory; only while is_open */
    bool is_open;
    struct lock_file lock_file;
};

/*
 * prov_home_open -- make the directory or look at it, and lock it.
 *   rank  the only one of the program that is written; NULL: all
 * Returns 0, ERR_IO, ERR_EXISTS when something else is there, or another process writes it.
 */
int prov_home_open(struct prov_home *home, const struct prov_dir *place, uint32_t program,
                   const uint32_t *rank);

/* prov_home_close -- a zeroed one, and twice, is harmless. */
void prov_home_close(struct prov_home *home);

/*
 * prov_home_lock -- lock all of the store in a directory, as nobody else writes it then.
 *   dir  its handle
 * Returns 0, ERR_EXISTS while somebody writes it, or ERR_IO. lock_file_release it.
 */
int prov_home_lock(struct lock_file *lock_file, int dir, const struct prov_dir *place);

/* prov_home_is_written -- whether somebody writes a store; false if that cannot be told. */
bool prov_home_is_written(const char *url);

/*
 * prov_home_discard -- remove the store at an URL if nobody has stored anything in it, and
 * nobody writes it; for who has just made it in vain. What else is in the directory stays.
 */
void prov_home_discard(const char *url);

#endif

/* store_name -- names for stores that nobody has named: job.store, job-2.store, ... */
#ifndef SNAG_CMD_STORE_NAME_H
#define SNAG_CMD_STORE_NAME_H

#include "base/fs.h"

/*
 * store_name_free -- the first of STEM.store, STEM-2.store, ... that is free.
 *   rest  ".store", or what else stands after the number
 *   from  the first number to be tried; 1 is not written
 * Returns 0, ERR_RANGE for a path that is too long, or ERR_EXISTS. So do the others.
 */
int store_name_free(const char *stem, const char *rest, int from, char store[FS_PATH_SIZE]);

/* store_name_of -- for a source: "job.store" for replay:traces/job/, or what is still free. */
int store_name_of(const char *source, char store[FS_PATH_SIZE]);

/*
 * store_name_said -- what --store names: *store is NULL after "none", which is no store.
 * Returns 0, or ERR_USAGE where there is a store of that name, as nobody knows then what is
 * meant.
 */
int store_name_said(const char **store);

/* store_name_next -- for another run: kept-2 for kept, job-2.store for job.store, and so on. */
int store_name_next(const char *url, char store[FS_PATH_SIZE]);

#endif

/*
 * database_files -- the files of a database, and SQLite's view of them: a file system of our
 * own (a VFS that passes on to the usual one) which knows a file by the handle of its
 * directory,
 *
 *     /proc/self/fd/HANDLE/NAME
 *
 * and no others, and looks at each before it is opened. For database.c alone.
 */
#ifndef SNAG_BASE_DATABASE_FILES_H
#define SNAG_BASE_DATABASE_FILES_H

#include "base/database.h"

#define DATABASE_FILES_VFS "snag"
#define DATABASE_NAME_SIZE 128 /* of a path by handle */

/*
 * database_files_check -- look at the file and those beside it: each must be a plain file, if
 * it is there, and those that SQLite will write no second name of another one.
 *   is_written  the database itself will be written
 *   is_there    out: the database is
 *   bytes       out: of all of them
 * Returns 0, ERR_FORMAT or ERR_IO.
 */
int database_files_check(const struct database_file *file, bool is_written, bool *is_there,
                         uint64_t *bytes);

/* database_files_are_settled -- all that was written is in the database itself, which can be
 * read without those beside it. */
bool database_files_are_settled(const struct database_file *file);

/* database_files_have_vfs -- from now on it is there. Returns 0 or ERR_DATABASE. Thread-safe.
 */
int database_files_have_vfs(void);

/* database_files_path -- what SQLite is to open. */
void database_files_path(int dir, const char *name, char out[DATABASE_NAME_SIZE]);

#endif

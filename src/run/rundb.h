/*
 * rundb -- run.db, the SQLite file of a run (its schema is schema.sql).
 *
 * Thin: opening, errors as ours, statements bound in one line. What is asked of it is in
 * run_sql.h.
 *
 *     rundb_prepare_insert(db, "comm", "id, name, members", &insert);
 *     rundb_insert(db, insert, "iti", 0, "MPI_COMM_WORLD", 16);
 *     sqlite3_finalize(insert);
 */
#ifndef SNAG_RUN_RUNDB_H
#define SNAG_RUN_RUNDB_H

#include "base/database.h"

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#define RUNDB_NAME "run.db"
#define RUNDB_FORMAT 17 /* meta 'format'; any other is refused */

/*
 * rundb_create -- make run.db in a directory, with the empty tables, inside a transaction that
 * rundb_finish ends. Not safe against a crash until then: the file belongs to a run that is not
 * finished. Returns 0, ERR_IO or ERR_DATABASE. Close with database_close.
 */
int rundb_create(const char *dir, struct database *db);

/* rundb_finish -- end the transaction and make the file safe for many readers (WAL). */
int rundb_finish(sqlite3 *db);

/*
 * rundb_open -- open the run.db of a run. Its tables are what we make, or it is refused.
 *   dir          handle of the run
 *   path         of the run, for messages
 *   is_writable  false also works on a read-only file system
 * Returns 0, ERR_NOT_FOUND, ERR_FORMAT for something else or another format, ERR_IO, or
 * ERR_DATABASE.
 */
int rundb_open(int dir, const char *path, bool is_writable, struct database *db);

/*
 * rundb_open_labels -- the run.db of a run that is to be replaced, of this version or another, to
 * read its labels (run_sql_given_labels) and nothing else.
 * Returns 0, or as rundb_open; ERR_FORMAT too where those of another version cannot be read.
 */
int rundb_open_labels(int dir, const char *path, struct database *db);

/* rundb_error -- the database's last error as ours, see database_error. what  that failed:
 * "read", "write" */
int rundb_error(sqlite3 *db, const char *what);

/* rundb_exec -- run SQL without results. */
int rundb_exec(sqlite3 *db, const char *sql);

/*
 * rundb_drop_indexes -- take its indexes of all rows off a table that is to be filled: they are
 * made sooner of all rows at once.
 *   sql  out: what makes them again, for rundb_exec; to be freed
 */
int rundb_drop_indexes(sqlite3 *db, const char *table, char **sql);

/* rundb_prepare -- compile one statement; finalize it with sqlite3_finalize. */
int rundb_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out);

/*
 * rundb_prepare_insert -- the statement that puts a row into a table.
 *   columns  their names, with commas; values are bound in this order
 */
int rundb_prepare_insert(sqlite3 *db, const char *table, const char *columns,
                         sqlite3_stmt **out);

/*
 * rundb_bind -- set all parameters of a statement, which is reset first.
 *   types  one letter each: i int64_t, r double, t const char * (NULL is null),
 *          d double (null if not finite), o bool and int64_t (null if false)
 * Texts must stay until the statement has been stepped.
 */
int rundb_bind(sqlite3 *db, sqlite3_stmt *statement, const char *types, ...);

/* What is known of executions of one function of interest beside its rows. */
#define RUNDB_IS_PLACED 1u  /* it is where and when somebody asks for */
#define RUNDB_HAS_REASON 2u /* it is strange as somebody asks for */
#define RUNDB_ALL_MARKS 15u /* with two more, which are its owner's */

struct rundb_set {
    const unsigned char *marks; /* [n] of each tree */
    int64_t n;
};

/*
 * rundb_bind_set -- a parameter to be asked by in_set(parameter, tree, marks), which is true
 * where the tree has all of these marks; or where the parameter is null.
 *   set  stays until the statement has been stepped
 */
int rundb_bind_set(sqlite3 *db, sqlite3_stmt *statement, int parameter,
                   const struct rundb_set *set);

/* rundb_query -- rundb_prepare and rundb_bind in one. */
int rundb_query(sqlite3 *db, sqlite3_stmt **out, const char *sql, const char *types, ...);

/*
 * rundb_close_query -- finalize it when its rows were read, as it may have ended by an error and not by the last one.
 *   rc    of what was done with them
 *   what  that failed, as of rundb_error
 * Returns rc if that is an error, else 0 or as rundb_error.
 */
int rundb_close_query(sqlite3 *db, sqlite3_stmt *query, int rc, const char *what);

/* rundb_run -- a statement without results, once. */
int rundb_run(sqlite3 *db, const char *sql, const char *types, ...);

/* rundb_number -- the first column of the first row of a query; out stays what it is if there is
 * none. */
int rundb_number(sqlite3 *db, int64_t *out, const char *sql, const char *types, ...);

/* rundb_text -- a column of the current row as text, "" where it is null, as in a damaged run.
 */
const char *rundb_text(sqlite3_stmt *statement, int column);

/* rundb_text_or_null -- the same where a null says something. */
const char *rundb_text_or_null(sqlite3_stmt *statement, int column);

/* rundb_insert -- bind and run a statement without results. */
int rundb_insert(sqlite3 *db, sqlite3_stmt *statement, const char *types, ...);

/* rundb_set -- meta[key] = value; _text for texts. */
int rundb_set(sqlite3 *db, const char *key, long long value);
int rundb_set_text(sqlite3 *db, const char *key, const char *value);

/* rundb_get -- meta[key], or 0 if it is not there. */
long long rundb_get(sqlite3 *db, const char *key);

#define RUNDB_KEY_SIZE 32

/* rundb_growth_key -- of the sentence that executions of a function of interest take longer and
 * longer, which is there if they do. Returns out. */
char *rundb_growth_key(int64_t foi, char out[RUNDB_KEY_SIZE]);

/* rundb_get_text -- meta[key] to be freed, or NULL if it is not there. */
char *rundb_get_text(sqlite3 *db, const char *key);

#endif

/*
 * database -- an SQLite file in a directory that a stranger may have filled.
 *
 * SQLite believes the files beside a database: a journal may name another file to be removed, a
 * link may lead what is written elsewhere, a view may run whatever it likes. Here a database is
 * a name in a directory that is held open, and of that directory these files alone are ever
 * touched:
 *
 *     NAME   NAME-journal   NAME-wal   NAME-shm
 *
 * each a file of its own: no link, not one of two names of a file, no pipe, no device. What is
 * in NAME is what we make in such a file (database_check), or nothing of it is used; and no
 * question takes longer than the size of the file explains.
 *
 *     database_open(&d, &file, DATABASE_READ);     SELECT of d.sql ...     database_close(&d);
 *
 * docs/security.md has the attacks. A database belongs to one thread.
 */
#ifndef SNAG_BASE_DATABASE_H
#define SNAG_BASE_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#define DATABASE_BUSY_MS 10000 /* how long another process may hold the file */

enum database_access {
    DATABASE_READ, /* also where nothing can be written */
    DATABASE_WRITE,
    DATABASE_MAKE, /* to write, and made when it is not there */
};

struct database_file {
    int dir;          /* of the directory it is in */
    const char *name; /* in it: letters, digits, '.', '-' and '_' */
    const char *path; /* as people know it, for messages */
};

/* Stays where it is while it is open. */
struct database {
    sqlite3 *sql;         /* NULL: closed */
    int dir;              /* its own handle of the directory */
    uint64_t most, spent; /* work of a statement, in instructions of SQLite */
};

/*
 * database_open -- open a file, or make it. For reading, it is looked into, too.
 *   file  not needed any more afterwards
 * Returns 0, ERR_NOT_FOUND, ERR_IO, ERR_DATABASE, or ERR_FORMAT for what is no database, or has
 * files beside it that are not as above.
 */
int database_open(struct database *database, const struct database_file *file,
                  enum database_access access);

/* database_close -- twice is harmless, as is a zeroed one. Statements are finalised before. */
void database_close(struct database *database);

/* database_memory -- one without a file, to attach files of a directory to. As database_open.
 */
int database_memory(struct database *database, int dir);

/* database_attach -- a file of that directory, for reading, as schema `as`. As database_open.
 */
int database_attach(struct database *database, const char *name, const char *path,
                    const char *as);

/*
 * database_check -- has the file the tables and indexes that we would have made, and nothing
 * else (a view, a trigger, another index)? Comments and white space may differ.
 *   as    "main", or as it was attached
 *   made  the SQL that makes them
 * Returns 0, ERR_FORMAT that says what is different, or as database_error.
 */
int database_check(struct database *database, const char *as, const char *made,
                   const char *path);

/* database_number -- the first number of the first row that a query gives; `otherwise` where it
 * fails or there is none. The query is put together as by sqlite3_mprintf. */
int64_t database_number(struct database *database, int64_t otherwise, const char *format, ...);

/* database_used_bytes -- of its pages, those that are not free. */
uint64_t database_used_bytes(struct database *database);

/* database_read_only -- from now on SELECT alone is compiled (and PRAGMA table_info and the
 * like), and no further file attached. */
void database_read_only(struct database *database);

/*
 * database_unbound -- statements may take as long as they like. Else one that does much more
 * than to read all there is, as that of a damaged tree which leads to the same pages again and
 * again, ends with SQLITE_INTERRUPT. Databases that were made with DATABASE_MAKE are unbound.
 */
void database_unbound(struct database *database);

/* database_spend -- work that a function of ours does within a statement: so many bytes made.
 * Returns false when there was not enough. */
bool database_spend(struct database *database, uint64_t bytes);

/* database_is_moved -- the name is another file's by now, or none's: what is written is lost.
 */
bool database_is_moved(const struct database *database);

/*
 * database_error -- the last error of a database as ours: ERR_FORMAT for a damaged file,
 * ERR_IO, or ERR_DATABASE.
 *   what  that failed: "cannot read"
 */
int database_error(sqlite3 *sql, const char *what, const char *path);

#endif

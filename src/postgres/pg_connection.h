/*
 * pg_connection -- a connection to a PostgreSQL database, and what may be wrong with it, in
 * words of ours. It belongs to one thread.
 *
 * All of snag's is in a schema of its own, the only one that is looked into. Silence ends by
 * itself: where the URL says nothing else, connecting takes 5 seconds at most for each host,
 * and an answer of the network 10.
 */
#ifndef SNAG_POSTGRES_PG_CONNECTION_H
#define SNAG_POSTGRES_PG_CONNECTION_H

#include "postgres/libpq.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What went wrong, as to what can be done. */
enum pg_trouble {
    PG_FINE,
    PG_UNREACHABLE, /* or it has just gone away: it may come back */
    PG_REFUSED,     /* login, or a right: a person has to do something */
    PG_FULL,        /* no space left where it is */
    PG_BAD_ROW,     /* what was sent will never be taken */
    PG_OTHER,
};

/*
 * pg_open -- connect; the connection's search path is the schema, which need not be there.
 *   url  as pg_url_check takes it
 *   out  NULL on errors; close it with PQfinish
 * Returns 0, ERR_USAGE, or ERR_DATABASE with one line that has no password.
 */
int pg_open(const char *url, const char *schema, PGconn **out);

/* pg_trouble_of -- of a result that is no good, or of the connection when it is NULL. */
enum pg_trouble pg_trouble_of(PGconn *connection, const PGresult *result);

/* pg_trouble_why -- in words, NULL for PG_FINE. */
const char *pg_trouble_why(enum pg_trouble trouble);

/* pg_error -- the same as an error: "cannot WHAT the database: ..." */
int pg_error(PGconn *connection, const PGresult *result, const char *what);

/* pg_run -- SQL without an answer, one statement or several. Returns 0 or ERR_DATABASE. */
int pg_run(PGconn *connection, const char *sql);

/* pg_number -- the first number that a question answers; ERR_NOT_FOUND when there is none. */
int pg_number(PGconn *connection, const char *sql, int64_t *out);

/* pg_get_i64, pg_get_f64 -- of a field in binary format. */
int64_t pg_get_i64(const char *field);
double pg_get_f64(const char *field);

#endif

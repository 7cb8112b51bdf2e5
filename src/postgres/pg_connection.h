/*
 * pg_connection -- where a PostgreSQL database is, a connection to it, what may be wrong with
 * that, in words of ours, and snag's tables in it, of a version that is written beside them. A
 * connection belongs to one thread.
 *
 * An URL is `postgresql://[USER@][HOST][:PORT]/[DATABASE][?...]`, as libpq has it, also
 * `postgres://`. It stands on a command line that everybody on the machine can read, on pages
 * and in logs, so there is no password in it. libpq has that from PGPASSFILE (~/.pgpass),
 * PGSERVICEFILE and ?service=NAME, or PGPASSWORD.
 *
 * All of snag's is in a schema of its own, the only one that is looked into. Silence ends by
 * itself: where the URL says nothing else, connecting takes 5 seconds at most for each host,
 * and an answer of the network 10.
 *
 * A schema is a list of migrations: the first makes it, each of the others brings it from the
 * version before to its own. They are done by who opens it to write, one transaction each,
 * while others wait. A newer schema than ours is left alone.
 */
#ifndef SNAG_POSTGRES_PG_CONNECTION_H
#define SNAG_POSTGRES_PG_CONNECTION_H

#include "postgres/libpq.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* pg_url_is -- as far as its beginning says. */
bool pg_url_is(const char *text);

/*
 * pg_url_part -- of URL#PART the part, which says what of the database is meant: of its store
 * (runs FIRST-LAST), or PG_URL_HISTORY. In text; NULL without one.
 */
const char *pg_url_part(const char *text);

/* pg_url_without_part -- the rest, to be freed. */
char *pg_url_without_part(const char *text);

#define PG_URL_HISTORY "history"

/*
 * pg_url_check -- whether it can be used and shown; nothing is connected to.
 * Returns 0, or ERR_USAGE for one with a password, in a message without it, or for what libpq
 * does not take.
 */
int pg_url_check(const char *url);

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

struct pg_schema {
    const char *name;             /* of the schema */
    const char *const *migration; /* [n_versions] SQL */
    int n_versions;
    const char *made_by; /* what brings it up to date, for messages: "snag watch --store URL" */
};

/* pg_schema_update -- make it, or bring it to our version; connection  has pg_open's search
 * path. Returns 0, ERR_FORMAT for a newer one, or ERR_DATABASE. Several may do so at once. */
int pg_schema_update(PGconn *connection, const struct pg_schema *schema);

/* pg_schema_has -- whether a table is in the schema; sees what others have just made. Returns
 * 1, 0 or ERR_DATABASE. */
int pg_schema_has(PGconn *connection, const char *schema, const char *table);

/* pg_schema_check -- is it there, in our version? Returns 0, ERR_NOT_FOUND, ERR_FORMAT or
 * ERR_DATABASE. */
int pg_schema_check(PGconn *connection, const struct pg_schema *schema);

#endif

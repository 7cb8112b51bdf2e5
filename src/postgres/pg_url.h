/*
 * pg_url -- where a PostgreSQL database is:
 * `postgresql://[USER@][HOST][:PORT]/[DATABASE][?...]`, as libpq has it, also `postgres://`.
 *
 * An URL stands on a command line that everybody on the machine can read, on pages and in logs,
 * so there is no password in it. libpq has that from PGPASSFILE (~/.pgpass), PGSERVICEFILE and
 * ?service=NAME, or PGPASSWORD.
 */
#ifndef SNAG_POSTGRES_PG_URL_H
#define SNAG_POSTGRES_PG_URL_H

#include <stdbool.h>

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

#endif

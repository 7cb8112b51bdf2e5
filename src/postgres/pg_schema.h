/*
 * pg_schema -- snag's tables in a database, of a version that is written beside them.
 *
 * A schema is a list of migrations: the first makes it, each of the others brings it from the
 * version before to its own. They are done by who opens it to write, one transaction each,
 * while others wait. A newer schema than ours is left alone.
 */
#ifndef SNAG_POSTGRES_PG_SCHEMA_H
#define SNAG_POSTGRES_PG_SCHEMA_H

#include "postgres/pg_connection.h"

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

#include "postgres/pg_schema.h"

#include "base/err.h"

#include <stdio.h>

#define LOCK 7600711 /* of those who migrate */

static int newer(const struct pg_schema *schema, int64_t version)
{
    return err_set(ERR_FORMAT,
                   "the database's schema '%s' has version %lld, and this snag knows %d: use a "
                   "snag that is as new, or another database",
                   schema->name, (long long)version, schema->n_versions);
}

/* Asks a table, unlike to_regclass, which may answer from before we waited for somebody. */
int pg_schema_has(PGconn *connection, const char *schema, const char *table)
{
    char sql[300];
    int64_t n = 0;
    int rc;

    snprintf(
        sql, sizeof sql,
        "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
        "c.relnamespace WHERE n.nspname = '%s' AND c.relname = '%s'",
        schema, table);
    rc = pg_number(connection, sql, &n);
    return rc < 0 ? rc : n > 0;
}

/* 0 when there is none. */
static int version_of(PGconn *connection, const struct pg_schema *schema, int64_t *version)
{
    char sql[256];
    int rc = pg_schema_has(connection, schema->name, "schema_version");

    *version = 0;
    if (rc <= 0)
        return rc;
    snprintf(sql, sizeof sql, "SELECT coalesce(max(version), 0) FROM %s.schema_version",
             schema->name);
    return pg_number(connection, sql, version);
}

static int begin(PGconn *connection)
{
    char sql[128];

    snprintf(sql, sizeof sql, "BEGIN; SELECT pg_advisory_xact_lock(%d)", LOCK);
    return pg_run(connection, sql);
}

/* The next version, unless somebody was before us. */
static int step_up(PGconn *connection, const struct pg_schema *schema, int64_t *version)
{
    char sql[256];
    int rc = begin(connection);

    if (rc == 0)
        rc = version_of(connection, schema, version);
    if (rc == 0 && *version == 0) {
        snprintf(sql, sizeof sql,
                 "CREATE SCHEMA IF NOT EXISTS %s; CREATE TABLE %s.schema_version (version "
                 "integer PRIMARY KEY, since timestamptz NOT NULL DEFAULT now())",
                 schema->name, schema->name);
        rc = pg_run(connection, sql);
    }
    if (rc == 0 && *version < schema->n_versions) {
        rc = pg_run(connection, schema->migration[*version]);
        snprintf(sql, sizeof sql, "INSERT INTO %s.schema_version (version) VALUES (%lld)",
                 schema->name, (long long)++*version);
        if (rc == 0)
            rc = pg_run(connection, sql);
    }
    if (rc == 0)
        return pg_run(connection, "COMMIT");
    PQclear(PQexec(connection, "ROLLBACK"));
    return rc;
}

int pg_schema_update(PGconn *connection, const struct pg_schema *schema)
{
    int64_t version;
    int rc = version_of(connection, schema, &version);

    while (rc == 0 && version < schema->n_versions)
        rc = step_up(connection, schema, &version);
    return rc == 0 && version > schema->n_versions ? newer(schema, version) : rc;
}

int pg_schema_check(PGconn *connection, const struct pg_schema *schema)
{
    int64_t version;
    int rc = version_of(connection, schema, &version);

    if (rc < 0)
        return rc;
    if (version == 0)
        return err_set(ERR_NOT_FOUND,
                       "the database '%s' has nothing of snag's ('%s'), or it may not be seen",
                       PQdb(connection), schema->name);
    if (version > schema->n_versions)
        return newer(schema, version);
    return version == schema->n_versions
               ? 0
               : err_set(ERR_FORMAT,
                         "the database's schema '%s' has version %lld, and this snag needs %d: "
                         "%s brings it there",
                         schema->name, (long long)version, schema->n_versions, schema->made_by);
}

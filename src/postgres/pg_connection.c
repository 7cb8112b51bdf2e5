/*
 * What libpq says of an URL that it cannot read has parts of it, and so maybe of a password:
 * it is handed on only where there can be none.
 */
#include "postgres/pg_connection.h"

#include "base/err.h"
#include "base/mem.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

LIBRARY(libpq, "libpq.so.5", LIBPQ_FUNCTIONS)

/* ---------------------------------------------------------------------------------- the URL */

bool pg_url_is(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
}

const char *pg_url_part(const char *text)
{
    const char *mark = strchr(text, '#');

    return mark ? mark + 1 : NULL;
}

char *pg_url_without_part(const char *text)
{
    char *url = mem_copy_string(text);

    url[strcspn(url, "#")] = '\0';
    return url;
}

static int refuse_password(void)
{
    return err_set(ERR_USAGE, "a password in the URL can be read by everybody on this machine: "
                              "leave it out, and put it into ~/.pgpass (PGPASSFILE), a service "
                              "file (?service=NAME) or PGPASSWORD");
}

static bool has_password(const PQconninfoOption *option)
{
    for (; option->keyword; option++)
        if ((strcmp(option->keyword, "password") == 0 ||
             strcmp(option->keyword, "sslpassword") == 0) &&
            option->val)
            return true;
    return false;
}

int pg_url_check(const char *url)
{
    char *error = NULL;
    PQconninfoOption *option = PQconninfoParse(url, &error);
    bool may_hide = strchr(url, '@') || strcasestr(url, "pass");
    int rc = 0;

    if (option == NULL && may_hide)
        rc = err_set(ERR_USAGE, "no URL that PostgreSQL takes: expected "
                                "postgresql://USER@HOST:PORT/DATABASE, without a password");
    else if (option == NULL)
        rc = err_set(ERR_USAGE, "no URL that PostgreSQL takes: %.*s",
                     error ? (int)strcspn(error, "\n") : 0, error ? error : "");
    else if (has_password(option))
        rc = refuse_password();
    PQfreemem(error);
    PQconninfoFree(option);
    return rc;
}

/* ----------------------------------------------------------------------------- a connection */

#define MAX_SETTINGS 16

/* What libpq does where neither the URL nor the environment says something else. */
static const struct {
    const char *keyword, *value;
} typical[] = {{"connect_timeout", "5"},  {"tcp_user_timeout", "10000"},
               {"keepalives_idle", "10"}, {"keepalives_interval", "5"},
               {"keepalives_count", "3"}, {"fallback_application_name", "snag"}};

/* A line of libpq's, the first that says something. */
static void first_line(const char *message, char *out, size_t size)
{
    size_t n = strcspn(message, "\n");

    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), message);
}

static bool is_said(const PQconninfoOption *option, const char *keyword)
{
    for (; option && option->keyword; option++)
        if (strcmp(option->keyword, keyword) == 0)
            return option->val && option->val[0];
    return false;
}

/* Settings that come before the URL give way to it. */
static PGconn *connect_to(const char *url)
{
    const char *keyword[MAX_SETTINGS] = {0}, *value[MAX_SETTINGS] = {0};
    PQconninfoOption *said = PQconninfoParse(url, NULL);
    PGconn *connection;
    int n = 0;

    for (size_t i = 0; i < sizeof typical / sizeof *typical; i++) {
        if (is_said(said, typical[i].keyword))
            continue;
        keyword[n] = typical[i].keyword;
        value[n++] = typical[i].value;
    }
    keyword[n] = "dbname";
    value[n++] = url;
    keyword[n] = "client_encoding";
    value[n++] = "UTF8";
    connection = PQconnectdbParams(keyword, value, 1);
    PQconninfoFree(said);
    return connection;
}

static void be_silent(void *ctx, const PGresult *notice)
{
    (void)ctx, (void)notice;
}

static int settle(PGconn *connection, const char *schema)
{
    const char *encoding = PQparameterStatus(connection, "server_encoding");
    char sql[256];

    PQsetNoticeReceiver(connection, be_silent, NULL);
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0)
        return err_set(ERR_DATABASE,
                       "the database '%s' has the encoding %s: make one with "
                       "createdb --encoding UTF8 --template template0",
                       PQdb(connection), encoding ? encoding : "?");
    snprintf(sql, sizeof sql,
             "SET search_path = %s, pg_temp; SET jit = off; "
             "SET standard_conforming_strings = on; SET synchronous_commit = on",
             schema);
    return pg_run(connection, sql);
}

int pg_open(const char *url, const char *schema, PGconn **out)
{
    int rc = pg_url_check(url);

    *out = NULL;
    if (rc < 0)
        return rc;
    *out = connect_to(url);
    rc = PQstatus(*out) == CONNECTION_OK ? settle(*out, schema) : pg_error(*out, NULL, "reach");
    if (rc < 0) {
        PQfinish(*out);
        *out = NULL;
    }
    return rc;
}

/* -------------------------------------------------------------------------------- trouble */

/* Classes of SQLSTATE, PostgreSQL's appendix A. */
static enum pg_trouble trouble_of_state(const char *state)
{
    static const struct {
        const char *begin;
        enum pg_trouble trouble;
    } classes[] = {{"08", PG_UNREACHABLE}, {"57P", PG_UNREACHABLE}, {"25006", PG_UNREACHABLE},
                   {"28", PG_REFUSED},     {"42501", PG_REFUSED},   {"53100", PG_FULL},
                   {"22", PG_BAD_ROW},     {"23", PG_BAD_ROW},      {"54", PG_BAD_ROW}};

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(state, classes[i].begin, strlen(classes[i].begin)) == 0)
            return classes[i].trouble;
    return PG_OTHER;
}

enum pg_trouble pg_trouble_of(PGconn *connection, const PGresult *result)
{
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    if (connection == NULL)
        return PG_UNREACHABLE;
    if (PQstatus(connection) != CONNECTION_OK)
        return PQconnectionNeedsPassword(connection) ? PG_REFUSED : PG_UNREACHABLE;
    return state ? trouble_of_state(state) : PG_OTHER;
}

const char *pg_trouble_why(enum pg_trouble trouble)
{
    static const char *const why[] = {
        [PG_FINE] = NULL,
        [PG_UNREACHABLE] = "the database cannot be reached",
        [PG_REFUSED] = "the database refuses the connection: check user and password",
        [PG_FULL] = "no space left where the database is",
        [PG_BAD_ROW] = "the database does not take a row",
        [PG_OTHER] = "the database answers with an error",
    };

    return why[trouble];
}

int pg_error(PGconn *connection, const PGresult *result, const char *what)
{
    const char *message = result ? PQresultErrorMessage(result) : "";
    char line[400];

    first_line(*message ? message : PQerrorMessage(connection), line, sizeof line);
    return err_set(ERR_DATABASE, "cannot %s the database: %s", what, line);
}

/* ------------------------------------------------------------------------------- questions */

int pg_run(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    unsigned status = PQresultStatus(result);
    int rc = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
                 ? 0
                 : pg_error(connection, result, "use");

    PQclear(result);
    return rc;
}

int pg_number(PGconn *connection, const char *sql, int64_t *out)
{
    PGresult *result = PQexec(connection, sql);
    int rc = 0;

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        rc = pg_error(connection, result, "read");
    else if (PQntuples(result) < 1 || PQgetisnull(result, 0, 0) ||
             sscanf(PQgetvalue(result, 0, 0), "%ld", out) != 1)
        rc = err_set(ERR_NOT_FOUND, "the database does not have what was asked for");
    PQclear(result);
    return rc;
}

int64_t pg_get_i64(const char *field)
{
    uint64_t bits;

    memcpy(&bits, field, sizeof bits);
    return (int64_t)be64toh(bits);
}

double pg_get_f64(const char *field)
{
    int64_t bits = pg_get_i64(field);
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---------------------------------------------------------------- the version of its tables */

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

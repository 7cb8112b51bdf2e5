/*
 * A history in PostgreSQL. It is read as tables of SQLite (pg_tables.h), and changed in
 * transactions that wait for each other, so numbers of runs are in the order in which they are
 * there.
 */
#include "compare/history_kind.h"

#include "base/err.h"
#include "base/text.h"
#include "postgres/pg_connection.h"
#include "postgres/pg_tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char version_1[] =
#include "compare/postgres_history_1.inc"
    ;
static const char *const versions[] = {version_1};

static const struct pg_schema schema = {.name = "snag_history",
                                        .migration = versions,
                                        .n_versions = sizeof versions / sizeof *versions,
                                        .made_by = "`snag history add URL RUN`"};

/* ------------------------------------------------------------------------------- opening */

static int open_tables(struct history *h, PGconn *connection)
{
    static const char *const names[] = {"run", "tag", "digest"};
    int rc = pg_tables_open(&h->database, connection, names, sizeof names / sizeof *names);

    if (rc == 0)
        database_read_only(&h->database);
    return rc;
}

static int open_connection(const char *path, PGconn **out)
{
    const char *part = pg_url_part(path);
    char *url = pg_url_without_part(path);
    int rc = part && strcmp(part, PG_URL_HISTORY) != 0
                 ? err_set(ERR_USAGE,
                           "expected URL or URL#" PG_URL_HISTORY
                           " for a history in PostgreSQL, not '#%s'",
                           part)
                 : pg_open(url, schema.name, out);

    free(url);
    return rc;
}

static int open_url(struct history *h, const char *path, enum database_access access)
{
    PGconn *connection = NULL;
    int rc = open_connection(path, &connection);

    if (rc == 0)
        rc = access == DATABASE_MAKE ? pg_schema_update(connection, &schema)
                                     : pg_schema_check(connection, &schema);
    if (rc == 0 && access == DATABASE_READ)
        return open_tables(h, connection);
    h->writer = connection;
    return rc;
}

static void close_writer(struct history *h)
{
    PQfinish(h->writer);
    h->writer = NULL;
}

/* ------------------------------------------------------------------------------ changing */

/* One who changes at a time; who reads does not wait. */
static int begin(struct history *h)
{
    return pg_run(h->writer, "BEGIN; LOCK TABLE run IN EXCLUSIVE MODE");
}

static int end(struct history *h, int rc)
{
    if (rc == 0)
        return pg_run(h->writer, "COMMIT");
    PQclear(PQexec(h->writer, "ROLLBACK"));
    return rc;
}

/* The text, or number, as the database takes it. Free with free(). */
static char *written(const struct history_value *value)
{
    return value->text ? text_utf8(value->text, strlen(value->text), NULL)
                       : text_new("%" PRId64, value->number);
}

static int change(struct history *h, const struct history_change *change, int64_t *number)
{
    const char *value[HISTORY_VALUES], *answer = "";
    char *text[HISTORY_VALUES] = {NULL};
    int length[HISTORY_VALUES] = {0}, is_binary[HISTORY_VALUES] = {0}, rc = 0;
    PGresult *result;
    unsigned status;

    for (int i = 0; i < change->n; i++) {
        const struct history_value *v = &change->value[i];

        is_binary[i] = v->bytes != NULL;
        length[i] = (int)v->n_bytes;
        value[i] = v->bytes ? v->bytes : (text[i] = written(v));
    }
    result = PQexecParams(h->writer, change->sql, change->n, NULL, value, length, is_binary, 0);
    status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0)
        answer = PQgetvalue(result, 0, 0);
    else if (status == PGRES_COMMAND_OK)
        answer = PQcmdTuples(result);
    else
        rc = status == PGRES_TUPLES_OK ? ERR_NOT_FOUND : pg_error(h->writer, result, "use");
    if (number)
        *number = strtoll(answer, NULL, 10);
    PQclear(result);
    for (int i = 0; i < change->n; i++)
        free(text[i]);
    return rc;
}

const struct history_kind history_postgres = {
    .open = open_url, .begin = begin, .change = change, .end = end, .close = close_writer};

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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 11
#define NUMBER_SIZE 24

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

/* ------------------------------------------------------------------------------- changing */

/* Values of a statement. Texts are kept until it is done. */
struct values {
    const char *value[MAX_VALUES];
    int length[MAX_VALUES], is_binary[MAX_VALUES];
    char number[MAX_VALUES][NUMBER_SIZE];
    int n;
};

static void add_number(struct values *v, int64_t number)
{
    snprintf(v->number[v->n], NUMBER_SIZE, "%" PRId64, number);
    v->value[v->n] = v->number[v->n];
    v->n++;
}

static void add_text(struct values *v, const char *text)
{
    v->value[v->n++] = text;
}

static void add_bytes(struct values *v, const void *bytes, size_t n)
{
    v->value[v->n] = bytes;
    v->length[v->n] = (int)n;
    v->is_binary[v->n++] = 1;
}

/*
 *   number  out: the first one that it answers, or how many rows it changed; or NULL
 * Returns 0, ERR_NOT_FOUND when it answers nothing, or ERR_DATABASE.
 */
static int tell(struct history *h, const char *sql, const struct values *v, int64_t *number)
{
    PGresult *result =
        PQexecParams(h->writer, sql, v->n, NULL, v->value, v->length, v->is_binary, 0);
    unsigned status = PQresultStatus(result);
    const char *answer = "";
    int rc = 0;

    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0)
        answer = PQgetvalue(result, 0, 0);
    else if (status == PGRES_COMMAND_OK)
        answer = PQcmdTuples(result);
    else
        rc = status == PGRES_TUPLES_OK ? ERR_NOT_FOUND : pg_error(h->writer, result, "use");
    if (number)
        *number = strtoll(answer, NULL, 10);
    PQclear(result);
    return rc;
}

/* A text as the database takes it. */
static int tell_of_texts(struct history *h, const char *sql, int64_t number, const char *a,
                         const char *b, int64_t *out)
{
    char *clean_a = text_utf8(a, strlen(a), NULL);
    char *clean_b = b ? text_utf8(b, strlen(b), NULL) : NULL;
    struct values v = {.n = 0};
    int rc;

    add_number(&v, number);
    add_text(&v, clean_a);
    if (clean_b)
        add_text(&v, clean_b);
    rc = tell(h, sql, &v, out);
    free(clean_a);
    free(clean_b);
    return rc;
}

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

/* ERR_EXISTS if a run has this very summary. */
static int check_unknown(struct history *h, const struct history_row *row)
{
    int64_t run;
    int rc = tell_of_texts(h, "SELECT run FROM digest WHERE hash = $1 AND foi = $2", row->hash,
                           row->part.foi, NULL, &run);

    if (rc == 0)
        return history_has(run);
    return rc == ERR_NOT_FOUND ? 0 : rc;
}

static int insert_row(struct history *h, int64_t run, const struct history_row *row)
{
    const struct summary *d = row->part.summary;
    char *foi = text_utf8(row->part.foi, strlen(row->part.foi), NULL);
    struct values v = {.n = 0};
    int rc;

    add_number(&v, run);
    add_text(&v, foi);
    add_number(&v, d->n_ranks);
    add_number(&v, d->n_executions);
    add_number(&v, (int64_t)row->part.n_anomalies);
    add_number(&v, (int64_t)d->time_ns);
    add_number(&v, (int64_t)d->duration_ns[0]);
    add_number(&v, (int64_t)d->duration_ns[SUMMARY_QUANTILES - 1]);
    add_number(&v, row->hash);
    add_number(&v, (int64_t)row->n_plain);
    add_bytes(&v, row->data, row->n_data);
    rc = tell(h,
              "INSERT INTO digest (run, foi, ranks, executions, anomalies, time_ns, median_ns, "
              "p99_ns, hash, bytes, data) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)",
              &v, NULL);
    free(foi);
    return rc;
}

static int add_row(struct history *h, int64_t run, const struct history_row *row)
{
    int rc = check_unknown(h, row);

    return rc == 0 ? insert_row(h, run, row) : rc;
}

static int add_tag(struct history *h, int64_t run, const struct history_tag *tag)
{
    return tell_of_texts(h, "INSERT INTO tag (run, key, value) VALUES ($1, $2, $3)", run,
                         tag->key, tag->value, NULL);
}

static int add(struct history *h, const struct history_new *run, int64_t *id)
{
    int rc = begin(h);

    if (rc < 0)
        return rc;
    rc = tell_of_texts(h, "INSERT INTO run (added_s, source) VALUES ($1, $2) RETURNING id",
                       run->added_s, run->source, NULL, id);
    for (size_t i = 0; i < run->tags->n && rc == 0; i++)
        rc = add_tag(h, *id, &run->tags->tag[i]);
    for (size_t i = 0; i < run->n_rows && rc == 0; i++)
        rc = add_row(h, *id, &run->row[i]);
    return end(h, rc);
}

/* What is of a run goes with it. */
static int remove_runs(struct history *h, const char *sql, int64_t number, int64_t *n_removed)
{
    struct values v = {.n = 0};
    int rc = begin(h);

    if (rc < 0)
        return rc;
    add_number(&v, number);
    return end(h, tell(h, sql, &v, n_removed));
}

static int remove_run(struct history *h, int64_t run)
{
    int64_t n = 0;
    int rc = remove_runs(h, "DELETE FROM run WHERE id = $1", run, &n);

    return rc == 0 && n == 0 ? history_lacks(run) : rc;
}

static int keep(struct history *h, int64_t n, uint64_t *n_removed)
{
    int64_t removed = 0;
    int rc = remove_runs(h,
                         "DELETE FROM run WHERE id NOT IN (SELECT id FROM run ORDER BY id DESC "
                         "LIMIT $1)",
                         n, &removed);

    *n_removed = rc == 0 ? (uint64_t)removed : 0;
    return rc;
}

const struct history_kind history_postgres = {
    .open = open_url, .add = add, .remove = remove_run, .keep = keep, .close = close_writer};

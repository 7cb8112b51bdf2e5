/* snag provdb -- what Chimbuko's tools do with its provenance database: filter, top, compare.
 */
#include "base/err.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/query_print.h"
#include "cmd/status.h"
#include "cmd/store_export.h"
#include "prov/prov_reader.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_TOP 10

/* For LIMIT: -1 is all. */
static long long limit_of(const struct settings *s, long long usual)
{
    return s->is_all ? -1 : s->top ? (long long)s->top : usual;
}

/* ---------------------------------------------------------------------------------- filter */

static int print_records(struct database *reader, const char *url, sqlite3_stmt *query,
                         uint64_t *n_damaged)
{
    int status;

    while ((status = sqlite3_step(query)) == SQLITE_ROW) {
        if (sqlite3_column_type(query, 0) == SQLITE_NULL)
            ++*n_damaged;
        else
            print("%s\n", rundb_text(query, 0));
    }
    return status == SQLITE_DONE ? 0 : prov_reader_error(reader, url);
}

/* Compiles one statement and nothing more. The text is freed. */
static int compile(sqlite3 *db, char *sql, const char *condition, sqlite3_stmt **query)
{
    const char *rest = "";
    int rc = 0;

    if (sqlite3_prepare_v2(db, sql, -1, query, &rest) != SQLITE_OK)
        rc = err_set(ERR_USAGE, "bad condition '%s': %s", condition, sqlite3_errmsg(db));
    else if (*rest != '\0')
        rc = err_set(ERR_USAGE, "one condition at a time, not '%s'", condition);
    sqlite3_free(sql);
    return rc;
}

/*
 * What makes sense after CASE WHEN and in brackets is an expression, and nothing that ends one
 * and goes on. The line ends keep a comment in it from hiding what follows.
 */
static int filter(struct database *reader, const struct settings *s)
{
    const char *condition = s->args[2];
    sqlite3 *db = reader->sql;
    sqlite3_stmt *probe = NULL, *query = NULL;
    uint64_t n_damaged = 0;
    int rc = compile(
        db, sqlite3_mprintf("SELECT CASE WHEN %s\n THEN 1 END FROM %s", condition, s->what),
        condition, &probe);

    if (rc == 0)
        rc = compile(db,
                     sqlite3_mprintf("SELECT record FROM %s WHERE %u IN (%u, rid) AND (%s\n) "
                                     "LIMIT %lld",
                                     s->what, s->rank, NO_RANK, condition, limit_of(s, -1)),
                     condition, &query);
    database_unbound(reader); /* a condition may be worth it */
    if (rc == 0)
        rc = print_records(reader, s->args[1], query, &n_damaged);
    sqlite3_finalize(probe);
    sqlite3_finalize(query);
    return rc < 0 ? rc : store_status(n_damaged);
}

/* ------------------------------------------------------------------------------------- top */

static int top(struct database *reader, const struct settings *s)
{
    bool is_by_score = strcmp(s->by, "score") == 0;
    char *sql = sqlite3_mprintf(
        "SELECT event_id, tid, func, entry, runtime_exclusive, outlier_severity, "
        "outlier_score, p FROM %s WHERE NOT is_pruned AND %u IN (%u, rid) "
        "ORDER BY %s DESC, event_id LIMIT %lld",
        s->what, s->rank, NO_RANK,
        is_by_score ? "outlier_score DESC, outlier_severity"
                    : "outlier_severity DESC, outlier_score",
        limit_of(s, USUAL_TOP));
    int rc = query_print(reader->sql, sql, s);

    sqlite3_free(sql);
    return rc;
}

/* --------------------------------------------------------------------------------- compare */

#define PER_FUNCTION                                                                           \
    "SELECT func, count(*), sum(outlier_severity), "                                           \
    "(SELECT sum(calls) FROM func_stats s WHERE s.func = a.func) FROM %s a "                   \
    "WHERE NOT is_pruned AND %u IN (%u, rid) GROUP BY func"

/* rate: anomalies among all calls, known when the store has func_stats. */
#define SIDE_BY_SIDE                                                                           \
    "SELECT func, anomalies_1, anomalies_2, severity_1, severity_2, "                          \
    "severity_2 - severity_1 AS difference, "                                                  \
    "1.0 * anomalies_1 / calls_1 AS rate_1, 1.0 * anomalies_2 / calls_2 AS rate_2 FROM ("      \
    "SELECT func, coalesce(sum(n) FILTER (WHERE side = 1), 0) AS anomalies_1, "                \
    "coalesce(sum(n) FILTER (WHERE side = 2), 0) AS anomalies_2, "                             \
    "total(severity) FILTER (WHERE side = 1) AS severity_1, "                                  \
    "total(severity) FILTER (WHERE side = 2) AS severity_2, "                                  \
    "sum(calls) FILTER (WHERE side = 1) AS calls_1, "                                          \
    "sum(calls) FILTER (WHERE side = 2) AS calls_2 FROM part GROUP BY func) "                  \
    "ORDER BY max(severity_1, severity_2) DESC, func LIMIT %lld"

/* Copies what is known of the functions of one store to the table `part`. */
static int collect(struct database *from, const char *url, sqlite3 *to, int side,
                   const struct settings *s)
{
    sqlite3_stmt *query = NULL, *insert = NULL;
    char sql[1024];
    int rc, status = SQLITE_DONE;

    snprintf(sql, sizeof sql, PER_FUNCTION, s->what, s->rank, NO_RANK);
    rc = rundb_prepare(from->sql, sql, &query);
    if (rc == 0)
        rc = rundb_prepare(to, "INSERT INTO part VALUES (?, ?, ?, ?, ?)", &insert);
    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW) {
        sqlite3_bind_int(insert, 1, side);
        for (int c = 0; c < 4; c++)
            sqlite3_bind_value(insert, c + 2, sqlite3_column_value(query, c));
        if (sqlite3_step(insert) != SQLITE_DONE)
            rc = rundb_error(to, "cannot compare the stores");
        sqlite3_reset(insert);
    }
    if (rc == 0 && status != SQLITE_DONE)
        rc = prov_reader_error(from, url);
    sqlite3_finalize(query);
    sqlite3_finalize(insert);
    return rc;
}

static int compare(struct database *one, const struct settings *s)
{
    char *sql = sqlite3_mprintf(SIDE_BY_SIDE, limit_of(s, USUAL_TOP));
    struct database other, both = {0};
    int rc = prov_reader_open(s->args[2], &other);

    if (rc == 0)
        rc = database_memory(&both, other.dir);
    if (rc == 0)
        rc = rundb_exec(both.sql, "CREATE TABLE part (side, func, n, severity, calls)");
    if (rc == 0)
        rc = collect(one, s->args[1], both.sql, 1, s);
    if (rc == 0)
        rc = collect(&other, s->args[2], both.sql, 2, s);
    if (rc == 0)
        rc = query_print(both.sql, sql, s);
    database_close(&other);
    database_close(&both);
    sqlite3_free(sql);
    return rc;
}

/* ---------------------------------------------------------------------------------------- */

int cmd_provdb(const struct settings *settings)
{
    static const struct {
        const char *verb;
        int n_args;
        int (*run)(struct database *reader, const struct settings *settings);
    } verbs[] = {{"filter", 3, filter}, {"top", 2, top}, {"compare", 3, compare}};
    int rc = 0;

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs && rc == 0; i++) {
        struct database reader;

        if (strcmp(settings->args[0], verbs[i].verb) != 0 ||
            settings->n_args != verbs[i].n_args)
            continue;
        rc = prov_reader_open(settings->args[1], &reader);
        if (rc == 0)
            rc = verbs[i].run(&reader, settings);
        database_close(&reader);
        return rc;
    }
    return rc < 0
               ? rc
               : err_set(ERR_USAGE, "expected: snag provdb filter STORE CONDITION, top STORE, "
                                    "or compare STORE STORE");
}

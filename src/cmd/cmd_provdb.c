/* snag provdb -- what Chimbuko's tools do with its provenance database: filter, top, compare.
 */
#include "base/err.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/query_print.h"
#include "cmd/status.h"
#include "cmd/store_export.h"
#include "prov/prov_reader.h"
#include "prov/prov_sql.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_TOP 10

_Static_assert(PROV_ANY_RANK == NO_RANK, "--rank is handed on as it is");

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

static int filter(struct database *reader, const struct settings *s)
{
    const char *condition = s->args[2];
    sqlite3 *db = reader->sql;
    sqlite3_stmt *probe = NULL, *query = NULL;
    uint64_t n_damaged = 0;
    int rc = compile(db, prov_sql_probe(s->what, condition), condition, &probe);

    if (rc == 0)
        rc = compile(db, prov_sql_filter(s->what, s->rank, condition, limit_of(s, -1)),
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
    char *sql = (s->is_incidents ? prov_sql_incidents : prov_sql_top)(
        s->what, s->rank, is_by_score, limit_of(s, USUAL_TOP));
    int rc = query_print(reader->sql, sql, s);

    sqlite3_free(sql);
    return rc;
}

/* --------------------------------------------------------------------------------- compare */

static int compare(struct database *one, const struct settings *s)
{
    struct database other, both = {0};
    char *sql = NULL;
    int rc = prov_reader_open(s->args[2], &other);

    if (rc == 0)
        rc = database_memory(&both, other.dir);
    if (rc == 0)
        rc = prov_sql_compare(one, &other, &both, s->what, s->rank, limit_of(s, USUAL_TOP),
                              &sql);
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

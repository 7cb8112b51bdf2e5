/* snag query -- SQL over run.db or a store of provenance, read-only. */
#include "base/err.h"
#include "cmd/commands.h"
#include "view/csv.h"
#include "view/executions.h"
#include "cmd/selection.h"
#include "cmd/print.h"
#include "cmd/query_print.h"
#include "cmd/status.h"
#include "prov/prov_place.h"
#include "prov/prov_reader.h"
#include "run/rundb.h"
#include "run/rundir.h"

#include <string.h>

static json_t *json_value(sqlite3_stmt *query, int c)
{
    switch (sqlite3_column_type(query, c)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(query, c));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(query, c));
    case SQLITE_NULL:
        return json_null();
    default:
        return json_text(rundb_text(query, c));
    }
}

static void print_json_row(sqlite3_stmt *query)
{
    json_t *row = json_object();

    for (int c = 0; c < sqlite3_column_count(query); c++)
        json_object_set_new(row, sqlite3_column_name(query, c), json_value(query, c));
    print_json(row, false);
}

static void print_csv_row(sqlite3_stmt *query)
{
    for (int c = 0; c < sqlite3_column_count(query); c++)
        csv_text(stdout, rundb_text(query, c), c == 0);
    fputc('\n', stdout);
}

static void print_csv_head(sqlite3_stmt *query)
{
    for (int c = 0; c < sqlite3_column_count(query); c++)
        csv_text(stdout, sqlite3_column_name(query, c), c == 0);
    fputc('\n', stdout);
}

/* Numbers to the right; the type of the first row decides. */
static struct table *table_for(sqlite3_stmt *query)
{
    int n = sqlite3_column_count(query);
    const char *names[64];
    char columns[64];

    n = n < 63 ? n : 63;
    for (int c = 0; c < n; c++) {
        int type = sqlite3_column_type(query, c);

        columns[c] = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? 'r' : 'l';
        names[c] = sqlite3_column_name(query, c);
    }
    columns[n] = '\0';
    return table_new_from(columns, names);
}

static int print_rows(sqlite3 *db, sqlite3_stmt *query, const struct settings *settings)
{
    const char *format = settings_format(settings, "text");
    bool is_csv = strcmp(format, "csv") == 0, is_json = strcmp(format, "json") == 0;
    struct table *table = NULL;
    int status;

    if (is_csv)
        print_csv_head(query);
    while ((status = sqlite3_step(query)) == SQLITE_ROW) {
        if (is_json) {
            print_json_row(query);
        } else if (is_csv) {
            print_csv_row(query);
        } else {
            if (table == NULL)
                table = table_for(query);
            for (int c = 0; c < sqlite3_column_count(query) && c < 63; c++)
                table_cell(table, "%s", rundb_text(query, c));
        }
    }
    if (table == NULL && !is_json && !is_csv)
        table = table_for(query);
    if (table)
        table_print(table, stdout);
    return status == SQLITE_DONE ? 0 : rundb_error(db, "the query failed");
}

int query_print(sqlite3 *db, const char *sql, const struct settings *settings)
{
    sqlite3_stmt *query = NULL;
    const char *rest = "";
    int rc = 0;

    if (sqlite3_prepare_v2(db, sql, -1, &query, &rest) != SQLITE_OK)
        return sqlite3_errcode(db) == SQLITE_AUTH
                   ? err_set(ERR_USAGE, "only questions: '%s' would change something", sql)
                   : err_set(ERR_USAGE, "bad SQL: %s", sqlite3_errmsg(db));
    if (query == NULL || rest[strspn(rest, " \t\n;")] != '\0')
        rc = err_set(ERR_USAGE, "one SQL statement at a time, not '%s'", sql);
    else if (!sqlite3_stmt_readonly(query))
        rc = err_set(ERR_USAGE, "only questions: '%s' would change something", sql);
    else
        rc = print_rows(db, query, settings);
    sqlite3_finalize(query);
    return rc;
}

static int query_store(const struct settings *settings)
{
    struct database reader;
    int rc = prov_reader_open(settings->args[0], &reader);

    if (rc == 0) {
        database_unbound(&reader);
        rc = query_print(reader.sql, settings->args[1], settings);
    }
    database_close(&reader);
    return rc < 0 ? rc : STATUS_DONE;
}

int cmd_query(const struct settings *settings)
{
    struct run run;
    int rc;

    if (strcmp(settings_format(settings, "text"), "chrome") == 0)
        return err_set(ERR_USAGE, "rows have no times: --format chrome is for snag export");
    if (prov_place_is_store(settings->args[0]))
        return query_store(settings);
    rc = selection_open(&run, settings);
    if (rc == 0)
        rc = query_print(run.db, settings->args[1], settings);
    run_close(&run);
    return rc < 0 ? rc : STATUS_DONE;
}

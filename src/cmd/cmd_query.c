/* snag query -- SQL over run.db or a store of provenance, read-only. */
#include "cmd/cmd_query.h"

#include "base/err.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "compare/run_history.h"
#include "prov/prov_reader.h"
#include "prov/prov_store.h"
#include "ps/ps_tables.h"
#include "run/rundb.h"
#include "run/rundir.h"
#include "run/sql_query.h"
#include "view/csv.h"
#include "view/executions.h"

#include <stdlib.h>
#include <string.h>

/* What is being printed. */
struct query_rows {
    struct table *table; /* of format text */
    bool has_any;
    char *text;
    size_t text_cap;
};

/* ------------------------------------------------------------------------------ formats */

static void json_row(struct query_rows *rows, sqlite3_stmt *query)
{
    json_t *row = json_object();

    (void)rows;
    for (int c = 0; c < sqlite3_column_count(query); c++)
        json_object_set_new(row, sqlite3_column_name(query, c), sql_query_value(query, c));
    print_json(row, false);
}

/* A value as text, in which a zero is a character like others. */
static const char *text_of(struct query_rows *rows, sqlite3_stmt *query, int c)
{
    const char *text = rundb_text(query, c);
    size_t n = (size_t)sqlite3_column_bytes(query, c);

    if (strlen(text) == n)
        return text;
    mem_grow(&rows->text, &rows->text_cap, n + 1);
    for (size_t i = 0; i <= n; i++)
        rows->text[i] = i < n && text[i] == '\0' ? '?' : text[i];
    return rows->text;
}

static bool is_number(sqlite3_stmt *query, int c)
{
    int type = sqlite3_column_type(query, c);

    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void csv_row(struct query_rows *rows, sqlite3_stmt *query)
{
    for (int c = 0; c < sqlite3_column_count(query); c++)
        (is_number(query, c) ? csv_number : csv_text)(stdout, text_of(rows, query, c), c == 0);
    fputc('\n', stdout);
}

static void csv_head(struct query_rows *rows, sqlite3_stmt *query)
{
    (void)rows;
    for (int c = 0; c < sqlite3_column_count(query); c++)
        csv_text(stdout, sqlite3_column_name(query, c), c == 0);
    fputc('\n', stdout);
}

/* Numbers to the right; the type of the first row decides. */
static void table_head(struct query_rows *rows, sqlite3_stmt *query)
{
    size_t n = (size_t)sqlite3_column_count(query);
    const char **names = mem_alloc(n, sizeof *names);
    char *columns = mem_alloc(n + 1, 1);

    for (size_t c = 0; c < n; c++) {
        columns[c] = rows->has_any && is_number(query, (int)c) ? 'r' : 'l';
        names[c] = sqlite3_column_name(query, (int)c);
    }
    rows->table = table_new_from(columns, names);
    free(names);
    free(columns);
}

static void table_row(struct query_rows *rows, sqlite3_stmt *query)
{
    for (int c = 0; c < sqlite3_column_count(query); c++)
        table_cell(rows->table, "%s", text_of(rows, query, c));
}

static const struct format {
    const char *name;
    void (*head)(struct query_rows *rows, sqlite3_stmt *query);
    void (*row)(struct query_rows *rows, sqlite3_stmt *query);
} formats[] = {
    {"text", table_head, table_row},
    {"csv", csv_head, csv_row},
    {"json", NULL, json_row},
};

/* ----------------------------------------------------------------------------- answering */

/* The head comes with the first row, or when there is none: not before what goes wrong. */
static int print_rows(sqlite3 *db, sqlite3_stmt *query, const struct settings *settings)
{
    const char *name = settings_format(settings, "text");
    const struct format *format = formats;
    struct query_rows rows = {0};
    int status, rc = 0;

    while (strcmp(format->name, name) != 0)
        format++;
    status = sqlite3_step(query);
    rows.has_any = status == SQLITE_ROW;
    if (format->head && (status == SQLITE_ROW || status == SQLITE_DONE))
        format->head(&rows, query);
    for (; status == SQLITE_ROW; status = sqlite3_step(query))
        format->row(&rows, query);
    if (status != SQLITE_DONE)
        rc = rundb_error(db, "the query failed");
    if (rows.table)
        table_print(rows.table, stdout);
    free(rows.text);
    return rc;
}

int query_print(sqlite3 *db, const char *sql, const struct settings *settings)
{
    sqlite3_stmt *query = NULL;
    int rc = sql_query_prepare(db, sql, &query);

    if (rc == 0)
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

static int query_history(const struct settings *settings)
{
    struct history history;
    int rc = history_open(&history, settings->args[0], DATABASE_READ);

    if (rc == 0) {
        database_unbound(&history.database);
        database_read_only(&history.database);
        rc = query_print(history.database.sql, settings->args[1], settings);
        history_close(&history);
    }
    return rc < 0 ? rc : STATUS_DONE;
}

static int query_server(const struct settings *settings)
{
    sqlite3 *db;
    int rc = ps_tables_of(settings->args[0], settings->curve_key, &db);

    if (rc == 0) {
        database_read_only(&(struct database){.sql = db});
        rc = query_print(db, settings->args[1], settings);
    }
    sqlite3_close(db);
    return rc < 0 ? rc : STATUS_DONE;
}

int cmd_query(const struct settings *settings)
{
    struct run run;
    int rc;

    if (ps_ask_is_address(settings->args[0]) || ps_snapshot_is(settings->args[0]))
        return query_server(settings);
    if (prov_store_is(settings->args[0]))
        return query_store(settings);
    if (history_is(settings->args[0]))
        return query_history(settings);
    rc = selection_open(&run, settings);
    if (rc == 0) {
        database_unbound(&run.database); /* a question may take as long as it does */
        database_read_only(&run.database);
        rc = query_print(run.db, settings->args[1], settings);
    }
    run_close(&run);
    return rc < 0 ? rc : STATUS_DONE;
}

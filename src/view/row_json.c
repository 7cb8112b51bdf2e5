#include "view/row_json.h"

#include "run/rundb.h"
#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>

static json_t *value_to_json(sqlite3_stmt *query, int column)
{
    double real;

    switch (sqlite3_column_type(query, column)) {
    case SQLITE_NULL:
        return json_null();
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(query, column));
    case SQLITE_FLOAT:
        real = sqlite3_column_double(query, column);
        return json_number(real);
    default:
        return json_text(rundb_text(query, column));
    }
}

/* The row the query stands at. What is not finite becomes null. */
static json_t *row_to_json(sqlite3_stmt *query)
{
    json_t *row = json_object();

    for (int c = 0; c < sqlite3_column_count(query); c++)
        json_object_set_new(row, sqlite3_column_name(query, c), value_to_json(query, c));
    return row;
}

/* As rundb_bind, for parameters that come as a list: integers and texts. */
static void bind(sqlite3_stmt *query, const char *types, va_list values)
{
    for (int i = 0; types[i]; i++) {
        if (types[i] == 't')
            sqlite3_bind_text(query, i + 1, va_arg(values, const char *), -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(query, i + 1, va_arg(values, int64_t));
    }
}

int rows_to_json(sqlite3 *db, json_t **out, const char *sql, const char *types, ...)
{
    sqlite3_stmt *query = NULL;
    json_t *rows = json_array();
    int status = SQLITE_DONE;
    int rc = rundb_prepare(db, sql, &query);
    va_list values;

    va_start(values, types);
    if (rc == 0)
        bind(query, types, values);
    va_end(values);
    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW)
        json_array_append_new(rows, row_to_json(query));
    if (rc == 0 && status != SQLITE_DONE)
        rc = rundb_error(db, "cannot read the run's database");
    sqlite3_finalize(query);
    if (rc == 0)
        *out = rows;
    else
        json_decref(rows);
    return rc;
}

/* One row per call: what it lost, what it took, where it was. */
#include "cmd/strange_calls.h"

#include "base/text.h"
#include "cmd/print.h"
#include "run/rundb.h"
#include "trace/definitions.h"

#include <stdio.h>

/* The columns of the query below. */
enum column { RANK, THREAD, CALL, FUNCTION, ENTER, TIME, USUAL, SEVERITY, SCORE, P };

static void print_row(sqlite3_stmt *query, struct table *table)
{
    char text[TEXT_SIZE];

    if (sqlite3_column_int64(query, THREAD) > 0)
        table_cell(table, "%lld.%lld", (long long)sqlite3_column_int64(query, RANK),
                   (long long)sqlite3_column_int64(query, THREAD));
    else
        table_cell(table, "%lld", (long long)sqlite3_column_int64(query, RANK));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, ENTER), text));
    table_cell(table, "+%s", text_duration(sqlite3_column_double(query, SEVERITY), text));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, TIME), text));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, USUAL), text));
    table_cell(table, "%.0e", sqlite3_column_double(query, P));
    table_cell(table, "%s", rundb_text(query, FUNCTION));
}

static void print_object(sqlite3_stmt *query)
{
    print_json(json_pack("{s:I, s:I, s:I, s:o, s:I, s:I, s:f, s:f, s:f, s:f}", "rank",
                         (json_int_t)sqlite3_column_int64(query, RANK), "thread",
                         (json_int_t)sqlite3_column_int64(query, THREAD), "call",
                         (json_int_t)sqlite3_column_int64(query, CALL), "function",
                         json_text(rundb_text(query, FUNCTION)), "enter_ns",
                         (json_int_t)sqlite3_column_int64(query, ENTER), "time_ns",
                         (json_int_t)sqlite3_column_int64(query, TIME), "usual_ns",
                         sqlite3_column_double(query, USUAL), "severity_ns",
                         sqlite3_column_double(query, SEVERITY), "score",
                         sqlite3_column_double(query, SCORE), "p",
                         sqlite3_column_double(query, P)),
               false);
}

int strange_calls_print(sqlite3 *db, const struct settings *settings)
{
    sqlite3_stmt *query = NULL;
    struct table *table;
    int status = SQLITE_DONE;
    int rc = rundb_prepare(
        db,
        "SELECT l.rank, l.thread, s.call, r.short_name, s.enter_ns, s.time_ns, s.usual_ns, "
        "s.severity_ns, s.score, s.p FROM strange_call AS s JOIN location AS l ON l.id = "
        "s.location JOIN region AS r ON r.id = s.region WHERE ?1 IS NULL OR l.rank = ?1 "
        "ORDER BY s.severity_ns DESC, s.location, s.call LIMIT ?2",
        &query);

    if (rc == 0)
        rc = rundb_bind(db, query, "oi", settings->rank != NO_RANK, (int64_t)settings->rank,
                        settings->is_all ? (int64_t)-1 : (int64_t)settings->top);
    if (rc < 0)
        return rc;
    table = settings->is_json ? NULL
                              : table_new("rrrrrrl", "rank", "entered", "lost", "took",
                                          "usually", "p", "function");
    while ((status = sqlite3_step(query)) == SQLITE_ROW)
        if (table)
            print_row(query, table);
        else
            print_object(query);
    if (table)
        table_print(table, stdout);
    sqlite3_finalize(query);
    return status == SQLITE_DONE ? 0 : rundb_error(db, "cannot read the strange calls");
}

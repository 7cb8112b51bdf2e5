/* One row per call: what it lost, what it took, where it was. */
#include "cmd/strange_calls.h"

#include "base/text.h"
#include "cmd/print.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "trace/definitions.h"

#include <stdio.h>

/* The columns of the query below. */
enum column { RANK, THREAD, CALL, FUNCTION, ENTER, TIME, USUAL, SEVERITY, SCORE, P };

static void print_row(sqlite3_stmt *query, struct table *table)
{
    char text[TEXT_SIZE];

    if (sqlite3_column_int64(query, STRANGE_THREAD) > 0)
        table_cell(table, "%lld.%lld", (long long)sqlite3_column_int64(query, STRANGE_RANK),
                   (long long)sqlite3_column_int64(query, STRANGE_THREAD));
    else
        table_cell(table, "%lld", (long long)sqlite3_column_int64(query, STRANGE_RANK));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, STRANGE_ENTER), text));
    table_cell(table, "+%s",
               text_duration(sqlite3_column_double(query, STRANGE_SEVERITY), text));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, STRANGE_TIME), text));
    table_cell(table, "%s", text_duration(sqlite3_column_double(query, STRANGE_USUAL), text));
    table_cell(table, "%.0e", sqlite3_column_double(query, STRANGE_P));
    table_cell(table, "%s", rundb_text(query, STRANGE_FUNCTION));
}

static void print_object(sqlite3_stmt *query)
{
    print_json(json_pack("{s:I, s:I, s:I, s:o, s:I, s:I, s:f, s:f, s:f, s:f}", "rank",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_RANK), "thread",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_THREAD), "call",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_CALL), "function",
                         json_text(rundb_text(query, STRANGE_FUNCTION)), "enter_ns",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_ENTER), "time_ns",
                         (json_int_t)sqlite3_column_int64(query, STRANGE_TIME), "usual_ns",
                         sqlite3_column_double(query, STRANGE_USUAL), "severity_ns",
                         sqlite3_column_double(query, STRANGE_SEVERITY), "score",
                         sqlite3_column_double(query, STRANGE_SCORE), "p",
                         sqlite3_column_double(query, STRANGE_P)),
               false);
}

int strange_calls_print(sqlite3 *db, const struct settings *settings)
{
    sqlite3_stmt *query = NULL;
    struct table *table;
    int status = SQLITE_DONE;
    int rc = rundb_prepare(db, run_sql_strange_calls, &query);

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

void strange_calls_print_slight(uint64_t n, double least_lost_ns)
{
    char slight[TEXT_SIZE], least[TEXT_SIZE];

    if (n > 0)
        print("%s more %s strange, too, but lost %s%s\n", text_count(n, slight),
              n == 1 ? "was" : "were", least_lost_ns > 0 ? "less than " : "nothing",
              least_lost_ns > 0 ? text_duration(least_lost_ns, least) : "");
}

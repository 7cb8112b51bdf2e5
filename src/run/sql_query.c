/*
 * SQLite asks now and then, between its instructions, whether it should go on: that is where
 * time, memory and who waits are looked at. A single instruction is bounded by how long a value
 * may be, and all that is made on the way is in memory, so that it is counted and no disk fills
 * up.
 *
 * A row costs what its values have in bytes and a little each; those beyond the limits are not
 * kept, but counted as long as there is time.
 */
#include "run/sql_query.h"

#include "base/err.h"
#include "base/json.h"
#include "base/progress.h"
#include "run/rundb.h"

#include <string.h>

#define INSTRUCTIONS 50              /* between two looks */
#define LOOK_NS 20000000u            /* between two looks at whether anybody waits */
#define MAX_VALUE_BYTES (128 << 10)  /* a search in such a value for such another: 50 ms */
#define MAX_COLUMNS 200              /* of a table or an answer, and terms of an ORDER BY */
#define MAX_PATTERN_BYTES 256        /* of LIKE and GLOB */
#define VALUE_BYTES 16u              /* that a value costs beyond its text */
#define MAX_WHOLE 9007199254740991ll /* 2^53 - 1, as JavaScript counts */

/* ----------------------------------------------------------------------------- compiling */

/* Whether what follows a statement is another one, and not just a comment. */
static bool has_more(sqlite3 *sql, const char *rest)
{
    sqlite3_stmt *more = NULL;
    bool is_more = false;

    while (!is_more && *rest) {
        is_more = sqlite3_prepare_v2(sql, rest, -1, &more, &rest) != SQLITE_OK || more != NULL;
        sqlite3_finalize(more);
    }
    return is_more;
}

int sql_query_prepare(sqlite3 *sql, const char *text, sqlite3_stmt **query)
{
    const char *rest = "";
    int rc = 0;

    *query = NULL;
    if (sqlite3_prepare_v2(sql, text, -1, query, &rest) != SQLITE_OK)
        return sqlite3_errcode(sql) == SQLITE_AUTH
                   ? err_set(ERR_USAGE, "query only reads: '%s' would change something", text)
                   : err_set(ERR_USAGE, "bad SQL: %s", sqlite3_errmsg(sql));
    if (*query == NULL || has_more(sql, rest))
        rc = err_set(ERR_USAGE, "one SQL statement at a time, not '%s'", text);
    else if (!sqlite3_stmt_readonly(*query))
        rc = err_set(ERR_USAGE, "query only reads: '%s' would change something", text);
    if (rc < 0) {
        sqlite3_finalize(*query);
        *query = NULL;
    }
    return rc;
}

json_t *sql_query_value(sqlite3_stmt *query, int column)
{
    switch (sqlite3_column_type(query, column)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(query, column));
    case SQLITE_FLOAT:
        return json_number(sqlite3_column_double(query, column));
    case SQLITE_NULL:
        return json_null();
    default: {
        const char *text = rundb_text(query, column); /* before its length is asked for */

        return json_text_n(text, (size_t)sqlite3_column_bytes(query, column));
    }
    }
}

/* --------------------------------------------------------------------------------- limits */

struct query_watch {
    const struct sql_query_limits *limits;
    uint64_t begin_ns, looked_ns;
    int64_t memory; /* that SQLite had at first */
    enum { GOES_ON, NO_TIME, NO_MEMORY, UNWANTED } why;
};

static int look(void *ctx)
{
    struct query_watch *w = ctx;
    const struct sql_query_limits *limits = w->limits;
    uint64_t now = clock_ns();

    if (now - w->begin_ns > limits->time_ns) {
        w->why = NO_TIME;
    } else if (sqlite3_memory_used() - w->memory > (int64_t)limits->memory_bytes) {
        w->why = NO_MEMORY;
    } else if (limits->is_unwanted && now - w->looked_ns > LOOK_NS) {
        w->looked_ns = now;
        if (limits->is_unwanted(limits->ctx))
            w->why = UNWANTED;
    }
    return w->why != GOES_ON;
}

static void restrict_to(struct database *database, struct query_watch *w)
{
    static const struct {
        int what, value;
    } limit[] = {{SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES},
                 {SQLITE_LIMIT_COLUMN, MAX_COLUMNS},
                 {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES},
                 {SQLITE_LIMIT_ATTACHED, 0}};

    database_unbound(database);
    sqlite3_exec(database->sql, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        sqlite3_limit(database->sql, limit[i].what, limit[i].value);
    database_read_only(database);
    sqlite3_progress_handler(database->sql, INSTRUCTIONS, look, w);
}

static const char *stopped_because(const struct query_watch *w, char text[64])
{
    if (w->why == NO_TIME)
        snprintf(text, 64, "it took longer than %g s", (double)w->limits->time_ns / 1e9);
    else
        snprintf(text, 64, "it took more than %g MiB of memory",
                 (double)w->limits->memory_bytes / 1048576);
    return text;
}

/* ----------------------------------------------------------------------------- answering */

static json_t *column_names(sqlite3_stmt *query)
{
    json_t *names = json_array();

    for (int c = 0; c < sqlite3_column_count(query); c++)
        json_array_append_new(names, json_text(sqlite3_column_name(query, c)));
    return names;
}

static json_t *value_for_page(sqlite3_stmt *query, int c)
{
    sqlite3_int64 whole = sqlite3_column_int64(query, c);
    bool is_large = whole > MAX_WHOLE || whole < -MAX_WHOLE;

    return sqlite3_column_type(query, c) == SQLITE_INTEGER && is_large
               ? json_text(rundb_text(query, c))
               : sql_query_value(query, c);
}

/* Keeps the current row if there is room for it. */
static bool keep_row(json_t *rows, sqlite3_stmt *query, uint64_t *bytes_left)
{
    int n = sqlite3_column_count(query);
    uint64_t bytes = VALUE_BYTES;
    json_t *row;

    for (int c = 0; c < n; c++)
        bytes += VALUE_BYTES + (uint64_t)sqlite3_column_bytes(query, c);
    if (bytes > *bytes_left) {
        *bytes_left = 0;
        return false;
    }
    *bytes_left -= bytes;
    row = json_array();
    for (int c = 0; c < n; c++)
        json_array_append_new(row, value_for_page(query, c));
    json_array_append_new(rows, row);
    return true;
}

/* What SQLite says of the question is said to who asked; what it says of the file is ours. */
static int why_it_failed(sqlite3 *sql, const struct query_watch *w)
{
    char because[64];

    switch (sqlite3_errcode(sql) & 0xff) {
    case SQLITE_INTERRUPT:
        return w->why == UNWANTED ? err_set(ERR_INTERRUPTED, "nobody waits for the answer")
                                  : err_set(ERR_USAGE, "the query was stopped: %s",
                                            stopped_because(w, because));
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_AUTH:
        return err_set(ERR_USAGE, "the query failed: %s", sqlite3_errmsg(sql));
    default:
        return rundb_error(sql, "the query failed");
    }
}

static int answer_rows(sqlite3 *sql, sqlite3_stmt *query, const struct query_watch *w,
                       json_t **answer)
{
    const struct sql_query_limits *limits = w->limits;
    json_t *names = column_names(query), *rows = json_array();
    uint64_t total = 0, bytes_left = limits->answer_bytes;
    char because[64];
    int status, rc = 0;

    while ((status = sqlite3_step(query)) == SQLITE_ROW) {
        total++;
        if (json_array_size(rows) < limits->rows && bytes_left > 0)
            keep_row(rows, query, &bytes_left);
    }
    if (status != SQLITE_DONE && (w->why == GOES_ON || w->why == UNWANTED || total == 0)) {
        rc = why_it_failed(sql, w);
        json_decref(names);
        json_decref(rows);
    } else {
        *answer = json_pack("{s:o, s:o, s:o, s:o}", "columns", names, "rows", rows, "total",
                            json_count(total), "stopped",
                            status == SQLITE_DONE ? json_null()
                                                  : json_text(stopped_because(w, because)));
    }
    return rc;
}

int sql_query_answer(struct database *database, const char *text,
                     const struct sql_query_limits *limits, json_t **answer)
{
    struct query_watch w = {.limits = limits, .begin_ns = clock_ns()};
    sqlite3_stmt *query = NULL;
    int rc;

    *answer = NULL;
    if (limits->is_unwanted && limits->is_unwanted(limits->ctx))
        return err_set(ERR_INTERRUPTED, "nobody waits for the answer");
    w.memory = sqlite3_memory_used();
    restrict_to(database, &w);
    rc = sql_query_prepare(database->sql, text, &query);
    if (rc < 0 && w.why != GOES_ON)
        rc = why_it_failed(database->sql, &w);
    if (rc == 0)
        rc = answer_rows(database->sql, query, &w, answer);
    sqlite3_finalize(query);
    sqlite3_progress_handler(database->sql, 0, NULL, NULL); /* w ends here */
    return rc;
}

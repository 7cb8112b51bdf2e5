#include "monitor/live_past.h"

#include "base/names.h"
#include "prov/prov_reader.h"
#include "prov/prov_sql.h"
#include "run/rundb.h"

#include <math.h>

static uint64_t nanoseconds(sqlite3_stmt *query, int column)
{
    double ns = round(1000 * sqlite3_column_double(query, column));

    return ns > 0 && ns < 9e18 ? (uint64_t)ns : 0;
}

static uint32_t number(sqlite3_stmt *query, int column)
{
    return (uint32_t)sqlite3_column_int64(query, column);
}

static void take_record(struct live_state *state, struct names *functions, sqlite3_stmt *query)
{
    const char *function = rundb_text(query, PAST_FUNCTION);
    struct live_point point = {
        .program = number(query, PAST_PROGRAM),
        .rank = number(query, PAST_RANK),
        .thread = number(query, PAST_THREAD),
        .region = names_add(functions, function),
        .enter_ns = nanoseconds(query, PAST_ENTRY),
        .inclusive_ns = nanoseconds(query, PAST_TOTAL),
        .exclusive_ns = nanoseconds(query, PAST_EXCLUSIVE),
        .score = (float)sqlite3_column_double(query, PAST_SCORE),
        .verdict = sqlite3_column_int(query, PAST_IS_ANOMALY) ? LIVE_ANOMALY : LIVE_NORMAL,
        .vertices = 1,
        .kind = LIVE_CALL};

    if (sqlite3_column_type(query, PAST_EXECUTION) != SQLITE_NULL) {
        point.kind = LIVE_EXECUTION;
        point.index = number(query, PAST_EXECUTION);
        point.vertices = number(query, PAST_CALLS);
        point.messages = number(query, PAST_MESSAGES);
    }
    point.severity_ns = nanoseconds(query, PAST_SEVERITY);
    live_state_past(state, &point, function);
    state->totals.n_taken_back += number(query, PAST_IS_TAKEN_BACK);
}

static int read_records(struct live_state *state, struct database *reader, const char *url)
{
    sqlite3_stmt *query = NULL;
    struct names functions = {0};
    int rc = rundb_prepare(reader->sql, prov_sql_past, &query), status = SQLITE_DONE;

    while (rc == 0 && (status = sqlite3_step(query)) == SQLITE_ROW)
        take_record(state, &functions, query);
    if (rc == 0 && status != SQLITE_DONE)
        rc = prov_reader_error(reader, url);
    sqlite3_finalize(query);
    names_release(&functions);
    return rc;
}

static int read_totals(struct live_state *state, struct database *reader)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(reader->sql, prov_sql_past_calls, &query);

    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW &&
        (uint64_t)sqlite3_column_int64(query, 0) > state->totals.n_calls)
        state->totals.n_calls = (uint64_t)sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return rc;
}

int live_past_open(const char *url, struct live_state **state)
{
    struct prov_counts counts = {0};
    struct database reader;
    int rc = prov_reader_open(url, &reader);

    *state = NULL;
    if (rc == 0) {
        *state = live_state_new(
            &(struct live_opts){.source = url, .store_url = url, .detector = "?"});
        rc = read_records(*state, &reader, url);
    }
    if (rc == 0)
        rc = read_totals(*state, &reader);
    database_close(&reader);
    if (rc < 0) {
        live_state_free(*state);
        *state = NULL;
        return rc;
    }
    counts.n_stored = (*state)->points[LIVE_CALL].next + (*state)->points[LIVE_EXECUTION].next;
    live_state_end(*state, NULL, &counts);
    return 0;
}

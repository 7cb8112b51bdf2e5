#include "monitor/live_past.h"

#include "base/names.h"
#include "prov/prov_reader.h"
#include "run/rundb.h"

#include <math.h>

static const char records_sql[] =
    "SELECT pid, rid, tid, func, entry, exit, runtime_total, runtime_exclusive, "
    "outlier_severity, outlier_score, is_anomaly, execution, "
    "calls, messages FROM ("
    "SELECT *, 1 AS is_anomaly FROM anomalies UNION ALL SELECT *, 0 FROM normalexecs) "
    "ORDER BY entry, __id, shard";

static const char totals_sql[] = "SELECT coalesce(sum(calls), 0) FROM func_stats";

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
    const char *function = rundb_text(query, 3);
    struct live_point point = {.program = number(query, 0),
                               .rank = number(query, 1),
                               .thread = number(query, 2),
                               .region = names_add(functions, function),
                               .enter_ns = nanoseconds(query, 4),
                               .inclusive_ns = nanoseconds(query, 6),
                               .exclusive_ns = nanoseconds(query, 7),
                               .score = (float)sqlite3_column_double(query, 9),
                               .verdict =
                                   sqlite3_column_int(query, 10) ? LIVE_ANOMALY : LIVE_NORMAL,
                               .vertices = 1,
                               .kind = LIVE_CALL};

    if (sqlite3_column_type(query, 11) != SQLITE_NULL) {
        point.kind = LIVE_EXECUTION;
        point.index = number(query, 11);
        point.vertices = number(query, 12);
        point.messages = number(query, 13);
    }
    live_state_past(state, &point, function, nanoseconds(query, 8));
}

static int read_records(struct live_state *state, struct database *reader, const char *url)
{
    sqlite3_stmt *query = NULL;
    struct names functions = {0};
    int rc = rundb_prepare(reader->sql, records_sql, &query), status = SQLITE_DONE;

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
    int rc = rundb_prepare(reader->sql, totals_sql, &query);

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

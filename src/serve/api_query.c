/*
 * SQL of whoever looks at the page, about run.db. Each question has a connection of its own,
 * so that nothing of one is there for the next; they are answered one after another by a thread
 * of their own (ROUTE_BY_QUERIER), so that none keeps anything else waiting.
 */
#include "serve/api.h"

#include "base/err.h"
#include "run/rundir.h"
#include "run/sql_query.h"

#include <stddef.h>

#define MAX_QUERY_SECONDS 10.0
#define MIN_QUERY_SECONDS 0.01
#define MAX_QUERY_ROWS 10000
#define TYPICAL_QUERY_ROWS 1000
#define MAX_QUERY_MEMORY_BYTES ((uint64_t)256 << 20)
#define MAX_QUERY_ANSWER_BYTES ((uint64_t)8 << 20)

int api_query(struct worker *worker, const struct request *request, struct response *response)
{
    const char *sql = request_text(request, "sql", NULL);
    struct sql_query_limits limits = {.memory_bytes = MAX_QUERY_MEMORY_BYTES,
                                      .answer_bytes = MAX_QUERY_ANSWER_BYTES,
                                      .is_unwanted = request->is_unwanted,
                                      .ctx = request->client};
    struct database database = {0};
    double seconds = 0, rows = 0;
    json_t *answer = NULL;
    int rc = request_real(request, "seconds", MIN_QUERY_SECONDS, MAX_QUERY_SECONDS,
                          MAX_QUERY_SECONDS, &seconds);

    if (rc == 0)
        rc = request_number(request, "limit", 0, MAX_QUERY_ROWS, TYPICAL_QUERY_ROWS, &rows);
    if (rc == 0 && sql == NULL)
        rc = err_set(ERR_USAGE, "'sql' is missing, such as 'SELECT * FROM region'");
    if (rc == 0)
        rc = run_connect(&worker->served->run, false, &database);
    if (rc == 0) {
        limits.time_ns = (uint64_t)(1e9 * seconds);
        limits.rows = (size_t)rows;
        rc = sql_query_answer(&database, sql, &limits, &answer);
    }
    if (rc == 0)
        rc = response_json(response, answer);
    database_close(&database);
    return rc;
}

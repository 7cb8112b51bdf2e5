/*
 * sql_query -- SQL that a person writes, about a database that is only read: what `snag query`
 * and the page have in common.
 *
 * Who writes it is not trusted where the page is served: whoever may look at a run may send any
 * SQL. So one statement is compiled, by a connection that compiles questions alone
 * (database_read_only); and what is answered to others than the owner of a terminal has limits
 * of time, memory, rows and bytes, and is given up when nobody waits for it any more.
 * docs/security.md has the attacks.
 */
#ifndef SNAG_RUN_SQL_QUERY_H
#define SNAG_RUN_SQL_QUERY_H

#include "base/database.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <sqlite3.h>

/*
 * sql_query_prepare -- compile the one question in a text.
 *   query  out: to be finalised
 * Returns 0, or ERR_USAGE for what is no SQL, more than one statement, none, or one that would
 * change something.
 */
int sql_query_prepare(sqlite3 *sql, const char *text, sqlite3_stmt **query);

/* sql_query_value -- a value of the current row. */
json_t *sql_query_value(sqlite3_stmt *query, int column);

struct sql_query_limits {
    uint64_t time_ns;
    uint64_t memory_bytes; /* of SQLite in this process, beyond what it had before */
    uint64_t answer_bytes; /* of the values that are answered, about */
    size_t rows;           /* that are answered; further ones are counted */
    bool (*is_unwanted)(const void *ctx); /* nobody waits any more; NULL: somebody does */
    const void *ctx;
};

/*
 * sql_query_answer -- ask a question within limits.
 *   database  of this question only: it stays read-only, and within limits
 *   answer    out: an object
 *     columns  names
 *     rows     (up to limits->rows) arrays of values; integers beyond 2^53 as texts, as
 *              JavaScript has no such numbers
 *     total    rows that there are; at least so many where there is `stopped`
 *     stopped  why not all were counted; null: they were
 * Returns 0, ERR_USAGE with the words of SQLite for what is wrong with the question, or where a
 * limit was met before the first row; ERR_INTERRUPTED where nobody waits any more; else as
 * database_error.
 */
int sql_query_answer(struct database *database, const char *text,
                     const struct sql_query_limits *limits, json_t **answer);

#endif

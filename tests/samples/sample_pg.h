/*
 * sample_pg -- the PostgreSQL that tests/postgres/server.sh has started for a test, whose checks
 * are cmocka's.
 */
#ifndef SNAG_TESTS_SAMPLE_PG_H
#define SNAG_TESTS_SAMPLE_PG_H

#include "postgres/pg_connection.h"

/* sample_pg_server -- "start" it, "stop" it, or "kill" it. */
void sample_pg_server(const char *what);

/* sample_pg_database -- make one; postgresql:///NAME is its URL. */
void sample_pg_database(const char *name);

/* sample_pg_connect -- close it with PQfinish. */
PGconn *sample_pg_connect(const char *database);

/* sample_pg_tell -- SQL without an answer; sample_pg_ask -- the number that it answers. */
void sample_pg_tell(const char *database, const char *sql);
int64_t sample_pg_ask(const char *database, const char *sql);

#endif

/*
 * pg_test -- the PostgreSQL that tests/postgres/server.sh has started for a test, whose checks
 * are cmocka's.
 */
#ifndef SNAG_POSTGRES_PG_TEST_H
#define SNAG_POSTGRES_PG_TEST_H

#include "postgres/pg_connection.h"

/* pg_test_server -- "start" it, "stop" it, or "kill" it. */
void pg_test_server(const char *what);

/* pg_test_database -- make one; postgresql:///NAME is its URL. */
void pg_test_database(const char *name);

/* pg_test_connect -- close it with PQfinish. */
PGconn *pg_test_connect(const char *database);

/* pg_test_tell -- SQL without an answer; pg_test_ask -- the number that it answers. */
void pg_test_tell(const char *database, const char *sql);
int64_t pg_test_ask(const char *database, const char *sql);

#endif

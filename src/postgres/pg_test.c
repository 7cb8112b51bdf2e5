#include "postgres/pg_test.h"

#include "base/err.h"
#include "base/test.h"

void pg_test_server(const char *what)
{
    char command[600];

    snprintf(command, sizeof command, "bash '%s' %s '%s'", getenv("SNAG_POSTGRES_SERVER"), what,
             getenv("SNAG_POSTGRES"));
    assert_int_equal(system(command), 0);
}

void pg_test_database(const char *name)
{
    char sql[100];

    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    pg_test_tell("postgres", sql);
}

PGconn *pg_test_connect(const char *database)
{
    char info[100];
    PGconn *connection;

    snprintf(info, sizeof info, "dbname=%s", database);
    connection = PQconnectdb(info);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    return connection;
}

void pg_test_tell(const char *database, const char *sql)
{
    PGconn *connection = pg_test_connect(database);

    if (pg_run(connection, sql) < 0)
        fail_msg("%s: %s", sql, err_message());
    PQfinish(connection);
}

int64_t pg_test_ask(const char *database, const char *sql)
{
    PGconn *connection = pg_test_connect(database);
    int64_t n = -1;

    if (pg_number(connection, sql, &n) < 0)
        fail_msg("%s: %s", sql, err_message());
    PQfinish(connection);
    return n;
}

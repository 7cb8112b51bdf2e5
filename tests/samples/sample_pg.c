#include "sample_pg.h"

#include "base/err.h"

#include "test.h"

void sample_pg_server(const char *what)
{
    char command[600];

    snprintf(command, sizeof command, "bash '%s' %s '%s'", getenv("SNAG_POSTGRES_SERVER"), what,
             getenv("SNAG_POSTGRES"));
    assert_int_equal(system(command), 0);
}

void sample_pg_database(const char *name)
{
    char sql[100];

    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    sample_pg_tell("postgres", sql);
}

PGconn *sample_pg_connect(const char *database)
{
    char info[100];
    PGconn *connection;

    snprintf(info, sizeof info, "dbname=%s", database);
    connection = PQconnectdb(info);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    return connection;
}

void sample_pg_tell(const char *database, const char *sql)
{
    PGconn *connection = sample_pg_connect(database);

    if (pg_run(connection, sql) < 0)
        fail_msg("%s: %s", sql, err_message());
    PQfinish(connection);
}

int64_t sample_pg_ask(const char *database, const char *sql)
{
    PGconn *connection = sample_pg_connect(database);
    int64_t n = -1;

    if (pg_number(connection, sql, &n) < 0)
        fail_msg("%s: %s", sql, err_message());
    PQfinish(connection);
    return n;
}

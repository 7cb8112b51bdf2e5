/*
 * pg_tables -- tables and views of a PostgreSQL database as tables of an SQLite connection.
 *
 * So what is asked of a store or a history is asked in one language by one code, wherever it
 * is. Conditions that compare a column with a number or a text, and orders by columns, are
 * handed on to PostgreSQL, whose indexes then serve; only columns that are looked at are
 * fetched, some rows at a time. All else SQLite does with the rows that come. They are for
 * reading only, and all questions see the same moment.
 *
 *     pg_tables_open(&d, connection, names, 2);
 *     SELECT ... of d.sql
 *     database_close(&d)                    closes the connection, too
 *
 * Columns are bigint, double precision, text, json and bytea.
 */
#ifndef SNAG_POSTGRES_PG_TABLES_H
#define SNAG_POSTGRES_PG_TABLES_H

#include "base/database.h"
#include "postgres/pg_connection.h"

/*
 * pg_tables_open -- a database in memory with the tables; to be closed also on errors.
 *   connection  is taken, also on errors
 *   table       (n) as they are called on both sides
 * Returns 0, ERR_IO or ERR_DATABASE.
 */
int pg_tables_open(struct database *database, PGconn *connection, const char *const *table,
                   size_t n);

#endif

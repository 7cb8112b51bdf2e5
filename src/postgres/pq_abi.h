/*
 * pq_abi -- what is called of PostgreSQL's client, as its library has it.
 *
 * Written down here because the library is loaded when it is first needed (libpq.h): so nothing of it has
 * to be there to build. tests/support/abi_test.c includes <libpq-fe.h> first, and has the compiler compare.
 */
#ifndef SNAG_POSTGRES_PQ_ABI_H
#define SNAG_POSTGRES_PQ_ABI_H

#include <stddef.h>

#define PQ_ABI_CONSTANTS(take)                                                                 \
    take(CONNECTION_OK, 0) take(PGRES_COMMAND_OK, 1) take(PGRES_TUPLES_OK, 2)                  \
        take(PGRES_COPY_IN, 4) take(PG_DIAG_SQLSTATE, 'C')

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned Oid;
typedef void (*PQnoticeReceiver)(void *ctx, const PGresult *notice);

struct pq_abi_option {
    char *keyword, *envvar, *compiled, *val, *label, *dispchar;
    int dispsize;
};

#ifndef LIBPQ_FE_H
#define ABI_CONSTANT(name, value) name = (value),
enum { PQ_ABI_CONSTANTS(ABI_CONSTANT) };
#undef ABI_CONSTANT
typedef struct pq_abi_option PQconninfoOption;
#endif

void PQclear(PGresult *result);
char *PQcmdTuples(PGresult *result);
PGconn *PQconnectdb(const char *url);
PGconn *PQconnectdbParams(const char *const *keywords, const char *const *values, int expand);
int PQconnectionNeedsPassword(const PGconn *connection);
void PQconninfoFree(PQconninfoOption *options);
PQconninfoOption *PQconninfoParse(const char *url, char **error);
char *PQdb(const PGconn *connection);
char *PQerrorMessage(const PGconn *connection);
char *PQescapeLiteral(PGconn *connection, const char *text, size_t length);
PGresult *PQexec(PGconn *connection, const char *sql);
PGresult *PQexecParams(PGconn *connection, const char *sql, int n, const Oid *types,
                       const char *const *values, const int *lengths, const int *formats,
                       int result_format);
void PQfinish(PGconn *connection);
char *PQfname(const PGresult *result, int column);
void PQfreemem(void *memory);
Oid PQftype(const PGresult *result, int column);
PGresult *PQgetResult(PGconn *connection);
int PQgetisnull(const PGresult *result, int row, int column);
int PQgetlength(const PGresult *result, int row, int column);
char *PQgetvalue(const PGresult *result, int row, int column);
int PQnfields(const PGresult *result);
int PQntuples(const PGresult *result);
const char *PQparameterStatus(const PGconn *connection, const char *name);
int PQputCopyData(PGconn *connection, const char *data, int bytes);
int PQputCopyEnd(PGconn *connection, const char *error);
char *PQresultErrorField(const PGresult *result, int field);
char *PQresultErrorMessage(const PGresult *result);
unsigned PQresultStatus(const PGresult *result); /* an enumeration without negative values */
PQnoticeReceiver PQsetNoticeReceiver(PGconn *connection, PQnoticeReceiver receiver, void *ctx);
unsigned PQstatus(const PGconn *connection);

#endif

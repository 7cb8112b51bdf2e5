/*
 * libpq -- PostgreSQL's client library, loaded when first asked for (base/library.h).
 *
 * Its functions are called by their own names.
 */
#ifndef SNAG_POSTGRES_LIBPQ_H
#define SNAG_POSTGRES_LIBPQ_H

#include "base/library.h"
#include "postgres/pq_abi.h"

/* What is used of it: a word here, and a line below. */
#define LIBPQ_FUNCTIONS(take)                                                                  \
    take(PQclear) take(PQcmdTuples) take(PQconnectdb) take(PQconnectdbParams)                  \
        take(PQconnectionNeedsPassword) take(PQconninfoFree) take(PQconninfoParse) take(PQdb)  \
            take(PQerrorMessage) take(PQescapeLiteral) take(PQexec) take(PQexecParams)         \
                take(PQfinish) take(PQfname) take(PQfreemem) take(PQftype) take(PQgetResult)   \
                    take(PQgetisnull) take(PQgetlength) take(PQgetvalue) take(PQnfields)       \
                        take(PQntuples) take(PQparameterStatus) take(PQputCopyData)            \
                            take(PQputCopyEnd) take(PQresultErrorField)                        \
                                take(PQresultErrorMessage) take(PQresultStatus)                \
                                    take(PQsetNoticeReceiver) take(PQstatus)

struct libpq {
    LIBPQ_FUNCTIONS(LIBRARY_MEMBER)
};

/* libpq -- its functions. The first call, of any thread, loads it: some milliseconds. */
const struct libpq *libpq(void);

#define PQclear (libpq()->PQclear)
#define PQcmdTuples (libpq()->PQcmdTuples)
#define PQconnectdb (libpq()->PQconnectdb)
#define PQconnectdbParams (libpq()->PQconnectdbParams)
#define PQconnectionNeedsPassword (libpq()->PQconnectionNeedsPassword)
#define PQconninfoFree (libpq()->PQconninfoFree)
#define PQconninfoParse (libpq()->PQconninfoParse)
#define PQdb (libpq()->PQdb)
#define PQerrorMessage (libpq()->PQerrorMessage)
#define PQescapeLiteral (libpq()->PQescapeLiteral)
#define PQexec (libpq()->PQexec)
#define PQexecParams (libpq()->PQexecParams)
#define PQfinish (libpq()->PQfinish)
#define PQfname (libpq()->PQfname)
#define PQfreemem (libpq()->PQfreemem)
#define PQftype (libpq()->PQftype)
#define PQgetResult (libpq()->PQgetResult)
#define PQgetisnull (libpq()->PQgetisnull)
#define PQgetlength (libpq()->PQgetlength)
#define PQgetvalue (libpq()->PQgetvalue)
#define PQnfields (libpq()->PQnfields)
#define PQntuples (libpq()->PQntuples)
#define PQparameterStatus (libpq()->PQparameterStatus)
#define PQputCopyData (libpq()->PQputCopyData)
#define PQputCopyEnd (libpq()->PQputCopyEnd)
#define PQresultErrorField (libpq()->PQresultErrorField)
#define PQresultErrorMessage (libpq()->PQresultErrorMessage)
#define PQresultStatus (libpq()->PQresultStatus)
#define PQsetNoticeReceiver (libpq()->PQsetNoticeReceiver)
#define PQstatus (libpq()->PQstatus)

#endif

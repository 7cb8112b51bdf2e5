/*
 * prov_reader -- a whole store as one database, read-only: SQL over all its shards.
 *
 * The connection has these views, whose columns have Chimbuko's names, and its units where they
 * are Chimbuko's (microseconds):
 *
 *     anomalies, normalexecs   a row per record; its column `record` is all of it as JSON
 *     metadata, func_stats, counter_stats, ad_model
 *
 * Shards are attached as s0, s1, ...; beyond as many as SQLite attaches (ten) they are copied
 * to a temporary database, as they are then. Writing may go on meanwhile.
 */
#ifndef SNAG_PROV_PROV_READER_H
#define SNAG_PROV_PROV_READER_H

#include "prov/prov_place.h"

#include <sqlite3.h>

/*
 * prov_reader_open -- open a store for questions.
 *   db  out: close with sqlite3_close; NULL on errors
 * Returns 0, ERR_NOT_FOUND, ERR_FORMAT, ERR_IO, ERR_DATABASE, or what prov_place_parse does.
 */
int prov_reader_open(const char *url, sqlite3 **db);

#endif

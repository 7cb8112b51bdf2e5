/* row_json -- rows of a query as JSON: the names of the columns are the fields. */
#ifndef SNAG_VIEW_ROW_JSON_H
#define SNAG_VIEW_ROW_JSON_H

#include <jansson.h>
#include <sqlite3.h>

/*
 * rows_to_json -- all rows as an array.
 *   types, ...  i or t as in rundb_bind, "" for none
 * Returns 0 or ERR_DATABASE; *out is set only when 0 is returned.
 */
int rows_to_json(sqlite3 *db, json_t **out, const char *sql, const char *types, ...);

#endif

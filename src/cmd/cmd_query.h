/* cmd_query -- rows of a database on stdout, as a table, CSV or JSON. */
#ifndef SNAG_CMD_CMD_QUERY_H
#define SNAG_CMD_CMD_QUERY_H

#include "cmd/settings.h"

#include <sqlite3.h>

/*
 * query_print -- answer one SELECT in the format of the settings.
 * Returns 0, ERR_USAGE for bad SQL or for what is no question, or ERR_DATABASE.
 */
int query_print(sqlite3 *db, const char *sql, const struct settings *settings);

#endif

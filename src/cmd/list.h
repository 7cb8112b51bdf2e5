/* list -- executions printed as a table or as JSON lines, for list and analyze. */
#ifndef SNAG_CMD_LIST_H
#define SNAG_CMD_LIST_H

#include "cmd/executions.h"

#include <stdbool.h>

/* list_executions -- print those that pass the filter. Returns 0 or a negative ERR_*. */
int list_executions(sqlite3 *db, const struct execution_filter *filter, bool is_json);

#endif

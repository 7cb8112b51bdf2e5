/* cmd_export -- snag export of a store of provenance. */
#ifndef SNAG_CMD_CMD_EXPORT_H
#define SNAG_CMD_CMD_EXPORT_H

#include "cmd/settings.h"

#include <stdint.h>

#include <sqlite3.h>

/* store_export -- anomalies or normal executions, in the format asked for. An exit status, or
 * a negative ERR_*. */
int store_export(const struct settings *settings);

/* store_status -- the exit status when so many records were damaged; says how many. */
int store_status(uint64_t n_damaged);

#endif

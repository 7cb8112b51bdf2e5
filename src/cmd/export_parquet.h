/* export_parquet -- snag export RUN --format parquet: a file, or a directory with one for each
 * table; of several processes each writes the calls and messages of its own locations. */
#ifndef SNAG_CMD_EXPORT_PARQUET_H
#define SNAG_CMD_EXPORT_PARQUET_H

#include "cmd/settings.h"

/* export_parquet -- returns an exit status or ERR_*. */
int export_parquet(const struct settings *settings);

#endif

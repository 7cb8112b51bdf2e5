/*
 * trace_run -- a run that is made of a trace for as long as a command needs it.
 *
 *     char dir[FS_PATH_SIZE];
 *     rc = trace_run_make(settings, "traces.otf2", "step", dir);     DIR/run.snag is a run
 *     trace_run_remove(dir);
 */
#ifndef SNAG_CMD_TRACE_RUN_H
#define SNAG_CMD_TRACE_RUN_H

#include "base/fs.h"
#include "cmd/settings.h"

#define TRACE_RUN_NAME "run.snag"

/*
 * trace_run_make -- analyse a trace as usual, into a directory of its own under $TMPDIR.
 *   foi  pattern of the function of interest, or NULL: what is suggested
 *   dir  out: remove it in any case
 * Returns 0, a negative ERR_*, or STATUS_FAILED when what is wrong has been said already.
 */
int trace_run_make(const struct settings *settings, const char *trace, const char *foi,
                   char dir[FS_PATH_SIZE]);

/* trace_run_remove -- with all that is in it; "" is harmless. */
void trace_run_remove(const char *dir);

#endif

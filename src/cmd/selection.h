/* selection -- the run, and those of its executions, that the command line names. */
#ifndef SNAG_CMD_SELECTION_H
#define SNAG_CMD_SELECTION_H

#include "cmd/settings.h"
#include "run/rundir.h"
#include "view/executions.h"

/*
 * selection_open -- open the run that was named, for reading; --verify reads all of it.
 * Returns 0 or what run_open and columns_verify return. run_close in any case.
 */
int selection_open(struct run *run, const struct settings *settings);

/* selection_filter -- what --foi, --rank, --verdict and --top say. */
struct execution_filter selection_filter(const struct settings *settings);

#endif

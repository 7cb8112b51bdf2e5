/*
 * report -- what a report says of a run, of what changed between runs, and of a history: text
 * and tables that need no script to be read, and places for the drawings that a script makes.
 */
#ifndef SNAG_CMD_REPORT_H
#define SNAG_CMD_REPORT_H

#include "cmd/report_answers.h"
#include "cmd/settings.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * report_run -- sections on what is strange in a run, its ranks, the quality of its trace.
 *   answers  open; what is drawn is added to it
 * Returns 0, ERR_NOT_FOUND for a run without executions, or another ERR_*.
 */
int report_run(FILE *out, const struct settings *settings, struct answers *answers);

/* report_made -- the last section: versions and command lines. answers  of a run, or NULL */
void report_made(FILE *out, const struct settings *settings, const struct answers *answers);

/*
 * report_change -- sections on what changed between the runs that the settings name, as
 * cmd/compared.h reads them.
 *   answers  what is drawn is added to it; it need not be open
 * Returns 0, a negative ERR_*, or an exit status.
 */
int report_change(FILE *out, const struct settings *settings, struct answers *answers);

/* report_history -- sections on the runs of a history; answers  as above. n_runs  out */
int report_history(FILE *out, const struct settings *settings, struct answers *answers,
                   uint32_t *n_runs);

#endif

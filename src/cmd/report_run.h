/*
 * report_run -- what a report says of a run: text and tables that need no script to be read, and
 * places for the drawings that a script makes.
 */
#ifndef SNAG_CMD_REPORT_RUN_H
#define SNAG_CMD_REPORT_RUN_H

#include "cmd/report_answers.h"
#include "cmd/settings.h"

#include <stdio.h>

/*
 * report_run -- sections on what is strange in a run, its ranks, the quality of its trace.
 *   answers  open; what is drawn is added to it
 * Returns 0, ERR_NOT_FOUND for a run without executions, or another ERR_*.
 */
int report_run(FILE *out, const struct settings *settings, struct answers *answers);

/* report_made -- the last section: versions and command lines. answers  of a run, or NULL */
void report_made(FILE *out, const struct settings *settings, const struct answers *answers);

#endif

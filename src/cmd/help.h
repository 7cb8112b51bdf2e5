/* help -- what is printed from the tables of options and commands. */
#ifndef SNAG_CMD_HELP_H
#define SNAG_CMD_HELP_H

#include "cmd/options.h"

#include <stdbool.h>
#include <stdio.h>

#define SNAG_SUMMARY                                                                           \
    "find the executions of a function that do not belong, in the trace of a parallel program"

/* help_overview -- what snag is and its commands. */
void help_overview(FILE *out);

/* help_command -- usage, options and examples of one command. */
void help_command(FILE *out, const struct command *command);

/* help_completion -- for "bash", "zsh" or "fish". Returns 0 or ERR_USAGE. */
int help_completion(FILE *out, const char *shell);

/* help_reads_streams -- the command's first argument is what stream_open takes. */
bool help_reads_streams(const struct command *command);

#endif

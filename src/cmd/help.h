/*
 * help -- what is printed from the tables of options and commands: help, completions, and the
 * manual pages snag(1), snag-COMMAND(1) and snag-formats(5).
 */
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

/* help_other -- usage of "help", "man", "completion" or "version", which take no options. Returns
 * whether it is one of these. */
bool help_other(FILE *out, const char *name);

/* help_completion -- for "bash", "zsh" or "fish". Returns 0 or ERR_USAGE. */
int help_completion(FILE *out, const char *shell);

/*
 * manual_print -- a page: formatted on a terminal (by man, or plain where there is none), else
 * as mdoc.
 *   name  of a command, "formats", or "" for the page of snag
 * Returns 0, ERR_NOT_FOUND when there is no such page, or ERR_IO.
 */
int manual_print(const char *name);

#endif

/* strange_calls -- the table strange_call of a run, printed, for analyze --per-call and list.
 */
#ifndef SNAG_CMD_STRANGE_CALLS_H
#define SNAG_CMD_STRANGE_CALLS_H

#include "cmd/settings.h"

#include <sqlite3.h>

/*
 * strange_calls_print -- the most severe ones, as --top, --all, --rank and --json say.
 * Returns 0 or a negative ERR_*.
 */
int strange_calls_print(sqlite3 *db, const struct settings *settings);

/* strange_calls_print_slight -- how many were strange, but lost too little; nothing for none.
 */
void strange_calls_print_slight(uint64_t n, double least_lost_ns);

#endif

/* cmd_history -- the runs of a history, and how they changed, as tables: for history and
 * reports. */
#ifndef SNAG_CMD_CMD_HISTORY_H
#define SNAG_CMD_CMD_HISTORY_H

#include "cmd/print.h"
#include "compare/trend.h"

#include <stdint.h>

/* run_table, run_table_row -- an empty table of runs, and one of them. */
struct table *run_table(void);
void run_table_row(struct table *table, const struct history_run *run,
                   const struct history_tags *tags);

/* trend_headline -- "step: 12 runs from 2026-01-01 to 2026-01-12, time per execution"; free it.
 */
char *trend_headline(const struct trend *trend);

/*
 * trend_table_series -- first, last and a picture of each call path.
 *   path  only those on it or below; NULL: all
 *   most  beside the whole
 */
struct table *trend_table_series(const struct trend *trend, const char *path, uint32_t most);

/* trend_table_changes -- where series changed, in the order of the runs; NULL: nowhere. */
struct table *trend_table_changes(const struct trend *trend, const char *path);

#endif

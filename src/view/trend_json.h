/* trend_json -- how long executions took from run to run, as JSON for scripts and the page. */
#ifndef SNAG_VIEW_TREND_JSON_H
#define SNAG_VIEW_TREND_JSON_H

#include "compare/trend.h"

#include <jansson.h>

/* history_run_to_json -- a run of a history with its tags, as documented in docs/formats.md. */
json_t *history_run_to_json(const struct history_run *run, const struct history_tags *tags);

/*
 * trend_to_json -- runs, series and their change points.
 *   path  only series of that path, or below it; NULL: all
 *   most  series at most, the whole included; 0: all
 */
json_t *trend_to_json(const struct trend *trend, const char *path, uint32_t most);

/* trend_is_on -- whether a series is of this path, or below it; the whole always is. */
bool trend_is_on(const struct trend *trend, uint32_t series, const char *path);

#endif

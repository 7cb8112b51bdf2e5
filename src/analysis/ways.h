/*
 * ways -- the ways in which executions of a run are strange, numbered: first those that others
 * go back to.
 *
 * Only executions are looked at that are anomalies, or part of an incident: what a person may
 * be shown. What is strange in the same way is a group (view/incident_list.h).
 */
#ifndef SNAG_ANALYSIS_WAYS_H
#define SNAG_ANALYSIS_WAYS_H

#include "analysis/incidents.h"
#include "score/scoring.h"

#include <stdint.h>

#include <sqlite3.h>

/*
 * ways_save -- find them, and store them in the tables way and execution_way.
 *   why  of the scoring
 * Returns 0 or ERR_DATABASE. O(such executions, their vertices and paths).
 */
int ways_save(sqlite3 *db, int64_t foi, const struct scoring *scoring,
              const struct incidents *incidents, struct why *why);

#endif

/* run_store -- a sink of an analysis: what it found becomes rows of run.db. */
#ifndef SNAG_ANALYSIS_RUN_STORE_H
#define SNAG_ANALYSIS_RUN_STORE_H

#include "analysis/analysis.h"

#include <sqlite3.h>

/* run_store_sink -- write to an open transaction of run.db. */
struct analysis_sink run_store_sink(sqlite3 *db);

#endif

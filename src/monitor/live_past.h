/*
 * live_past -- a live state of what is in a store of provenance, for a program that is over:
 * the page as it was, of what was kept.
 */
#ifndef SNAG_MONITOR_LIVE_PAST_H
#define SNAG_MONITOR_LIVE_PAST_H

#include "monitor/live_state.h"

/*
 * live_past_open -- read a store. Only records are known, so calls, and executions, that were
 * neither strange nor kept to compare with are in the totals alone, and there are no
 * histograms. url    of the store state  out: free it with live_state_free; NULL on errors
 * Returns 0 or what prov_reader_open does. O(records).
 */
int live_past_open(const char *url, struct live_state **state);

#endif

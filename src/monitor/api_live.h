/*
 * api_live -- the handlers of the routes below /api/v1/live: one function each, in the files
 * api_live*.c.
 *
 * A handler gets the state of the program and a checked request, and fills in the response. It
 * returns 0, or an ERR_* that becomes a problem. What each answers is described in
 * serve/openapi.json.
 */
#ifndef SNAG_MONITOR_API_LIVE_H
#define SNAG_MONITOR_API_LIVE_H

#include "http/metrics.h"
#include "http/request.h"
#include "http/response.h"
#include "monitor/live_state.h"
#include "prov/prov_store.h"
#include "prov/reduction.h"

#include <stdint.h>

struct live_counts {
    /* NAN: not known, as of a store that is only read */
    double n_steps, n_events, n_calls, n_unjudged, n_slight, n_lost;
    double n_executions; /* of functions of interest */
    double lag_ns;
    uint64_t n_anomalies; /* also those that are taken back in the end */
    uint64_t n_strange_executions;
    char execution[PROV_EXECUTION_ID_SIZE]; /* the last strange one; "": not known */
    uint64_t execution_ns;                  /* when it was found, since 1970 */
    struct prov_counts store;
    struct reduction reduction;
};

/* live_metrics -- the same rows, whatever is 0. */
void live_metrics(struct metrics *metrics, const struct live_counts *counts);

typedef int api_live_fn(struct live_state *live, const struct request *request,
                        struct response *response);

/* api_live.c */
api_live_fn api_live_status, api_live_counters, api_live_model;
/* api_live_points.c */
api_live_fn api_live_points;
/* api_live_rows.c */
api_live_fn api_live_heatmap, api_live_history, api_live_ranks, api_live_regions, api_live_slow;
/* api_live_records.c */
api_live_fn api_live_records, api_live_record, api_live_call;

/*
 * api_live_run -- what /run answers of it.
 *   snag  version of the program
 *   name  of the whole
 */
int api_live_run(struct live_state *live, const char *snag, const char *name,
                 struct response *response);

#endif

/* live_metrics -- what became of a program so far, as Prometheus reads it: for ad and watch. */
#ifndef SNAG_MONITOR_LIVE_METRICS_H
#define SNAG_MONITOR_LIVE_METRICS_H

#include "http/metrics.h"
#include "prov/prov_store.h"
#include "prov/reduction.h"

#include <stdint.h>

struct live_counts {
    uint64_t n_steps, n_events, n_calls, n_unjudged, n_slight, n_lost;
    uint64_t n_anomalies;                        /* also those that are taken back in the end */
    double lag_ns;                               /* NAN: not known */
    uint64_t n_executions, n_strange_executions; /* of functions of interest */
    char execution[PROV_EXECUTION_ID_SIZE];      /* the last strange one; "": not known */
    uint64_t execution_ns;                       /* when it was found, since 1970 */
    struct prov_counts store;
    struct reduction reduction;
};

/* live_metrics -- the same rows, whatever is 0. */
void live_metrics(struct metrics *metrics, const struct live_counts *counts);

#endif

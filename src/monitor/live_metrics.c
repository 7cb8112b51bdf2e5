#include "monitor/live_metrics.h"

void live_metrics(struct metrics *metrics, const struct live_counts *n)
{
    const struct metric rows[] = {
        {"snag_live_steps", METRIC_COUNTER, "Steps judged", (double)n->n_steps, NULL, 0},
        {"snag_live_events", METRIC_COUNTER, "Events judged", (double)n->n_events, NULL, 0},
        {"snag_live_calls", METRIC_COUNTER, "Calls that ended", (double)n->n_calls, NULL, 0},
        {"snag_live_anomalies", METRIC_COUNTER,
         "Anomalies found, also those taken back in the end", (double)n->n_anomalies, NULL, 0},
        {"snag_live_executions", METRIC_COUNTER, "Executions of functions of interest",
         (double)n->n_executions, NULL, 0},
        {"snag_live_slight_calls", METRIC_COUNTER,
         "Strange calls that lost too little to be anomalies", (double)n->n_slight, NULL, 0},
        {"snag_live_unjudged_calls", METRIC_COUNTER,
         "Calls not judged, as there were too few like them", (double)n->n_unjudged, NULL, 0},
        {"snag_live_lost_events", METRIC_COUNTER, "Events lost", (double)n->n_lost, NULL, 0},
        {"snag_live_lag_seconds", METRIC_GAUGE,
         "How much later the last step came than the one that came soonest", 1e-9 * n->lag_ns,
         NULL, 0},
        {"snag_store_written_rows", METRIC_COUNTER, "Rows that are safe in the store",
         (double)n->store.n_stored, NULL, 0},
        {"snag_store_dropped_rows", METRIC_COUNTER, "Rows that could not be stored",
         (double)n->store.n_dropped, NULL, 0},
        {"snag_store_waiting_rows", METRIC_GAUGE, "Rows that are not stored yet",
         (double)n->store.n_waiting, NULL, 0},
        {"snag_trace_bytes", METRIC_COUNTER,
         "Bytes of the trace that were read; NaN: not known", n->reduction.trace_bytes, NULL,
         0},
        {"snag_store_bytes", METRIC_GAUGE,
         "Bytes by which the store's files have grown, or that were sent to a database; NaN: "
         "there is none",
         n->reduction.stored_bytes, NULL, 0},
        {"snag_reduction_factor", METRIC_GAUGE,
         "How many times less is stored than was read; NaN: not known",
         reduction_factor(&n->reduction), NULL, 0},
        {"snag_store_failing", METRIC_GAUGE, "The store did not take the last rows",
         n->store.is_failing, NULL, 0},
    };

    const struct metric strange = {"snag_live_strange_executions",
                                   METRIC_COUNTER,
                                   "Strange executions of functions of interest",
                                   (double)n->n_strange_executions,
                                   NULL,
                                   0};
    const struct metric_exemplar last = {n->execution, 1e-9 * (double)n->execution_ns};

    metrics_add(metrics, rows, sizeof rows / sizeof *rows);
    metrics_add_counter(metrics, &strange, &last);
}

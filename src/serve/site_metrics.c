#include "serve/site_metrics.h"

#include "http/metrics.h"
#include "monitor/live_metrics.h"

#include <math.h>
#include <stdio.h>

/* Zeroes where a run is served. */
static struct live_counts live_counts(struct live_state *live)
{
    struct live_counts n = {.lag_ns = NAN, .reduction = reduction_of(0, NULL, NULL)};

    if (live == NULL)
        return n;
    live_state_lock(live);
    n = (struct live_counts){
        .n_steps = live->totals.n_steps,
        .n_events = live->totals.n_events,
        .n_calls = live->totals.n_calls,
        .n_anomalies = live->totals.n_anomalies + live->totals.n_taken_back,
        .n_unjudged = live->totals.n_unjudged,
        .n_slight = live->totals.n_slight,
        .n_lost = live->totals.n_lost,
        .lag_ns = live->totals.lag_ns,
        .n_executions = live->executions.n,
        .n_strange_executions = live->executions.n_anomalies,
        .execution_ns = live->strange.at_ns,
        .store = live->store,
        .reduction = live->reduction,
    };
    snprintf(n.execution, sizeof n.execution, "%s", live->strange.id);
    live_state_unlock(live);
    return n;
}

void site_metrics(struct served *served, unsigned n_connections, const char *accept,
                  struct response *response)
{
    const struct live_counts live = live_counts(served->live);
    const struct metric rows[] = {
        {"snag_requests", METRIC_COUNTER, "Requests answered",
         (double)atomic_load(&served->n_requests), NULL, 0},
        {"snag_requests_failed", METRIC_COUNTER, "Requests answered by an error",
         (double)atomic_load(&served->n_failed), NULL, 0},
        {"snag_labels", METRIC_COUNTER, "Labels taken", (double)atomic_load(&served->n_labels),
         NULL, 0},
        {"snag_retrains", METRIC_COUNTER, "Rankings made anew or undone",
         (double)atomic_load(&served->n_retrains), NULL, 0},
        {"snag_connections", METRIC_GAUGE, "Open connections", n_connections, NULL, 0},
        {"snag_projection_running", METRIC_GAUGE, "A projection is running",
         atomic_load(&served->is_projecting), NULL, 0},
        {"snag_calls", METRIC_GAUGE, "Calls in the run",
         (double)(live.n_calls + served->run.columns.n_calls), NULL, 0},
    };
    const struct metrics_job job = {.version = served->snag,
                                    .command = served->command,
                                    .id = served->job,
                                    .run_id = served->run_id,
                                    .started_ns = served->started_ns};
    struct metrics metrics;

    metrics_init(&metrics, accept);
    metrics_job(&metrics, &job);
    metrics_add(&metrics, rows, sizeof rows / sizeof *rows);
    live_metrics(&metrics, &live);
    metrics_answer(&metrics, response);
}

#include "cmd/ps_metrics.h"

#include "ps/ps_server.h"

#include <string.h>

/* 0 for a server at the top: all servers have the same series. */
static void add_upstream(struct metrics *metrics, const struct ps_client_counts *n)
{
    const struct metric rows[] = {
        {"snag_ps_upstream_requests", METRIC_COUNTER, "Requests to the server above",
         (double)n->n_sent, NULL, 0},
        {"snag_ps_upstream_answers", METRIC_COUNTER, "Answers of the server above",
         (double)n->n_replies, NULL, 0},
        {"snag_ps_upstream_unsaved_deltas", METRIC_GAUGE,
         "Deltas that the server above has not saved yet", n->n_kept, NULL, 0},
        {"snag_ps_upstream_restarts", METRIC_COUNTER, "Restarts of the server above",
         (double)n->n_restarts, NULL, 0},
    };

    metrics_add(metrics, rows, sizeof rows / sizeof *rows);
}

static void add_counts(struct metrics *metrics, const struct ps_counts *n)
{
    const struct metric rows[] = {
        {"snag_ps_requests", METRIC_COUNTER, "Requests answered", (double)n->n_requests, NULL,
         0},
        {"snag_ps_deltas", METRIC_COUNTER, "Deltas merged", (double)n->n_merged, NULL, 0},
        {"snag_ps_duplicates", METRIC_COUNTER, "Deltas sent again, counted once",
         (double)n->n_duplicates, NULL, 0},
        {"snag_ps_refused", METRIC_COUNTER, "Requests refused", (double)n->n_refused, NULL, 0},
        {"snag_ps_lost_calls", METRIC_COUNTER, "Calls that did not fit", (double)n->n_lost,
         NULL, 0},
        {"snag_ps_received_bytes", METRIC_COUNTER, "Bytes of requests",
         (double)n->received_bytes, NULL, 0},
        {"snag_ps_sent_bytes", METRIC_COUNTER, "Bytes of answers", (double)n->sent_bytes, NULL,
         0},
        {"snag_ps_publications", METRIC_COUNTER, "Versions of the models published",
         (double)n->version, NULL, 0},
        {"snag_ps_snapshots", METRIC_COUNTER, "Snapshots written", (double)n->n_snapshots, NULL,
         0},
        {"snag_ps_snapshot_failing", METRIC_GAUGE, "The last snapshot could not be written",
         *n->unsaved != '\0', NULL, 0},
        {"snag_ps_clients", METRIC_GAUGE, "Clients that have told something", n->n_clients,
         NULL, 0},
        {"snag_ps_functions", METRIC_GAUGE, "Functions that there are models of",
         n->n_functions, NULL, 0},
        {"snag_ps_questions", METRIC_COUNTER, "Questions among instances, passed on",
         (double)n->letters.n_questions, NULL, 0},
        {"snag_ps_answers", METRIC_COUNTER, "Answers among instances, passed on",
         (double)n->letters.n_answers, NULL, 0},
        {"snag_ps_undelivered_questions", METRIC_COUNTER,
         "Questions to ranks that nobody reads", (double)n->letters.n_undelivered, NULL, 0},
        {"snag_ps_statistics", METRIC_GAUGE, "Statistics that are kept", n->n_stats, NULL, 0},
    };

    metrics_add(metrics, rows, sizeof rows / sizeof *rows);
}

void ps_metrics_add(void *ctx, struct metrics *metrics)
{
    struct ps_counts n;

    ps_server_counts(ctx, &n);
    add_counts(metrics, &n);
    add_upstream(metrics, &n.upstream);
}

bool ps_metrics_is_well(void *ctx, char why[METRICS_WHY_SIZE])
{
    struct ps_counts n;

    ps_server_counts(ctx, &n);
    memcpy(why, n.unsaved, sizeof n.unsaved);
    return *why == '\0';
}

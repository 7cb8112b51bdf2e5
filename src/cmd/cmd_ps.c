/*
 * snag ps -- a parameter server, until a signal ends it. What it did it says at its end, and
 * while it runs to Prometheus, for which --metrics listens.
 */
#include "base/err.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/metrics_option.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "http/metrics_server.h"
#include "ps/ps_server.h"
#include "ps/ps_tables.h"
#include "view/row_json.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------- what Prometheus reads */

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

/* ps_metrics_add, ps_metrics_is_well -- for struct metrics_server_opts; ctx is a struct
 * ps_server, which is well while its snapshots can be written. */
static void ps_metrics_add(void *ctx, struct metrics *metrics)
{
    struct ps_counts n;

    ps_server_counts(ctx, &n);
    add_counts(metrics, &n);
    add_upstream(metrics, &n.upstream);
}

static bool ps_metrics_is_well(void *ctx, char why[METRICS_WHY_SIZE])
{
    struct ps_counts n;

    ps_server_counts(ctx, &n);
    memcpy(why, n.unsaved, sizeof n.unsaved);
    return *why == '\0';
}

/* ------------------------------------------------------------------------------- the server */

static int check(const struct settings *s)
{
    if (!(s->server.interval >= 0.001 && s->server.interval <= 86400))
        return err_set(ERR_USAGE, "--interval takes 0.001 to 86400 seconds");
    if (s->server.workers > 256)
        return err_set(ERR_USAGE, "--workers takes at most 256");
    return 0;
}

static struct ps_server_opts opts_of(const struct settings *s)
{
    return (struct ps_server_opts){
        .store = {.n_workers = s->server.workers,
                  .n_clients = s->deterministic,
                  .is_frozen = s->server.is_frozen,
                  .snapshot = s->server.snapshot,
                  .load = s->server.load},
        .listen = s->listen,
        .upstream = s->server.upstream,
        .key_file = s->curve_key,
        .is_open = s->server.is_insecure,
        .interval_ms = (unsigned)lround(1000 * s->server.interval),
    };
}

static void say_address(const struct ps_server *server, const struct metrics_server *metrics,
                        bool is_json)
{
    char url[URL_SIZE];

    if (is_json) {
        json_t *line = json_object();

        json_object_set_new(line, "address", json_text(ps_server_address(server)));
        if (metrics)
            json_object_set_new(line, "metrics", json_text(metrics_option_url(metrics, url)));
        print_json(line, false);
    } else {
        print("%s\n", ps_server_address(server));
        if (metrics)
            print("%s\n", metrics_option_url(metrics, url));
    }
    fflush(stdout); /* who started us waits for it */
}

static void say_upstream(const struct ps_client_counts *n)
{
    print("to the server above: %llu requests, %llu answered, %u deltas not saved there, "
          "started anew %llu times\n",
          (unsigned long long)n->n_sent, (unsigned long long)n->n_replies, n->n_kept,
          (unsigned long long)n->n_restarts);
}

static json_t *upstream_to_json(const struct ps_client_counts *n)
{
    json_t *upstream = json_object();

    json_object_set_new(upstream, "requests", json_count(n->n_sent));
    json_object_set_new(upstream, "answered", json_count(n->n_replies));
    json_object_set_new(upstream, "unsaved", json_count(n->n_kept));
    json_object_set_new(upstream, "restarts", json_count(n->n_restarts));
    return upstream;
}

static void say_counts(const struct ps_counts *n, bool is_below, bool is_json)
{
    json_t *line;

    if (!is_json) {
        if (is_below)
            say_upstream(&n->upstream);
        print("%llu requests, %llu deltas of %u clients, %llu sent again, %llu refused; %u "
              "functions, %u statistics, version %llu\n",
              (unsigned long long)n->n_requests, (unsigned long long)n->n_merged, n->n_clients,
              (unsigned long long)n->n_duplicates, (unsigned long long)n->n_refused,
              n->n_functions, n->n_stats, (unsigned long long)n->version);
        return;
    }
    line = json_object();
    json_object_set_new(line, "requests", json_count(n->n_requests));
    json_object_set_new(line, "deltas", json_count(n->n_merged));
    json_object_set_new(line, "duplicates", json_count(n->n_duplicates));
    json_object_set_new(line, "refused", json_count(n->n_refused));
    json_object_set_new(line, "lost_calls", json_count(n->n_lost));
    json_object_set_new(line, "clients", json_count(n->n_clients));
    json_object_set_new(line, "functions", json_count(n->n_functions));
    json_object_set_new(line, "statistics", json_count(n->n_stats));
    json_object_set_new(line, "version", json_count(n->version));
    json_object_set_new(line, "round", json_count(n->round));
    json_object_set_new(line, "snapshots", json_count(n->n_snapshots));
    json_object_set_new(line, "received_bytes", json_count(n->received_bytes));
    json_object_set_new(line, "sent_bytes", json_count(n->sent_bytes));
    json_object_set_new(line, "questions_relayed", json_count(n->letters.n_questions));
    json_object_set_new(line, "answers_relayed", json_count(n->letters.n_answers));
    json_object_set_new(line, "questions_undelivered", json_count(n->letters.n_undelivered));
    if (is_below)
        json_object_set_new(line, "upstream", upstream_to_json(&n->upstream));
    print_json(line, false);
}

static int open_metrics(const struct settings *s, struct ps_server *server,
                        struct metrics_server **metrics)
{
    return metrics_option_open(
        metrics, s->metrics,
        (struct metrics_server_opts){.job = {.command = "ps", .run_id = s->run_id},
                                     .ctx = server,
                                     .add = ps_metrics_add,
                                     .is_well = ps_metrics_is_well});
}

static int serve(const struct settings *settings)
{
    struct ps_server_opts opts = opts_of(settings);
    struct ps_server *server;
    struct metrics_server *metrics;
    struct ps_counts counts;
    int rc = check(settings), signal_number;
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* in all threads: only sigwait takes them */
    if (rc == 0)
        rc = ps_server_open(&server, &opts);
    if (rc < 0)
        return rc;
    rc = open_metrics(settings, server, &metrics);
    if (rc < 0)
        goto out;
    say_address(server, metrics, settings->is_json);
    do { /* with a log, SIGHUP is about that */
        sigwait(&ends, &signal_number);
        if (signal_number == SIGHUP)
            log_reopen();
        log_renew();
    } while (signal_number == SIGHUP && log_has_file());
    rc = ps_server_stop(server);
    ps_server_counts(server, &counts);
    say_counts(&counts, settings->server.upstream != NULL, settings->is_json);
out:
    metrics_server_close(metrics);
    ps_server_close(server);
    return rc < 0 ? rc : STATUS_DONE;
}

static int dump(const struct settings *s)
{
    static const char *const names[] = {"server", "functions", "statistics"};
    sqlite3 *db;
    json_t *all = json_object();
    int rc = ps_tables_of(s->server.dump, s->curve_key, &db);

    for (size_t i = 0; rc == 0 && i < sizeof names / sizeof *names; i++) {
        char *sql = sqlite3_mprintf("SELECT * FROM %s", names[i]);
        json_t *rows;

        rc = rows_to_json(db, &rows, sql, "");
        if (rc == 0)
            json_object_set_new(all, names[i], rows);
        sqlite3_free(sql);
    }
    if (rc == 0)
        print_json(json_incref(all), false);
    json_decref(all);
    sqlite3_close(db);
    return rc < 0 ? rc : STATUS_DONE;
}

int cmd_ps(const struct settings *settings)
{
    if (settings->server.dump)
        return dump(settings);
    return serve(settings);
}

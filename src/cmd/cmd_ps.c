/*
 * snag ps -- a parameter server, until a signal ends it; snag sim -- the ranks of a job,
 * played to one.
 *
 * What a server did it says at its end, and while it runs to Prometheus, for which --metrics
 * listens.
 */
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/url_print.h"
#include "http/metrics.h"
#include "ps/ps_server.h"
#include "ps/ps_tables.h"
#include "ps/ranks_sim.h"
#include "view/results_json.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* ------------------------------------------------------------------------------- the server */

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
        {"snag_ps_clients", METRIC_GAUGE, "Clients that have sent something", n->n_clients,
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
          "restarted %llu times\n",
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

/* -------------------------------------------------------------------- ranks that are played */

static double peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

static void print_text(const struct sim_opts *o, const struct sim_result *r)
{
    char p50[TEXT_SIZE], p99[TEXT_SIZE], worst[TEXT_SIZE], memory[TEXT_SIZE];

    print("%u ranks, %u functions: %.0f requests/s answered in %.1f s\n", o->n_ranks,
          o->n_functions, (double)r->n_answered / r->wall_s, r->wall_s);
    print("latency: median %s, 99 %% %s, worst %s\n",
          text_duration(sketch_quantile(&r->latency_ns, 0.5), p50),
          text_duration(sketch_quantile(&r->latency_ns, 0.99), p99),
          text_duration((double)r->latency_ns.max, worst));
    print("%llu steps late, %llu sent again, %llu refused; %.1f MB/s out, %.1f MB/s in; %s "
          "here\n",
          (unsigned long long)r->n_late, (unsigned long long)r->n_resent,
          (unsigned long long)r->n_refused, 1e-6 * (double)r->sent_bytes / r->wall_s,
          1e-6 * (double)r->received_bytes / r->wall_s, text_bytes(peak_bytes(), memory));
}

/* What there was while ranks were played, without what came before. */
struct tree_levels {
    struct tree_level before[TREE_MAX_LEVELS], after[TREE_MAX_LEVELS];
};

static void note_levels(const struct tree_sim *tree, struct tree_level *level)
{
    for (uint32_t l = 0; l < tree->n_levels; l++)
        level[l] = tree_sim_level(tree, l);
}

static void print_levels(const struct tree_sim *tree, const struct tree_levels *n,
                         double wall_s)
{
    for (uint32_t l = 0; l < tree->n_levels; l++) {
        const struct tree_level *a = &n->before[l], *b = &n->after[l];

        print("level %u: %u server%s, together %.0f requests/s, %.2f MB/s in, %.2f MB/s out\n",
              l, b->n_servers, b->n_servers == 1 ? "" : "s",
              (double)(b->n_requests - a->n_requests) / wall_s,
              1e-6 * (double)(b->received_bytes - a->received_bytes) / wall_s,
              1e-6 * (double)(b->sent_bytes - a->sent_bytes) / wall_s);
    }
}

static json_t *levels_to_json(const struct tree_sim *tree, const struct tree_levels *n)
{
    json_t *list = json_array();

    for (uint32_t l = 0; l < tree->n_levels; l++) {
        const struct tree_level *a = &n->before[l], *b = &n->after[l];
        json_t *level = json_object();

        json_object_set_new(level, "servers", json_count(b->n_servers));
        json_object_set_new(level, "requests", json_count(b->n_requests - a->n_requests));
        json_object_set_new(level, "received_bytes",
                            json_count(b->received_bytes - a->received_bytes));
        json_object_set_new(level, "sent_bytes", json_count(b->sent_bytes - a->sent_bytes));
        json_array_append_new(list, level);
    }
    return list;
}

static void print_result_json(const struct sim_opts *o, const struct sim_result *r,
                              json_t *levels)
{
    json_t *line = json_object();

    json_object_set_new(line, "ranks", json_count(o->n_ranks));
    json_object_set_new(line, "functions", json_count(o->n_functions));
    json_object_set_new(line, "wall_s", json_number(r->wall_s));
    json_object_set_new(line, "answered", json_count(r->n_answered));
    json_object_set_new(line, "requests_per_s", json_number((double)r->n_answered / r->wall_s));
    json_object_set_new(line, "latency_median_ns",
                        json_number(sketch_quantile(&r->latency_ns, 0.5)));
    json_object_set_new(line, "latency_p99_ns",
                        json_number(sketch_quantile(&r->latency_ns, 0.99)));
    json_object_set_new(line, "latency_worst_ns", json_count(r->latency_ns.max));
    json_object_set_new(line, "late", json_count(r->n_late));
    json_object_set_new(line, "resent", json_count(r->n_resent));
    json_object_set_new(line, "refused", json_count(r->n_refused));
    json_object_set_new(line, "models", json_count(r->n_models));
    json_object_set_new(line, "sent_bytes", json_count(r->sent_bytes));
    json_object_set_new(line, "received_bytes", json_count(r->received_bytes));
    json_object_set_new(line, "peak_bytes", json_count((uint64_t)peak_bytes()));
    if (levels)
        json_object_set_new(line, "levels", levels);
    print_json(line, false);
}

static int options_of(const struct settings *s, struct sim_opts *o)
{
    *o = (struct sim_opts){.address = s->args,
                           .n_addresses = 1,
                           .key_file = s->curve_key,
                           .n_ranks = s->sim.ranks,
                           .n_functions = s->sim.functions,
                           .rate_per_s = s->sim.rate,
                           .seconds = s->sim.seconds,
                           .seed = s->seed};
    if ((s->n_args > 0) == (s->sim.tree != NULL))
        return err_set(ERR_USAGE, "the address of a server, or --tree");
    if (!(o->rate_per_s >= 0 && o->rate_per_s <= 1e6))
        return err_set(ERR_USAGE, "--rate takes 0 to 1000000 steps per second");
    if (!(o->seconds > 0 && o->seconds <= 86400))
        return err_set(ERR_USAGE, "--seconds takes more than 0, up to 86400");
    return 0;
}

/* "3x32" */
static int open_tree(struct tree_sim *tree, const char *text)
{
    unsigned depth = 0, fan = 0;
    char rest;

    if (sscanf(text, "%3ux%5u%c", &depth, &fan, &rest) != 2)
        return err_set(ERR_USAGE, "--tree takes levels and how many below each, as 3x32");
    return tree_sim_open(tree, depth, fan);
}

int cmd_sim(const struct settings *settings)
{
    struct sim_result result = {0};
    struct tree_sim tree = {.n_levels = 0};
    struct tree_levels levels;
    struct sim_opts opts;
    int rc = options_of(settings, &opts);

    if (rc == 0 && settings->sim.tree) {
        rc = open_tree(&tree, settings->sim.tree);
        opts.address = tree.address;
        opts.n_addresses = tree.n_lowest;
    }
    if (rc == 0) {
        note_levels(&tree, levels.before);
        rc = sim_run(&opts, &result);
        note_levels(&tree, levels.after);
    }
    if (rc == 0 && settings->is_json) {
        print_result_json(&opts, &result,
                          tree.n_levels > 0 ? levels_to_json(&tree, &levels) : NULL);
    } else if (rc == 0) {
        print_text(&opts, &result);
        print_levels(&tree, &levels, result.wall_s);
    }
    tree_sim_close(&tree);
    sketch_release(&result.latency_ns);
    return rc < 0 ? rc : STATUS_DONE;
}

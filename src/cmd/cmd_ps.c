/* snag ps -- a parameter server, until a signal ends it. */
#include "base/err.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "ps/ps_server.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>

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
        .key_file = s->curve_key,
        .is_open = s->server.is_insecure,
        .interval_ms = (unsigned)lround(1000 * s->server.interval),
    };
}

static void say_address(const struct ps_server *server, bool is_json)
{
    json_t *line = json_object();

    json_object_set_new(line, "address", json_text(ps_server_address(server)));
    if (is_json)
        print_json(line, false);
    else
        print("%s\n", ps_server_address(server));
    if (!is_json)
        json_decref(line);
    fflush(stdout); /* who started us waits for it */
}

static void say_counts(const struct ps_counts *n, bool is_json)
{
    json_t *line;

    if (!is_json) {
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
    print_json(line, false);
}

int cmd_ps(const struct settings *settings)
{
    struct ps_server_opts opts = opts_of(settings);
    struct ps_server *server;
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
    say_address(server, settings->is_json);
    sigwait(&ends, &signal_number);
    ps_server_counts(server, &counts);
    rc = ps_server_close(server);
    say_counts(&counts, settings->is_json);
    return rc < 0 ? rc : STATUS_DONE;
}

/*
 * snag serve -- the page of a run or a store, of runs that are compared or of their history,
 * and the API behind it, until a signal ends it.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/commands.h"
#include "cmd/cmd_report.h"
#include "cmd/compared.h"
#include "cmd/learning.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "cmd/url_print.h"
#include "compare/trend.h"
#include "monitor/live_past.h"
#include "prov/prov_store.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_S 15 /* a proxy or a tunnel closes a connection that says nothing for long */

/* Waits for SIGINT or SIGTERM, which are blocked in all threads; meanwhile a store is followed:
 * past, or NULL. */
static void wait_for_signal(struct site *site, const sigset_t *signals, struct live_past *past)
{
    uint64_t ticked_ns = clock_ns();
    unsigned pause_ms = past ? live_past_follow(past) : TICK_S * 1000;

    for (;;) {
        const struct timespec pause = {.tv_sec = pause_ms / 1000,
                                       .tv_nsec = pause_ms % 1000 * 1000000};

        if (sigtimedwait(signals, NULL, &pause) >= 0)
            return;
        if (clock_ns() - ticked_ns >= TICK_S * UINT64_C(1000000000)) {
            site_tick(site);
            ticked_ns = clock_ns();
        }
        if (past)
            pause_ms = live_past_follow(past);
    }
}

static struct served_opts served_opts_of(const struct settings *settings, const char *path)
{
    return (struct served_opts){.path = path,
                                .snag = SNAG_VERSION,
                                .command = "serve",
                                .job = tags_job(),
                                .author = learning_author(settings),
                                .report = report_make,
                                .report_ctx = settings,
                                .n_threads = settings->threads};
}

/* What is served opts has, where the settings; past is as above. */
static int serve_past(const struct settings *settings, struct site_opts *opts,
                      struct live_past *past)
{
    struct site *site = NULL;
    sigset_t signals;
    int rc;

    opts->address = settings->listen;
    opts->port = (uint16_t)settings->page.port;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    rc = site_open(&site, opts);
    if (rc == 0) {
        url_print(site, settings->page.is_tunnel, settings->is_json);
        wait_for_signal(site, &signals, past);
    }
    site_close(site);
    return rc < 0 ? rc : STATUS_DONE;
}

static int serve(const struct settings *settings, struct site_opts *opts)
{
    return serve_past(settings, opts, NULL);
}

static int serve_run(const struct settings *settings)
{
    struct site_opts opts = {.served = served_opts_of(settings, settings->args[0])};

    return serve(settings, &opts);
}

/* What is left of a program that was watched, or comes of one that is. */
static int serve_store(const struct settings *settings)
{
    const char *store = settings->n_args > 0 ? settings->args[0] : NULL;
    const struct live_past_opts from = {store, settings->live.server, settings->curve_key};
    struct site_opts opts = {
        .served = served_opts_of(settings, store ? store : settings->live.server)};
    struct live_past past;
    int rc = live_past_open(&past, &from);

    opts.served.what = SERVED_PROGRAM;
    opts.served.live = past.state;
    if (rc == 0)
        rc = serve_past(settings, &opts, &past);
    live_past_close(&past);
    return rc;
}

/* ----------------------------------------------------------------------------- histories */

static int any_run(void *ctx, const struct history_run *run)
{
    (void)run;
    *(bool *)ctx = true;
    return 0;
}

/* What cannot be shown is said now, not on the page. */
static int check_history(const char *path)
{
    const struct history_filter newest = {.last = 1};
    struct history history = {0};
    bool has_runs = false;
    int rc = history_open(&history, path, DATABASE_READ);

    if (rc == 0)
        rc = history_each(&history, &newest, any_run, &has_runs);
    history_close(&history);
    return rc == 0 && !has_runs ? err_set(ERR_NOT_FOUND, "%s: the history has no runs", path)
                                : rc;
}

static int serve_history(const struct settings *settings)
{
    struct site_opts opts = {.served = served_opts_of(settings, settings->args[0])};
    int rc = check_history(settings->args[0]);

    opts.served.what = SERVED_HISTORY;
    return rc == 0 ? serve(settings, &opts) : rc;
}

/* --------------------------------------------------------------------------- comparisons */

#define MAX_OF_SIDE (SITE_MAX_ROOMS / 2) /* runs of a side that have pages */

struct showing {
    const struct settings *settings;
    struct compared compared;
    struct comparison c;
    struct served_side *side; /* [compared.n] */
    struct served_opts room[SITE_MAX_ROOMS];
    size_t n_rooms;
    char name[256];
};

/* The last ones from first to n have pages. */
static void show_side(struct showing *x, uint32_t first, uint32_t n, bool is_after)
{
    uint32_t n_runs = 0;

    for (uint32_t i = first; i < n; i++)
        n_runs += x->compared.run[i].foi > 0;
    for (uint32_t i = first; i < n; i++) {
        const struct compared_run *run = &x->compared.run[i];

        x->side[i] = (struct served_side){.path = run->path,
                                          .is_after = is_after,
                                          .number = run->number,
                                          .foi = run->foi,
                                          .page = -1};
        if (run->foi == 0 || n_runs-- > MAX_OF_SIDE)
            continue;
        x->side[i].page = (int)x->n_rooms;
        x->room[x->n_rooms++] = served_opts_of(x->settings, run->path);
    }
}

/* "monday.snag, tuesday.snag" */
static void name_all(struct showing *x)
{
    const struct settings *s = x->settings;
    size_t n = 0;

    for (uint32_t i = 0; i < s->compare.base.n && n < sizeof x->name; i++)
        n += (size_t)snprintf(x->name + n, sizeof x->name - n, "%s%s", n ? ", " : "",
                              s->compare.base.text[i]);
    for (int i = 0; i < s->n_args && n < sizeof x->name; i++)
        n += (size_t)snprintf(x->name + n, sizeof x->name - n, "%s%s", n ? ", " : "",
                              s->args[i]);
}

static int serve_comparison(const struct settings *settings)
{
    struct showing x = {.settings = settings};
    struct served_comparison shown;
    struct site_opts opts = {0};
    int rc = compared_load(&x.compared, settings, NULL);

    if (rc == 0) {
        const struct compared *of = &x.compared;

        compared_compare(of, &x.c);
        x.side = mem_alloc(of->n, sizeof *x.side);
        show_side(&x, 0, of->n_before, false);
        show_side(&x, of->n_before, of->n, true);
        name_all(&x);
        shown = (struct served_comparison){&x.c, x.side, of->n, of->rename, of->n_renames};
        opts = (struct site_opts){
            .served = served_opts_of(settings, x.name), .room = x.room, .n_rooms = x.n_rooms};
        opts.served.what = SERVED_COMPARISON;
        opts.served.comparison = &shown;
        rc = serve(settings, &opts);
    }
    free(x.side);
    compare_release(&x.c);
    compared_release(&x.compared);
    return rc;
}

/* ------------------------------------------------------------------------------- command */

int cmd_serve(const struct settings *settings)
{
    bool is_store = settings->n_args == 0 || prov_store_is(settings->args[0]);
    bool is_history = !is_store && history_is(settings->args[0]);
    int rc;

    if (settings->n_args > 1 || settings->compare.base.n > 0)
        return serve_comparison(settings);
    rc = options_refuse(
        settings, "least rename last tag foi verify",
        is_history ? "is for runs that are compared: the page of a history has a "
                     "choice of its own"
                   : "is for several runs that are compared, and this is a single run");
    if (rc < 0)
        return rc;
    if (is_store)
        return serve_store(settings);
    rc = options_refuse(settings, "server curve-key", "is for the store of a job");
    if (rc < 0)
        return rc;
    return is_history ? serve_history(settings) : serve_run(settings);
}

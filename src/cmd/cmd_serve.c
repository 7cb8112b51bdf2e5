/* snag serve -- the page of a run or a store, and the API behind it, until a signal ends it. */
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/status.h"
#include "cmd/url_print.h"
#include "prov/prov_place.h"
#include "monitor/live_past.h"

#include <signal.h>

#define TICK_S 15 /* a proxy or a tunnel closes a connection that says nothing for long */

/* Waits for SIGINT or SIGTERM, which are blocked in all threads. */
static void wait_for_signal(struct site *site, const sigset_t *signals)
{
    const struct timespec tick = {.tv_sec = TICK_S};

    while (sigtimedwait(signals, NULL, &tick) < 0)
        site_tick(site);
}

static int serve(const struct settings *settings, struct live_state *live)
{
    struct site_opts opts = {.address = settings->listen,
                             .port = (uint16_t)settings->page.port,
                             .served = {.path = settings->args[0],
                                        .snag = SNAG_VERSION,
                                        .author = learning_author(settings),
                                        .n_threads = settings->threads,
                                        .live = live}};
    struct site *site = NULL;
    sigset_t signals;
    int rc;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    rc = site_open(&site, &opts);
    if (rc == 0) {
        url_print(site, settings->page.is_tunnel, settings->is_json);
        wait_for_signal(site, &signals);
    }
    site_close(site);
    return rc < 0 ? rc : STATUS_DONE;
}

/* A run, or what is left of a live one: its store of provenance. */
int cmd_serve(const struct settings *settings)
{
    struct live_state *live = NULL;
    int rc =
        prov_place_is_store(settings->args[0]) ? live_past_open(settings->args[0], &live) : 0;

    if (rc == 0)
        rc = serve(settings, live);
    live_state_free(live);
    return rc;
}

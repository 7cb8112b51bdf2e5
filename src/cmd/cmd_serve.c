/* snag serve -- the page of a run, and the API behind it, until a signal ends it. */
#include "cmd/commands.h"
#include "cmd/learning.h"
#include "cmd/status.h"
#include "web/http.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TICK_S 15 /* a proxy or a tunnel closes a connection that says nothing for long */

static void print_url(const struct http *http)
{
    const struct access *access = http_access(http);
    bool is_v6 = strchr(access->address, ':') != NULL;
    bool is_any = strcmp(access->address, "0.0.0.0") == 0 || strcmp(access->address, "::") == 0;
    const char *host = is_any ? access->hostname : access->address;

    is_v6 = is_v6 && !is_any;
    printf("http://%s%s%s:%u/%s%s\n", is_v6 ? "[" : "", host, is_v6 ? "]" : "", http_port(http),
           *access->token ? "?token=" : "", access->token);
}

/* To be run where the browser is. */
static void print_tunnel(const struct http *http)
{
    const struct access *access = http_access(http);
    bool is_v6 = strchr(access->address, ':') != NULL;
    unsigned port = http_port(http);

    printf("ssh -N -L %u:%s%s%s:%u %s\n", port, is_v6 ? "[" : "",
           access->is_loopback ? access->address : "localhost", is_v6 ? "]" : "", port,
           access->hostname);
}

/* Waits for SIGINT or SIGTERM, which are blocked in all threads. */
static void wait_for_signal(struct http *http, const sigset_t *signals)
{
    const struct timespec tick = {.tv_sec = TICK_S};

    while (sigtimedwait(signals, NULL, &tick) < 0)
        http_tick(http);
}

int cmd_serve(const struct settings *settings)
{
    struct http_opts opts = {.address = settings->listen,
                             .port = (uint16_t)settings->port,
                             .served = {.path = settings->args[0],
                                        .snag = SNAG_VERSION,
                                        .author = learning_author(settings),
                                        .n_threads = settings->threads}};
    struct http *http = NULL;
    sigset_t signals;
    int rc;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    rc = http_open(&http, &opts);
    if (rc == 0) {
        print_url(http);
        if (settings->is_tunnel)
            print_tunnel(http);
        fflush(stdout);
        wait_for_signal(http, &signals);
    }
    http_close(http);
    return rc < 0 ? rc : STATUS_DONE;
}

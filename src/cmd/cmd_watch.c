/*
 * snag watch -- strange calls while a program runs, and a page that shows them.
 *
 * The page is there before the program is, and stays when it is over.
 */
#include "base/err.h"
#include "base/fs.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/live_session.h"
#include "cmd/status.h"
#include "cmd/tree_totals.h"
#include "cmd/url_print.h"
#include "cmd/print.h"
#include "web/http.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define MOST_STORES 1000
#define NO_STORE "none" /* as --store says it */

static void print_store(const char *store)
{
    if (store)
        print("what is strange goes to %s\n", store);
    fflush(stdout);
}

static void print_totals(const struct live_session *session)
{
    const struct ad_totals *n = ad_totals(session->ad);
    char calls[TEXT_SIZE], strange[TEXT_SIZE];

    print("%s: %s calls, %s strange%s\n", session->stream.url, text_count(n->n_calls, calls),
          text_count(n->n_anomalies, strange), session->is_interrupted ? ", interrupted" : "");
    tree_totals_print(session->trees, session->stream.defs);
    if (session->settings->store)
        print("snag serve %s shows it again\n", session->settings->store);
    fflush(stdout);
}

/* A function of interest that was never called is said while the page is still there. */
static int check_trees(const struct live_session *session)
{
    int rc = session->trees && !session->is_interrupted
                 ? live_trees_check(session->trees, session->stream.defs)
                 : 0;

    return rc < 0 ? status_of(rc) : 0;
}

/* Reads and judges until nothing more comes. Returns an exit status or a negative ERR_*. */
static int judge(const struct settings *settings, struct live_state *state)
{
    struct live_session session;
    int rc = live_session_open(&session, settings);

    if (rc < 0) {
        live_state_end(state, err_message(), NULL);
    } else {
        print_store(settings->store);
        state->opts.stream = &session.stream;
        state->opts.recorder = session.recorder;
        state->opts.trees = session.trees;
        live_session_add(&session, live_state_step, state);
        rc = live_session_run(&session);
        live_state_end(state, rc < 0 ? err_message() : NULL, &session.stored.store);
        print_totals(&session);
        if (rc == 0)
            rc = check_trees(&session);
    }
    /* Whoever ends it knows that calls were still open. */
    if (rc == 0)
        rc = session.is_interrupted ? STATUS_DONE : live_session_status(&session);
    live_session_close(&session);
    return rc;
}

/* What was found can be looked at until somebody says that it is enough. */
static void stay(void)
{
    const struct timespec moment = {.tv_nsec = 100000000};

    while (!live_session_is_told())
        nanosleep(&moment, NULL);
}

static int serve(const struct settings *settings)
{
    const char *detector = settings->call_detector ? settings->call_detector : "hbos";
    struct live_opts live = {
        .source = settings->args[0],
        .store_url = settings->store,
        .detector = detector,
        .is_inclusive = settings->is_inclusive,
        .is_by_path = settings->model_key && strcmp(settings->model_key, "path") == 0,
        .speed = settings->speed,
        .usual = settings->n_foi > 0 || settings->model ? LIVE_EXECUTION : LIVE_CALL};
    struct live_state *state = live_state_new(&live);
    struct http_opts opts = {.address = settings->listen,
                             .port = (uint16_t)settings->port,
                             .served = {.path = settings->args[0],
                                        .snag = SNAG_VERSION,
                                        .n_threads = settings->threads,
                                        .live = state}};
    struct http *http = NULL;
    int rc = http_open(&http, &opts);

    if (rc == 0) {
        url_print(http, settings->is_tunnel);
        rc = judge(settings, state);
        if (!settings->is_once && (rc >= 0 || state->totals.n_steps > 0))
            stay();
    }
    http_close(http);
    live_state_free(state);
    return rc;
}

/* "job.store" for replay:traces/job/, or what is still free: job-2.store, ... */
static int choose_store(const char *source, char store[FS_PATH_SIZE])
{
    const char *colon = strchr(source, ':');
    char name[128] = "watch";
    size_t end, begin;

    if (colon == NULL || strncmp(source, "replay:", 7) == 0) {
        source = colon ? colon + 1 : source;
        for (end = strlen(source); end > 0 && source[end - 1] == '/'; end--)
            ;
        for (begin = end; begin > 0 && source[begin - 1] != '/'; begin--)
            ;
        if (strspn(source + begin, NAME_CHARACTERS) >= end - begin && end > begin)
            snprintf(name, sizeof name, "%.*s", (int)(end - begin), source + begin);
    }
    snprintf(store, FS_PATH_SIZE, "%s.store", name);
    for (int i = 2; i < MOST_STORES && fs_exists(store); i++)
        snprintf(store, FS_PATH_SIZE, "%s-%d.store", name, i);
    return fs_exists(store)
               ? err_set(ERR_EXISTS, "there are '%s' and many like it: say --store", store)
               : 0;
}

int cmd_watch(const struct settings *settings)
{
    struct settings watched = *settings;
    char store[FS_PATH_SIZE];
    int rc = settings->store ? 0 : choose_store(settings->args[0], store);

    if (rc < 0)
        return rc;
    if (settings->store == NULL)
        watched.store = store;
    else if (strcmp(settings->store, NO_STORE) == 0)
        watched.store = NULL;
    signal(SIGPIPE, SIG_IGN);
    if (isnan(watched.speed))
        watched.speed = 1;
    return live_session_guarded(&watched, serve);
}

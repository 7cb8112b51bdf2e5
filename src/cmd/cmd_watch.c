/*
 * snag watch -- strange calls while a program runs, and a page that shows them.
 *
 * The page is there before the program is, and stays when it is over. A program that runs again
 * meanwhile is shown from its begin, and has a store of its own.
 */
#include "base/err.h"
#include "base/fs.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/live_session.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/settings.h"
#include "cmd/url_print.h"
#include "prov/prov_store.h"
#include "serve/site.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------------------------- runs */

static void print_store(const char *store, bool is_json)
{
    if (is_json)
        print_json(json_pack("{s:o}", "store", store ? json_text(store) : json_null()), false);
    else if (store)
        print("strange calls and executions are stored in %s\n", store);
    fflush(stdout);
}

static void print_run(unsigned run, const char *store, bool is_json)
{
    if (is_json)
        print_json(json_pack("{s:I, s:o}", "run", (json_int_t)run, "store",
                             store ? json_text(store) : json_null()),
                   false);
    else
        print("the program runs again: run %u%s%s\n", run, store ? ", stored in " : "",
              store ? store : "");
    fflush(stdout);
}

static void print_totals(const struct live_session *session)
{
    const struct ad_totals *n = ad_totals(session->ad);
    char calls[TEXT_SIZE], strange[TEXT_SIZE];

    if (session->settings->is_json) {
        print_json(live_totals_json(session), false);
        fflush(stdout);
        return;
    }
    print("%s: %s calls, %s strange%s\n", session->stream.url, text_count(n->n_calls, calls),
          text_count(live_totals_anomalies(session), strange),
          session->is_interrupted ? ", interrupted" : "");
    live_totals_print_slight(session);
    live_totals_print_trees(session);
    reading_print_accesses(&session->stream.accesses);
    live_totals_print_reduction(session);
    live_totals_print_wrong(session);
    if (session->settings->live.store)
        print("snag serve %s shows it again\n", session->settings->live.store);
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

/* The page says what became of the store while nothing comes from the program, too. */
static void look(void *ctx, struct live_session *session)
{
    struct live_recorder_counts counts;

    if (session->recorder == NULL)
        return;
    live_recorder_counts(session->recorder, &counts);
    live_state_stored(ctx, &counts.store);
}

/* Whoever ends it knows that calls were still open. */
static int status_of_run(const struct live_session *session)
{
    if (session->is_interrupted && !session->has_lost && !session->has_unsent)
        return STATUS_DONE;
    return live_session_status(session);
}

/* One run, until nothing more comes. Returns an exit status or a negative ERR_*. */
static int judge_run(struct live_session *session, struct live_state *state)
{
    int rc;

    state->opts.stream = &session->stream;
    state->opts.recorder = session->recorder;
    state->opts.trees = session->trees;
    live_session_add(session, live_state_step, state);
    session->look = look;
    session->look_ctx = state;
    rc = live_session_run(session);
    live_state_end(state, rc < 0 ? err_message() : NULL, &session->stored.store);
    print_totals(session);
    if (rc == 0)
        rc = check_trees(session);
    return rc == 0 ? status_of_run(session) : rc;
}

/* Those after the first, each with another store. */
struct next_runs {
    const char *first_store;
    struct settings settings;
    char store[FS_PATH_SIZE];
};

/* One of them; as judge_run. */
static int judge_next(struct live_session *session, struct next_runs *next,
                      struct live_state *state)
{
    int rc = next->first_store ? store_name_next(next->first_store, next->store) : 0;

    next->settings.live.store = next->first_store ? next->store : NULL;
    if (rc == 0)
        live_state_next_run(state, next->settings.live.store);
    if (rc == 0)
        rc = live_session_next(session, &next->settings);
    if (rc < 0) {
        live_state_end(state, err_message(), NULL);
        return rc;
    }
    print_run(state->run, next->settings.live.store, next->settings.is_json);
    return judge_run(session, state);
}

/*
 * All runs there are. Returns an exit status, that of the first run that has one, or a negative
 * ERR_*.
 */
static int judge(const struct settings *settings, struct live_state *state)
{
    struct next_runs next = {.first_store = settings->live.store, .settings = *settings};
    struct live_session session;
    int rc = live_session_open(&session, settings), status = STATUS_DONE;

    if (rc < 0) {
        live_state_end(state, err_message(), NULL);
    } else {
        print_store(settings->live.store, settings->is_json);
        rc = judge_run(&session, state);
    }
    while (rc >= 0) {
        status = status ? status : rc;
        if (settings->page.is_once || !live_session_again(&session))
            break;
        rc = judge_next(&session, &next, state);
    }
    live_session_close(&session);
    return rc < 0 ? rc : status;
}

static int serve(const struct settings *settings)
{
    const struct call_detector_ops *detector = call_detector_find(CALL_DETECTOR_TYPICAL);
    struct call_detector_opts opts_of_detector = {.p = 0};
    int rc = algo_file_settle(settings, &detector, &opts_of_detector);
    struct live_opts live = {.source = settings->args[0],
                             .run_id = settings->run_id,
                             .store_url = settings->live.store,
                             .detector = detector->name,
                             .is_inclusive = settings->is_inclusive,
                             .is_by_path = strcmp(settings->live.model_key, "path") == 0,
                             .speed = settings->live.speed,
                             .typical = settings->foi.n > 0 || settings->model ? LIVE_EXECUTION
                                                                               : LIVE_CALL};
    struct live_state *state = live_state_new(&live);
    struct site_opts opts = {.address = settings->listen,
                             .port = (uint16_t)settings->page.port,
                             .served = {.path = settings->args[0],
                                        .snag = SNAG_VERSION,
                                        .command = "watch",
                                        .job = tags_job(),
                                        .run_id = settings->run_id,
                                        .n_threads = settings->threads,
                                        .what = SERVED_PROGRAM,
                                        .live = state}};
    struct site *site = NULL;

    if (rc == 0)
        rc = site_open(&site, &opts);
    if (rc == 0) {
        url_print(site, settings->page.is_tunnel, settings->is_json);
        rc = judge(settings, state);
        if (!settings->page.is_once && (rc >= 0 || state->totals.n_steps > 0)) {
            /* What was found can be looked at until somebody says that it is enough. */
            const struct timespec moment = {.tv_nsec = 100000000};

            while (!live_session_is_told())
                nanosleep(&moment, NULL);
        }
    }
    site_close(site);
    live_state_free(state);
    return rc;
}

#define OF_JUDGING                                                                             \
    "foi model call-detector short least inclusive algo-file model-key min-count min-time "    \
    "false-alarms ignore thresholds window tree-window tree-features tree-sigmas rank "        \
    "as-rank program step speed watchlist counter-prefix connect-timeout silence-timeout "     \
    "store store-limit spool spool-limit once"

/* The page of a whole job: what others judged. */
static int watch_job(const struct settings *settings)
{
    int rc = options_refuse(settings, OF_JUDGING,
                            "is for a program that is judged here: the page of a store or a "
                            "server shows what others judged");

    return rc < 0 ? rc : cmd_serve(settings);
}

int cmd_watch(const struct settings *settings)
{
    struct settings watched = *settings;
    char store[FS_PATH_SIZE];
    int rc;

    if (settings->n_args == 0 && settings->live.server == NULL)
        return err_set(ERR_USAGE, "nothing to watch: SOURCE, or a job's store or --server");
    if (settings->n_args == 0 || prov_store_is(settings->args[0]))
        return watch_job(settings);
    rc = options_refuse(settings, "server curve-key", "is for the store of a job");
    if (rc == 0)
        rc = settings->live.store ? store_name_said(&watched.live.store)
                                  : store_name_of(settings->args[0], store);
    if (rc < 0)
        return rc;
    if (settings->live.store == NULL)
        watched.live.store = store;
    signal(SIGPIPE, SIG_IGN);
    return live_session_guarded(&watched, serve);
}

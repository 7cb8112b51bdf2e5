/*
 * A signal sets a flag that is looked at between steps. When the stream is over its sums are
 * told: as text a line for each function, as JSON an object.
 */
#include "cmd/live_session.h"

#include "base/err.h"
#include "base/guard.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/cmd_list.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/settings.h"
#include "features/residual.h"
#include "prov/reduction.h"
#include "view/executions.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 200 /* how often a silent stream is left to look around */

static atomic_bool is_told; /* by a handler, which runs in any of the threads */

bool live_session_is_told(void)
{
    return is_told;
}

static void be_told(int signal_number)
{
    (void)signal_number;
    is_told = true;
}

static void listen_to_signals(void)
{
    struct sigaction action = {.sa_handler = be_told};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!log_has_file()) /* else it is about that, and the guard's handler stays */
        sigaction(SIGHUP, &action, NULL);
}

/* ------------------------------------------------------------------------------- guarded */

struct guarded {
    const struct settings *settings;
    int (*fn)(const struct settings *settings);
};

static int in_child(void *ctx, struct guard *guard)
{
    const struct guarded *g = ctx;

    (void)guard;
    return status_at_end(status_of(g->fn(g->settings)));
}

/* Whatever became of the child: what it made in vain does not stay. */
static void discard_store(const char *url, int rc)
{
    struct err_kept failure = err_keep(rc);

    prov_store_discard(url);
    err_restore(&failure);
}

int live_session_guarded(const struct settings *settings,
                         int (*fn)(const struct settings *settings))
{
    struct guarded g = {settings, fn};
    struct guard_opts opts = {.ends_itself = true, .reopens = log_has_file()};
    bool is_new = settings->live.store && !prov_store_is(settings->live.store);
    int sig = 0, rc = guard_run(in_child, &g, &opts, &sig);

    if (is_new && rc != STATUS_DONE && rc != STATUS_DAMAGED)
        discard_store(settings->live.store, rc);
    if (sig) { /* end as the signal would have ended us */
        signal(sig, SIG_DFL);
        raise(sig);
    }
    if (rc == ERR_FORMAT)
        rc = err_set(rc, "cannot read '%s' to its end: %s", settings->args[0], err_message());
    return rc;
}

/* ------------------------------------------------------------------------------- settings */

static struct stream_opts stream_opts_of(const struct settings *s)
{
    return (struct stream_opts){
        .step_ns = (uint64_t)llround(1e9 * s->live.step),
        .speed = s->live.speed,
        .connect_ms = (unsigned)lround(1e3 * fmin(s->live.connect_timeout, 4e6)),
        .silence_ms = (unsigned)lround(1e3 * fmin(s->live.silence_timeout, 4e6)),
        .wants_counters = s->live.ps || s->live.store,
        .rank = s->rank == NO_RANK ? NULL : &s->rank,
        .as_rank = s->live.as_rank == NO_RANK ? NULL : &s->live.as_rank,
        .program = s->live.program};
}

static struct ad_opts ad_opts_of(const struct settings *s)
{
    struct ad_opts opts = ad_default();

    opts.is_inclusive = s->is_inclusive;
    opts.is_by_path = strcmp(s->live.model_key, "path") == 0;
    opts.least_calls = s->live.min_count;
    opts.least_ns = s->live.min_time_ns;
    if (s->least_lost_ns != MIN_LOST_UNSAID)
        opts.least_lost_ns = (double)s->least_lost_ns;
    opts.detector_opts.p = s->live.false_alarms / CALL_DETECTOR_PER;
    return opts;
}

/* The files that say how to judge; what is said on the command line goes before them. */
static int read_rules(struct live_session *session)
{
    const struct settings *s = session->settings;
    struct ad_opts *opts = &session->opts;
    int rc = algo_file_settle(s, &opts->detector, &opts->detector_opts);

    if (s->live.false_alarms >= CALL_DETECTOR_PER)
        return err_set(ERR_USAGE,
                       "--false-alarms takes strange calls per million normal ones, above 0 "
                       "and below %.0f, not %g",
                       CALL_DETECTOR_PER, s->live.false_alarms);
    if (rc == 0 && opts->detector->is_published)
        rc = options_refuse(s, "false-alarms", "is for --call-detector tails alone");
    opts->rules = &session->rules;
    if (rc == 0 && s->live.ignore)
        rc = live_rules_ignore(&session->rules, s->live.ignore);
    if (rc == 0 && s->live.thresholds)
        rc = live_rules_thresholds(&session->rules, s->live.thresholds,
                                   opts->detector->most_threshold);
    return rc;
}

static int open_client(struct live_session *session)
{
    const struct settings *s = session->settings;
    struct ps_client_opts opts = {.address = s->live.ps,
                                  .key_file = s->curve_key,
                                  .is_deterministic = s->deterministic > 0};
    int rc;

    if (s->live.ps == NULL)
        return 0;
    rc = ps_client_open(&session->client, &opts);
    if (rc < 0)
        return rc;
    snprintf(session->program, sizeof session->program, "%u", s->live.program);
    session->opts.exchange = session->exchange =
        live_exchange_new(&(struct live_exchange_opts){.client = session->client,
                                                       .program = session->program,
                                                       .has_rounds = opts.is_deterministic,
                                                       .is_told = live_session_is_told});
    return 0;
}

/* What belongs together; of the environment it may be for other commands. */
static int check(const struct settings *s)
{
    return s->live.ps ? 0 : options_refuse(s, "curve-key deterministic", "needs --ps");
}

bool live_session_is_here(const struct live_session *session)
{
    return strcmp(session->stream.ops->name, "replay") != 0;
}

/* The only rank of which there will be records; NULL: there may be any. */
static const uint32_t *rank_of(const struct settings *s)
{
    if (s->live.as_rank != NO_RANK)
        return &s->live.as_rank;
    return s->rank != NO_RANK ? &s->rank : NULL;
}

/* So that rounds of other instances do not wait for one that waits for their answers. */
static void say_end(void *ctx)
{
    const struct live_session *session = ctx;

    live_exchange_finish(session->exchange, 0);
}

/* Other instances are asked by way of their server, if they are of one job. */
static struct partners_opts partners_of(struct live_session *session)
{
    const struct settings *s = session->settings;

    if (s->live.ps == NULL || (s->said_run_id == NULL && tags_job() == NULL))
        return (struct partners_opts){.address = NULL};
    return (struct partners_opts){.address = s->live.ps,
                                  .key_file = s->curve_key,
                                  .job = s->run_id,
                                  .is_told = live_session_is_told,
                                  .meanwhile = say_end,
                                  .ctx = session};
}

static int open_recorder(struct live_session *session)
{
    const struct settings *s = session->settings;
    char host[256] = "";
    int rc;

    if (s->live.store == NULL)
        return s->live.watchlist ? err_set(ERR_USAGE, "--watchlist needs --store") : 0;
    if (live_session_is_here(session) && gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    rc = live_recorder_open(&session->recorder,
                            &(struct live_recorder_opts){
                                .url = s->live.store,
                                .is_inclusive = s->is_inclusive,
                                .is_by_path = session->opts.is_by_path,
                                .trees = session->trees,
                                .window = s->live.window,
                                .program = s->live.program,
                                .watchlist = s->live.watchlist,
                                .counter_prefix = s->live.counter_prefix,
                                .hostname = host,
                                .partners = partners_of(session),
                                .store = {.rank = rank_of(s),
                                          .run_id = s->run_id,
                                          .limit_bytes = (uint64_t)s->live.store_mib << 20,
                                          .spool = s->live.spool,
                                          .spool_bytes = (uint64_t)s->live.spool_mib << 20}});
    if (rc == 0)
        live_session_add(session, live_recorder_step, session->recorder);
    return rc;
}

/* What is lost is no reason to fail: the calls were judged. */
static void close_recorder(struct live_session *session)
{
    if (session->recorder == NULL)
        return;
    live_recorder_counts(session->recorder, &session->stored);
    session->has_lost = live_recorder_close(session->recorder) < 0;
    if (session->has_lost)
        log_warn("store", "%s", err_message());
    session->recorder = NULL;
}

/* The executions of functions of interest, if there are any. */
static int open_trees(struct live_session *session, const struct settings *s)
{
    struct live_trees_opts opts = live_trees_default();
    int rc;

    if (s->foi.n == 0 && s->model == NULL && !s->guesses_foi)
        return 0;
    opts.pattern = s->foi.text;
    opts.n_patterns = s->foi.n;
    opts.guesses = s->guesses_foi;
    opts.model_path = s->model;
    opts.window_s = s->live.tree_window;
    opts.features = s->live.tree_features;
    opts.sigmas = s->live.tree_sigmas;
    rc = live_trees_new(&opts, &session->trees);
    if (rc < 0)
        return rc;
    session->opts.loop = live_trees_loop(session->trees);
    live_session_add(session, live_trees_step, session->trees);
    return 0;
}

/* What a run has of its own, before there is a program ... */
static int prepare_run(struct live_session *session)
{
    int rc = read_rules(session);

    return rc < 0 ? rc : open_client(session);
}

/* ... and after it: the recorder looks at the stream, and at the trees of a step. */
static int begin_run(struct live_session *session)
{
    int rc = open_trees(session, session->settings);

    return rc < 0 ? rc : open_recorder(session);
}

int live_session_open(struct live_session *session, const struct settings *settings)
{
    struct stream_opts opts = stream_opts_of(settings);
    int rc = check(settings);

    *session = (struct live_session){.settings = settings, .opts = ad_opts_of(settings)};
    listen_to_signals();
    if (rc == 0)
        rc = prepare_run(session);
    if (rc == 0)
        rc = stream_open(&session->stream, settings->args[0], &opts);
    return rc < 0 ? rc : begin_run(session);
}

void live_session_add(struct live_session *session,
                      void (*step)(void *ctx, const struct ad_step *step), void *ctx)
{
    session->sink[session->opts.n_sinks++] = (struct ad_sink){step, ctx};
}

/* All but the stream. */
static void end_run(struct live_session *session)
{
    close_recorder(session);
    ad_free(session->ad);
    live_exchange_free(session->exchange);
    ps_client_close(session->client);
    live_rules_release(&session->rules);
    live_trees_free(session->trees);
}

void live_session_close(struct live_session *session)
{
    end_run(session);
    stream_close(&session->stream);
    *session = (struct live_session){0};
}

int live_session_next(struct live_session *session, const struct settings *settings)
{
    struct stream stream = session->stream;
    int rc;

    end_run(session);
    *session = (struct live_session){
        .settings = settings, .opts = ad_opts_of(settings), .stream = stream};
    rc = prepare_run(session);
    return rc < 0 ? rc : begin_run(session);
}

/* -------------------------------------------------------------------------------- running */

/* Reads until there is nothing more. Returns STREAM_OVER or a negative ERR_*. */
static int read_steps(struct live_session *s, struct progress *progress)
{
    uint64_t heard_ns = clock_ns(), n_events = 0;
    unsigned silence_ms = s->stream.opts.silence_ms;
    int state = STREAM_IDLE;

    while (state != STREAM_OVER && state >= 0 && !is_told) {
        state = ad_next(s->ad, LOOK_MS);
        log_renew();
        if (state != STREAM_IDLE)
            heard_ns = clock_ns();
        else if (silence_ms && clock_ns() - heard_ns > silence_ms * (uint64_t)1000000)
            return err_set(ERR_IO, "'%s' has said nothing for %g s", s->stream.url,
                           1e-3 * silence_ms);
        if (state == STREAM_IDLE && s->recorder)
            live_recorder_idle(s->recorder);
        if (state == STREAM_IDLE && s->look)
            s->look(s->look_ctx, s);
        progress_add(progress, ad_totals(s->ad)->n_events - n_events);
        n_events = ad_totals(s->ad)->n_events;
    }
    return state;
}

/* What became of what we had said to a server that died. */
static void say_restarts(struct live_session *s)
{
    struct ps_client_counts n;

    ps_client_counts(s->client, &n);
    if (n.n_retold > 0)
        log_warn("ad", "the parameter server was restarted without its models. This instance "
                       "has sent its part again; the part of instances that had ended before "
                       "is lost. Start the server with --snapshot FILE to keep it");
    if (n.n_forgotten > 0)
        log_warn("ad",
                 "the parameter server was restarted from an older snapshot: %llu parts that "
                 "this instance had sent are missing in it",
                 (unsigned long long)n.n_forgotten);
    s->has_unsent |= n.n_forgotten > 0;
}

/* A server that never answered has missed what we had to say, or to hear. */
static void say_unsent(struct live_session *s)
{
    struct ps_client_counts n;

    ps_client_counts(s->client, &n);
    s->has_unsent |= n.n_sent > 0 && n.n_replies == 0;
    if (s->has_unsent && n.n_replies == 0 && n.n_foreign > 0)
        log_warn("ad",
                 "the parameter server at '%s' is of another version of snag: nothing was "
                 "exchanged with it",
                 s->settings->live.ps);
    else if (s->has_unsent && n.n_replies == 0)
        log_warn("ad", "no parameter server has answered at '%s'", s->settings->live.ps);
    else if (s->has_unsent)
        log_warn("ad", "the parameter server has not taken all that this instance has learnt");
}

/* Waits for the server in short stretches, so that a signal is seen. */
static void finish_exchange(struct live_session *s)
{
    uint64_t begin_ns = clock_ns();
    double most_s = is_told ? 1 : s->settings->live.connect_timeout;

    if (s->exchange == NULL)
        return;
    s->has_unsent = !live_exchange_finish(s->exchange, LOOK_MS);
    while (s->has_unsent && 1e-9 * (double)(clock_ns() - begin_ns) < most_s) {
        s->has_unsent = !live_exchange_finish(s->exchange, LOOK_MS);
        most_s = is_told ? 1 : most_s;
    }
    say_unsent(s);
    say_restarts(s);
}

static void say_unused(const struct live_rule_list *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->rule[i].is_used)
            log_warn("ad", "'%s' in '%s' names no function of this run: the rule had no effect",
                     list->rule[i].name, path);
}

int live_session_run(struct live_session *session)
{
    struct progress progress;
    struct err_kept failure;
    int state;

    session->opts.sink = session->sink;
    session->ad = ad_new(&session->stream, &session->opts);
    progress_begin(&progress, "judging", "events", 0);
    state = read_steps(session, &progress);
    progress_end(&progress);
    failure = err_keep(state); /* what comes now may fail, too */
    session->is_interrupted = state > STREAM_OVER;
    if (state != STREAM_OVER)
        ad_end(session->ad);
    finish_exchange(session);
    if (session->settings->rank != NO_RANK && ad_totals(session->ad)->n_events == 0)
        log_warn("ad", "--rank %u: the source had no events of this rank",
                 session->settings->rank);
    say_unused(&session->rules.ignore, session->settings->live.ignore);
    say_unused(&session->rules.threshold, session->settings->live.thresholds);
    close_recorder(session);
    return err_restore(&failure) < 0 ? state : 0;
}

bool live_session_again(struct live_session *session)
{
    int state = STREAM_IDLE;

    while (state == STREAM_IDLE && !is_told)
        state = stream_again(&session->stream, LOOK_MS);
    return state == STREAM_STEP && !is_told;
}

int live_session_status(const struct live_session *session)
{
    bool is_damaged = session->stream.n_lost > 0 || session->has_unsent || session->has_lost ||
                      quality_is_damaged(&session->stream.quality) ||
                      quality_is_damaged(ad_quality(session->ad));

    return is_damaged ? STATUS_DAMAGED : STATUS_DONE;
}

/* --------------------------------------------------------------------------------- its sums */

static const char *judge_of(const struct live_foi *foi)
{
    return foi->has_model ? TREE_BY_MODEL : TREE_BY_ROLLING;
}

/* Executions that hang, or whose rank was killed, as far as the end of the others tells. */
static uint32_t
each_unended(const struct live_foi *foi,
             void (*fn)(const struct live_unended *x, double after_ns, void *ctx), void *ctx)
{
    const struct live_forest *trees = &foi->trees;
    double typical_ns = 0, longest_ns = 0;
    uint32_t n = 0;

    if (foi->durations.n > 0) {
        typical_ns = sketch_quantile(&foi->durations, 0.5);
        longest_ns = sketch_quantile(&foi->durations, 1);
    }
    for (uint32_t i = 0; i < trees->n_unended; i++) {
        const struct live_unended *x = &trees->unended[i];
        double after_ns = (double)(trees->last_ns - x->last_ns);

        if (!residual_never_ends(after_ns, typical_ns, longest_ns))
            continue;
        n++;
        if (fn)
            fn(x, after_ns, ctx);
    }
    return n;
}

struct unended_text {
    const struct live_foi *foi;
    const struct definitions *defs;
};

static void print_unended(const struct live_unended *x, double after_ns, void *ctx)
{
    const struct unended_text *of = ctx;
    const struct location *l = &of->defs->location[x->location];
    char id[EXECUTION_ID_SIZE], after[TEXT_SIZE], ran[TEXT_SIZE];

    execution_id(id, NULL, l->rank, l->thread, x->index);
    print("%s %s does not end: it is still open when the events of its rank end, %s before the "
          "run ends; it had run for %s by then\n",
          of->defs->region[of->foi->region].short_name, id, text_duration(after_ns, after),
          text_duration((double)(x->last_ns - x->enter_ns), ran));
}

static void print_foi(const struct live_foi *foi, const struct definitions *defs)
{
    const struct live_tree_totals *n = &foi->totals;
    char executions[TEXT_SIZE], calls[TEXT_SIZE], strange[TEXT_SIZE], other[TEXT_SIZE];

    print("%s: %s execution%s with %s call%s, %s strange by %s",
          defs->region[foi->region].short_name, text_count(n->n_executions, executions),
          text_plural(n->n_executions), text_count(n->n_calls, calls), text_plural(n->n_calls),
          text_count(n->n_anomalies, strange),
          foi->has_model ? "the model" : "comparison with those before");
    if (n->n_unjudged > 0)
        print("; %s not judged, as too few came before to compare with",
              text_count(n->n_unjudged, other));
    if (n->n_own_unknown > 0)
        print("; for %s of them it is not known how long they waited for other ranks",
              text_count(n->n_own_unknown, other));
    if (n->n_cut > 0)
        print("; for %s of them only the first calls were kept", text_count(n->n_cut, other));
    print("%s\n", foi->is_given_up
                      ? "; no longer followed: another function matches --foi better"
                      : "");
}

void live_totals_print_trees(const struct live_session *s)
{
    const struct live_foi *foi;
    uint32_t n = 0;

    if (s->trees == NULL)
        return;
    foi = live_trees_foi(s->trees, &n);
    for (uint32_t i = 0; i < n; i++)
        each_unended(&foi[i], print_unended, &(struct unended_text){&foi[i], s->stream.defs});
    for (uint32_t i = 0; i < n; i++)
        print_foi(&foi[i], s->stream.defs);
}

static json_t *trees_json(const struct live_trees *trees, const struct definitions *defs)
{
    json_t *all = json_array();
    uint32_t n;
    const struct live_foi *foi = live_trees_foi(trees, &n);

    for (uint32_t i = 0; i < n; i++) {
        const struct live_tree_totals *totals = &foi[i].totals;
        json_t *one = json_object();

        json_object_set_new(one, "foi", json_text(defs->region[foi[i].region].short_name));
        json_object_set_new(one, "judged_by", json_text(judge_of(&foi[i])));
        json_object_set_new(one, "executions", json_count(totals->n_executions));
        json_object_set_new(one, "calls", json_count(totals->n_calls));
        json_object_set_new(one, "anomalies", json_count(totals->n_anomalies));
        json_object_set_new(one, "unjudged", json_count(totals->n_unjudged));
        json_object_set_new(one, "own_unknown", json_count(totals->n_own_unknown));
        json_object_set_new(one, "cut", json_count(totals->n_cut));
        json_object_set_new(one, "unended", json_count(each_unended(&foi[i], NULL, NULL)));
        json_object_set_new(one, "is_given_up", json_boolean(foi[i].is_given_up));
        json_array_append_new(all, one);
    }
    return all;
}

uint64_t live_totals_anomalies(const struct live_session *s)
{
    return ad_totals(s->ad)->n_anomalies - s->stored.n_taken_back;
}

void live_totals_print_slight(const struct live_session *s)
{
    const struct ad_totals *n = ad_totals(s->ad);
    char taken_back[TEXT_SIZE];

    if (s->stored.n_taken_back > 0)
        print("%s more call%s reported as strange during the run; by the models at its end %s "
              "normal\n",
              text_count(s->stored.n_taken_back, taken_back),
              s->stored.n_taken_back == 1 ? " was" : "s were",
              s->stored.n_taken_back == 1 ? "it is" : "they are");
    strange_calls_print_slight(n->n_slight, ad_least_lost(s->ad));
}

/* What was wrong, in the stream and in what it said. */
static struct quality live_totals_quality(const struct live_session *s)
{
    struct quality all = s->stream.quality;

    quality_add(&all, ad_quality(s->ad));
    all.n[QUALITY_recv_before_send] += s->stored.n_recv_before_send;
    return all;
}

void live_totals_print_wrong(const struct live_session *s)
{
    struct quality quality = live_totals_quality(s);
    char lost[TEXT_SIZE];

    if (s->stored.store.n_removed > 0)
        print("%s records, those with the least lost time, were removed from the store to keep "
              "this run below its limit; --store-limit MIB sets a larger one. They were not "
              "judged again at the end: those that were strange count as strange\n",
              text_count(s->stored.store.n_removed, lost));
    if (s->exchange && !s->has_unsent && !live_exchange_has_shared(s->exchange))
        print(
            "judged by this process alone: the parameter server had nothing of other instances "
            "before the end; with --deterministic N all instances wait for each other\n");
    if (s->stream.n_lost > 0)
        print("%s events did not reach this process: counts and times of the calls around them "
              "are incomplete\n",
              text_count(s->stream.n_lost, lost));
    reading_print_quality(&quality, &(struct clock_report){0});
}

static json_t *server_json(const struct live_session *s)
{
    struct ps_client_counts n;
    json_t *server = json_object();

    ps_client_counts(s->client, &n);
    json_object_set_new(server, "version", json_count(n.version));
    json_object_set_new(server, "round", json_count(n.round));
    json_object_set_new(server, "sent", json_count(n.n_sent));
    json_object_set_new(server, "resent", json_count(n.n_resent));
    json_object_set_new(server, "refused", json_count(n.n_refused));
    json_object_set_new(server, "restarts", json_count(n.n_restarts));
    json_object_set_new(server, "retold", json_count(n.n_retold));
    json_object_set_new(server, "forgotten", json_count(n.n_forgotten));
    json_object_set_new(server, "is_frozen", json_boolean(ps_client_is_frozen(s->client)));
    json_object_set_new(server, "is_complete", json_boolean(!s->has_unsent));
    json_object_set_new(server, "is_shared",
                        json_boolean(s->exchange && live_exchange_has_shared(s->exchange)));
    return server;
}

static void set_stored(json_t *line, const struct live_recorder_counts *stored)
{
    const struct prov_counts *n = &stored->store;
    bool is_last = stored->is_judged_again;

    json_object_set_new(line, "stored_anomalies", json_count(n->n_anomalies));
    json_object_set_new(line, "stored_late", json_count(n->n_late));
    json_object_set_new(line, "stored_normals", json_count(n->n_normals));
    json_object_set_new(line, "stored_executions", json_count(n->n_executions));
    json_object_set_new(line, "stored_normal_executions", json_count(n->n_normal_executions));
    json_object_set_new(line, "pruned", is_last ? json_count(stored->n_pruned) : json_null());
    json_object_set_new(line, "taken_back",
                        is_last ? json_count(stored->n_taken_back) : json_null());
    json_object_set_new(line, "dropped", json_count(n->n_dropped));
    json_object_set_new(line, "removed", json_count(n->n_removed));
    json_object_set_new(line, "store_error", n->why ? json_string(n->why) : json_null());
}

static json_t *partners_json(const struct partners_counts *n)
{
    json_t *partners = json_object();

    json_object_set_new(partners, "asked", json_count(n->n_asked));
    json_object_set_new(partners, "answered", json_count(n->n_answered));
    json_object_set_new(partners, "declined", json_count(n->n_declined));
    json_object_set_new(partners, "given_up", json_count(n->n_given_up));
    json_object_set_new(partners, "told", json_count(n->n_told));
    json_object_set_new(partners, "sent_bytes", json_count(n->sent_bytes));
    json_object_set_new(partners, "received_bytes", json_count(n->received_bytes));
    return partners;
}

static struct reduction reduction_so_far(const struct live_session *s)
{
    const struct ad_totals *n = ad_totals(s->ad);

    return reduction_of(n->n_bytes, n->no_bytes,
                        s->settings->live.store ? &s->stored.store : NULL);
}

void live_totals_print_reduction(const struct live_session *s)
{
    struct reduction reduction = reduction_so_far(s);
    char text[REDUCTION_TEXT];

    if (s->settings->live.store)
        print("%s\n", reduction_text(&reduction, text));
}

json_t *live_totals_json(const struct live_session *s)
{
    const struct ad_totals *n = ad_totals(s->ad);
    struct quality quality = live_totals_quality(s);
    struct reduction reduction = reduction_so_far(s);
    json_t *line = json_object();

    json_object_set_new(line, "source", json_text(s->stream.url));
    json_object_set_new(line, "events", json_count(n->n_events));
    json_object_set_new(line, "calls", json_count(n->n_calls));
    json_object_set_new(line, "anomalies", json_count(live_totals_anomalies(s)));
    json_object_set_new(line, "slight", json_count(n->n_slight));
    json_object_set_new(line, "least_ns", json_count((uint64_t)round(ad_least_lost(s->ad))));
    json_object_set_new(line, "false_alarms_per_million",
                        s->opts.detector->is_published
                            ? json_null()
                            : json_number(s->settings->live.false_alarms));
    json_object_set_new(line, "steps", json_count(s->stream.n_steps));
    json_object_set_new(line, "unjudged", json_count(n->n_unjudged));
    json_object_set_new(line, "ignored", json_count(n->n_ignored));
    json_object_set_new(line, "models", json_count(ad_models(s->ad)));
    json_object_set_new(line, "lost", json_count(s->stream.n_lost));
    reading_set_accesses(line, &s->stream.accesses);
    if (s->settings->live.store)
        set_stored(line, &s->stored);
    reduction_set(line, &reduction);
    json_object_set_new(line, "is_interrupted", json_boolean(s->is_interrupted));
    if (s->trees)
        json_object_set_new(line, "foi", trees_json(s->trees, s->stream.defs));
    json_object_set_new(line, "quality", reading_quality_json(&quality));
    if (s->client)
        json_object_set_new(line, "server", server_json(s));
    if (s->client && s->settings->live.store)
        json_object_set_new(line, "partners", partners_json(&s->stored.partners));
    return line;
}

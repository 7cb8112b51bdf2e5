/*
 * snag ad -- strange calls while a program runs: a live session, whose sums are printed at its
 * end.
 *
 * With --metrics it says meanwhile to Prometheus what it does, as of the last step that was
 * judged. The thread that judges leaves a copy behind after each step, and now and then while
 * nothing comes; whoever asks waits for no more than that copy.
 */
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/live_session.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/settings.h"
#include "cmd/url_print.h"
#include "live/live_lag.h"
#include "monitor/api_live.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ad_metrics {
    struct metrics_server *server;
    char program[16]; /* its number */

    pthread_mutex_t lock; /* guards these; nothing is waited for under it */
    struct ad_seen {
        struct live_counts live;
        struct ps_client_counts ps;      /* zeroes without --ps, */
        struct partners_counts partners; /* and without a store of a job */
        bool is_there;                   /* the stream */
        uint64_t heard_ns;               /* when the last step came, by clock_ns; 0: none has */
    } seen;

    /* Of the thread that judges alone. */
    const struct live_session *session;
    double least_delay_ns;
};

/* ----------------------------------------------------------------- the thread that judges */

/* What can change while no step comes. */
static void see_others(struct ad_metrics *m, struct ad_seen *seen)
{
    struct live_recorder_counts stored = {0};

    if (m->session->recorder)
        live_recorder_counts(m->session->recorder, &stored);
    if (m->session->client)
        ps_client_counts(m->session->client, &seen->ps);
    seen->live.store = stored.store;
    seen->partners = stored.partners;
    seen->live.n_lost = m->session->stream.n_lost;
    seen->live.reduction = reduction_of(m->session->stream.n_bytes, m->session->stream.no_bytes,
                                        m->session->recorder ? &stored.store : NULL);
}

static void leave(struct ad_metrics *m, const struct ad_seen *seen)
{
    pthread_mutex_lock(&m->lock);
    m->seen = *seen;
    pthread_mutex_unlock(&m->lock);
}

/* A program that runs has the speed of the clock. */
static double speed_of(const struct live_session *session)
{
    return live_session_is_here(session) ? 1 : session->settings->live.speed;
}

/* Of the functions of interest; the last strange one of the step is an example of them. */
static void see_executions(const struct live_trees *trees, const struct ad_step *step,
                           struct live_counts *live)
{
    uint32_t n = 0;
    const struct live_foi *foi = trees ? live_trees_foi(trees, &n) : NULL;

    live->n_executions = 0;
    live->n_strange_executions = 0;
    for (uint32_t i = 0; i < n; i++) {
        live->n_executions += (double)foi[i].totals.n_executions;
        live->n_strange_executions += foi[i].totals.n_anomalies;
        for (uint32_t t = 0; t < foi[i].trees.forest.n_trees; t++) {
            if (!foi[i].verdict[t].is_anomaly)
                continue;
            live_tree_id(&foi[i], step->defs, t, live->execution);
            live->execution_ns = text_now_ns();
        }
    }
}

static void take_step(void *ctx, const struct ad_step *step)
{
    struct ad_metrics *m = ctx;
    const struct ad_totals *n = ad_totals(step->ad);
    struct ad_seen seen = m->seen; /* only this thread writes it */
    double speed = speed_of(m->session);

    see_others(m, &seen);
    seen.heard_ns = clock_ns();
    seen.live.n_steps += !step->is_last; /* that one only closes what is open */
    seen.live.n_events = (double)n->n_events;
    seen.live.n_calls = (double)n->n_calls;
    seen.live.n_anomalies = n->n_anomalies;
    seen.live.n_unjudged = n->n_unjudged;
    seen.live.n_slight = n->n_slight;
    see_executions(m->session->trees, step, &seen.live);
    if (speed > 0 && !step->is_last)
        seen.live.lag_ns = live_lag(&m->least_delay_ns, step->end_ns, speed);
    seen.is_there = !step->is_last;
    leave(m, &seen);
}

static void look(void *ctx, struct live_session *session)
{
    struct ad_metrics *m = ctx;
    struct ad_seen seen = m->seen;

    (void)session;
    see_others(m, &seen);
    leave(m, &seen);
}

/* ----------------------------------------------------------------------- the one who asks */

static struct ad_seen seen_of(struct ad_metrics *m)
{
    struct ad_seen seen;

    pthread_mutex_lock(&m->lock);
    seen = m->seen;
    pthread_mutex_unlock(&m->lock);
    return seen;
}

static void add(void *ctx, struct metrics *metrics)
{
    const struct ad_seen seen = seen_of(ctx);
    const struct metric rows[] = {
        {"snag_stream_open", METRIC_GAUGE, "The stream is there, and not over", seen.is_there,
         NULL, 0},
        {"snag_stream_silent_seconds", METRIC_GAUGE, "Time since the last step",
         seen.heard_ns ? 1e-9 * (double)(clock_ns() - seen.heard_ns) : NAN, NULL, 0},
        {"snag_ps_client_requests", METRIC_COUNTER, "Requests to the parameter server",
         (double)seen.ps.n_sent, NULL, 0},
        {"snag_ps_client_answers", METRIC_COUNTER, "Answers of the parameter server",
         (double)seen.ps.n_replies, NULL, 0},
        {"snag_ps_client_unsaved_deltas", METRIC_GAUGE,
         "Deltas that the parameter server has not saved yet", seen.ps.n_kept, NULL, 0},
        {"snag_ps_client_restarts", METRIC_COUNTER, "Restarts of the parameter server",
         (double)seen.ps.n_restarts, NULL, 0},
        {"snag_partners_asked", METRIC_COUNTER, "Questions to instances of other ranks",
         (double)seen.partners.n_asked, NULL, 0},
        {"snag_partners_answered", METRIC_COUNTER,
         "Questions to instances of other ranks that were answered",
         (double)seen.partners.n_answered, NULL, 0},
        {"snag_partners_declined", METRIC_COUNTER,
         "Questions that were answered: no longer known", (double)seen.partners.n_declined,
         NULL, 0},
        {"snag_partners_given_up", METRIC_COUNTER,
         "Questions to instances of other ranks that nobody answered in time",
         (double)seen.partners.n_given_up, NULL, 0},
        {"snag_partners_told", METRIC_COUNTER, "Answers to questions of others",
         (double)seen.partners.n_told, NULL, 0},
    };

    live_metrics(metrics, &seen.live);
    metrics_add(metrics, rows, sizeof rows / sizeof *rows);
}

static bool is_well(void *ctx, char why[METRICS_WHY_SIZE])
{
    const struct prov_counts n = seen_of(ctx).live.store;

    if (n.is_failing)
        snprintf(why, METRICS_WHY_SIZE,
                 "the store cannot be written: %.150s; %llu rows are lost",
                 n.why ? n.why : "unknown", (unsigned long long)n.n_dropped);
    return !n.is_failing;
}

/* ------------------------------------------------------------------------------- its life */

static void say_url(const struct metrics_server *server, bool is_json)
{
    char url[URL_SIZE];

    metrics_option_url(server, url);
    if (is_json)
        print_json(json_pack("{s:o}", "metrics", json_text(url)), false);
    else
        print("%s\n", url);
    fflush(stdout); /* whoever scrapes it waits for it */
}

/*
 * With --metrics: listen, and say on stdout where.
 *   metrics  out: NULL without the option; close it in any case
 * Returns as metrics_option_open.
 */
static int ad_metrics_open(struct ad_metrics **out, const struct settings *settings)
{
    struct ad_metrics *m;
    int rc;

    *out = NULL;
    if (settings->metrics == NULL)
        return 0;
    m = *out = mem_alloc(1, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    m->seen.live.lag_ns = NAN;
    m->seen.live.reduction = reduction_of(0, NULL, NULL);
    m->least_delay_ns = INFINITY;
    snprintf(m->program, sizeof m->program, "%u", settings->live.program);
    rc = metrics_option_open(
        &m->server, settings->metrics,
        (struct metrics_server_opts){
            .job = {.command = "ad", .program = m->program, .run_id = settings->run_id},
            .ctx = m,
            .add = add,
            .is_well = is_well});
    if (rc == 0)
        say_url(m->server, settings->is_json);
    return rc;
}

/* The stream is open, and is going to be judged. NULL is harmless. */
static void ad_metrics_watch(struct ad_metrics *m, struct live_session *session)
{
    struct ad_seen seen;

    if (m == NULL)
        return;
    seen = m->seen;
    seen.is_there = true;
    leave(m, &seen);
    m->session = session;
    live_session_add(session, take_step, m);
    session->look = look;
    session->look_ctx = m;
}

/* Before the session. NULL is harmless. */
static void ad_metrics_close(struct ad_metrics *m)
{
    if (m == NULL)
        return;
    metrics_server_close(m->server);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static void print_stored(const struct live_recorder_counts *stored, const char *url)
{
    char anomalies[TEXT_SIZE], late[TEXT_SIZE], normals[TEXT_SIZE], other[TEXT_SIZE];
    const struct prov_counts *n = &stored->store;
    char executions[TEXT_SIZE];

    print("stored in '%s': %s strange call%s (%s of them without the calls before and after, "
          "as judged late) and %s normal call%s to compare with",
          url, text_count(n->n_anomalies, anomalies), text_plural(n->n_anomalies),
          text_count(n->n_late, late), text_count(n->n_normals, normals),
          text_plural(n->n_normals));
    if (stored->is_judged_again)
        print("; %s of them have another verdict by the models at the end of the run\n",
              text_count(stored->n_pruned, other));
    else
        print("; they were not checked against the models at the end of the run\n");
    if (n->n_executions > 0)
        print("stored there, too: %s strange execution%s and %s normal execution%s to compare "
              "with\n",
              text_count(n->n_executions, executions), text_plural(n->n_executions),
              text_count(n->n_normal_executions, normals), text_plural(n->n_normal_executions));
    if (n->n_dropped > 0)
        print("%s row%s could not be stored%s%s\n", text_count(n->n_dropped, other),
              text_plural(n->n_dropped), n->why ? ": " : "", n->why ? n->why : "");
}

static void print_text(const struct live_session *s)
{
    const struct ad_totals *n = ad_totals(s->ad);
    char events[TEXT_SIZE], calls[TEXT_SIZE], strange[TEXT_SIZE], other[TEXT_SIZE];

    print("%s: %s calls in %s events, %llu step%s%s\n", s->stream.url,
          text_count(n->n_calls, calls), text_count(n->n_events, events),
          (unsigned long long)s->stream.n_steps, text_plural(s->stream.n_steps),
          s->is_interrupted ? ", interrupted" : "");
    print("%s strange call%s%s; %s call%s not judged: too few calls to compare with had been "
          "seen (--min-count)\n",
          text_count(live_totals_anomalies(s), strange), text_plural(live_totals_anomalies(s)),
          s->stored.is_judged_again || n->n_anomalies == 0 ? "" : " when they ended",
          text_count(n->n_unjudged, other), text_plural(n->n_unjudged));
    live_totals_print_slight(s);
    live_totals_print_trees(s);
    reading_print_accesses(&s->stream.accesses);
    if (s->settings->live.store)
        print_stored(&s->stored, s->settings->live.store);
    live_totals_print_reduction(s);
    live_totals_print_wrong(s);
}

static int run(const struct settings *settings)
{
    struct live_session session = {0};
    struct ad_metrics *metrics;
    int rc = ad_metrics_open(&metrics, settings);

    if (rc == 0)
        rc = live_session_open(&session, settings);
    if (rc == 0) {
        ad_metrics_watch(metrics, &session);
        rc = live_session_run(&session);
    }
    if (rc == 0 && settings->is_json)
        print_json(live_totals_json(&session), true);
    else if (rc == 0)
        print_text(&session);
    if (rc == 0 && session.trees && !session.is_interrupted)
        rc = live_trees_check(session.trees, session.stream.defs);
    if (rc == 0)
        rc = live_session_status(&session);
    ad_metrics_close(metrics);
    live_session_close(&session);
    return rc;
}

int cmd_ad(const struct settings *settings)
{
    struct settings found = *settings;
    int rc = store_name_said(&found.live.store);

    return rc < 0 ? rc : live_session_guarded(&found, run);
}

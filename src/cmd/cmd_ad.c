/* snag ad -- strange calls while a program runs. */
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/live_session.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/tree_totals.h"

#include <stdio.h>

static struct quality quality_of(const struct live_session *s)
{
    struct quality all = s->stream.quality;

    quality_add(&all, ad_quality(s->ad));
    return all;
}

static void print_stored(const struct live_recorder_counts *stored, const char *url)
{
    char anomalies[TEXT_SIZE], late[TEXT_SIZE], normals[TEXT_SIZE], other[TEXT_SIZE];
    const struct prov_counts *n = &stored->store;
    char executions[TEXT_SIZE];

    print("%s of them (%s judged late, without what was around them) and %s normal one%s "
          "for '%s'; %s would be judged otherwise now\n",
          text_count(n->n_anomalies, anomalies), text_count(n->n_late, late),
          text_count(n->n_normals, normals), text_plural(n->n_normals), url,
          text_count(stored->n_pruned, other));
    if (n->n_executions > 0)
        print("%s strange execution%s and %s normal one%s too\n",
              text_count(n->n_executions, executions), text_plural(n->n_executions),
              text_count(n->n_normal_executions, normals), text_plural(n->n_normal_executions));
    if (n->n_dropped > 0)
        print("%s row%s could not be stored%s%s\n", text_count(n->n_dropped, other),
              text_plural(n->n_dropped), n->why ? ": " : "", n->why ? n->why : "");
}

static void print_text(const struct live_session *s)
{
    const struct ad_totals *n = ad_totals(s->ad);
    struct quality quality = quality_of(s);
    char events[TEXT_SIZE], calls[TEXT_SIZE], strange[TEXT_SIZE], other[TEXT_SIZE];

    print("%s: %s calls in %s events, %llu step%s%s\n", s->stream.url,
          text_count(n->n_calls, calls), text_count(n->n_events, events),
          (unsigned long long)s->stream.n_steps, text_plural(s->stream.n_steps),
          s->is_interrupted ? ", interrupted" : "");
    print("%s strange; %s not judged, as there were too few like them\n",
          text_count(n->n_anomalies, strange), text_count(n->n_unjudged, other));
    tree_totals_print(s->trees, s->stream.defs);
    if (s->settings->store)
        print_stored(&s->stored, s->settings->store);
    if (s->stream.n_lost > 0)
        print("%s events were lost on the way\n", text_count(s->stream.n_lost, other));
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
    return server;
}

static void set_stored(json_t *line, const struct live_recorder_counts *stored)
{
    const struct prov_counts *n = &stored->store;

    json_object_set_new(line, "stored_anomalies", json_count(n->n_anomalies));
    json_object_set_new(line, "stored_late", json_count(n->n_late));
    json_object_set_new(line, "stored_normals", json_count(n->n_normals));
    json_object_set_new(line, "stored_executions", json_count(n->n_executions));
    json_object_set_new(line, "stored_normal_executions", json_count(n->n_normal_executions));
    json_object_set_new(line, "pruned", json_count(stored->n_pruned));
    json_object_set_new(line, "dropped", json_count(n->n_dropped));
    json_object_set_new(line, "store_error", n->why ? json_string(n->why) : json_null());
}

static void print_totals_json(const struct live_session *s)
{
    const struct ad_totals *n = ad_totals(s->ad);
    struct quality quality = quality_of(s);
    json_t *line = json_object();

    json_object_set_new(line, "source", json_text(s->stream.url));
    json_object_set_new(line, "events", json_count(n->n_events));
    json_object_set_new(line, "calls", json_count(n->n_calls));
    json_object_set_new(line, "anomalies", json_count(n->n_anomalies));
    json_object_set_new(line, "steps", json_count(s->stream.n_steps));
    json_object_set_new(line, "unjudged", json_count(n->n_unjudged));
    json_object_set_new(line, "ignored", json_count(n->n_ignored));
    json_object_set_new(line, "models", json_count(ad_models(s->ad)));
    json_object_set_new(line, "lost", json_count(s->stream.n_lost));
    if (s->settings->store)
        set_stored(line, &s->stored);
    json_object_set_new(line, "is_interrupted", json_boolean(s->is_interrupted));
    if (s->trees)
        json_object_set_new(line, "foi", tree_totals_json(s->trees, s->stream.defs));
    json_object_set_new(line, "quality", reading_quality_json(&quality));
    if (s->client)
        json_object_set_new(line, "server", server_json(s));
    print_json(line, true);
}

static int run(const struct settings *settings)
{
    struct live_session session;
    int rc = live_session_open(&session, settings);

    if (rc == 0)
        rc = live_session_run(&session);
    if (rc == 0 && settings->is_json)
        print_totals_json(&session);
    else if (rc == 0)
        print_text(&session);
    if (rc == 0 && session.trees && !session.is_interrupted)
        rc = live_trees_check(session.trees, session.stream.defs);
    if (rc == 0)
        rc = live_session_status(&session);
    live_session_close(&session);
    return rc;
}

int cmd_ad(const struct settings *settings)
{
    return live_session_guarded(settings, run);
}

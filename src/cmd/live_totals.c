/* Text has a line for each function, JSON an object. */
#include "cmd/live_totals.h"

#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/strange_calls.h"
#include "features/residual.h"
#include "prov/reduction.h"
#include "view/executions.h"

#include "base/text.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>

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
    double usual_ns = 0, longest_ns = 0;
    uint32_t n = 0;

    if (foi->durations.n > 0) {
        usual_ns = sketch_quantile(&foi->durations, 0.5);
        longest_ns = sketch_quantile(&foi->durations, 1);
    }
    for (uint32_t i = 0; i < trees->n_unended; i++) {
        const struct live_unended *x = &trees->unended[i];
        double after_ns = (double)(trees->last_ns - x->last_ns);

        if (!residual_never_ends(after_ns, usual_ns, longest_ns))
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
    print("%s %s does not end: still open when the events of its rank end, %s before the run "
          "does; it had run for %s by then\n",
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
          text_count(n->n_anomalies, strange), foi->has_model ? "the model" : "the deviations");
    if (n->n_unjudged > 0)
        print("; %s not judged, as there were too few before",
              text_count(n->n_unjudged, other));
    if (n->n_own_unknown > 0)
        print("; of %s it is not known how long they waited for other ranks",
              text_count(n->n_own_unknown, other));
    if (n->n_cut > 0)
        print("; of %s only the first calls were kept", text_count(n->n_cut, other));
    print("%s\n", foi->is_given_up ? "; given up for a function that matches better" : "");
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
        print("%s more seemed so for a while, and were taken back in the end\n",
              text_count(s->stored.n_taken_back, taken_back));
    strange_calls_print_slight(n->n_slight, ad_least_lost(s->ad));
}

struct quality live_totals_quality(const struct live_session *s)
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
        print("%s records, those that lost least, gave way to others: the store may not be "
              "larger "
              "(--store-limit)\n",
              text_count(s->stored.store.n_removed, lost));
    if (s->exchange && !s->has_unsent && !live_exchange_has_shared(s->exchange))
        print("judged by what was read here alone: the server had nothing of other instances "
              "yet (--deterministic waits for them)\n");
    if (s->stream.n_lost > 0)
        print("%s events were lost on the way\n", text_count(s->stream.n_lost, lost));
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

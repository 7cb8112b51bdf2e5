/*
 * One stack per location. Models are learnt in a pass over the step's rows of their own, as
 * judging must wait for all of them anyway.
 */
#include "live/ad.h"

#include "base/mem.h"
#include "live/live_exchange.h"
#include "live/loop_watch.h"

#include <math.h>
#include <stdlib.h>

struct ad {
    struct ad_opts opts;
    struct stream *stream;
    struct calls *calls;             /* [n_locations] */
    struct callstack **stack;        /* [n_locations] */
    const uint32_t **key;            /* [n_locations] models of the rows of this step */
    uint32_t n_locations, n_regions; /* of the definitions, as far as they were looked at */
    size_t location_cap, stack_cap, key_cap;
    struct live_models models;
    struct loop_watch *loop; /* or NULL */
    double least_lost_ns;    /* by now */
    struct verdict *waiting; /* [n_waiting] without a judgement */
    size_t n_waiting, waiting_cap;
    struct verdict *verdict; /* [n_verdicts] of this step */
    size_t n_verdicts, verdict_cap;
    struct ad_totals totals;
    struct quality quality;
};

struct ad_opts ad_default(void)
{
    return (struct ad_opts){.detector = call_detector_find(CALL_DETECTOR_TYPICAL),
                            .least_calls = 100,
                            .most_waiting = 100000,
                            .least_lost_ns = NAN};
}

struct ad *ad_new(struct stream *stream, const struct ad_opts *opts)
{
    struct ad *ad = mem_alloc(1, sizeof *ad);

    ad->opts = *opts;
    ad->stream = stream;
    if (opts->loop)
        ad->loop = loop_watch_new(opts->loop, LOOP_WATCH_MAX_KEPT);
    live_models_init(&ad->models,
                     &(struct live_models_opts){.detector = opts->detector,
                                                .detector_opts = opts->detector_opts,
                                                .is_inclusive = opts->is_inclusive,
                                                .is_by_path = opts->is_by_path,
                                                .has_server = opts->exchange != NULL,
                                                .least_calls = opts->least_calls,
                                                .rules = opts->rules});
    return ad;
}

void ad_free(struct ad *ad)
{
    if (ad == NULL)
        return;
    for (uint32_t l = 0; l < ad->n_locations; l++) {
        callstack_free(ad->stack[l]);
        calls_release(&ad->calls[l]);
    }
    live_models_release(&ad->models);
    loop_watch_free(ad->loop);
    free(ad->calls);
    free(ad->stack);
    free(ad->key);
    free(ad->waiting);
    free(ad->verdict);
    free(ad);
}

const struct ad_totals *ad_totals(const struct ad *ad)
{
    return &ad->totals;
}

const struct quality *ad_quality(const struct ad *ad)
{
    return &ad->quality;
}

uint32_t ad_models(const struct ad *ad)
{
    return ad->models.n;
}

const struct sketch *ad_sketch(const struct ad *ad, uint32_t model)
{
    return model < ad->models.n ? live_models_known(&ad->models.model[model]) : NULL;
}

const struct sketch *ad_own_sketch(const struct ad *ad, uint32_t model)
{
    return model < ad->models.n ? &ad->models.model[model].sketch : NULL;
}

const struct call_judge *ad_judge(const struct ad *ad, uint32_t model)
{
    return model < ad->models.n && ad->models.model[model].n_fitted
               ? &ad->models.model[model].judge
               : NULL;
}

char *ad_model_name(const struct ad *ad, uint32_t model)
{
    return live_models_name(&ad->models, model, ad->stream->defs);
}

uint32_t ad_function(const struct ad *ad, uint32_t model)
{
    return ad->opts.exchange ? live_exchange_number(ad->opts.exchange, model,
                                                    ad->models.model[model].function)
                             : model;
}

/* --------------------------------------------------------------------------------- reading */

static void add_location(struct ad *ad, uint32_t l)
{
    ad->calls[l] = (struct calls){.has_steps = true};
    ad->stack[l] = callstack_new();
    callstack_begin(ad->stack[l], &ad->calls[l], &ad->quality);
}

/* Room for locations and regions that are new in this step. */
static void follow_definitions(struct ad *ad)
{
    const struct definitions *defs = ad->stream->defs;

    mem_grow(&ad->calls, &ad->location_cap, defs->n_locations);
    mem_grow(&ad->stack, &ad->stack_cap, defs->n_locations);
    mem_grow(&ad->key, &ad->key_cap, defs->n_locations);
    while (ad->n_locations < defs->n_locations)
        add_location(ad, ad->n_locations++);
    for (uint32_t l = 0; l < ad->n_locations; l++) {
        callstack_move(ad->stack[l], &ad->calls[l]);
        callstack_regions(ad->stack[l], defs->names.n);
        callstack_polls(ad->stack[l], defs);
    }
    ad->n_regions = defs->names.n;
    live_models_follow(&ad->models, defs);
}

void ad_take(struct ad *ad, uint32_t location, const struct event_batch *batch, size_t begin,
             size_t end)
{
    const struct definitions *defs = ad->stream->defs;

    if (ad->n_locations != defs->n_locations || ad->n_regions != defs->names.n)
        follow_definitions(ad);
    if (location >= ad->n_locations) {
        ad->quality.n[QUALITY_bad_value] += end - begin;
        return;
    }
    if (ad->loop)
        loop_watch_push(ad->loop, defs, location, batch, begin, end, ad->stack[location]);
    else
        callstack_push(ad->stack[location], batch, begin, end);
    ad->totals.n_events += end - begin;
}

static void read_step(struct ad *ad)
{
    struct stream_part part;

    while (stream_part(ad->stream, &part))
        ad_take(ad, part.location, part.batch, part.begin, part.end);
}

/* --------------------------------------------------------------------------------- judging */

static inline uint64_t judged_ns(const struct ad *ad, const struct verdict *v)
{
    return ad->opts.is_inclusive ? v->inclusive_ns : v->exclusive_ns;
}

static void add_verdict(struct ad *ad, const struct verdict *call)
{
    const struct live_model *m = &ad->models.model[call->model];
    uint64_t time_ns = judged_ns(ad, call);
    struct verdict *v;

    v = mem_push(&ad->verdict, &ad->n_verdicts, &ad->verdict_cap);
    *v = *call;
    v->judgement = call_judge_score(&m->judge, live_models_known(m), time_ns);
    v->severity_ns = (double)time_ns - m->judge.model.median;
    ad->totals.n_anomalies++;
}

static inline enum call_verdict verdict_on(const struct ad *ad, const struct live_model *m,
                                           uint64_t time_ns)
{
    return time_ns < ad->opts.least_ns
               ? CALL_TYPICAL
               : call_judge_verdict(&m->judge, time_ns, ad->least_lost_ns);
}

/* Judges a call that has a model: an anomaly, counted, or nothing. */
static inline bool is_anomaly(struct ad *ad, const struct live_model *m, uint64_t time_ns)
{
    enum call_verdict verdict = verdict_on(ad, m, time_ns);

    ad->totals.n_slight += verdict == CALL_SLIGHT;
    return verdict == CALL_STRANGE;
}

static void judge_waiting(struct ad *ad)
{
    size_t n = 0;

    for (size_t i = 0; i < ad->n_waiting; i++) {
        const struct verdict *w = &ad->waiting[i];
        const struct live_model *m = &ad->models.model[w->model];

        if (m->n_fitted == 0)
            ad->waiting[n++] = *w;
        else if (is_anomaly(ad, m, judged_ns(ad, w)))
            add_verdict(ad, w);
    }
    ad->n_waiting = n;
}

static struct verdict call_at(const struct ad *ad, uint32_t l, uint32_t row)
{
    const struct calls *c = &ad->calls[l];

    return (struct verdict){.location = l,
                            .region = c->region[row],
                            .model = ad->key[l][row],
                            .row = row,
                            .id = calls_id(c, row),
                            .step = ad->totals.n_steps,
                            .enter_ns = c->enter_ns[row],
                            .inclusive_ns = c->inclusive_ns[row],
                            .exclusive_ns = c->exclusive_ns[row]};
}

static void wait_for_model(struct ad *ad, uint32_t l, uint32_t row)
{
    if (ad->models.model[ad->key[l][row]].is_ignored) {
        ad->totals.n_ignored++;
        return;
    }
    if (ad->n_waiting == ad->opts.most_waiting) {
        ad->totals.n_unjudged++;
        return;
    }
    mem_grow(&ad->waiting, &ad->waiting_cap, ad->n_waiting + 1);
    ad->waiting[ad->n_waiting] = call_at(ad, l, row);
    ad->waiting[ad->n_waiting++].row = NO_ROW;
}

static void judge(struct ad *ad, uint32_t l)
{
    const struct calls *c = &ad->calls[l];
    const uint32_t *key = ad->key[l];

    for (uint32_t row = 0; row < c->n; row++) {
        const struct live_model *m = &ad->models.model[key[row]];

        if (c->inclusive_ns[row] == CALL_OPEN || calls_never_ended(c, row))
            continue; /* how long it takes is not known, or never will be */
        if (m->n_fitted == 0) {
            wait_for_model(ad, l, row);
        } else if (is_anomaly(ad, m, live_models_time(&ad->models, c, row))) {
            struct verdict call = call_at(ad, l, row);

            add_verdict(ad, &call);
        }
    }
}

bool ad_is_strange(const struct ad *ad, uint32_t model, uint64_t time_ns)
{
    return ad_judge(ad, model) &&
           verdict_on(ad, &ad->models.model[model], time_ns) == CALL_STRANGE;
}

double ad_least_lost(const struct ad *ad)
{
    return ad->least_lost_ns;
}

/* ----------------------------------------------------------------------------------- steps */

static double least_lost(const struct ad *ad)
{
    uint64_t ticks_per_s = ad->stream->defs->ticks_per_s;
    double tick_ns = ticks_per_s > 0 ? 1e9 / (double)ticks_per_s : 1;

    return isnan(ad->opts.least_lost_ns)
               ? call_least_effect(ad->opts.detector, tick_ns, ad->models.noise_ns)
               : ad->opts.least_lost_ns;
}

static void learn_and_judge(struct ad *ad)
{
    for (uint32_t l = 0; l < ad->n_locations; l++)
        ad->totals.n_calls += live_models_learn(&ad->models, ad->key[l], &ad->calls[l]);
    if (ad->opts.exchange) {
        live_exchange_calls(ad->opts.exchange, ad->stream->defs, ad->calls, ad->n_locations);
        live_exchange_models(ad->opts.exchange, &ad->models, ad->stream->defs);
    }
    live_models_fit(&ad->models);
    ad->least_lost_ns = least_lost(ad);
    judge_waiting(ad);
    for (uint32_t l = 0; l < ad->n_locations; l++)
        judge(ad, l);
}

static void show(struct ad *ad, bool is_last)
{
    struct ad_step step = {.ad = ad,
                           .number = ad->totals.n_steps,
                           .begin_ns = ad->stream->begin_ns,
                           .end_ns = ad->stream->end_ns,
                           .is_last = is_last,
                           .n_lost = ad->stream->n_lost,
                           .defs = ad->stream->defs,
                           .loop = ad->loop,
                           .n_locations = ad->n_locations,
                           .calls = ad->calls,
                           .model = ad->key,
                           .verdict = ad->verdict,
                           .n_verdicts = ad->n_verdicts};

    if (ad->opts.exchange && !is_last)
        live_exchange_anomalies(ad->opts.exchange, &step);
    for (size_t i = 0; i < ad->opts.n_sinks; i++)
        ad->opts.sink[i].step(ad->opts.sink[i].ctx, &step);
}

static void finish_step(struct ad *ad, bool is_last)
{
    ad->n_verdicts = 0;
    ad->totals.n_bytes = ad->stream->n_bytes;
    ad->totals.no_bytes = ad->stream->no_bytes;
    for (uint32_t l = 0; l < ad->n_locations; l++)
        callstack_step(ad->stack[l]);
    for (uint32_t l = 0; l < ad->n_locations; l++)
        ad->key[l] = live_models_key(&ad->models, l, &ad->calls[l], ad->stream->defs);
    if (!is_last)
        learn_and_judge(ad);
    show(ad, is_last);
    for (uint32_t l = 0; l < ad->n_locations; l++)
        callstack_next(ad->stack[l]);
    ad->totals.n_steps++;
}

void ad_end(struct ad *ad)
{
    follow_definitions(ad);
    for (uint32_t l = 0; l < ad->n_locations; l++) {
        if (ad->loop)
            loop_watch_end(ad->loop, l, ad->calls[l].last_ns, ad->stack[l]);
        callstack_end(ad->stack[l]);
        ad->totals.n_calls += ad->calls[l].n;
    }
    ad->totals.n_unjudged += ad->n_waiting; /* they wait in vain: sinks see that */
    finish_step(ad, true);
}

void ad_end_step(struct ad *ad)
{
    follow_definitions(ad);
    finish_step(ad, false);
    if (ad->loop)
        loop_watch_step(ad->loop, ad->stream->defs);
}

int ad_next(struct ad *ad, int timeout_ms)
{
    int state = stream_next(ad->stream, timeout_ms);

    if (state == STREAM_IDLE || state < 0)
        return state;
    if (state == STREAM_OVER) {
        ad_end(ad);
        return state;
    }
    read_step(ad);
    ad_end_step(ad);
    return state;
}

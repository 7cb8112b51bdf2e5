/*
 * One stack per location. Sketches are filled in a pass over the step's rows, as judging must
 * wait for the models anyway.
 */
#include "live/ad.h"

#include "base/mem.h"

#include <stdlib.h>

#define GROWTH 1.05 /* a model is made anew when its region has so many times the calls */

/* What is known of a region. */
struct knowledge {
    struct sketch sketch;
    struct call_judge judge;
    uint64_t n_fitted; /* calls the judge knows; 0: there is none yet */
};

struct ad {
    struct ad_opts opts;
    struct stream *stream;
    struct live_calls *calls; /* [n_locations] */
    uint32_t n_locations;
    size_t location_cap;
    struct knowledge *knowledge; /* [n_regions] */
    uint32_t n_regions;
    size_t region_cap;
    struct verdict *waiting; /* [n_waiting] without a judgement */
    size_t n_waiting;
    struct verdict *verdict; /* [n_verdicts] of this step */
    size_t n_verdicts, verdict_cap;
    struct ad_totals totals;
    struct quality quality;
};

struct ad_opts ad_default(void)
{
    return (struct ad_opts){
        .detector = call_detector_find("hbos"), .least_calls = 100, .most_waiting = 100000};
}

struct ad *ad_new(struct stream *stream, const struct ad_opts *opts)
{
    struct ad *ad = mem_alloc(1, sizeof *ad);

    ad->opts = *opts;
    ad->stream = stream;
    ad->waiting = mem_alloc(opts->most_waiting, sizeof *ad->waiting);
    return ad;
}

void ad_free(struct ad *ad)
{
    if (ad == NULL)
        return;
    for (uint32_t l = 0; l < ad->n_locations; l++)
        live_calls_release(&ad->calls[l]);
    for (uint32_t r = 0; r < ad->n_regions; r++)
        sketch_release(&ad->knowledge[r].sketch);
    free(ad->calls);
    free(ad->knowledge);
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

const struct sketch *ad_sketch(const struct ad *ad, uint32_t region)
{
    return region < ad->n_regions ? &ad->knowledge[region].sketch : NULL;
}

const struct call_judge *ad_judge(const struct ad *ad, uint32_t region)
{
    return region < ad->n_regions && ad->knowledge[region].n_fitted
               ? &ad->knowledge[region].judge
               : NULL;
}

/* --------------------------------------------------------------------------------- reading */

/* Room for locations and regions that are new in this step. */
static void follow_definitions(struct ad *ad)
{
    const struct definitions *defs = ad->stream->defs;

    mem_grow(&ad->calls, &ad->location_cap, defs->n_locations, sizeof *ad->calls);
    while (ad->n_locations < defs->n_locations)
        live_calls_init(&ad->calls[ad->n_locations++]);
    mem_grow(&ad->knowledge, &ad->region_cap, defs->names.n, sizeof *ad->knowledge);
    for (; ad->n_regions < defs->names.n; ad->n_regions++) {
        ad->knowledge[ad->n_regions] = (struct knowledge){0};
        sketch_init(&ad->knowledge[ad->n_regions].sketch);
    }
}

static void read_step(struct ad *ad)
{
    struct stream_part part;

    while (stream_part(ad->stream, &part)) {
        live_calls_push(&ad->calls[part.location], part.batch, part.begin, part.end,
                        &ad->quality);
        ad->totals.n_events += part.end - part.begin;
    }
}

static inline uint64_t time_of(const struct ad *ad, const struct live_calls *c, uint32_t row)
{
    return ad->opts.is_inclusive ? c->inclusive_ns[row] : c->exclusive_ns[row];
}

static void learn(struct ad *ad, const struct live_calls *c)
{
    for (uint32_t row = 0; row < c->n; row++)
        if (c->inclusive_ns[row] != LIVE_OPEN) {
            sketch_add(&ad->knowledge[c->region[row]].sketch, time_of(ad, c, row));
            ad->totals.n_calls++;
        }
}

static void fit(struct ad *ad)
{
    for (uint32_t r = 0; r < ad->n_regions; r++) {
        struct knowledge *k = &ad->knowledge[r];

        if (k->sketch.n < ad->opts.least_calls ||
            (double)k->sketch.n < GROWTH * (double)k->n_fitted)
            continue;
        call_judge_init(&k->judge, ad->opts.detector, &ad->opts.detector_opts, &k->sketch);
        k->n_fitted = k->sketch.n;
    }
}

/* --------------------------------------------------------------------------------- judging */

static inline uint64_t judged_ns(const struct ad *ad, const struct verdict *v)
{
    return ad->opts.is_inclusive ? v->inclusive_ns : v->exclusive_ns;
}

static void condemn(struct ad *ad, const struct verdict *call)
{
    const struct knowledge *k = &ad->knowledge[call->region];
    uint64_t time_ns = judged_ns(ad, call);
    struct verdict *v;

    mem_grow(&ad->verdict, &ad->verdict_cap, ad->n_verdicts + 1, sizeof *v);
    v = &ad->verdict[ad->n_verdicts++];
    *v = *call;
    v->judgement = k->judge.ops->judge(&k->judge.model, &k->sketch, time_ns);
    v->severity_ns = (double)time_ns - k->judge.model.median;
    ad->totals.n_anomalies++;
}

static void judge_waiting(struct ad *ad)
{
    size_t n = 0;

    for (size_t i = 0; i < ad->n_waiting; i++) {
        const struct verdict *w = &ad->waiting[i];
        const struct knowledge *k = &ad->knowledge[w->region];

        if (k->n_fitted == 0)
            ad->waiting[n++] = *w;
        else if (call_judge_is_anomaly(&k->judge, judged_ns(ad, w)))
            condemn(ad, w);
    }
    ad->n_waiting = n;
}

static struct verdict call_at(const struct ad *ad, uint32_t l, uint32_t row)
{
    const struct live_calls *c = &ad->calls[l];

    return (struct verdict){.location = l,
                            .region = c->region[row],
                            .row = row,
                            .id = c->id[row],
                            .step = ad->totals.n_steps,
                            .enter_ns = c->enter_ns[row],
                            .inclusive_ns = c->inclusive_ns[row],
                            .exclusive_ns = c->exclusive_ns[row]};
}

static void wait_for_model(struct ad *ad, uint32_t l, uint32_t row)
{
    if (ad->n_waiting == ad->opts.most_waiting) {
        ad->totals.n_unjudged++;
        return;
    }
    ad->waiting[ad->n_waiting] = call_at(ad, l, row);
    ad->waiting[ad->n_waiting++].row = NO_ROW;
}

static void judge(struct ad *ad, uint32_t l)
{
    const struct live_calls *c = &ad->calls[l];

    for (uint32_t row = 0; row < c->n; row++) {
        const struct knowledge *k = &ad->knowledge[c->region[row]];

        if (c->inclusive_ns[row] == LIVE_OPEN)
            continue;
        if (k->n_fitted == 0) {
            wait_for_model(ad, l, row);
        } else if (call_judge_is_anomaly(&k->judge, time_of(ad, c, row))) {
            struct verdict call = call_at(ad, l, row);

            condemn(ad, &call);
        }
    }
}

static void finish_step(struct ad *ad, bool is_last)
{
    struct ad_step step = {.ad = ad,
                           .number = ad->totals.n_steps,
                           .begin_ns = ad->stream->begin_ns,
                           .end_ns = ad->stream->end_ns,
                           .is_last = is_last,
                           .defs = ad->stream->defs,
                           .n_locations = ad->n_locations,
                           .calls = ad->calls};

    ad->n_verdicts = 0;
    for (uint32_t l = 0; l < ad->n_locations; l++)
        learn(ad, &ad->calls[l]);
    fit(ad);
    judge_waiting(ad);
    for (uint32_t l = 0; l < ad->n_locations; l++)
        judge(ad, l);
    step.verdict = ad->verdict;
    step.n_verdicts = ad->n_verdicts;
    for (size_t i = 0; i < ad->opts.n_sinks; i++)
        ad->opts.sink[i].step(ad->opts.sink[i].ctx, &step);
    for (uint32_t l = 0; l < ad->n_locations; l++)
        live_calls_next_step(&ad->calls[l]);
    ad->totals.n_steps++;
}

void ad_end(struct ad *ad)
{
    follow_definitions(ad);
    for (uint32_t l = 0; l < ad->n_locations; l++)
        live_calls_finish(&ad->calls[l], &ad->quality);
    finish_step(ad, true);
    ad->totals.n_unjudged += ad->n_waiting;
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
    follow_definitions(ad);
    read_step(ad);
    finish_step(ad, false);
    return state;
}

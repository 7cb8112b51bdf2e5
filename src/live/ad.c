/*
 * One reader and one stack per location. Sketches are filled in a pass over the step's rows, as
 * judging must wait for the models anyway.
 */
#include "live/ad.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>

#define GROWTH 1.05 /* a model is made anew when its region has so many times the calls */

/* One location. */
struct lane {
    struct source_reader *reader;
    const struct event_batch *batch;
    size_t at; /* next event of the batch */
    bool is_over;
    struct live_calls calls;
    struct quality quality;
};

/* What is known of a region. */
struct knowledge {
    struct sketch sketch;
    struct call_judge judge;
    uint64_t n_fitted; /* calls the judge knows; 0: there is none yet */
};

/* A call that waits for a model. */
struct waiting {
    uint32_t location, region;
    uint64_t enter_ns, time_ns;
};

struct ad {
    struct ad_opts opts;
    struct source *source;
    struct lane *lane;           /* [defs.n_locations] */
    struct knowledge *knowledge; /* [n_regions] */
    uint32_t n_regions;
    uint64_t until_ns;
    struct waiting *waiting; /* [n_waiting] */
    size_t n_waiting;
    struct ad_totals totals;
};

struct ad_opts ad_default(void)
{
    return (struct ad_opts){.detector = call_detector_find("hbos"),
                            .step_ns = 1000000000,
                            .least_calls = 100,
                            .most_waiting = 100000};
}

const struct ad_totals *ad_totals(const struct ad *ad)
{
    return &ad->totals;
}

const struct sketch *ad_sketch(const struct ad *ad, uint32_t region)
{
    return &ad->knowledge[region].sketch;
}

/* --------------------------------------------------------------------------------- opening */

static int open_lane(struct ad *ad, uint32_t l)
{
    struct lane *lane = &ad->lane[l];

    live_calls_init(&lane->calls);
    lane->reader = source_reader_new(ad->source);
    return lane->reader ? source_reader_begin(lane->reader, l, UINT64_MAX) : ERR_IO;
}

int ad_open(struct ad **out, struct source *source, const struct ad_opts *opts)
{
    struct ad *ad = *out = mem_alloc(1, sizeof *ad);
    int rc = 0;

    ad->opts = *opts;
    ad->source = source;
    ad->n_regions = source->defs.names.n;
    ad->until_ns = opts->step_ns;
    ad->lane = mem_alloc(source->defs.n_locations, sizeof *ad->lane);
    ad->knowledge = mem_alloc(ad->n_regions, sizeof *ad->knowledge);
    ad->waiting = mem_alloc(opts->most_waiting, sizeof *ad->waiting);
    for (uint32_t r = 0; r < ad->n_regions; r++)
        sketch_init(&ad->knowledge[r].sketch);
    for (uint32_t l = 0; rc == 0 && l < source->defs.n_locations; l++)
        rc = open_lane(ad, l);
    return rc;
}

void ad_close(struct ad *ad)
{
    if (ad == NULL)
        return;
    for (uint32_t l = 0; l < ad->source->defs.n_locations; l++) {
        struct lane *lane = &ad->lane[l];

        if (lane->reader)
            source_reader_end(lane->reader, &lane->quality);
        source_reader_free(lane->reader);
        live_calls_release(&lane->calls);
    }
    for (uint32_t r = 0; r < ad->n_regions; r++)
        sketch_release(&ad->knowledge[r].sketch);
    free(ad->lane);
    free(ad->knowledge);
    free(ad->waiting);
    free(ad);
}

/* --------------------------------------------------------------------------------- reading */

/* Events of a lane up to the end of the step. */
static void read_lane(struct ad *ad, struct lane *lane)
{
    while (!lane->is_over) {
        size_t taken;

        if (lane->batch == NULL || lane->at == lane->batch->n) {
            lane->at = 0;
            lane->is_over = source_reader_next(lane->reader, &lane->batch) == 0;
            if (lane->is_over) {
                live_calls_finish(&lane->calls, &lane->quality);
                return;
            }
        }
        taken =
            live_calls_push(&lane->calls, lane->batch, lane->at, ad->until_ns, &lane->quality);
        ad->totals.n_events += taken;
        lane->at += taken;
        if (lane->at < lane->batch->n)
            return;
    }
}

static inline uint64_t time_of(const struct ad *ad, const struct live_calls *c, uint32_t row)
{
    return ad->opts.is_inclusive ? c->inclusive_ns[row] : c->exclusive_ns[row];
}

static void learn_lane(struct ad *ad, const struct live_calls *c)
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

static void report(struct ad *ad, struct ad_anomaly *anomaly)
{
    const struct knowledge *k = &ad->knowledge[anomaly->region];

    anomaly->judgement = k->judge.ops->judge(&k->judge.model, &k->sketch, anomaly->time_ns);
    anomaly->severity_ns = (double)anomaly->time_ns - k->judge.model.median;
    ad->totals.n_anomalies++;
    if (ad->opts.anomaly)
        ad->opts.anomaly(ad->opts.ctx, anomaly);
}

static void judge_waiting(struct ad *ad)
{
    size_t n = 0;

    for (size_t i = 0; i < ad->n_waiting; i++) {
        const struct waiting *w = &ad->waiting[i];
        const struct knowledge *k = &ad->knowledge[w->region];

        if (k->n_fitted == 0)
            ad->waiting[n++] = *w;
        else if (call_judge_is_anomaly(&k->judge, w->time_ns))
            report(ad, &(struct ad_anomaly){.location = w->location,
                                            .row = NO_CALL,
                                            .region = w->region,
                                            .enter_ns = w->enter_ns,
                                            .time_ns = w->time_ns});
    }
    ad->n_waiting = n;
}

static void wait_for_model(struct ad *ad, uint32_t l, const struct live_calls *c, uint32_t row)
{
    if (ad->n_waiting < ad->opts.most_waiting)
        ad->waiting[ad->n_waiting++] =
            (struct waiting){l, c->region[row], c->enter_ns[row], time_of(ad, c, row)};
    else
        ad->totals.n_unjudged++;
}

static void judge_lane(struct ad *ad, uint32_t l)
{
    const struct live_calls *c = &ad->lane[l].calls;

    for (uint32_t row = 0; row < c->n; row++) {
        const struct knowledge *k = &ad->knowledge[c->region[row]];
        uint64_t time_ns;

        if (c->inclusive_ns[row] == LIVE_OPEN)
            continue;
        time_ns = time_of(ad, c, row);
        if (k->n_fitted == 0)
            wait_for_model(ad, l, c, row);
        else if (call_judge_is_anomaly(&k->judge, time_ns))
            report(ad, &(struct ad_anomaly){.location = l,
                                            .calls = c,
                                            .row = row,
                                            .region = c->region[row],
                                            .enter_ns = c->enter_ns[row],
                                            .time_ns = time_ns});
    }
}

int ad_step(struct ad *ad)
{
    uint32_t n = ad->source->defs.n_locations;
    bool is_over = true;

    for (uint32_t l = 0; l < n; l++) {
        read_lane(ad, &ad->lane[l]);
        learn_lane(ad, &ad->lane[l].calls);
        is_over = is_over && ad->lane[l].is_over;
    }
    fit(ad);
    judge_waiting(ad);
    for (uint32_t l = 0; l < n; l++) {
        judge_lane(ad, l);
        live_calls_next_step(&ad->lane[l].calls);
    }
    ad->totals.n_steps++;
    ad->until_ns += ad->opts.step_ns;
    if (is_over)
        ad->totals.n_unjudged += ad->n_waiting;
    return !is_over;
}

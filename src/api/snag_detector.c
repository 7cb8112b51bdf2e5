/* A stream of events that are handed in, the detector of calls, and that of executions. */
#include "snag/snag.h"

#include "base/err.h"
#include "base/mem.h"
#include "live/ad.h"
#include "live/live_trees.h"
#include "trace/stream_push.h"

#include <stdlib.h>
#include <string.h>

struct snag_detector {
    struct snag_detector_options options;
    struct stream stream;
    struct live_trees *trees;
    struct ad_sink sink[2];
    struct ad *ad;
    uint64_t n_refused; /* events that named what there is not */
    bool is_over;
};

/* ------------------------------------------------------------------------------- verdicts */

static void tell_calls(void *ctx, const struct ad_step *step)
{
    const struct snag_detector *d = ctx;

    for (size_t i = 0; d->options.on_call && i < step->n_verdicts; i++) {
        const struct verdict *v = &step->verdict[i];
        const struct location *location = &step->defs->location[v->location];
        const struct snag_call call = {.rank = location->rank,
                                       .thread = location->thread,
                                       .region = step->defs->names.name[v->region],
                                       .enter_ns = v->enter_ns,
                                       .inclusive_ns = v->inclusive_ns,
                                       .exclusive_ns = v->exclusive_ns,
                                       .score = v->judgement.score,
                                       .severity_ns = v->severity_ns};

        d->options.on_call(d->options.ctx, &call);
    }
}

static void tell_executions(const struct snag_detector *d, const struct live_foi *foi,
                            const struct definitions *defs)
{
    const struct forest *f = &foi->trees.forest;

    for (uint32_t t = 0; t < f->n_trees; t++) {
        const struct tree_verdict *v = &foi->verdict[t];
        const struct location *location = &defs->location[f->location[t]];
        const struct snag_execution x = {.rank = location->rank,
                                         .thread = location->thread,
                                         .index = f->index[t],
                                         .function = defs->names.name[foi->region],
                                         .enter_ns = f->enter_ns[t],
                                         .duration_ns = f->root_ns[t],
                                         .n_calls = foi->trees.n_calls[t],
                                         .is_judged = v->algorithm != NULL,
                                         .is_anomaly = v->is_anomaly,
                                         .score = v->score,
                                         .threshold = v->threshold,
                                         .reason = v->why};

        d->options.on_execution(d->options.ctx, &x);
    }
}

static void tell_trees(void *ctx, const struct ad_step *step)
{
    const struct snag_detector *d = ctx;
    uint32_t n;
    const struct live_foi *foi = live_trees_foi(d->trees, &n);

    for (uint32_t i = 0; d->options.on_execution && i < n; i++)
        tell_executions(d, &foi[i], step->defs);
}

static void judge_trees_and_tell(void *ctx, const struct ad_step *step)
{
    struct snag_detector *d = ctx;

    live_trees_step(d->trees, step);
    tell_trees(d, step);
}

/* -------------------------------------------------------------------------------- opening */

int snag_detector_open(const struct snag_detector_options *options, snag_detector **detector)
{
    snag_detector *d = mem_alloc(1, sizeof *d);
    struct live_trees_opts trees = live_trees_default();
    struct ad_opts opts = ad_default();
    size_t size = options ? options->size : sizeof d->options;
    int rc;

    *detector = NULL;
    if (options)
        memcpy(&d->options, options, size < sizeof d->options ? size : sizeof d->options);
    trees.pattern = d->options.function;
    trees.n_patterns = (uint32_t)d->options.n_functions;
    trees.model_path = d->options.model;
    rc = size < offsetof(struct snag_detector_options, function)
             ? err_set(ERR_USAGE, "the size of the options is not set")
             : live_trees_new(&trees, &d->trees);
    if (rc < 0) {
        free(d);
        return rc;
    }
    stream_push_open(&d->stream);
    d->sink[0] = (struct ad_sink){tell_calls, d};
    d->sink[1] = (struct ad_sink){judge_trees_and_tell, d};
    opts.sink = d->sink;
    opts.n_sinks = 2;
    d->ad = ad_new(&d->stream, &opts);
    *detector = d;
    return 0;
}

void snag_detector_close(snag_detector *d)
{
    if (d == NULL)
        return;
    ad_free(d->ad);
    live_trees_free(d->trees);
    stream_close(&d->stream);
    free(d);
}

/* --------------------------------------------------------------------------------- events */

uint32_t snag_region(snag_detector *d, const char *name)
{
    return stream_push_region(&d->stream, name);
}

uint32_t snag_counter(snag_detector *d, const char *name)
{
    return stream_push_counter(&d->stream, name);
}

uint32_t snag_location(snag_detector *d, uint32_t rank, uint32_t thread)
{
    return stream_push_location(&d->stream, 0, rank, thread);
}

#define LATEST_NS ((uint64_t)1 << 62)

static inline bool is_fine(snag_detector *d, uint32_t location, uint64_t time_ns)
{
    bool is = stream_push_is_location(&d->stream, location) && time_ns < LATEST_NS;

    d->n_refused += !is;
    return is;
}

static inline void push_call(snag_detector *d, uint32_t location, uint64_t time_ns,
                             enum event_kind kind, uint32_t region)
{
    if (!is_fine(d, location, time_ns))
        return;
    if (stream_push_is_region(&d->stream, region))
        stream_push_event(&d->stream, location, time_ns, kind, region);
    else
        d->n_refused++;
}

void snag_enter(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t region)
{
    push_call(d, location, time_ns, EVENT_ENTER, region);
}

void snag_leave(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t region)
{
    push_call(d, location, time_ns, EVENT_LEAVE, region);
}

void snag_send(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t to_rank,
               uint32_t tag, uint64_t bytes)
{
    if (is_fine(d, location, time_ns))
        stream_push_message(&d->stream, location, time_ns, MESSAGE_SEND, to_rank, tag, bytes);
}

void snag_receive(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t from_rank,
                  uint32_t tag, uint64_t bytes)
{
    if (is_fine(d, location, time_ns))
        stream_push_message(&d->stream, location, time_ns, MESSAGE_RECV, from_rank, tag, bytes);
}

void snag_count(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t counter,
                double value)
{
    if (!is_fine(d, location, time_ns))
        return;
    if (stream_push_is_counter(&d->stream, counter))
        stream_push_value(&d->stream, location, time_ns, counter, value);
    else
        d->n_refused++;
}

/* ---------------------------------------------------------------------------------- steps */

static int check_open(const snag_detector *d)
{
    return d->is_over ? err_set(ERR_USAGE, "the last step is over") : 0;
}

int snag_detector_step(snag_detector *d)
{
    int rc = check_open(d);

    if (rc < 0)
        return rc;
    stream_push_step(&d->stream);
    rc = ad_next(d->ad, 0);
    return rc < 0 ? rc : SNAG_OK;
}

int snag_detector_end(snag_detector *d)
{
    int rc = check_open(d);

    if (rc == 0 && stream_push_waiting(&d->stream) > 0)
        rc = snag_detector_step(d);
    if (rc < 0)
        return rc;
    d->is_over = true;
    ad_end(d->ad);
    return SNAG_OK;
}

uint64_t snag_detector_damage(const snag_detector *d)
{
    uint64_t n = d->n_refused;

    for (int k = 0; k < QUALITY_N; k++)
        if (quality_kind_is_damage((enum quality_kind)k))
            n += ad_quality(d->ad)->n[k] + d->stream.quality.n[k];
    return n;
}

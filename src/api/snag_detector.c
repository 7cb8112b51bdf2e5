/*
 * The detector of calls, and that of executions, of events that are handed in. They are held, a
 * few per location, so that the call stack gets many at once; what is held is as good as
 * judged, as nothing is before the step ends.
 */
#include "snag/snag.h"

#include "base/err.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "live/ad.h"
#include "live/live_trees.h"
#include "trace/source.h"
#include "trace/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HELD 256u
#define LATEST_NS ((uint64_t)1 << 62)

/* Events of a location that the call stack has not seen yet. */
struct held_events {
    struct event event[MAX_HELD];
    size_t n;
    uint64_t last_ns;
    struct event_batch details; /* messages and counters of these events */
    uint32_t n_messages;        /* since the start */
};

struct snag_detector {
    struct snag_detector_options options;
    struct definitions defs;
    struct stream stream;      /* the source; without: what there is, and the times of a step */
    struct idmap location;     /* by rank and thread */
    struct held_events **held; /* [defs.n_locations] */
    size_t held_cap;
    uint64_t last_ns; /* of any event */
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
                                       .severity_ns = v->severity_ns,
                                       .p = v->judgement.p};

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

static void tell_trees(void *ctx, const struct live_tree_step *step)
{
    const struct snag_detector *d = ctx;

    for (uint32_t i = 0; i < step->n_foi; i++)
        tell_executions(d, &step->foi[i], step->step->defs);
}

/* -------------------------------------------------------------------------------- opening */

/* It has a source, and nothing is pushed. */
static bool is_reading(const struct snag_detector *d)
{
    return d->options.source != NULL;
}

int snag_detector_open(const struct snag_detector_options *options, snag_detector **detector)
{
    snag_detector *d = mem_alloc(1, sizeof *d);
    struct live_trees_opts trees = live_trees_default();
    struct ad_opts opts = ad_default();
    size_t size = options ? options->size : sizeof d->options;
    struct stream_opts reading;
    int rc;

    *detector = NULL;
    if (options)
        memcpy(&d->options, options, size < sizeof d->options ? size : sizeof d->options);
    trees.pattern = d->options.function;
    trees.n_patterns = (uint32_t)d->options.n_functions;
    trees.model_path = d->options.model;
    rc = size < offsetof(struct snag_detector_options, function)
             ? err_set(ERR_USAGE, "options.size is not set: it is the sizeof of the options")
             : live_trees_new(&trees, &d->trees);
    if (rc == 0 && d->options.source) {
        reading = (struct stream_opts){.step_ns = d->options.step_ns ? d->options.step_ns
                                                                     : (uint64_t)1000000000,
                                       .speed = d->options.speed,
                                       .connect_ms = d->options.connect_ms};
        rc = stream_open(&d->stream, d->options.source, &reading);
    } else if (rc == 0) {
        definitions_comm(&d->defs, "world", 0);
        d->stream.defs = &d->defs;
    }
    if (rc < 0) {
        snag_detector_close(d);
        return rc;
    }
    d->sink[0] = (struct ad_sink){tell_calls, d};
    d->sink[1] = (struct ad_sink){live_trees_step, d->trees};
    if (d->options.on_execution)
        live_trees_add(d->trees, tell_trees, d);
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
    for (uint32_t l = 0; l < d->defs.n_locations; l++) {
        event_batch_release(&d->held[l]->details);
        free(d->held[l]);
    }
    free(d->held);
    idmap_release(&d->location);
    if (is_reading(d))
        stream_close(&d->stream);
    definitions_release(&d->defs);
    free(d);
}

/* ---------------------------------------------------------------------------- definitions */

uint32_t snag_region(snag_detector *d, const char *name)
{
    return is_reading(d) ? UINT32_MAX : definitions_region(&d->defs, name);
}

uint32_t snag_counter(snag_detector *d, const char *name)
{
    return is_reading(d) ? UINT32_MAX : names_add(&d->defs.counters, name);
}

uint32_t snag_location(snag_detector *d, uint32_t rank, uint32_t thread)
{
    struct key key = key_pair(rank, thread);
    struct location *location;
    char name[32];
    uint32_t at;

    if (is_reading(d))
        return UINT32_MAX;
    at = idmap_find(&d->location, key);
    if (at != IDMAP_NONE)
        return at;
    at = idmap_add(&d->location, key);
    snprintf(name, sizeof name, thread ? "Thread %u" : "Master thread", thread);
    location = definitions_location(&d->defs, (uint64_t)thread << 32 | rank, name, rank);
    location->rank = rank;
    location->thread = thread;
    if (rank >= d->defs.n_ranks)
        d->defs.n_ranks = rank + 1;
    mem_grow(&d->held, &d->held_cap, (size_t)at + 1);
    d->held[at] = mem_alloc(1, sizeof *d->held[at]);
    return at;
}

/* --------------------------------------------------------------------------------- events */

static void hand_over(snag_detector *d, uint32_t location)
{
    struct held_events *h = d->held[location];
    struct event_batch batch = h->details;

    batch.event = h->event;
    batch.n = h->n;
    ad_take(d->ad, location, &batch, 0, h->n);
    h->n = h->details.n_messages = h->details.n_counters = 0;
}

/* Room for an event, at this time or later; NULL: there is no such location, or no such time.
 */
static inline struct held_events *hold(snag_detector *d, uint32_t location, uint64_t time_ns)
{
    struct held_events *h;

    if (__builtin_expect(location >= d->defs.n_locations || time_ns >= LATEST_NS, 0)) {
        d->n_refused++;
        return NULL;
    }
    h = d->held[location];
    if (__builtin_expect(h->n == MAX_HELD, 0))
        hand_over(d, location);
    if (__builtin_expect(time_ns < h->last_ns, 0))
        d->stream.quality.n[QUALITY_time_backwards]++;
    else
        h->last_ns = time_ns;
    return h;
}

static inline void push(struct held_events *h, enum event_kind kind, uint32_t ref)
{
    h->event[h->n++] = (struct event){h->last_ns, (uint32_t)kind, ref};
}

static inline void push_call(snag_detector *d, uint32_t location, uint64_t time_ns,
                             enum event_kind kind, uint32_t region)
{
    struct held_events *h = hold(d, location, time_ns);

    if (h == NULL)
        return;
    if (__builtin_expect(region < d->defs.names.n, 1))
        push(h, kind, region);
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

static void push_message(snag_detector *d, uint32_t location, uint64_t time_ns,
                         enum message_kind kind, uint32_t peer, uint32_t tag, uint64_t bytes)
{
    struct held_events *h = hold(d, location, time_ns);
    struct event_batch *b;

    if (h == NULL)
        return;
    b = &h->details;
    mem_grow(&b->message, &b->message_cap, b->n_messages + 1);
    b->message[b->n_messages] = (struct message){.begin_ns = h->last_ns,
                                                 .end_ns = h->last_ns,
                                                 .bytes = bytes,
                                                 .match = MESSAGE_UNMATCHED,
                                                 .call = NO_CALL,
                                                 .peer = peer,
                                                 .tag = tag,
                                                 .order = h->n_messages++,
                                                 .kind = kind};
    push(h, EVENT_MESSAGE, (uint32_t)b->n_messages++);
}

void snag_send(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t to_rank,
               uint32_t tag, uint64_t bytes)
{
    push_message(d, location, time_ns, MESSAGE_SEND, to_rank, tag, bytes);
}

void snag_receive(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t from_rank,
                  uint32_t tag, uint64_t bytes)
{
    push_message(d, location, time_ns, MESSAGE_RECV, from_rank, tag, bytes);
}

void snag_count(snag_detector *d, uint32_t location, uint64_t time_ns, uint32_t counter,
                double value)
{
    struct held_events *h = hold(d, location, time_ns);
    struct event_batch *b;

    if (h == NULL)
        return;
    if (counter >= d->defs.counters.n) {
        d->n_refused++;
        return;
    }
    b = &h->details;
    mem_grow(&b->counter, &b->counter_cap, b->n_counters + 1);
    b->counter[b->n_counters] =
        (struct counter_value){.counter = counter, .is_real = true, .real = value};
    push(h, EVENT_COUNTER, (uint32_t)b->n_counters++);
}

/* ---------------------------------------------------------------------------------- steps */

static void hand_over_all(snag_detector *d)
{
    for (uint32_t l = 0; l < d->defs.n_locations; l++) {
        const struct held_events *h = d->held[l];

        d->last_ns = h->last_ns > d->last_ns ? h->last_ns : d->last_ns;
        if (h->n > 0)
            hand_over(d, l);
    }
    d->stream.begin_ns = d->stream.end_ns;
    d->stream.end_ns = d->last_ns + 1;
}

int snag_detector_step(snag_detector *d)
{
    int rc = is_reading(d) ? err_set(ERR_USAGE, "the source says where a step ends")
             : d->is_over  ? err_set(ERR_USAGE, "the last step is over")
                           : 0;

    if (rc < 0)
        return rc;
    hand_over_all(d);
    ad_end_step(d->ad);
    return SNAG_OK;
}

int snag_detector_end(snag_detector *d)
{
    int rc = snag_detector_step(d);

    if (rc < 0)
        return rc;
    d->is_over = true;
    ad_end(d->ad);
    return SNAG_OK;
}

_Static_assert((int)SNAG_OVER == (int)STREAM_OVER && (int)SNAG_STEP == (int)STREAM_STEP &&
                   (int)SNAG_IDLE == (int)STREAM_IDLE,
               "states are passed through");

int snag_detector_next(snag_detector *d, int timeout_ms)
{
    int state, rc;

    if (!is_reading(d))
        return err_set(ERR_USAGE, "the detector has no source: its events are pushed");
    if (d->is_over)
        return SNAG_OVER;
    state = ad_next(d->ad, timeout_ms);
    d->is_over = state == STREAM_OVER || state < 0;
    rc = state == STREAM_OVER ? live_trees_check(d->trees, d->stream.defs) : 0;
    return rc < 0 ? rc : state;
}

uint64_t snag_detector_damage(const snag_detector *d)
{
    uint64_t n = d->n_refused;

    for (int k = 0; k < QUALITY_N; k++)
        if (quality_kind_is_damage((enum quality_kind)k))
            n += ad_quality(d->ad)->n[k] + d->stream.quality.n[k];
    return n;
}

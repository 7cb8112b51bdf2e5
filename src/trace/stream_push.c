/* A batch per location; a step hands them out one by one and empties them afterwards. */
#include "trace/stream_push.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "trace/monotone.h"
#include "trace/source.h"

#include <stdio.h>
#include <stdlib.h>

struct pushed {
    struct event_batch batch; /* of the step */
    uint64_t last_ns;
    uint32_t n_messages; /* since the start */
};

struct push {
    struct definitions defs;
    struct idmap location; /* by program and rank, thread */
    struct pushed *of;     /* [defs.n_locations] */
    size_t of_cap, n_waiting;
    uint64_t last_ns; /* of any event */
    uint32_t current; /* location of the next part */
    bool is_ready;    /* a step that nobody has asked for yet */
};

static struct push *push_of(const struct stream *stream)
{
    return stream->impl;
}

uint32_t stream_push_region(struct stream *stream, const char *name)
{
    return definitions_region(&push_of(stream)->defs, name);
}

uint32_t stream_push_counter(struct stream *stream, const char *name)
{
    return names_add(&push_of(stream)->defs.counters, name);
}

uint32_t stream_push_location(struct stream *stream, uint32_t program, uint32_t rank,
                              uint32_t thread)
{
    struct push *p = push_of(stream);
    struct key key = key_pair((uint64_t)program << 32 | rank, thread);
    uint32_t at = idmap_find(&p->location, key);
    struct location *location;
    char name[32];

    if (at != IDMAP_NONE)
        return at;
    at = idmap_add(&p->location, key);
    snprintf(name, sizeof name, thread ? "Thread %u" : "Master thread", thread);
    location = definitions_location(&p->defs, (uint64_t)thread << 32 | rank, name, rank);
    location->program = program;
    location->rank = rank;
    location->thread = thread;
    if (rank >= p->defs.n_ranks)
        p->defs.n_ranks = rank + 1;
    mem_grow(&p->of, &p->of_cap, (size_t)at + 1, sizeof *p->of);
    p->of[at] = (struct pushed){.n_messages = 0};
    return at;
}

bool stream_push_is_location(const struct stream *stream, uint32_t location)
{
    return location < push_of(stream)->defs.n_locations;
}

bool stream_push_is_region(const struct stream *stream, uint32_t region)
{
    return region < push_of(stream)->defs.names.n;
}

bool stream_push_is_counter(const struct stream *stream, uint32_t counter)
{
    return counter < push_of(stream)->defs.counters.n;
}

/* The time for the next event of a location. */
static inline uint64_t advance(struct stream *stream, struct push *p, struct pushed *of,
                               uint64_t time_ns)
{
    if (time_ns < of->last_ns) {
        stream->quality.n[QUALITY_time_backwards]++;
        time_ns = of->last_ns;
    }
    of->last_ns = time_ns;
    p->last_ns = time_ns > p->last_ns ? time_ns : p->last_ns;
    p->n_waiting++;
    mem_grow(&of->batch.event, &of->batch.event_cap, of->batch.n + 1, sizeof *of->batch.event);
    return time_ns;
}

void stream_push_event(struct stream *stream, uint32_t location, uint64_t time_ns,
                       enum event_kind kind, uint32_t region)
{
    struct push *p = push_of(stream);
    struct pushed *of = &p->of[location];

    event_batch_push(&of->batch, advance(stream, p, of, time_ns), kind, region);
}

void stream_push_message(struct stream *stream, uint32_t location, uint64_t time_ns,
                         enum message_kind kind, uint32_t peer, uint32_t tag, uint64_t bytes)
{
    struct push *p = push_of(stream);
    struct pushed *of = &p->of[location];
    struct message *m = event_batch_message(&of->batch, advance(stream, p, of, time_ns));

    *m = (struct message){.begin_ns = of->last_ns,
                          .end_ns = of->last_ns,
                          .bytes = bytes,
                          .match = MESSAGE_UNMATCHED,
                          .call = NO_CALL,
                          .peer = peer,
                          .tag = tag,
                          .order = of->n_messages++,
                          .kind = kind};
}

void stream_push_value(struct stream *stream, uint32_t location, uint64_t time_ns,
                       uint32_t counter, double value)
{
    struct push *p = push_of(stream);
    struct pushed *of = &p->of[location];
    struct counter_value *v = event_batch_counter(&of->batch, advance(stream, p, of, time_ns));

    *v = (struct counter_value){.counter = counter, .is_real = true, .real = value};
}

void stream_push_step(struct stream *stream)
{
    push_of(stream)->is_ready = true;
}

size_t stream_push_waiting(const struct stream *stream)
{
    return push_of(stream)->n_waiting;
}

/* ------------------------------------------------------------------------------- a stream */

static void close_push(struct stream *stream)
{
    struct push *p = push_of(stream);

    for (uint32_t l = 0; l < p->defs.n_locations; l++)
        event_batch_release(&p->of[l].batch);
    free(p->of);
    idmap_release(&p->location);
    definitions_release(&p->defs);
    free(p);
}

static void forget_step(struct push *p)
{
    for (uint32_t l = 0; l < p->defs.n_locations; l++) {
        struct event_batch *b = &p->of[l].batch;

        b->n = b->n_messages = b->n_collectives = b->n_counters = 0;
    }
    p->n_waiting = 0;
}

static int next(struct stream *stream, int timeout_ms)
{
    struct push *p = push_of(stream);

    (void)timeout_ms;
    if (!p->is_ready)
        return STREAM_IDLE;
    p->is_ready = false;
    p->current = 0;
    stream->begin_ns = stream->end_ns;
    stream->end_ns = p->last_ns + 1;
    return STREAM_STEP;
}

static bool part(struct stream *stream, struct stream_part *part)
{
    struct push *p = push_of(stream);

    while (p->current < p->defs.n_locations && p->of[p->current].batch.n == 0)
        p->current++;
    if (p->current >= p->defs.n_locations) {
        forget_step(p);
        return false;
    }
    *part = (struct stream_part){.location = p->current,
                                 .batch = &p->of[p->current].batch,
                                 .end = p->of[p->current].batch.n};
    p->current++;
    return true;
}

static const struct stream_ops ops = {.name = "push",
                                      .what = "events that are handed in",
                                      .close = close_push,
                                      .next = next,
                                      .part = part};

void stream_push_open(struct stream *stream)
{
    struct push *p = mem_alloc(1, sizeof *p);

    *stream = (struct stream){.ops = &ops,
                              .opts = {.wants_counters = true},
                              .defs = &p->defs,
                              .url = mem_copy_string("push:"),
                              .impl = p};
    definitions_comm(&p->defs, "world", 0);
}

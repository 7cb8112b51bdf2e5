#include "sample_stream.h"

#include <stdlib.h>

static int next(struct stream *stream, int timeout_ms)
{
    struct sample_stream *s = stream->impl;

    (void)timeout_ms;
    if (s->read == s->n_steps)
        return STREAM_OVER;
    stream->begin_ns = s->read > 0 ? s->end_ns[s->read - 1] : 0;
    stream->end_ns = s->end_ns[s->read++];
    s->part = 0;
    return STREAM_STEP;
}

static bool part(struct stream *stream, struct stream_part *out)
{
    struct sample_stream *s = stream->impl;
    const struct event_batch *batch;

    if (s->part == s->defs.n_locations)
        return false;
    batch = &s->list[s->read - 1][s->part].all;
    *out = (struct stream_part){s->part++, batch, 0, batch->n};
    return true;
}

static const struct stream_ops ops = {.name = "sample", .next = next, .part = part};

void sample_stream_open(struct sample_stream *s, uint32_t n_locations)
{
    uint32_t comm;

    *s = (struct sample_stream){.stream = {.ops = &ops, .impl = s, .defs = &s->defs}};
    for (uint32_t l = 0; l < n_locations; l++)
        definitions_location(&s->defs, l, "thread", l);
    comm = definitions_comm(&s->defs, "world", n_locations);
    for (uint32_t l = 0; l < n_locations; l++)
        s->defs.comm[comm].member[l] = l;
    definitions_finish(&s->defs, NULL, 0);
}

void sample_stream_close(struct sample_stream *s)
{
    for (uint32_t step = 0; step < SAMPLE_STEPS; step++)
        for (uint32_t l = 0; l < SAMPLE_LOCATIONS; l++)
            event_list_release(&s->list[step][l]);
    definitions_release(&s->defs);
    free(s->stream.is_wanted);
    s->stream.is_wanted = NULL;
}

void sample_stream_step(struct sample_stream *s, uint64_t end_ns)
{
    s->end_ns[s->n_steps++] = end_ns;
}

static struct event_list *list_of(struct sample_stream *s, uint32_t location)
{
    return &s->list[s->n_steps - 1][location];
}

void sample_enter(struct sample_stream *s, uint32_t location, uint64_t time_ns,
                  const char *name)
{
    event_list_push(list_of(s, location), time_ns, EVENT_ENTER,
                    definitions_region(&s->defs, name));
}

void sample_leave(struct sample_stream *s, uint32_t location, uint64_t time_ns)
{
    event_list_push(list_of(s, location), time_ns, EVENT_LEAVE, ANY_REGION);
}

void sample_call(struct sample_stream *s, uint32_t location, uint64_t time_ns, const char *name,
                 uint64_t duration_ns)
{
    sample_enter(s, location, time_ns, name);
    sample_leave(s, location, time_ns + duration_ns);
}

void sample_message(struct sample_stream *s, uint32_t location, uint64_t time_ns,
                    enum message_kind kind, uint32_t peer, uint64_t bytes)
{
    *event_list_message(list_of(s, location), time_ns) =
        (struct message){.begin_ns = time_ns,
                         .bytes = bytes,
                         .match = MESSAGE_UNMATCHED,
                         .peer = peer,
                         .tag = 7,
                         .kind = kind};
}

void sample_counter(struct sample_stream *s, uint32_t location, uint64_t time_ns,
                    const char *name, int64_t value)
{
    *event_list_counter(list_of(s, location), time_ns) =
        (struct counter_value){.counter = names_add(&s->defs.counters, name), .whole = value};
}

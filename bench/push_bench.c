/*
 * push_bench TRACE -- the events of a trace, in memory, handed to the library one by one: what
 * a tool pays that has them already. Steps are those of `snag ad replay:TRACE`. Prints
 *
 *     events 19767956 damage 0 push_s 0.1412
 */
#include "base/mem.h"
#include "base/progress.h"
#include "trace/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <snag/snag.h>

static void push(snag_detector *d, uint32_t location, const struct event_batch *b,
                 const struct event *e)
{
    const struct message *m;

    switch (e->kind) {
    case EVENT_ENTER:
        snag_enter(d, location, e->time_ns, e->ref);
        break;
    case EVENT_LEAVE:
        snag_leave(d, location, e->time_ns, e->ref);
        break;
    case EVENT_MESSAGE:
        m = &b->message[e->ref];
        if (m->kind == MESSAGE_SEND)
            snag_send(d, location, e->time_ns, m->peer, m->tag, m->bytes);
        else
            snag_receive(d, location, e->time_ns, m->peer, m->tag, m->bytes);
        break;
    default:
        break;
    }
}

/* A part of a step; one without events ends the step. */
struct part {
    uint32_t location;
    size_t n;
    struct event *event;
    struct event_batch batch; /* its messages */
};

static struct part copy_of(const struct stream_part *from)
{
    const struct event_batch *b = from->batch;
    struct part part = {.location = from->location, .n = from->end - from->begin};

    part.event = mem_alloc(part.n, sizeof *part.event);
    memcpy(part.event, b->event + from->begin, part.n * sizeof *part.event);
    part.batch.message = mem_alloc(b->n_messages, sizeof *b->message);
    if (b->n_messages > 0)
        memcpy(part.batch.message, b->message, b->n_messages * sizeof *b->message);
    return part;
}

static struct part *load(struct stream *stream, size_t *n)
{
    struct part *all = NULL;
    struct stream_part part;
    size_t cap = 0;

    *n = 0;
    while (stream_next(stream, 0) == STREAM_STEP) {
        while (stream_part(stream, &part)) {
            mem_grow(&all, &cap, *n + 2);
            all[(*n)++] = copy_of(&part);
        }
        mem_grow(&all, &cap, *n + 1);
        all[(*n)++] = (struct part){.n = 0};
    }
    return all;
}

/* Numbers of the library are those of the stream, as both are dense and in order. */
static void define(snag_detector *d, const struct definitions *defs)
{
    for (uint32_t r = 0; r < defs->names.n; r++)
        if (snag_region(d, defs->names.name[r]) != r)
            abort();
    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (snag_location(d, defs->location[l].rank, defs->location[l].thread) != l)
            abort();
}

int main(int argc, char **argv)
{
    const struct stream_opts opts = {.step_ns = 1000000000};
    struct stream stream;
    snag_detector *d;
    struct part *all;
    uint64_t n_events = 0, begin_ns;
    size_t n;

    if (argc != 2 || stream_open(&stream, argv[1], &opts) < 0 ||
        snag_detector_open(NULL, &d) < 0) {
        fprintf(stderr, "push_bench TRACE: %s\n", snag_message());
        return 1;
    }
    all = load(&stream, &n);
    define(d, stream.defs);
    begin_ns = clock_ns();
    for (const struct part *p = all; p < all + n; p++) {
        for (size_t i = 0; i < p->n; i++)
            push(d, p->location, &p->batch, &p->event[i]);
        n_events += p->n;
        if (p->n == 0 && snag_detector_step(d) < 0)
            return 1;
    }
    snag_detector_end(d);
    printf("events %llu damage %llu push_s %.4f\n", (unsigned long long)n_events,
           (unsigned long long)snag_detector_damage(d), 1e-9 * (double)(clock_ns() - begin_ns));
    snag_detector_close(d);
    stream_close(&stream);
    for (size_t i = 0; i < n; i++) {
        free(all[i].event);
        free(all[i].batch.message);
    }
    free(all);
    return 0;
}

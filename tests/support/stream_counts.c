/*
 * stream_counts SOURCE [PAUSE_MS] -- what a stream said, counted:
 *
 *     calls NAME N        for each region, those that were left
 *     open N              calls that were not
 *     sent N, received N, collectives N, counters N
 *     transfers N BYTES   of one-sided communication
 *     operations N BYTES  on files
 *     ranks N, steps N, lost N, host RANK NAME
 *     QUALITY N           whatever was wrong
 *
 * With a pause, it sleeps so long after each step: a slow reader. Exit status 1: the stream
 * failed, or did not keep its promises.
 */
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "stack/callstack.h"
#include "trace/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
    struct calls *calls;
    struct callstack *stack;
    uint64_t last_ns; /* of the last event */
};

struct counts {
    uint64_t *calls; /* [n_regions] */
    size_t n_regions, region_cap;
    struct place *place; /* [n_places] by location */
    size_t n_places, place_cap;
    uint64_t n_sent, n_received, n_collectives, n_counters, n_broken;
    uint64_t n_estimates;
};

static void grow(struct counts *c, const struct definitions *defs, struct quality *quality)
{
    mem_grow(&c->calls, &c->region_cap, defs->names.n);
    while (c->n_regions < defs->names.n)
        c->calls[c->n_regions++] = 0;
    mem_grow(&c->place, &c->place_cap, defs->n_locations);
    for (; c->n_places < defs->n_locations; c->n_places++) {
        struct place place = {mem_alloc(1, sizeof *place.calls), callstack_new(), 0};

        place.calls->has_steps = true;
        callstack_begin(place.stack, place.calls, quality);
        c->place[c->n_places] = place;
    }
    for (uint32_t l = 0; l < c->n_places; l++)
        callstack_regions(c->place[l].stack, defs->names.n);
}

static void count_part(struct counts *c, struct stream *stream, const struct stream_part *p)
{
    const struct event_batch *batch = p->batch;
    struct place *place = &c->place[p->location];

    for (size_t i = p->begin; i < p->end; i++) {
        const struct event *event = &batch->event[i];

        c->n_broken += event->time_ns < place->last_ns;
        c->n_broken += event->time_ns >= stream->end_ns;
        place->last_ns = event->time_ns;
        c->n_collectives += event->kind == EVENT_COLLECTIVE;
        c->n_counters += event->kind == EVENT_COUNTER;
        c->n_estimates += event->kind == EVENT_ESTIMATE;
        if (event->kind == EVENT_MESSAGE && batch->message[event->ref].kind == MESSAGE_SEND)
            c->n_sent++;
        else if (event->kind == EVENT_MESSAGE)
            c->n_received++;
    }
    callstack_push(place->stack, batch, p->begin, p->end);
}

static void count_calls(struct counts *c)
{
    for (size_t l = 0; l < c->n_places; l++) {
        const struct calls *calls = c->place[l].calls;

        callstack_step(c->place[l].stack);
        for (uint32_t row = 0; row < calls->n; row++)
            c->calls[calls->region[row]] += calls->inclusive_ns[row] != CALL_OPEN;
        callstack_next(c->place[l].stack);
    }
}

static uint64_t count_open(const struct counts *c)
{
    uint64_t n = 0;

    for (size_t l = 0; l < c->n_places; l++)
        n += c->place[l].calls->n;
    return n;
}

static void print(const struct counts *c, const struct stream *stream)
{
    const struct definitions *defs = stream->defs;

    for (size_t i = 0; i < c->n_regions; i++)
        printf("calls %s %llu\n", defs->names.name[i], (unsigned long long)c->calls[i]);
    printf("open %llu\nsent %llu\nreceived %llu\n", (unsigned long long)count_open(c),
           (unsigned long long)c->n_sent, (unsigned long long)c->n_received);
    printf("collectives %llu\ncounters %llu\nranks %u\n", (unsigned long long)c->n_collectives,
           (unsigned long long)c->n_counters, defs->n_ranks);
    printf("estimates %llu\n", (unsigned long long)c->n_estimates);
    printf("transfers %llu %llu\noperations %llu %llu\n",
           (unsigned long long)stream->accesses.n_transfers,
           (unsigned long long)stream->accesses.transferred_bytes,
           (unsigned long long)stream->accesses.n_operations,
           (unsigned long long)stream->accesses.operated_bytes);
    printf("steps %llu\nlost %llu\n", (unsigned long long)stream->n_steps,
           (unsigned long long)stream->n_lost);
    for (size_t i = 0; i < defs->n_metadata; i++)
        if (strcmp(defs->metadata[i].key, "Hostname") == 0)
            printf("host %u %s\n", defs->metadata[i].rank, defs->metadata[i].value);
    for (int i = 0; i < QUALITY_N; i++)
        if (stream->quality.n[i])
            printf("%s %llu\n", quality_name((enum quality_kind)i),
                   (unsigned long long)stream->quality.n[i]);
}

static void release(struct counts *c)
{
    for (size_t i = 0; i < c->n_places; i++) {
        callstack_free(c->place[i].stack);
        calls_release(c->place[i].calls);
        free(c->place[i].calls);
    }
    free(c->place);
    free(c->calls);
}

int main(int argc, char **argv)
{
    struct stream_opts opts = {
        .connect_ms = 30000, .silence_ms = 30000, .wants_counters = true};
    unsigned pause_ms = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    struct counts counts = {0};
    struct stream stream = {0};
    struct stream_part part;
    int state;

    log_set_level(LOG_WARN);
    state = argc > 1 ? stream_open(&stream, argv[1], &opts) : ERR_USAGE;

    while (state >= 0 && (state = stream_next(&stream, 1000)) > STREAM_OVER) {
        if (state != STREAM_STEP)
            continue;
        grow(&counts, stream.defs, &stream.quality);
        while (stream_part(&stream, &part))
            count_part(&counts, &stream, &part);
        count_calls(&counts);
        if (stream.n_steps == 1)
            fprintf(stderr,
                    "stream_counts: the first step is there\n"); /* who starts us may wait */
        usleep(1000 * pause_ms);
    }
    if (state < 0 || counts.n_broken)
        fprintf(stderr, "stream_counts: %s, %llu events out of order\n", err_message(),
                (unsigned long long)counts.n_broken);
    else
        print(&counts, &stream);
    stream_close(&stream);
    release(&counts);
    return state < 0 || counts.n_broken;
}

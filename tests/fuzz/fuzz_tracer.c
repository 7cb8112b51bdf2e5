/* What a process under the tracer sends through one connection. Whatever is taken, the times of
 * a location do not decrease, and refer to what there is. */
#include "fuzz.h"

#include "trace/tracer/tracer_frame.h"

#include <stdlib.h>

#define NOW_NS 1000000000000u

static void check_event(const struct tracer_run *run, const struct event_batch *batch, size_t i)
{
    const struct event *event = &batch->event[i];

    if (i > 0 && event->time_ns < batch->event[i - 1].time_ns)
        abort();
    if (event->kind <= EVENT_LEAVE && event->ref >= run->defs.names.n)
        abort();
    if (event->kind == EVENT_MESSAGE && (event->ref >= batch->n_messages ||
                                         batch->message[event->ref].comm >= run->defs.n_comms))
        abort();
    if (event->kind == EVENT_COLLECTIVE && event->ref >= batch->n_collectives)
        abort();
    if (event->kind == EVENT_COUNTER &&
        batch->counter[event->ref].counter >= run->defs.counters.n)
        abort();
}

static void check_run(struct tracer_run *run)
{
    size_t n = 0;

    for (uint32_t l = 0; l < run->defs.n_locations; l++) {
        struct tracer_location *location = &run->location[l];

        for (size_t i = 0; i < location->waiting.all.n; i++)
            check_event(run, &location->waiting.all, i);
        n += location->waiting.all.n;
        location->at = location->waiting.all.n / 2 + 1 < location->waiting.all.n
                           ? location->waiting.all.n / 2 + 1
                           : location->waiting.all.n;
        tracer_location_trim(location);
        for (size_t i = location->at; i < location->waiting.all.n; i++)
            check_event(run, &location->waiting.all, i);
    }
    if (n != run->n_waiting)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct quality quality = {0};
    struct tracer_run run = {.quality = &quality, .wants_counters = true};
    struct tracer_sender sender = {0};
    size_t at = 0, frame;

    while (tracer_frame_size(data + at, size - at, &frame) == 0 && frame > 0 &&
           frame <= size - at) {
        if (tracer_frame_take(&run, &sender, data + at, frame, NOW_NS) < 0)
            break;
        at += frame;
    }
    check_run(&run);
    tracer_sender_release(&sender);
    tracer_run_release(&run);
    return 0;
}

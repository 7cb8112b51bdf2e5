/*
 * What a process that reads TAU's steps may bring: blocks of a kind, each of a byte that says
 * which, two for its length, and so many more.
 */
#include "fuzz.h"

#include "trace/monotone.h"
#include "trace/source.h"
#include "trace/tau/tau_decoder.h"

#include <stdlib.h>
#include <string.h>

/* Rows lie at addresses that numbers may lie at, as they do in the shared memory. */
static void take_block(struct tau_decoder *d, uint32_t kind, const uint8_t *data, size_t n)
{
    void *copy = malloc(n + 1);

    memcpy(copy, data, n);
    tau_decoder_block(d, kind, copy, n);
    free(copy);
}

static void look_at_events(struct tau_decoder *d)
{
    for (uint32_t i = 0; i < d->location_id.n; i++) {
        struct event_batch *batch = &d->location[i].batch;

        monotone_repair(batch->event, batch->n, d->location[i].floor_ns);
        for (size_t k = 0; k < batch->n; k++)
            if (batch->event[k].kind <= EVENT_LEAVE && batch->event[k].ref != ANY_REGION &&
                batch->event[k].ref >= d->defs->names.n)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct definitions defs = {0};
    struct names programs = {0};
    struct quality quality = {0};
    struct tau_decoder d = {.defs = &defs,
                            .programs = &programs,
                            .quality = &quality,
                            .file_program = "",
                            .makes_locations = true,
                            .wants_counters = true};

    tau_decoder_init(&d);
    while (size >= 3) {
        size_t n = data[1] | (size_t)data[2] << 8;

        n = n < size - 3 ? n : size - 3;
        take_block(&d, data[0], data + 3, n);
        data += 3 + n;
        size -= 3 + n;
    }
    tau_decoder_finish(&d);
    look_at_events(&d);
    tau_decoder_release(&d);
    definitions_release(&defs);
    names_release(&programs);
    return 0;
}

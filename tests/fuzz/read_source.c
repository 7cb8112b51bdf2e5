/* Events go through the call stack too: it must take whatever order they come in. */
#include "read_source.h"

#include "stack/callstack.h"
#include "trace/source.h"

static void read_location(struct source_reader *reader, uint32_t location)
{
    struct callstack *stack = callstack_new();
    struct calls calls = {0};
    struct quality quality = {0};
    const struct event_batch *batch;

    callstack_begin(stack, &calls, &quality);
    if (source_reader_begin(reader, location, UINT64_MAX) == 0)
        while (source_reader_next(reader, &batch) > 0)
            callstack_push(stack, batch, 0, batch->n);
    callstack_end(stack);
    source_reader_end(reader, &quality);
    callstack_free(stack);
    calls_release(&calls);
}

void read_source(const char *path)
{
    struct source source = {0};
    struct source_reader *reader;

    if (source_open(&source, path) == 0 && (reader = source_reader_new(&source)) != NULL) {
        for (uint32_t l = 0; l < source.defs.n_locations; l++)
            read_location(reader, l);
        source_reader_free(reader);
    }
    source_close(&source);
}

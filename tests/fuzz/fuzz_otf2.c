/* The event file of a location, in chunks of 64 or 4,096 bytes. */
#include "fuzz.h"

#include "trace/otf2/otf2_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define N_REGIONS 40u
#define N_COMMS 2u
#define MAX_RECORDS 100u
#define N_NAMES 3u /* of counters, attributes and parameters */

/* What later stages rely on. */
static void check(const struct event_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        if (batch->event[i].kind <= EVENT_LEAVE && batch->event[i].ref > N_REGIONS)
            abort();
    for (size_t i = 0; i < batch->n_messages; i++)
        if (batch->message[i].comm >= N_COMMS)
            abort();
    for (size_t i = 0; i < batch->n_counters; i++)
        if (batch->counter[i].counter >= N_NAMES)
            abort();
    for (size_t i = 0; i < batch->n_arguments; i++) {
        const struct argument_value *v = &batch->argument[i];

        if (v->argument >= N_NAMES || v->kind >= N_ARGUMENT_KINDS ||
            (v->kind == ARGUMENT_TEXT && strlen(v->text) != 4))
            abort();
    }
}

/* There are no more events than bytes, and what is missing may be up to a chunk more. */
static void decode(struct otf2_file *file, struct otf2_events *events, size_t bytes)
{
    struct event_batch batch = {0};
    struct quality quality = {0};
    uint64_t n = 0;
    size_t got;

    do {
        batch.n = batch.n_messages = batch.n_collectives = batch.n_counters = 0;
        batch.n_arguments = batch.n_estimates = 0;
        otf2_events_into(events, &batch, MAX_RECORDS, &quality);
        got = otf2_decode(file, events);
        n += got;
        check(&batch);
    } while (got == MAX_RECORDS);
    if (n > bytes || file->n_lost > bytes + file->chunk_bytes)
        abort();
    event_batch_release(&batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct otf2_tables tables = {.undefined_region = N_REGIONS};
    struct otf2_member member[N_NAMES] = {{.scale = 1}, {1, true, 0.5}, {2, false, 1}};
    struct otf2_metric metric = {N_NAMES, member};
    const char *text[] = {"none", "some"};
    struct comm comm[N_COMMS] = {{.name = "a"}, {.name = "b"}};
    struct definitions defs = {.comm = comm, .n_comms = N_COMMS};
    struct otf2_file file = {.fd = -1};
    struct otf2_events events;
    char path[64];
    int fd = memfd_create("events", MFD_CLOEXEC);

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (size < 1 || fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
        goto out;
    for (uint32_t i = 0; i < N_REGIONS; i++)
        idtable_set(&tables.id.region, i, i);
    for (uint32_t i = 0; i < N_COMMS; i++)
        idtable_set(&tables.id.comm, i, i);
    for (uint32_t i = 0; i < N_NAMES; i++) {
        idtable_set(&tables.id.attribute, i, i);
        idtable_set(&tables.id.parameter, i, i);
        idtable_set(&tables.id.string, i, i % 2);
        idtable_set(&tables.id.metric, i, 0);
    }
    tables.has_arguments = data[0] & 4;
    tables.text = text;
    tables.metric = &metric;
    tables.n_metrics = 1;
    otf2_events_init(
        &events, &tables, &defs,
        &(struct source_opts){.wants_counters = data[0] & 2, .wants_arguments = data[0] & 4});
    if (otf2_file_open(&file, path, data[0] & 1 ? 64 : 4096) == 0)
        decode(&file, &events, size);
    otf2_file_release(&file);
    otf2_events_release(&events);
    otf2_ids_release(&tables.id);
out:
    close(fd);
    return 0;
}

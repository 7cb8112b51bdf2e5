/*
 * source_adios2 -- finished traces of TAU's ADIOS2 plugin: a BP3, BP4 or BP5 file, or a
 * directory with one per program and rank. For those that are still being written there is
 * stream_adios2.c.
 *
 * Ranks of several programs are numbered one after the other, in the order of the programs.
 *
 * A step holds events of any location, so what locations there are is known when all steps were
 * read, and by then all events are in memory (16 bytes each, the file has 48).
 */
#include "trace/source.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "trace/tau/adios2_reader.h"
#include "trace/tau/tau_decoder.h"
#include "trace/tau/tau_step.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_STRAY 2

struct adios2_source {
    struct names path;              /* of the files */
    struct names program;           /* "heat/0" */
    struct tau_decoder *decoder;    /* [path.n] */
    char (*file_program)[256];      /* [path.n] */
    struct idmap key;               /* group and id of locations, in the order of: */
    struct tau_location **location; /* [key.n] */
    size_t location_cap;
    uint32_t *rank_base; /* [program.n] what is added to the rank of a process */
};

/* --------------------------------------------------------------------------- reading a file */

/* How a file ended that did not end well; an error if nothing came of it. */
static int judge_end(struct source *source, const struct tau_decoder *d, const char *path,
                     int state)
{
    char why[400];

    snprintf(why, sizeof why, "%s", err_message());
    if (state < 0 && d->location_id.n == 0)
        return err_set(state, "%s", why);
    if (d->location_id.n == 0)
        return err_set(ERR_FORMAT, "cannot read '%s': %s", path, why);
    log_info("tau", "'%s': %s", path, why);
    if (state == WORKER_PROCESS_DIED)
        source->quality.n[QUALITY_reader_crash]++;
    else if (state == WORKER_PROCESS_HUNG)
        source->quality.n[QUALITY_reader_hang]++;
    else
        source->quality.n[QUALITY_broken_off]++;
    return 0;
}

static int read_file(struct source *source, struct tau_decoder *d, const char *path)
{
    struct adios2_reader reader = {.path = path};
    struct worker_process *worker_process = NULL;
    struct worker_process_block block;
    int state = worker_process_open(&worker_process, adios2_reader_run, &reader,
                                    tau_files_patience(), NULL);
    int rc = 0;

    while (state == WORKER_PROCESS_IDLE || state == WORKER_PROCESS_BLOCK) {
        state = worker_process_receive(worker_process, 1000, &block);
        if (state != WORKER_PROCESS_BLOCK)
            continue;
        if (block.kind == TAU_BROKEN) {
            log_info("tau", "'%s': %.300s", path, (const char *)block.data);
            source->quality.n[QUALITY_broken_off]++;
        }
        tau_decoder_block(d, block.kind, block.data, block.bytes);
    }
    tau_decoder_finish(d);
    if (state != WORKER_PROCESS_OVER)
        rc = judge_end(source, d, path, state);
    worker_process_close(worker_process);
    return rc;
}

/* All files; one that cannot be read at all is missing, unless it is the only one. */
static int read_files(struct source *source)
{
    struct adios2_source *a = source->impl;
    uint32_t n_bad = 0;
    int rc = 0;

    for (uint32_t i = 0; i < a->path.n; i++) {
        struct tau_decoder *d = &a->decoder[i];
        int bad;

        tau_files_program(a->path.name[i], a->file_program[i], sizeof a->file_program[i]);
        d->defs = &source->defs;
        d->programs = &a->program;
        d->quality = &source->quality;
        d->file_program = a->file_program[i];
        d->wants_counters = true;
        tau_decoder_init(d);
        bad = read_file(source, d, a->path.name[i]);
        n_bad += bad < 0;
        rc = bad < 0 ? bad : rc;
    }
    if (n_bad == a->path.n)
        return rc;
    source->quality.n[QUALITY_missing_file] += n_bad;
    return 0;
}

/* --------------------------------------------------------------------- making the locations */

/*
 * A stray row whose rank or thread is wrong looks like a thread of its own: one that calls
 * nothing, but sends, or of which there is next to nothing.
 */
static bool is_stray(const struct tau_location *location)
{
    return location->n_events == 0 &&
           (location->batch.n_messages > 0 || location->batch.n <= MAX_STRAY);
}

/* Ranks of a program come after those of the programs before. */
static void number_ranks(struct adios2_source *a, struct definitions *defs)
{
    uint32_t *n_ranks = mem_alloc(a->program.n, sizeof *n_ranks), base = 0;

    a->rank_base = mem_alloc(a->program.n, sizeof *a->rank_base);
    for (uint32_t i = 0; i < a->path.n; i++)
        for (uint32_t l = 0; l < a->decoder[i].location_id.n; l++) {
            const struct tau_location *location = &a->decoder[i].location[l];

            if (!is_stray(location) && location->rank >= n_ranks[location->program])
                n_ranks[location->program] = location->rank + 1;
        }
    for (uint32_t p = 0; p < a->program.n; p++) {
        uint32_t comm = definitions_comm(defs, "MPI_COMM_WORLD", n_ranks[p]);

        a->rank_base[p] = base;
        for (uint32_t r = 0; r < n_ranks[p]; r++)
            defs->comm[comm].member[r] = base + r;
        base += n_ranks[p];
    }
    free(n_ranks);
}

static const char *name_of(const struct tau_location *location, char name[64])
{
    if (location->is_gpu)
        snprintf(name, 64, "GPU %u, context %u, stream %u", location->gpu_device,
                 location->gpu_context, location->gpu_stream);
    else if (location->thread == 0)
        return "Master thread";
    else
        snprintf(name, 64, "Thread %u", location->thread);
    return name;
}

/* The same thread may be in two files; then these are two. */
static uint64_t new_id(struct adios2_source *a, uint64_t group, struct tau_location *location)
{
    uint64_t id = location->thread;

    while (idmap_find(&a->key, key_pair(group, id)) != IDMAP_NONE)
        id += (uint64_t)1 << 32;
    idmap_add(&a->key, key_pair(group, id));
    mem_grow(&a->location, &a->location_cap, a->key.n);
    a->location[a->key.n - 1] = location;
    return id;
}

static void define_location(struct adios2_source *a, struct definitions *defs,
                            struct tau_location *location)
{
    uint64_t group = (uint64_t)location->program << 32 | location->rank;
    struct location *defined;
    char name[64];

    defined =
        definitions_location(defs, new_id(a, group, location), name_of(location, name), group);
    defined->n_events_said = location->batch.n;
    defined->program = location->program;
    defined->is_gpu = location->is_gpu;
    defined->gpu_device = location->gpu_device;
    defined->gpu_context = location->gpu_context;
    defined->gpu_stream = location->gpu_stream;
}

static void make_locations(struct source *source)
{
    struct adios2_source *a = source->impl;
    struct definitions *defs = &source->defs;
    struct process_rank *known;

    number_ranks(a, defs);
    for (uint32_t i = 0; i < a->path.n; i++)
        for (uint32_t l = 0; l < a->decoder[i].location_id.n; l++) {
            struct tau_location *location = &a->decoder[i].location[l];

            if (is_stray(location)) {
                source->quality.n[QUALITY_bad_record] += location->batch.n;
                continue;
            }
            define_location(a, defs, location);
            for (size_t m = 0; m < location->batch.n_messages; m++)
                location->batch.message[m].peer += a->rank_base[location->program];
        }
    known = mem_alloc(a->key.n, sizeof *known);
    for (uint32_t i = 0; i < a->key.n; i++)
        known[i] = (struct process_rank){
            a->key.key[i].high, a->rank_base[a->location[i]->program] + a->location[i]->rank};
    definitions_finish(defs, known, a->key.n);
    free(known);
    for (size_t i = 0; i < defs->n_metadata; i++)
        defs->metadata[i].rank += a->rank_base[defs->metadata[i].program];
}

/* ------------------------------------------------------------------------------ the source */

static bool accepts(const char *path)
{
    struct names found = {0};
    size_t n = tau_files_find(tau_files_path(path), &found);

    names_release(&found);
    return n > 0 || tau_files_path(path) != path;
}

static int open_adios2(struct source *source, const char *url)
{
    const char *path = tau_files_path(url);
    struct adios2_source *a = mem_alloc(1, sizeof *a);
    int rc;

    source->impl = a;
    if (tau_files_find(path, &a->path) == 0)
        return err_set(ERR_NOT_FOUND, "no file of TAU (tau-metrics-*.bp) in '%s'", path);
    rc = adios2_reader_check(path);
    if (rc < 0)
        return rc;
    a->decoder = mem_alloc(a->path.n, sizeof *a->decoder);
    a->file_program = mem_alloc(a->path.n, sizeof *a->file_program);
    rc = read_files(source);
    if (rc == 0)
        make_locations(source);
    return rc;
}

static void close_adios2(struct source *source)
{
    struct adios2_source *a = source->impl;

    for (uint32_t i = 0; a->decoder && i < a->path.n; i++)
        tau_decoder_release(&a->decoder[i]);
    free(a->decoder);
    free(a->file_program);
    free(a->location);
    free(a->rank_base);
    idmap_release(&a->key);
    names_release(&a->path);
    names_release(&a->program);
    free(a);
}

struct adios2_cursor {
    const struct source *source;
    const struct event_batch *all; /* of the location */
    size_t at;
};

static void *reader_new(struct source *source)
{
    struct adios2_cursor *cursor = mem_alloc(1, sizeof *cursor);

    cursor->source = source;
    return cursor;
}

static int begin(void *impl, uint32_t location, struct quality *quality)
{
    struct adios2_cursor *cursor = impl;
    const struct adios2_source *a = cursor->source->impl;
    const struct location *l = &cursor->source->defs.location[location];

    (void)quality;
    cursor->all = &a->location[idmap_find(&a->key, key_pair(l->group, l->id))]->batch;
    cursor->at = 0;
    return 0;
}

static size_t next(void *impl, struct event_batch *batch, size_t most, struct quality *quality)
{
    struct adios2_cursor *cursor = impl;
    const struct event_batch *all = cursor->all;
    size_t n = all->n - cursor->at < most ? all->n - cursor->at : most;

    (void)quality;
    for (size_t i = 0; i < n; i++) {
        const struct event *event = &all->event[cursor->at++];

        if (event->kind == EVENT_MESSAGE)
            *event_batch_message(batch, event->time_ns) = all->message[event->ref];
        else if (event->kind != EVENT_COUNTER)
            batch->event[batch->n++] = *event;
        else if (cursor->source->opts.wants_counters)
            *event_batch_counter(batch, event->time_ns) = all->counter[event->ref];
    }
    return n;
}

static void end(void *impl, struct quality *quality)
{
    (void)impl, (void)quality;
}

const struct source_ops source_adios2_ops = {
    .name = "adios2",
    .what = "TAU's tau-metrics-*.bp (ADIOS2: BP3, BP4, BP5): a file or the directory of all",
    .accepts = accepts,
    .open = open_adios2,
    .close = close_adios2,
    .reader_new = reader_new,
    .reader_free = free,
    .begin = begin,
    .next = next,
    .end = end,
};

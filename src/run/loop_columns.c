/*
 * The old files stay mapped while new ones of the same names are written: columns_create makes
 * new files and does not write into those that are there.
 */
#include "run/loop_columns.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sequence.h"
#include "run/columns.h"
#include "run/columns_writer.h"
#include "stack/calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct loop_worker {
    bool is_ready;
    struct calls calls[2]; /* before and after a loop is inserted */
    struct profiled_columns out;
};

struct loop_columns_job {
    const struct definitions *defs;
    const uint32_t *region; /* [n] */
    uint32_t n;
    struct ingested *ingested;
    struct columns old;
    struct columns_writer *writer;
    struct loop_worker *worker; /* [pool_threads] */
    struct sequence sequence;
    struct column_offsets next; /* the next location's, for whose turn it is */
    atomic_ullong n_crossing;   /* iterations that cross those of another loop */
    atomic_int rc;
};

/* A copy of what the loop has on this location, in rows that other loops have moved. */
static struct insertion insertion_of(const struct loop_columns_job *job, uint32_t loop,
                                     uint32_t location, const struct insertion *before,
                                     uint32_t n_before)
{
    const struct loop *found = loops_of_region(&job->ingested->loops, job->region[loop]);
    const struct insertion *part = &found->part[location].calls;
    struct insertion insert = *part;

    insert.region = job->region[loop];
    insert.begin = mem_alloc(part->n, sizeof *insert.begin);
    insert.end = mem_alloc(part->n, sizeof *insert.end);
    for (uint32_t i = 0; i < part->n; i++) {
        insert.begin[i] = part->begin[i];
        insert.end[i] = part->end[i] - 1;
        for (uint32_t k = 0; k < n_before; k++) {
            insert.begin[i] = calls_moved(&before[k], insert.begin[i]);
            insert.end[i] = calls_moved(&before[k], insert.end[i]);
        }
        insert.end[i]++;
    }
    return insert;
}

static void move_traffic(struct loop_columns_job *job, uint32_t location,
                         const struct insertion *insert)
{
    struct traffic *t = &job->ingested->traffic;

    for (size_t i = t->first_message[location]; i < t->first_message[location + 1]; i++)
        t->message[i].call = calls_moved(insert, t->message[i].call);
    for (size_t i = t->first_collective[location]; i < t->first_collective[location + 1]; i++)
        t->collective[i].call = calls_moved(insert, t->collective[i].call);
    for (size_t i = t->first_span[location]; i < t->first_span[location + 1]; i++) {
        struct team_span *span = &t->span[i];
        uint32_t end = span->first_row + span->n_rows;

        span->call = calls_moved(insert, span->call);
        span->first_row = calls_moved(insert, span->first_row);
        if (span->n_rows > 0)
            span->n_rows = calls_moved(insert, end - 1) + 1 - span->first_row;
    }
    for (size_t i = t->first_barrier[location]; i < t->first_barrier[location + 1]; i++)
        t->barrier[i] = calls_moved(insert, t->barrier[i]);
}

/* The innermost call that is open at the end, or NO_CALL. */
static uint32_t innermost_open(const struct call_view *calls, uint32_t n_open)
{
    uint32_t row = calls->n - 1;

    if (n_open == 0 || calls->n == 0)
        return NO_CALL;
    while (calls->depth[row] >= n_open)
        row--;
    return row;
}

/* Inserts all loops of a location, one after the other. Returns where the calls are then. */
static struct calls *insert_loops(struct loop_columns_job *job, struct loop_worker *w,
                                  uint32_t location)
{
    struct insertion *insert = mem_alloc(job->n, sizeof *insert);
    struct call_view from = columns_view(&job->old, location);
    struct calls *calls = &w->calls[0];
    uint32_t n, open = innermost_open(&from, (uint32_t)job->old.range[location].n_open);

    for (uint32_t k = 0; k < job->n; k++) {
        calls = &w->calls[k % 2];
        insert[k] = insertion_of(job, k, location, insert, k);
        n = insert[k].n;
        calls_insert(&from, &insert[k], calls);
        atomic_fetch_add(&job->n_crossing, n - insert[k].n);
        move_traffic(job, location, &insert[k]);
        open = calls_moved(&insert[k], open);
        from = calls_view(calls);
    }
    calls->first_ns = job->ingested->location[location].first_ns;
    calls->last_ns = job->ingested->location[location].last_ns;
    calls->n_open = open == NO_CALL ? 0 : (uint32_t)calls->depth[open] + 1;
    for (uint32_t k = 0; k < job->n; k++) {
        free(insert[k].begin);
        free(insert[k].end);
    }
    free(insert);
    return calls;
}

/* Messages, collectives and spans keep their places in their files: only their numbers count
 * here. */
static void place(struct loop_columns_job *job, uint32_t location, struct calls *calls)
{
    const struct traffic *t = &job->ingested->traffic;

    calls->n_messages = t->first_message[location + 1] - t->first_message[location];
    calls->n_collectives = t->first_collective[location + 1] - t->first_collective[location];
    calls->n_spans = t->first_span[location + 1] - t->first_span[location];
    calls->n_barriers = t->first_barrier[location + 1] - t->first_barrier[location];
    columns_place(job->writer, location, calls, &job->next);
    calls->n_messages = calls->n_collectives = calls->n_spans = calls->n_barriers = 0;
}

static void take_location(struct loop_columns_job *job, struct loop_worker *w,
                          uint32_t location)
{
    struct ingested_location *into = &job->ingested->location[location];
    struct calls *calls;
    int rc;

    if (!w->is_ready)
        profiled_columns_init(&w->out, job->defs->names.n, job->ingested->paged);
    w->calls[0].paged = w->calls[1].paged = job->ingested->paged;
    w->is_ready = true;
    calls = insert_loops(job, w, location);
    into->n_calls = calls->n;
    into->root_ns = 0;
    for (uint32_t i = 0; i < calls->n; i += calls->subtree_len[i])
        into->root_ns += calls->inclusive_ns[i];
    sequence_wait(&job->sequence, location);
    place(job, location, calls);
    sequence_next(&job->sequence);
    rc = profiled_columns_take(&w->out, job->writer, location, calls, job->defs);
    if (rc < 0)
        atomic_store(&job->rc, rc);
    columns_drop(&job->old);
}

static void take_locations(void *ctx, size_t begin, size_t end, unsigned index)
{
    struct loop_columns_job *job = ctx;

    for (size_t l = begin; l < end; l++)
        take_location(job, &job->worker[index], (uint32_t)l);
}

static void merge_profiles(struct loop_columns_job *job, unsigned n_threads)
{
    struct profile *profile = &job->ingested->profile;

    memset(profile->row, 0, profile->n_regions * sizeof *profile->row);
    for (unsigned i = 0; i < n_threads; i++)
        if (job->worker[i].is_ready)
            profile_merge(profile, &job->worker[i].out.total);
    job->ingested->n_calls = 0;
    for (uint32_t l = 0; l < job->defs->n_locations; l++)
        job->ingested->n_calls += job->ingested->location[l].n_calls;
}

static int write_columns(struct loop_columns_job *job, struct pool *pool)
{
    unsigned n_threads = pool_threads(pool);
    int rc;

    job->worker = mem_alloc(n_threads, sizeof *job->worker);
    sequence_init(&job->sequence);
    pool_for(pool, job->defs->n_locations, 1, take_locations, job);
    rc = atomic_load(&job->rc);
    if (rc < 0)
        rc = err_set(rc, "cannot write the calls with the loops in them");
    else
        rc = columns_finish(job->writer, &job->ingested->traffic, job->defs);
    if (atomic_load(&job->n_crossing) > 0)
        log_warn("analyze", "%llu iterations are left out, as they cross those of another loop",
                 atomic_load(&job->n_crossing));
    merge_profiles(job, n_threads);
    for (unsigned i = 0; i < n_threads; i++) {
        profiled_columns_release(&job->worker[i].out);
        calls_release(&job->worker[i].calls[0]);
        calls_release(&job->worker[i].calls[1]);
    }
    sequence_release(&job->sequence);
    free(job->worker);
    return rc;
}

int loop_columns_write(const char *dir, const struct definitions *defs, struct pool *pool,
                       const uint32_t *region, uint32_t n, struct ingested *ingested)
{
    struct loop_columns_job job = {
        .defs = defs, .region = region, .n = n, .ingested = ingested};
    int rc;

    if (n == 0) {
        /* No loop was chosen: none is called. */
        for (uint32_t i = 0; i < ingested->loops.n; i++)
            ingested->profile.row[ingested->loops.loop[i].region] = (struct profile_row){0};
        return 0;
    }
    rc = columns_open(&job.old, dir);
    if (rc == 0) {
        job.writer = columns_create(dir, defs->n_locations);
        rc = job.writer ? write_columns(&job, pool) : ERR_IO;
    }
    columns_free(job.writer);
    columns_close(&job.old);
    return rc;
}

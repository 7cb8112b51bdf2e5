/*
 *     thread:  read events -> calls -> loops -> [its turn: place] -> profile and write, by
 * block
 *
 * Only the part in brackets is in order; it is short. A thread sums up the profiles of its
 * locations; these sums are added in the end, which is exact in any order. When all locations
 * are in, messages are matched and clocks compared; where they disagree the times on disk are
 * moved, which costs another pass over one column, and only then.
 */
#include "run/ingest.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/sequence.h"
#include "run/columns.h"
#include "run/profiled_columns.h"
#include "stack/callstack.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ANNOUNCED 4194304u /* calls that room is made for before any was seen */

/* What one thread needs. */
struct ingest_worker {
    struct source_reader *reader;
    struct callstack *stack;
    struct calls calls;
    struct profiled_columns out;
};

struct job {
    struct source *source;
    const struct ingest_opts *opts;
    struct ingested *out;
    struct columns_writer *writer;
    struct ingest_worker *worker; /* [pool_threads] */
    struct sequence sequence;
    struct progress progress;
    struct loops_found *found; /* [n_locations] */
    atomic_bool is_failed;     /* no use going on */
    struct failure {
        int rc;
        char *message;
    } * failure; /* [n_locations] */
};

static void worker_release(struct ingest_worker *w)
{
    source_reader_free(w->reader);
    callstack_free(w->stack);
    calls_release(&w->calls);
    profiled_columns_release(&w->out);
}

static int worker_init(struct ingest_worker *w, struct source *source)
{
    w->reader = source_reader_new(source);
    if (w->reader == NULL)
        return ERR_IO;
    w->stack = callstack_new();
    profiled_columns_init(&w->out, source->defs.names.n);
    return 0;
}

/* Room for the calls that the trace announces, within reason: growing costs copies. */
static void make_room(struct ingest_worker *w, const struct location *location)
{
    uint64_t n = location->n_events_said / 2;

    calls_reserve(&w->calls, n < MOST_ANNOUNCED ? n : MOST_ANNOUNCED);
}

static void read_events(struct job *job, struct ingest_worker *w, unsigned index, uint32_t l)
{
    struct ingested_location *location = &job->out->location[l];
    const struct event_batch *batch;
    uint64_t before = 0;

    callstack_begin(w->stack, &w->calls, &location->quality);
    while (source_reader_next(w->reader, &batch) > 0) {
        uint64_t now = source_reader_position(w->reader);

        callstack_push(w->stack, batch, 0, batch->n);
        guard_at(job->opts->guard, index, now);
        progress_add(&job->progress, now - before);
        before = now;
    }
    callstack_end(w->stack);
    location->n_records = source_reader_position(w->reader);
}

/* Reads location l as far as it goes; a bad one as far as it did go. */
static void read_location(struct job *job, struct ingest_worker *w, unsigned index, uint32_t l)
{
    struct ingested_location *location = &job->out->location[l];
    struct guard *guard = job->opts->guard;
    const struct guard_bad *bad = guard_find(guard, l);

    if (bad)
        location->quality.n[bad->signal ? QUALITY_reader_crash : QUALITY_reader_hang]++;
    if (bad && bad->n_good == 0)
        return;
    make_room(w, &job->source->defs.location[l]);
    guard_begin(guard, index, l);
    if (source_reader_begin(w->reader, l, guard_limit(guard, l)) == 0)
        read_events(job, w, index, l);
    source_reader_end(w->reader, &location->quality);
    guard_end(guard, index);
}

static void summarize(struct ingested_location *location, const struct calls *calls)
{
    location->n_calls = calls->n;
    location->first_ns = calls->first_ns;
    location->last_ns = calls->last_ns;
    location->n_collectives = calls->n_collectives;
    for (size_t i = 0; i < calls->n_messages; i++)
        *(calls->message[i].kind == MESSAGE_SEND ? &location->n_sends : &location->n_recvs) +=
            1;
    for (uint32_t i = 0; i < calls->n; i += calls->subtree_len[i])
        location->root_ns += calls->inclusive_ns[i];
}

static void fail_location(struct job *job, uint32_t l, int rc)
{
    job->failure[l] = (struct failure){rc, mem_copy_string(err_message())};
    atomic_store(&job->is_failed, true);
}

static void take_location(struct job *job, struct ingest_worker *w, unsigned index, uint32_t l)
{
    int rc = w->reader ? 0 : worker_init(w, job->source);
    struct call_view view;

    calls_clear(&w->calls);
    if (rc == 0 && !atomic_load(&job->is_failed)) {
        read_location(job, w, index, l);
        summarize(&job->out->location[l], &w->calls);
        view = calls_view(&w->calls);
        loops_find(&view, &job->source->defs, &job->found[l]);
    }

    sequence_wait(&job->sequence, l);
    traffic_append(&job->out->traffic, l, &w->calls);
    if (job->writer)
        columns_place(job->writer, l, &w->calls);
    sequence_next(&job->sequence);

    if (rc == 0 && !atomic_load(&job->is_failed))
        rc = profiled_columns_take(&w->out, job->writer, l, &w->calls, &job->source->defs);
    if (rc < 0)
        fail_location(job, l, rc);
}

static void take_locations(void *ctx, size_t begin, size_t end, unsigned index)
{
    struct job *job = ctx;

    for (size_t l = begin; l < end; l++)
        take_location(job, &job->worker[index], index, (uint32_t)l);
}

/* ------------------------------------------------------------- when all locations are in */

static void fix_traffic(struct traffic *t, const struct definitions *defs,
                        const struct clock_fix *fix)
{
    for (uint32_t l = 0; l < t->n_locations; l++) {
        const struct clock_fix *f = &fix[defs->location[l].rank];

        for (size_t i = t->first_message[l]; i < t->first_message[l + 1]; i++) {
            t->message[i].begin_ns = clock_fixed(f, t->message[i].begin_ns);
            t->message[i].end_ns = clock_fixed(f, t->message[i].end_ns);
        }
        for (size_t i = t->first_collective[l]; i < t->first_collective[l + 1]; i++) {
            t->collective[i].begin_ns = clock_fixed(f, t->collective[i].begin_ns);
            t->collective[i].end_ns = clock_fixed(f, t->collective[i].end_ns);
        }
    }
}

/* The start of the trace is wrong when something comes before it, or all comes long after. */
static int64_t shift_to_start(const struct ingested *out)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (uint32_t l = 0; l < out->n_locations; l++) {
        const struct ingested_location *location = &out->location[l];

        if (location->first_ns == UINT64_MAX && location->last_ns == 0)
            continue; /* no events */
        if ((int64_t)location->first_ns < first)
            first = (int64_t)location->first_ns;
        if ((int64_t)location->last_ns > last)
            last = (int64_t)location->last_ns;
    }
    if (first == INT64_MAX || (first >= 0 && first <= last - first))
        return 0;
    return -first;
}

/* Applies the corrections to everything that holds times. */
static int move_times(struct job *job)
{
    struct ingested *out = job->out;
    const struct definitions *defs = &job->source->defs;
    int rc = 0;

    fix_traffic(&out->traffic, defs, out->fix);
    for (uint32_t l = 0; rc == 0 && l < out->n_locations; l++) {
        struct ingested_location *location = &out->location[l];
        const struct clock_fix *fix = &out->fix[defs->location[l].rank];
        bool is_empty = location->first_ns == UINT64_MAX && location->last_ns == 0;

        if (is_empty || (fix->offset_ns == 0 && fix->drift == 0))
            continue;
        location->first_ns = clock_fixed(fix, location->first_ns);
        location->last_ns = clock_fixed(fix, location->last_ns);
        if (job->writer && location->n_calls > 0)
            rc = columns_shift(job->writer, l, fix->offset_ns, fix->drift);
    }
    return rc;
}

/* Counts where the clocks of two ranks disagree although they were corrected. */
static void count_disorder(struct ingested *out, const struct definitions *defs)
{
    const struct traffic *t = &out->traffic;

    for (uint32_t l = 0; l < t->n_locations; l++)
        for (size_t i = t->first_message[l]; i < t->first_message[l + 1]; i++) {
            const struct message *m = &t->message[i];

            if (m->kind == MESSAGE_RECV && m->match != MESSAGE_UNMATCHED &&
                m->end_ns < t->message[m->match].begin_ns)
                out->location[l].quality.n[QUALITY_recv_before_send]++;
        }
    out->quality.n[QUALITY_collective_order] += out->clock.n_wrong_collectives;
    for (uint32_t r = 0; r < defs->n_ranks; r++)
        if (out->fix[r].offset_ns != 0 || out->fix[r].drift != 0)
            out->quality.n[QUALITY_clock_shifted]++;
}

static int settle_clocks(struct job *job)
{
    struct ingested *out = job->out;
    const struct definitions *defs = &job->source->defs;
    struct quality *quality = mem_alloc(out->n_locations, sizeof *quality);
    int rc = 0;

    traffic_match(&out->traffic, defs, quality);
    for (uint32_t l = 0; l < out->n_locations; l++)
        quality_add(&out->location[l].quality, &quality[l]);
    free(quality);
    clock_estimate(&out->traffic, defs, out->fix, &out->clock);
    if (out->clock.n_shifted > 0)
        rc = move_times(job);
    count_disorder(out, defs);
    out->shift_ns = shift_to_start(out);
    if (rc == 0 && out->shift_ns != 0) {
        struct clock_fix *estimated = out->fix;

        out->fix = mem_alloc(defs->n_ranks, sizeof *out->fix);
        for (uint32_t r = 0; r < defs->n_ranks; r++)
            out->fix[r].offset_ns = out->shift_ns;
        rc = move_times(job);
        free(out->fix);
        out->fix = estimated;
    }
    return rc;
}

static void sum_up(struct ingested *out, const struct quality *definitions)
{
    out->begin_ns = UINT64_MAX;
    quality_add(&out->quality, definitions);
    for (uint32_t l = 0; l < out->n_locations; l++) {
        const struct ingested_location *location = &out->location[l];

        quality_add(&out->quality, &location->quality);
        out->n_calls += location->n_calls;
        out->n_records += location->n_records;
        out->n_sends += location->n_sends;
        out->n_recvs += location->n_recvs;
        if (location->first_ns > location->last_ns)
            continue;
        if (location->first_ns < out->begin_ns)
            out->begin_ns = location->first_ns;
        if (location->last_ns > out->end_ns)
            out->end_ns = location->last_ns;
    }
    if (out->begin_ns > out->end_ns)
        out->begin_ns = out->end_ns = 0;
}

static int first_failure(const struct job *job)
{
    for (uint32_t l = 0; l < job->out->n_locations; l++)
        if (job->failure[l].rc < 0)
            return err_set(job->failure[l].rc, "%s", job->failure[l].message);
    return 0;
}

static uint64_t announced_events(const struct definitions *defs)
{
    uint64_t sum = 0;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        sum += defs->location[l].n_events_said;
    return sum;
}

static void out_init(struct ingested *out, const struct definitions *defs)
{
    *out = (struct ingested){.n_locations = defs->n_locations};
    out->location = mem_alloc(defs->n_locations, sizeof *out->location);
    out->fix = mem_alloc(defs->n_ranks, sizeof *out->fix);
    profile_init(&out->profile, defs->names.n);
    traffic_init(&out->traffic, defs->n_locations);
}

int ingest(struct source *source, const struct ingest_opts *opts, struct ingested *out)
{
    const struct definitions *defs = &source->defs;
    unsigned n_threads = pool_threads(opts->pool);
    struct job job = {.source = source, .opts = opts, .out = out};
    int rc = 0;

    out_init(out, defs);
    job.worker = mem_alloc(n_threads, sizeof *job.worker);
    job.failure = mem_alloc(defs->n_locations, sizeof *job.failure);
    job.found = mem_alloc(defs->n_locations, sizeof *job.found);
    sequence_init(&job.sequence);
    if (opts->dir) {
        job.writer = columns_create(opts->dir, defs->n_locations);
        if (job.writer == NULL) {
            rc = ERR_IO;
            goto out;
        }
    }
    progress_begin(&job.progress, "reading", "events", announced_events(defs));
    pool_for(opts->pool, defs->n_locations, 1, take_locations, &job);
    progress_end(&job.progress);
    for (unsigned i = 0; i < n_threads; i++)
        if (job.worker[i].reader)
            profile_merge(&out->profile, &job.worker[i].out.total);
    rc = first_failure(&job);
    if (rc == 0)
        rc = settle_clocks(&job);
    if (rc == 0 && job.writer)
        rc = columns_finish(job.writer, &out->traffic);
    if (rc == 0) {
        sum_up(out, &source->quality);
        loops_agree(job.found, out->fix, &source->defs, &out->profile, &out->loops);
    }
out:
    columns_free(job.writer);
    for (unsigned i = 0; i < n_threads; i++)
        worker_release(&job.worker[i]);
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        free(job.failure[l].message);
        loops_found_release(&job.found[l]);
    }
    free(job.found);
    free(job.failure);
    free(job.worker);
    sequence_release(&job.sequence);
    return rc;
}

void ingested_release(struct ingested *ingested)
{
    free(ingested->location);
    free(ingested->fix);
    profile_release(&ingested->profile);
    traffic_release(&ingested->traffic);
    loops_release(&ingested->loops);
    *ingested = (struct ingested){0};
}

uint64_t ingested_time_ns(const struct ingested *ingested)
{
    uint64_t sum = 0;

    for (uint32_t l = 0; l < ingested->n_locations; l++) {
        const struct ingested_location *at = &ingested->location[l];

        if (at->n_calls > 0)
            sum += at->last_ns - at->first_ns;
    }
    return sum;
}

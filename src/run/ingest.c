/*
 *     thread:  read events -> calls -> loops -> [its turn: place] -> profile and write, by block
 *
 * Only the part in brackets is in order; it is short. A thread sums up the profiles of its
 * locations; these sums are added in the end, which is exact in any order. When all locations
 * are in, messages are matched and clocks compared; where they disagree the times on disk are
 * moved, which costs another pass over one column, and only then.
 *
 * Several processes (base/process_group.h) read a trace like this: a location goes to the
 * process that has least to read so far, in the order of locations, by the number of events
 * that the trace announces. So each process reads in ascending order and at any time all are at
 * about the same location. That matters as a location gets its place in the files when all
 * before it have theirs: the place of the next one is handed from process to process, 48 bytes
 * for a location, and who waits for it holds no more than the location in hand.
 *
 *     process 0   read 0 .. write 0   read 2 ...... [place] write 2
 *                       \ place                    /         \ place
 *     process 1   read 1 .. [place] write 1 ------            read 3 ...
 *
 * The columns are written by all, each to its own rows, which no other process writes. What is
 * needed together, messages, collectives and spans of teams, goes to number 0: 4 to 56 bytes
 * each. Structures go as they are in memory: all processes are the same program.
 */
#include "run/ingest.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/sequence.h"
#include "forest/traffic.h"
#include "run/columns.h"
#include "run/columns_writer.h"
#include "stack/calls.h"
#include "stack/callstack.h"
#include "trace/error_bounds.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Who reads what. */
struct deal {
    unsigned *owner; /* [n_locations] process */
    uint32_t *mine;  /* [n_mine] locations of this one, ascending */
    uint32_t n_mine, n_locations;
};

/* What a process has of its own locations, number 0 in the end of all. */
struct ingest_share {
    const struct deal *deal;
    struct ingested *ingested;     /* location, profile and traffic */
    struct loops_found *found;     /* [n_locations] */
    struct columns_writer *writer; /* or NULL */
};

/* ----------------------------------------------------------------------------- who, what */

/* The same on all processes. process group may be NULL. O(locations x processes). */
static void deal_init(struct deal *deal, const struct process_group *process_group,
                      const struct definitions *defs)
{
    unsigned size = process_group_size(process_group);
    uint64_t *load = mem_alloc(size, sizeof *load); /* events */

    *deal = (struct deal){.n_locations = defs->n_locations};
    deal->owner = mem_alloc(defs->n_locations, sizeof *deal->owner);
    deal->mine = mem_alloc(defs->n_locations, sizeof *deal->mine);
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        unsigned p = 0; /* with least to read */

        for (unsigned k = 1; k < size; k++)
            p = load[k] < load[p] ? k : p;
        load[p] += defs->location[l].n_events_said + 1; /* which may not be known */
        deal->owner[l] = p;
        if (p == process_group_me(process_group))
            deal->mine[deal->n_mine++] = l;
    }
    free(load);
}

/* Whether all have read the same ones. Returns 0 or ERR_FORMAT. All
 * must call it. */
static int ingest_check_definitions(struct process_group *process_group,
                                    const struct definitions *defs)
{
    struct checksum sum;
    uint64_t own, first;

    if (process_group == NULL)
        return 0;
    checksum_begin(&sum);
    for (uint32_t r = 0; r < defs->names.n; r++)
        checksum_add(&sum, defs->names.name[r], strlen(defs->names.name[r]) + 1);
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        checksum_add(&sum, &defs->location[l].id, sizeof defs->location[l].id);
        checksum_add(&sum, &defs->location[l].n_events_said,
                     sizeof defs->location[l].n_events_said);
    }
    own = first = checksum_end(&sum);
    process_group_broadcast(process_group, &first, sizeof first);
    return process_group_agree(
        process_group, own == first
                           ? 0
                           : err_set(ERR_FORMAT, "sees another trace than process 0: is "
                                                 "its path the same on all nodes?"));
}

/* ---------------------------------------------------------------------------------- turns */

/* ------------------------------------------------------------------------------ gathering */

/* What has a size that number 0 does not know yet. */
static void pack_share(const struct ingest_share *share, struct pack *pack)
{
    const struct ingested *own = share->ingested;

    pack_array(pack, own->profile.row, own->profile.n_regions, sizeof *own->profile.row);
    for (uint32_t i = 0; i < share->deal->n_mine; i++) {
        uint32_t l = share->deal->mine[i];
        struct traffic_count count = traffic_count(&own->traffic, l);

        pack_bytes(pack, &own->location[l], sizeof own->location[l]);
        pack_bytes(pack, &count, sizeof count);
        loops_found_pack(&share->found[l], pack);
        if (share->writer)
            columns_pack_location(share->writer, l, pack);
    }
}

/* One object of a size that is known. */
static void unpack_into(struct pack *pack, void *to, size_t width)
{
    const void *at = unpack_bytes(pack, width);

    if (at)
        memcpy(to, at, width);
}

static int unpack_location(struct ingest_share *share, struct pack *pack, uint32_t l,
                           struct traffic_count *count)
{
    struct ingested *all = share->ingested;
    int rc;

    unpack_into(pack, &all->location[l], sizeof all->location[l]);
    unpack_into(pack, count, sizeof *count);
    rc = loops_found_unpack(&share->found[l], pack);
    if (rc == 0 && share->writer)
        rc = columns_adopt(share->writer, l, pack);
    return rc;
}

static int unpack_share(struct ingest_share *share, struct pack *pack, unsigned process,
                        struct traffic_count *count)
{
    struct ingested *all = share->ingested;
    struct profile profile = {.n_regions = all->profile.n_regions};
    int rc = 0;

    profile.row = unpack_array(pack, profile.n_regions, sizeof *profile.row);
    profile_merge(&all->profile, &profile);
    profile_release(&profile);
    for (uint32_t l = 0; rc == 0 && l < all->n_locations; l++)
        if (share->deal->owner[l] == process)
            rc = unpack_location(share, pack, l, &count[l]);
    return rc == 0 && pack->is_bad
               ? err_set(ERR_FORMAT,
                         "its result cannot be read by process 0 (internal error, or a broken "
                         "connection): run it again, with -v to report it")
               : rc;
}

static void send_traffic(struct process_group *process_group, const struct ingest_share *share)
{
    for (uint32_t i = 0; i < share->deal->n_mine; i++)
        for (enum traffic_kind kind = 0; kind < TRAFFIC_KINDS; kind++) {
            size_t bytes;
            const void *rows =
                traffic_rows(&share->ingested->traffic, kind, share->deal->mine[i], &bytes);

            process_group_send(process_group, 0, rows, bytes);
        }
}

/* Its own rows, and those of the others, each where they belong. */
static void receive_traffic(struct process_group *process_group, struct ingest_share *share,
                            const struct traffic_count *count)
{
    struct traffic *all = &share->ingested->traffic, own = *all;
    uint32_t n_locations = share->ingested->n_locations;

    traffic_init(all, n_locations, own.paged);
    all->dependency = own.dependency;
    all->n_dependencies = own.n_dependencies;
    own.dependency = NULL;
    traffic_lay_out(all, count);
    for (unsigned p = 0; p < process_group_size(process_group); p++)
        for (uint32_t l = 0; l < n_locations; l++)
            for (enum traffic_kind kind = 0; kind < TRAFFIC_KINDS && share->deal->owner[l] == p;
                 kind++) {
                size_t bytes;
                void *rows = traffic_rows(all, kind, l, &bytes);

                if (p > 0)
                    process_group_receive(process_group, p, rows, bytes);
                else if (bytes > 0)
                    memcpy(rows, traffic_rows(&own, kind, l, &bytes), bytes);
            }
    traffic_release(&own);
}

static void say_tally(const struct process_group *process_group,
                      const struct ingest_share *share, unsigned p,
                      const struct process_group_tally *tally)
{
    uint64_t n_records = 0;
    uint32_t n_locations = 0;

    for (uint32_t l = 0; l < share->ingested->n_locations; l++)
        if (share->deal->owner[l] == p) {
            n_records += share->ingested->location[l].n_records;
            n_locations++;
        }
    log_info("analyze",
             "process %u of %u (%s): locations %u records %" PRIu64 " messages_sent %" PRIu64
             " bytes_sent %" PRIu64 " peak_bytes %" PRIu64,
             p, process_group_size(process_group), process_group_host(process_group, p),
             n_locations, n_records, tally->n_sent, tally->sent_bytes, tally->peak_bytes);
}

/* Number 0, when all have read. */
static int receive_shares(struct process_group *process_group, struct ingest_share *share)
{
    struct traffic_count *count = mem_alloc(share->ingested->n_locations, sizeof *count);
    struct process_group_tally tally;
    int rc = 0;

    for (uint32_t i = 0; i < share->deal->n_mine; i++)
        count[share->deal->mine[i]] =
            traffic_count(&share->ingested->traffic, share->deal->mine[i]);
    for (unsigned p = 1; p < process_group_size(process_group); p++) {
        struct pack pack;
        int one;

        process_group_receive_pack(process_group, p, &pack);
        one = rc < 0 ? 0 : unpack_share(share, &pack, p, count);
        free(pack.data);
        rc = one < 0 ? one : rc;
    }
    rc = process_group_agree(process_group, rc);
    if (rc == 0)
        receive_traffic(process_group, share, count);
    tally = process_group_tally(process_group);
    say_tally(process_group, share, 0, &tally);
    for (unsigned p = 1; rc == 0 && p < process_group_size(process_group); p++) {
        process_group_receive(process_group, p, &tally, sizeof tally);
        say_tally(process_group, share, p, &tally);
    }
    free(count);
    return rc;
}

static int send_share(struct process_group *process_group, const struct ingest_share *share)
{
    struct pack pack = {0};
    struct process_group_tally tally;
    int rc;

    pack_share(share, &pack);
    process_group_send_pack(process_group, 0, &pack);
    pack_release(&pack);
    rc = process_group_agree(process_group, 0);
    if (rc < 0)
        return rc;
    send_traffic(process_group, share);
    tally = process_group_tally(process_group);
    process_group_send(process_group, 0, &tally, sizeof tally);
    return 0;
}

/* ---------------------------------------------------------------------------------- reading */

#define MAX_ANNOUNCED 4194304u /* calls that room is made for before any was seen */

/* What one thread needs. */
struct ingest_worker {
    struct source_reader *reader;
    struct callstack *stack;
    struct calls calls;
    struct profiled_columns out;
};

struct ingest_job {
    struct source *source;
    const struct ingest_opts *opts;
    struct ingested *out;
    struct columns_writer *writer;
    struct ingest_worker *worker; /* [pool_threads] */
    struct deal deal;
    struct sequence sequence;
    struct column_offsets next; /* the next location's, for whose turn it is */
    struct progress progress;
    struct loops_found *found; /* [n_locations] */
    atomic_bool is_failed;     /* no use going on */
    struct err_kept *failure;  /* [n_locations] */
};

static int worker_init(struct ingest_worker *w, struct source *source, struct paged *paged,
                       bool is_kept)
{
    w->reader = source_reader_new(source);
    if (w->reader == NULL)
        return ERR_IO;
    w->stack = callstack_new();
    callstack_polls(w->stack, &source->defs);
    w->calls.paged = paged;
    w->calls.details.only_counts = !is_kept;
    profiled_columns_init(&w->out, source->defs.names.n, paged);
    return 0;
}

static void read_events(struct ingest_job *job, struct ingest_worker *w, unsigned index,
                        uint32_t l)
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
    location->accesses = batch->accesses;
    location->error_bounds = batch->error_bounds;
    location->n_records = source_reader_position(w->reader);
}

/* Reads location l as far as it goes; a bad one as far as it did go. ERR_IO where not the trace is
 * at fault: files have run out. */
static int read_location(struct ingest_job *job, struct ingest_worker *w, unsigned index,
                         uint32_t l)
{
    struct ingested_location *location = &job->out->location[l];
    struct guard *guard = job->opts->guard;
    const struct guard_bad *bad = guard_find(guard, l);
    uint64_t n_announced = job->source->defs.location[l].n_events_said / 2; /* calls */
    int rc;

    if (bad)
        location->quality.n[bad->signal ? QUALITY_reader_crash : QUALITY_reader_hang]++;
    if (bad && bad->n_good == 0)
        return 0;
    /* Within reason: growing costs copies. Some more, as not every event is half a call. */
    w->calls.n_expected = n_announced + n_announced / 16;
    calls_reserve(&w->calls, n_announced < MAX_ANNOUNCED ? n_announced : MAX_ANNOUNCED);
    guard_begin(guard, index, l);
    rc = source_reader_begin(w->reader, l, guard_limit(guard, l));
    if (rc == 0)
        read_events(job, w, index, l);
    source_reader_end(w->reader, &location->quality);
    guard_end(guard, index);
    return rc == ERR_IO ? rc : 0;
}

static void summarize(struct ingested_location *location, const struct calls *calls)
{
    location->n_calls = calls->n;
    location->first_ns = calls->first_ns;
    location->last_ns = calls->last_ns;
    location->n_collectives = calls->n_collectives;
    location->n_readings = calls->details.n_counted_readings;
    location->n_arguments = calls->details.n_counted_arguments;
    for (size_t i = 0; i < calls->n_messages; i++)
        *(calls->message[i].kind == MESSAGE_SEND ? &location->n_sends : &location->n_recvs) +=
            1;
    for (uint32_t i = 0; i < calls->n; i += calls->subtree_len[i])
        location->root_ns += calls->inclusive_ns[i];
}

/* Number i of ours has its turn: all locations before it have their places. */
static void place(struct ingest_job *job, size_t i, const struct calls *calls)
{
    struct traffic *traffic = &job->out->traffic;
    const unsigned *owner = job->deal.owner;
    uint32_t l = job->deal.mine[i];

    sequence_wait(&job->sequence, i);
    if (l > 0 && owner[l - 1] != owner[l]) /* nothing is sent where one process has both */
        process_group_receive(job->opts->process_group, owner[l - 1], &job->next,
                              sizeof job->next);
    traffic_append(traffic, l, calls);
    if (job->writer)
        columns_place(job->writer, l, calls, &job->next);
    if (l + 1 < job->deal.n_locations && owner[l + 1] != owner[l])
        process_group_send(job->opts->process_group, owner[l + 1], &job->next,
                           sizeof job->next);
    sequence_next(&job->sequence);
}

static void take_location(struct ingest_job *job, struct ingest_worker *w, unsigned index,
                          size_t i)
{
    uint32_t l = job->deal.mine[i];
    int rc = w->reader ? 0 : worker_init(w, job->source, job->out->paged, job->writer != NULL);
    struct call_view view;

    calls_clear(&w->calls);
    if (rc == 0 && !atomic_load(&job->is_failed)) {
        rc = read_location(job, w, index, l);
        calls_place(&w->calls);
        held_up_tell(&w->calls, &job->source->defs);
        spans_find_barriers(&w->calls, &job->source->defs);
        summarize(&job->out->location[l], &w->calls);
        view = calls_view(&w->calls);
        loops_find(&view, &job->source->defs.location[l], &job->source->defs, false,
                   &job->found[l]);
    }

    place(job, i, &w->calls);
    if (rc == 0 && !atomic_load(&job->is_failed))
        rc = profiled_columns_take(&w->out, job->writer, l, &w->calls, &job->source->defs);
    if (rc < 0) {
        job->failure[l] = err_keep(rc);
        atomic_store(&job->is_failed, true);
    }
}

static void take_locations(void *ctx, size_t begin, size_t end, unsigned index)
{
    struct ingest_job *job = ctx;

    for (size_t i = begin; i < end; i++)
        take_location(job, &job->worker[index], index, i);
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
        for (size_t i = t->first_span[l]; i < t->first_span[l + 1]; i++) {
            t->span[i].begin_ns = clock_fixed(f, t->span[i].begin_ns);
            t->span[i].end_ns = clock_fixed(f, t->span[i].end_ns);
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
static int move_times(struct ingest_job *job)
{
    struct ingested *out = job->out;
    const struct definitions *defs = &job->source->defs;
    int rc = 0;

    fix_traffic(&out->traffic, defs, out->fix);
    for (size_t i = 0; i < out->traffic.n_dependencies; i++) {
        struct dependency *d = &out->traffic.dependency[i];

        d->begin_ns = clock_fixed(&out->fix[defs->location[d->location].rank], d->begin_ns);
        d->on_begin_ns =
            clock_fixed(&out->fix[defs->location[d->on_location].rank], d->on_begin_ns);
    }
    for (uint32_t l = 0; rc == 0 && l < out->n_locations; l++) {
        struct ingested_location *location = &out->location[l];
        const struct clock_fix *fix = &out->fix[defs->location[l].rank];
        bool is_empty = location->first_ns == UINT64_MAX && location->last_ns == 0;

        if (is_empty || (fix->offset_ns == 0 && fix->drift == 0))
            continue;
        location->first_ns = clock_fixed(fix, location->first_ns);
        location->last_ns = clock_fixed(fix, location->last_ns);
        if (job->writer)
            rc = columns_shift(job->writer, l, fix->offset_ns, fix->drift);
    }
    return rc;
}

/* Counts where the clocks of two ranks disagree although they were corrected. */
static void count_disorder(struct ingested *out, const struct definitions *defs)
{
    const struct traffic *t = &out->traffic;

    for (uint32_t l = 0; l < t->n_locations; l++)
        out->location[l].quality.n[QUALITY_recv_before_send] += traffic_disorder(t, l);
    out->quality.n[QUALITY_collective_order] += out->clock.n_wrong_collectives;
    for (uint32_t r = 0; r < defs->n_ranks; r++)
        if (out->fix[r].offset_ns != 0 || out->fix[r].drift != 0)
            out->quality.n[QUALITY_clock_shifted]++;
}

static int settle_clocks(struct ingest_job *job)
{
    struct ingested *out = job->out;
    const struct definitions *defs = &job->source->defs;
    struct quality *quality = mem_alloc(out->n_locations, sizeof *quality);
    int rc = 0;

    traffic_match(&out->traffic, defs, quality);
    teams_match(&out->traffic, defs);
    out->profile.team_ratio = teams_ratio(&out->traffic);
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
        out->n_readings += location->n_readings;
        out->n_arguments += location->n_arguments;
        out->n_sends += location->n_sends;
        out->n_recvs += location->n_recvs;
        accesses_add(&out->accesses, &location->accesses);
        error_bounds_add(&out->error_bounds, &location->error_bounds);
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

/* Iterations are no calls yet, so their teams are those between the first and the last. */
static void place_loops(struct ingested *out)
{
    for (uint32_t i = 0; i < out->loops.n; i++)
        for (uint32_t l = 0; l < out->n_locations; l++) {
            const struct ingested_location *location = &out->location[l];
            const struct loop *loop = &out->loops.loop[i];
            const struct insertion *calls = &loop->part[l].calls;
            struct profile_row *row = &out->profile.row[loop->region];

            if (calls->n == 0)
                continue;
            row->forked_ns +=
                teams_forked_ns(&out->traffic, l, calls->begin[0], calls->end[calls->n - 1]);
            row->on_ns += location->last_ns - location->first_ns;
        }
}

/* Number 0 makes the files, the others open them. */
static int open_columns(struct ingest_job *job)
{
    struct process_group *process_group = job->opts->process_group;
    const char *dir = job->opts->dir;
    uint32_t n = job->source->defs.n_locations;
    int rc = 0;

    if (dir == NULL)
        return 0;
    if (process_group_me(process_group) == 0)
        job->writer = columns_create(dir, n);
    rc = process_group_agree(process_group,
                             job->writer || process_group_me(process_group) > 0 ? 0 : ERR_IO);
    if (rc < 0 || process_group == NULL)
        return rc;
    if (process_group_me(process_group) > 0)
        job->writer = columns_join(dir, n);
    return process_group_agree(process_group, job->writer ? 0 : ERR_IO);
}

/* Reads our locations; then number 0 has all. */
static int read_all(struct ingest_job *job)
{
    struct ingest_share share = {&job->deal, job->out, job->found, NULL};
    uint64_t n_announced = 0;
    int rc = 0;

    for (uint32_t i = 0; i < job->deal.n_mine; i++)
        n_announced += job->source->defs.location[job->deal.mine[i]].n_events_said;
    progress_begin(&job->progress, "reading", "events", n_announced);
    pool_for(job->opts->pool, job->deal.n_mine, 1, take_locations, job);
    progress_end(&job->progress);
    for (unsigned i = 0; i < pool_threads(job->opts->pool); i++)
        if (job->worker[i].reader)
            profile_merge(&job->out->profile, &job->worker[i].out.total);
    for (uint32_t l = 0; rc == 0 && l < job->out->n_locations; l++)
        rc = err_restore(&job->failure[l]);
    share.writer = job->writer;
    if (job->opts->process_group == NULL)
        return rc;
    rc = process_group_agree(job->opts->process_group, rc);
    if (rc < 0)
        return rc;
    return process_group_me(job->opts->process_group) == 0
               ? receive_shares(job->opts->process_group, &share)
               : send_share(job->opts->process_group, &share);
}

/* All locations are in. */
static int finish(struct ingest_job *job)
{
    struct ingested *out = job->out;
    int rc = settle_clocks(job);

    if (rc == 0 && job->writer)
        rc = columns_finish(job->writer, &out->traffic, &job->source->defs);
    if (rc == 0) {
        sum_up(out, &job->source->quality);
        loops_agree(job->found, out->fix, &job->source->defs, &out->profile, &out->loops);
        place_loops(out);
    }
    return rc;
}

static void job_release(struct ingest_job *job)
{
    columns_free(job->writer);
    for (unsigned i = 0; i < pool_threads(job->opts->pool); i++) {
        source_reader_free(job->worker[i].reader);
        callstack_free(job->worker[i].stack);
        calls_release(&job->worker[i].calls);
        profiled_columns_release(&job->worker[i].out);
    }
    for (uint32_t l = 0; l < job->out->n_locations; l++) {
        err_kept_release(&job->failure[l]);
        loops_found_release(&job->found[l]);
    }
    free(job->found);
    free(job->failure);
    free(job->worker);
    free(job->deal.owner);
    free(job->deal.mine);
    sequence_release(&job->sequence);
}

int ingest(struct source *source, const struct ingest_opts *opts, struct ingested *out)
{
    const struct definitions *defs = &source->defs;
    struct ingest_job job = {.source = source, .opts = opts, .out = out};
    int rc;

    *out = (struct ingested){.n_locations = defs->n_locations,
                             .paged = paged_new(opts->dir, PAGED_MIN_BYTES)};
    out->location = mem_alloc(defs->n_locations, sizeof *out->location);
    out->fix = mem_alloc(defs->n_ranks, sizeof *out->fix);
    profile_init(&out->profile, defs->names.n);
    traffic_init(&out->traffic, defs->n_locations, out->paged);
    traffic_depend(&out->traffic, defs->dependency, defs->n_dependencies);
    job.worker = mem_alloc(pool_threads(opts->pool), sizeof *job.worker);
    job.failure = mem_alloc(defs->n_locations, sizeof *job.failure);
    job.found = mem_alloc(defs->n_locations, sizeof *job.found);
    deal_init(&job.deal, opts->process_group, defs);
    sequence_init(&job.sequence);
    rc = ingest_check_definitions(opts->process_group, defs);
    if (rc == 0)
        rc = open_columns(&job);
    if (rc == 0)
        rc = read_all(&job);
    if (rc == 0) {
        rc = process_group_me(opts->process_group) == 0 ? finish(&job) : 0;
        rc = process_group_agree(opts->process_group, rc);
    }
    job_release(&job);
    return rc;
}

void ingested_release(struct ingested *ingested)
{
    free(ingested->location);
    free(ingested->fix);
    profile_release(&ingested->profile);
    traffic_release(&ingested->traffic);
    loops_release(&ingested->loops);
    paged_free(ingested->paged);
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

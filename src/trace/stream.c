/*
 * The last row takes whatever the others leave. What is not wanted is left out here, so that
 * streams need not; they may, where that spares them reading it.
 *
 * A finished trace is a stream, too, as if its program ran now. Time goes in steps of
 * stream_opts.step_ns, or shorter ones where those would have more than half a million events
 * or so; steps in which nothing happens are left out. With a speed, a step is there when the
 * program would have come to its end. There is one reader per location, each with a batch in
 * hand: a step is cut by looking at the times of a location's events until one is beyond the
 * end of the step.
 */
#include "trace/stream.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/search.h"
#include "trace/monotone.h"
#include "trace/source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ------------------------------------------------------------------------- a finished trace */

#define PREFIX "replay:"
#define ALL_NS ((uint64_t)1 << 62) /* 146 years */
#define MAX_EVENTS 500000.0        /* of a step, about */

/* One location. */
struct location_cursor {
    struct source_reader *reader;
    const struct event_batch *batch;
    size_t at; /* next event of the batch */
    bool is_over;
};

struct stream_replay {
    struct source source;
    struct location_cursor *cursor; /* [n_locations] */
    uint32_t current;               /* location that the next part is of */
    uint64_t until_ns;              /* end of the step */
    bool is_begun;
    double started_s; /* when the first step began, on the clock of this machine */
    uint64_t origin_ns;
};

static double now_s(void)
{
    return 1e-9 * (double)clock_ns();
}

static bool accepts(const char *url)
{
    return strncmp(url, PREFIX, strlen(PREFIX)) == 0;
}

/* Makes sure that there is an event in hand, if there is another one. */
static void fill(struct location_cursor *cursor)
{
    if (cursor->is_over || (cursor->batch && cursor->at < cursor->batch->n))
        return;
    cursor->at = 0;
    cursor->is_over = source_reader_next(cursor->reader, &cursor->batch) == 0;
}

static int open_cursor(struct stream_replay *r, uint32_t l, const struct stream_opts *opts)
{
    struct location_cursor *cursor = &r->cursor[l];

    cursor->is_over = opts->rank && r->source.defs.location[l].rank != *opts->rank;
    if (cursor->is_over)
        return 0;
    cursor->reader = source_reader_new(&r->source);
    return cursor->reader ? source_reader_begin(cursor->reader, l, UINT64_MAX) : ERR_IO;
}

static int open_replay(struct stream *stream, const char *url)
{
    struct stream_replay *r = mem_alloc(1, sizeof *r);
    int rc;

    stream->impl = r;
    stream->no_bytes = "the trace was not read to its end";
    if (accepts(url))
        url += strlen(PREFIX);
    rc = source_open_as(&r->source, url,
                        &(struct source_opts){.wants_counters = stream->opts.wants_counters});
    if (rc < 0)
        return rc;
    stream->defs = &r->source.defs;
    stream->quality = r->source.quality;
    fs_allow_files(); /* each location has its own open */
    r->cursor = mem_alloc(r->source.defs.n_locations, sizeof *r->cursor);
    for (uint32_t l = 0; rc == 0 && l < r->source.defs.n_locations; l++)
        rc = open_cursor(r, l, &stream->opts);
    return rc;
}

static void close_replay(struct stream *stream)
{
    struct stream_replay *r = stream->impl;

    for (uint32_t l = 0; r->cursor && l < r->source.defs.n_locations; l++)
        source_reader_free(r->cursor[l].reader);
    free(r->cursor);
    source_close(&r->source);
    free(r);
}

/* The time of the earliest event that is left. Returns false when there is none. */
static bool earliest(struct stream_replay *r, uint64_t *time_ns)
{
    bool is_any = false;

    for (uint32_t l = 0; l < r->source.defs.n_locations; l++) {
        struct location_cursor *cursor = &r->cursor[l];

        fill(cursor);
        if (cursor->is_over)
            continue;
        if (!is_any || time_before(cursor->batch->event[cursor->at].time_ns, *time_ns))
            *time_ns = cursor->batch->event[cursor->at].time_ns;
        is_any = true;
    }
    return is_any;
}

/* Events per nanosecond, as the batches in hand tell. */
static double density(const struct stream_replay *r)
{
    double sum = 0;

    for (uint32_t l = 0; l < r->source.defs.n_locations; l++) {
        const struct location_cursor *cursor = &r->cursor[l];
        const struct event *first;
        size_t n;

        if (cursor->is_over)
            continue;
        first = &cursor->batch->event[cursor->at];
        n = cursor->batch->n - cursor->at;
        sum += (double)n / ((double)(first[n - 1].time_ns - first->time_ns) + 1);
    }
    return sum;
}

/* As long as was asked for, or where that is too much, a half of it, a quarter, ... */
static uint64_t step_length(const struct stream *stream)
{
    uint64_t step_ns = stream->opts.step_ns;
    double per_ns = density(stream->impl);

    while (step_ns > 1 && (double)step_ns * per_ns > MAX_EVENTS)
        step_ns /= 2;
    return step_ns;
}

/* The step with the earliest event in it: steps are counted from time 0. */
static void next_step(struct stream *stream, uint64_t first_ns)
{
    struct stream_replay *r = stream->impl;
    uint64_t step_ns = step_length(stream);

    if (!r->is_begun) {
        r->is_begun = true;
        r->started_s = now_s();
        r->origin_ns = first_ns;
        stream->end_ns = first_ns;
        if (step_ns)
            stream->end_ns -= first_ns % step_ns;
    }
    stream->begin_ns = stream->end_ns;
    if (step_ns == 0) {
        stream->end_ns = first_ns + ALL_NS;
        return;
    }
    if (!time_before(first_ns, stream->begin_ns))
        stream->begin_ns += (first_ns - stream->begin_ns) / step_ns * step_ns;
    stream->end_ns = stream->begin_ns + step_ns;
}

/* Waits until the program would be at the end of the step. Returns false if it is not. */
static bool wait_for(const struct stream *stream, uint64_t end_ns, int timeout_ms)
{
    const struct stream_replay *r = stream->impl;
    double due_s, wait_s;
    struct timespec t;

    if (stream->opts.speed <= 0)
        return true;
    due_s = r->started_s + 1e-9 * (double)(end_ns - r->origin_ns) / stream->opts.speed;
    wait_s = due_s - now_s();
    if (wait_s <= 0)
        return true;
    if (wait_s > 1e-3 * timeout_ms)
        wait_s = 1e-3 * timeout_ms;
    t.tv_sec = (time_t)wait_s;
    t.tv_nsec = (long)(1e9 * (wait_s - (double)t.tv_sec));
    nanosleep(&t, NULL);
    return now_s() >= due_s;
}

/* What was wrong with the events is known when all were read. */
static void end_cursors(struct stream *stream)
{
    struct stream_replay *r = stream->impl;

    stream->n_bytes = source_bytes(&r->source, stream->opts.rank);
    stream->no_bytes = stream->n_bytes > 0 ? NULL : "the trace is not in files";
    for (uint32_t l = 0; l < r->source.defs.n_locations; l++) {
        if (r->cursor[l].reader && r->cursor[l].batch)
            accesses_add(&stream->accesses, &r->cursor[l].batch->accesses);
        if (r->cursor[l].reader)
            source_reader_end(r->cursor[l].reader, &stream->quality);
        source_reader_free(r->cursor[l].reader);
        r->cursor[l].reader = NULL;
    }
}

/* The first event at or after a time; mostly that is after them all. */
static size_t first_from(const struct event_batch *batch, size_t begin, uint64_t time_ns)
{
    if (time_before(batch->event[batch->n - 1].time_ns, time_ns))
        return batch->n;
    return FIRST_NOT(i, begin, batch->n, time_before(batch->event[i].time_ns, time_ns));
}

static bool part(struct stream *stream, struct stream_part *out)
{
    struct stream_replay *r = stream->impl;

    for (; r->current < r->source.defs.n_locations; r->current++) {
        struct location_cursor *cursor = &r->cursor[r->current];
        size_t end;

        fill(cursor);
        if (cursor->is_over)
            continue;
        end = first_from(cursor->batch, cursor->at, r->until_ns);
        if (end == cursor->at)
            continue;
        *out = (struct stream_part){r->current, cursor->batch, cursor->at, end};
        cursor->at = end;
        return true;
    }
    return false;
}

static int next(struct stream *stream, int timeout_ms)
{
    struct stream_replay *r = stream->impl;
    struct stream_part skipped;
    uint64_t first_ns = 0;

    while (part(stream, &skipped))
        ;
    if (!earliest(r, &first_ns)) {
        end_cursors(stream);
        return STREAM_OVER;
    }
    if (!r->is_begun || stream->end_ns == r->until_ns) /* not one that was waited for */
        next_step(stream, first_ns);
    if (!wait_for(stream, stream->end_ns, timeout_ms))
        return STREAM_IDLE;
    r->until_ns = stream->end_ns;
    r->current = 0;
    return STREAM_STEP;
}

static const struct stream_ops stream_replay_ops = {
    .name = "replay",
    .what = "replay:TRACE or just TRACE, a finished trace, as if its program ran now",
    .accepts = accepts,
    .open = open_replay,
    .close = close_replay,
    .next = next,
    .part = part,
};

/* ---------------------------------------------------------------------------------- streams */

static const struct stream_ops *const streams[] = {
    &stream_tracer_ops,
    &stream_adios2_ops,
    &stream_replay_ops,
    NULL,
};

const struct stream_ops *const *stream_list(void)
{
    return streams;
}

/* Locations and metadata that are new are put where opts say they belong. */
static void place_new(struct stream *s)
{
    struct definitions *defs = (struct definitions *)(uintptr_t)s->defs; /* the stream's own */
    const uint32_t *as_rank = s->opts.as_rank;

    mem_grow(&s->is_wanted, &s->wanted_cap, defs->n_locations);
    for (; s->n_locations < defs->n_locations; s->n_locations++) {
        struct location *l = &defs->location[s->n_locations];

        s->is_wanted[s->n_locations] = s->opts.rank == NULL || l->rank == *s->opts.rank;
        l->program = s->opts.program ? s->opts.program : l->program;
        l->rank = as_rank ? *as_rank : l->rank;
        defs->n_ranks = defs->n_ranks > l->rank ? defs->n_ranks : l->rank + 1;
    }
    for (; s->n_metadata < defs->n_metadata; s->n_metadata++) {
        struct metadata *m = &defs->metadata[s->n_metadata];

        m->program = s->opts.program ? s->opts.program : m->program;
        m->rank = as_rank ? *as_rank : m->rank;
    }
}

int stream_open(struct stream *stream, const char *url, const struct stream_opts *opts)
{
    size_t i = 0;
    int rc;

    *stream = (struct stream){.opts = *opts, .url = mem_copy_string(url)};
    while (streams[i + 1] && !streams[i]->accepts(url))
        i++;
    stream->ops = streams[i];
    rc = stream->ops->open(stream, url);
    if (rc == 0)
        place_new(stream);
    return rc;
}

void stream_close(struct stream *stream)
{
    if (stream->ops && stream->impl)
        stream->ops->close(stream);
    free(stream->is_wanted);
    free(stream->url);
    *stream = (struct stream){0};
}

int stream_next(struct stream *stream, int timeout_ms)
{
    int state = stream->ops->next(stream, timeout_ms);

    if (state == STREAM_STEP) {
        stream->n_steps++;
        place_new(stream);
    }
    return state;
}

int stream_again(struct stream *stream, int timeout_ms)
{
    int state;

    if (stream->ops->again == NULL)
        return STREAM_OVER;
    if (!stream->is_again) {
        stream->quality = (struct quality){0};
        stream->n_steps = stream->begin_ns = stream->end_ns = stream->n_lost = 0;
        stream->n_bytes = 0;
        stream->n_locations = 0;
        stream->n_metadata = 0;
    }
    state = stream->ops->again(stream, timeout_ms);
    stream->is_again = state == STREAM_IDLE;
    return state;
}

bool stream_part(struct stream *stream, struct stream_part *part)
{
    bool is_part = stream->ops->part(stream, part);

    while (is_part && part->location < stream->n_locations &&
           !stream->is_wanted[part->location])
        is_part = stream->ops->part(stream, part);
    return is_part;
}

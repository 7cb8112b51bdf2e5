/*
 * All is done within stream_next: the sockets are read for as long as no step is complete, and
 * not at all while MAX_WAITING events wait, so that a slow caller makes the tracer drop frames
 * rather than this process grow.
 */
#include "trace/tracer/stream_tracer.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "trace/monotone.h"
#include "trace/tracer/tracer_locations.h"
#include "trace/tracer/tracer_socket.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "tracer:"
#define MAX_WAITING ((size_t)4 << 20) /* events; a frame more may come */
#define MS 1000000u
#define PATIENCE_NS (1000u * MS) /* after two ticks */
#define GRACE_NS (1000u * MS)
#define LONGEST_WAIT_MS 20

struct listening {
    struct tracer_run run;
    struct tracer_socket socket;
    uint64_t opened_ns;
    uint64_t interval_ns; /* 0 until somebody has said hello */
    uint64_t until_ns;    /* end of the last step */
    uint32_t current;     /* location that the next part is of */
};

static bool accepts(const char *url)
{
    return strncmp(url, PREFIX, strlen(PREFIX)) == 0;
}

static int open_tracer(struct stream *stream, const char *url)
{
    struct listening *l = mem_alloc(1, sizeof *l);

    stream->impl = l;
    stream->defs = &l->run.defs;
    l->run.quality = &stream->quality;
    l->run.wants_counters = stream->opts.wants_counters;
    l->opened_ns = clock_ns();
    return tracer_socket_open(&l->socket, url + strlen(PREFIX));
}

static void close_tracer(struct stream *stream)
{
    struct listening *l = stream->impl;

    tracer_socket_close(&l->socket);
    tracer_run_release(&l->run);
    free(l);
}

/* ---------------------------------------------------------------------------------- steps */

/* The length of a step is that of the ticks of who came first. */
static void find_interval(struct listening *l)
{
    for (size_t i = 0; l->interval_ns == 0 && i < l->socket.n_peers; i++)
        if (l->socket.peer[i].sender.is_known)
            l->interval_ns = l->socket.peer[i].sender.interval_ns;
    if (l->interval_ns == 0)
        l->interval_ns = MS; /* who said hello is gone already */
}

/* The end of the next step: the one with the earliest event in it. */
static uint64_t next_border(struct listening *l)
{
    uint64_t earliest = UINT64_MAX, border;

    find_interval(l);
    for (uint32_t i = 0; i < l->run.defs.n_locations; i++) {
        const struct tracer_location *location = &l->run.location[i];

        if (location->at < location->waiting.all.n &&
            location->waiting.all.event[location->at].time_ns < earliest)
            earliest = location->waiting.all.event[location->at].time_ns;
    }
    border = earliest - earliest % l->interval_ns + l->interval_ns;
    return border > l->until_ns ? border : l->until_ns + l->interval_ns;
}

static bool is_complete(const struct listening *l, uint64_t border)
{
    uint64_t end_ns = border + l->run.origin_ns;

    if (l->run.n_waiting >= MAX_WAITING || tracer_socket_n_known(&l->socket) == 0 ||
        time_before(end_ns + 2 * l->interval_ns + PATIENCE_NS, clock_ns()))
        return true;
    return l->run.rank.n >= l->run.n_expected && tracer_socket_until(&l->socket, end_ns);
}

/* Begin the next step if it is complete. */
static bool begin_step(struct stream *stream)
{
    struct listening *l = stream->impl;
    uint64_t border;

    if (l->run.n_waiting == 0)
        return false;
    border = next_border(l);
    if (!is_complete(l, border))
        return false;
    stream->begin_ns = border - l->interval_ns;
    stream->end_ns = l->until_ns = border;
    l->current = 0;
    return true;
}

static size_t first_from(const struct event_batch *batch, size_t begin, uint64_t time_ns)
{
    size_t end = batch->n;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (batch->event[middle].time_ns < time_ns)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static bool part(struct stream *stream, struct stream_part *out)
{
    struct listening *l = stream->impl;

    for (; l->current < l->run.defs.n_locations; l->current++) {
        struct tracer_location *location = &l->run.location[l->current];
        size_t end = first_from(&location->waiting.all, location->at, l->until_ns);

        if (end == location->at)
            continue;
        *out = (struct stream_part){l->current, &location->waiting.all, location->at, end};
        l->run.n_waiting -= end - location->at;
        location->at = end;
        return true;
    }
    return false;
}

static void end_step(struct stream *stream)
{
    struct listening *l = stream->impl;
    struct stream_part skipped;

    while (part(stream, &skipped))
        ;
    for (uint32_t i = 0; i < l->run.defs.n_locations; i++)
        tracer_location_trim(&l->run.location[i]);
}

/* ----------------------------------------------------------------------------------- ends */

static bool is_over(const struct listening *l)
{
    if (l->run.rank.n == 0 || l->run.n_waiting > 0 || tracer_socket_n_known(&l->socket) > 0)
        return false;
    return l->socket.done.n >= l->run.n_expected || tracer_socket_has_next(&l->socket) ||
           clock_ns() - l->socket.closed_ns >= GRACE_NS;
}

static int check_patience(const struct stream *stream)
{
    const struct listening *l = stream->impl;
    uint64_t now = clock_ns();

    if (l->run.rank.n == 0 && stream->opts.connect_ms > 0 &&
        now - l->opened_ns > (uint64_t)stream->opts.connect_ms * MS)
        return err_set(ERR_IO, "no program has connected to '%s'", l->socket.path);
    if (l->run.rank.n > 0 && stream->opts.silence_ms > 0 &&
        tracer_socket_n_known(&l->socket) > 0 &&
        now - l->socket.heard_ns > (uint64_t)stream->opts.silence_ms * MS)
        return err_set(ERR_IO, "the program at '%s' says nothing any more", l->socket.path);
    return 0;
}

static int next(struct stream *stream, int timeout_ms)
{
    struct listening *l = stream->impl;
    uint64_t deadline_ns = clock_ns() + (uint64_t)timeout_ms * MS;
    int wait_ms = 0;

    end_step(stream);
    for (;;) {
        uint64_t now;
        bool is_any = l->run.n_waiting < MAX_WAITING &&
                      tracer_socket_receive(&l->socket, &l->run, wait_ms, clock_ns);
        int rc;

        stream->n_lost = l->run.n_lost;
        stream->n_bytes = l->socket.n_bytes;
        stream->accesses = l->run.accesses;
        if (begin_step(stream))
            return STREAM_STEP;
        if (is_over(l))
            return STREAM_OVER;
        rc = check_patience(stream);
        if (rc < 0)
            return rc;
        now = clock_ns();
        if (now >= deadline_ns)
            return STREAM_IDLE;
        wait_ms = is_any ? 0 : (int)((deadline_ns - now) / MS) + 1;
        if (wait_ms > LONGEST_WAIT_MS)
            wait_ms = LONGEST_WAIT_MS;
    }
}

/* The socket stays; who has waited at it is heard now. */
static int again(struct stream *stream, int timeout_ms)
{
    struct listening *l = stream->impl;
    uint64_t deadline_ns = clock_ns() + (uint64_t)timeout_ms * MS;

    if (!stream->is_again) {
        tracer_run_release(&l->run);
        l->run.quality = &stream->quality;
        l->run.wants_counters = stream->opts.wants_counters;
        l->interval_ns = l->until_ns = 0;
        tracer_socket_next_run(&l->socket);
    }
    do
        tracer_socket_receive(&l->socket, &l->run, LONGEST_WAIT_MS, clock_ns);
    while (l->run.rank.n == 0 && clock_ns() < deadline_ns);
    return l->run.rank.n > 0 ? STREAM_STEP : STREAM_IDLE;
}

const struct stream_ops stream_tracer_ops = {
    .name = "tracer",
    .what =
        "tracer:PATH, a program that runs under the tracer; PATH is a socket it connects to",
    .accepts = accepts,
    .open = open_tracer,
    .close = close_tracer,
    .next = next,
    .part = part,
    .again = again,
};

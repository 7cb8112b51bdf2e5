/*
 * Each file or stream is read by a process of its own (base/courier.h); here whoever has
 * something is listened to, but once a step has begun to come only its sender, so that there is
 * one step in memory.
 */
#include "trace/tau/stream_adios2.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "trace/monotone.h"
#include "trace/tau/adios2_reader.h"
#include "trace/tau/tau_decoder.h"
#include "trace/tau/tau_step.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS 1000000000u /* how often to look for new files */
#define FIRST_NS                                                                               \
    2000000000u /* how long the first step may wait for the first of the others                \
                 */
#define NO_FEED UINT32_MAX

/* One file or stream. */
struct tau_feed {
    struct adios2_reader reader;
    struct courier *courier;
    struct tau_decoder decoder;
    char program[256];
    bool is_begun, is_over;
};

struct adios2 {
    struct definitions defs;
    struct names path;      /* of the feeds, as they were found */
    struct names program;   /* "heat/0" */
    struct tau_feed **feed; /* [n_feeds] */
    uint32_t n_feeds;
    size_t feed_cap;
    bool is_directory;
    uint64_t opened_ns, looked_ns, step_ns; /* when; step_ns: that the last step came */
    uint32_t turn;                          /* feed to ask first */
    uint32_t busy;                          /* feed whose step is coming, or NO_FEED */
    uint32_t given;                         /* feed whose step the caller has, or NO_FEED */
    uint32_t location;                      /* next part of it */
};

/* --------------------------------------------------------------------------------- opening */

static bool accepts(const char *url)
{
    const char *path = tau_files_path(url);

    return path != url || tau_files_is_one(path) || tau_files_is_named_so(path);
}

static int open_feed(struct stream *stream, const char *path)
{
    struct adios2 *a = stream->impl;
    struct tau_feed *feed = mem_alloc(1, sizeof *feed);

    mem_grow(&a->feed, &a->feed_cap, (size_t)a->n_feeds + 1, sizeof *a->feed);
    a->feed[a->n_feeds++] = feed;
    tau_files_program(path, feed->program, sizeof feed->program);
    feed->reader = (struct adios2_reader){
        .path = path, .is_live = true, .connect_ms = stream->opts.connect_ms};
    feed->decoder = (struct tau_decoder){
        .defs = &a->defs,
        .programs = &a->program,
        .quality = &stream->quality,
        .file_program = feed->program,
        .makes_locations = true,
        .wants_counters = stream->opts.wants_counters,
    };
    tau_decoder_init(&feed->decoder);
    return courier_open(&feed->courier, adios2_reader_run, &feed->reader, tau_files_patience(),
                        NULL);
}

/* Opens what is new in the directory. */
static int look(struct stream *stream, const char *path)
{
    struct adios2 *a = stream->impl;
    uint32_t n_before = a->path.n;
    int rc = 0;

    a->looked_ns = clock_ns();
    tau_files_find(path, &a->path);
    for (uint32_t i = n_before; rc == 0 && i < a->path.n; i++)
        rc = open_feed(stream, a->path.name[i]);
    return rc;
}

static int open_stream(struct stream *stream, const char *url)
{
    struct adios2 *a = mem_alloc(1, sizeof *a);
    const char *path = tau_files_path(url);
    int rc = adios2_reader_check(path);

    stream->impl = a;
    stream->defs = &a->defs;
    a->busy = a->given = NO_FEED;
    a->opened_ns = a->step_ns = clock_ns();
    a->is_directory = path != url && !tau_files_is_one(path) && !tau_files_is_named_so(path);
    if (rc < 0)
        return rc;
    if (!a->is_directory) {
        names_add(&a->path, path);
        a->step_ns += stream->opts.connect_ms * (uint64_t)1000000;
        return open_feed(stream, a->path.name[0]);
    }
    rc = look(stream, path);
    while (rc == 0 && a->n_feeds == 0) {
        if (clock_ns() - a->opened_ns >= stream->opts.connect_ms * (uint64_t)1000000)
            return err_set(ERR_NOT_FOUND, "no file of TAU (tau-metrics-*.bp) in '%s'", path);
        usleep(50000);
        rc = look(stream, path);
    }
    a->step_ns = clock_ns();
    return rc;
}

static void close_stream(struct stream *stream)
{
    struct adios2 *a = stream->impl;

    for (uint32_t i = 0; i < a->n_feeds; i++) {
        courier_close(a->feed[i]->courier);
        tau_decoder_release(&a->feed[i]->decoder);
        free(a->feed[i]);
    }
    free(a->feed);
    names_release(&a->path);
    names_release(&a->program);
    definitions_release(&a->defs);
    free(a);
}

/* ---------------------------------------------------------------------------------- a step */

static void clear_given(struct adios2 *a)
{
    if (a->given == NO_FEED)
        return;
    for (uint32_t i = 0; i < a->feed[a->given]->decoder.location_id.n; i++) {
        struct event_batch *batch = &a->feed[a->given]->decoder.location[i].batch;

        batch->n = batch->n_messages = batch->n_counters = 0;
    }
    a->given = NO_FEED;
}

/* What the feed has decoded is the caller's now. Returns false when that is nothing. */
static bool give(struct stream *stream, uint32_t f)
{
    struct adios2 *a = stream->impl;
    struct tau_decoder *d = &a->feed[f]->decoder;
    bool is_any = false;

    stream->begin_ns = stream->end_ns;
    for (uint32_t i = 0; i < d->location_id.n; i++) {
        struct tau_location *location = &d->location[i];
        struct event_batch *batch = &location->batch;

        if (batch->n == 0)
            continue;
        stream->quality.n[QUALITY_impossible_time] +=
            monotone_bound(batch->event, batch->n, location->floor_ns);
        stream->quality.n[QUALITY_time_backwards] +=
            monotone_repair(batch->event, batch->n, location->floor_ns);
        location->floor_ns = batch->event[batch->n - 1].time_ns;
        if (!is_any || time_before(batch->event[0].time_ns, stream->begin_ns))
            stream->begin_ns = batch->event[0].time_ns;
        if (!is_any || time_before(stream->end_ns, location->floor_ns + 1))
            stream->end_ns = location->floor_ns + 1;
        is_any = true;
    }
    a->given = f;
    a->busy = NO_FEED;
    a->location = 0;
    a->turn = f + 1;
    a->step_ns = clock_ns();
    return is_any;
}

static bool part(struct stream *stream, struct stream_part *out)
{
    struct adios2 *a = stream->impl;
    const struct tau_decoder *d;

    if (a->given == NO_FEED)
        return false;
    d = &a->feed[a->given]->decoder;
    for (; a->location < d->location_id.n; a->location++) {
        const struct tau_location *location = &d->location[a->location];

        if (location->batch.n == 0)
            continue;
        *out = (struct stream_part){location->defined, &location->batch, 0, location->batch.n};
        a->location++;
        return true;
    }
    return false;
}

/* --------------------------------------------------------------------------------- waiting */

/* The feed is over; what still waited in it is a last step. */
static int end_feed(struct stream *stream, uint32_t f, int state)
{
    struct adios2 *a = stream->impl;
    struct tau_feed *feed = a->feed[f];

    feed->is_over = true;
    a->busy = NO_FEED;
    if (state != COURIER_OVER)
        log_info("tau", "'%s': %s", feed->reader.path, err_message());
    if (state == COURIER_DIED)
        stream->quality.n[QUALITY_reader_crash]++;
    else if (state == COURIER_HUNG)
        stream->quality.n[QUALITY_reader_hang]++;
    else if (state < 0 && (feed->is_begun || a->n_feeds > 1))
        stream->quality.n[feed->is_begun ? QUALITY_broken_off : QUALITY_missing_file]++;
    else if (state < 0)
        return state;
    tau_decoder_finish(&feed->decoder);
    return give(stream, f) ? STREAM_STEP : STREAM_IDLE;
}

/* What the feed has to say now. Returns an enum stream_state or an error. */
static int ask(struct stream *stream, uint32_t f)
{
    struct adios2 *a = stream->impl;
    struct tau_feed *feed = a->feed[f];
    struct courier_block block;
    int state;

    while ((state = courier_receive(feed->courier, 0, &block)) == COURIER_BLOCK) {
        bool was_begun = feed->is_begun;

        feed->is_begun = true;
        a->busy = f;
        if (block.kind == TAU_BROKEN) {
            log_info("tau", "'%s': %.300s", feed->reader.path, (const char *)block.data);
            stream->quality.n[QUALITY_broken_off]++;
            a->busy = NO_FEED;
        }
        if (block.kind < TAU_STEP_END)
            stream->n_bytes += block.bytes;
        tau_decoder_block(&feed->decoder, block.kind, block.data, block.bytes);
        if (block.kind == TAU_STEP_END) {
            give(stream, f);
            return STREAM_STEP;
        }
        if (!was_begun && !a->defs.has_wall_time) {
            a->busy = NO_FEED; /* the others shall say when they began, too */
            return STREAM_IDLE;
        }
    }
    return state == COURIER_IDLE ? STREAM_IDLE : end_feed(stream, f, state);
}

/* Before the first step: those who have said nothing yet. */
static bool is_first_awaited(const struct adios2 *a)
{
    if (a->defs.has_wall_time || clock_ns() - a->opened_ns > FIRST_NS)
        return false;
    for (uint32_t i = 0; i < a->n_feeds; i++)
        if (!a->feed[i]->is_begun && !a->feed[i]->is_over)
            return true;
    return false;
}

/* Who may speak now. */
static bool may_speak(const struct adios2 *a, uint32_t f, bool is_awaiting)
{
    if (a->feed[f]->is_over || (a->busy != NO_FEED && a->busy != f))
        return false;
    return !is_awaiting || !a->feed[f]->is_begun;
}

static int ask_all(struct stream *stream)
{
    struct adios2 *a = stream->impl;
    bool is_awaiting = is_first_awaited(a);
    int state = STREAM_IDLE;

    for (uint32_t i = 0; i < a->n_feeds && state == STREAM_IDLE; i++) {
        uint32_t f = (a->turn + i) % a->n_feeds;

        if (may_speak(a, f, is_awaiting))
            state = ask(stream, f);
    }
    return state;
}

static bool are_all_over(const struct adios2 *a)
{
    for (uint32_t i = 0; i < a->n_feeds; i++)
        if (!a->feed[i]->is_over)
            return false;
    return true;
}

static void wait_for_any(struct adios2 *a, uint64_t most_ns)
{
    struct pollfd *p = mem_alloc(a->n_feeds, sizeof *p);
    bool is_awaiting = is_first_awaited(a);
    nfds_t n = 0;

    for (uint32_t f = 0; f < a->n_feeds; f++)
        if (may_speak(a, f, is_awaiting))
            p[n++] = (struct pollfd){.fd = courier_fd(a->feed[f]->courier), .events = POLLIN};
    poll(p, n, (int)(most_ns / 1000000u) + 1);
    free(p);
}

/* Looks for new files now and then, and before it believes that all is over. */
static int go_on(struct stream *stream)
{
    struct adios2 *a = stream->impl;
    uint32_t n_before = a->n_feeds;
    bool is_over = are_all_over(a);
    uint64_t silence_ns = stream->opts.silence_ms * (uint64_t)1000000;
    int rc = 0;

    if (a->is_directory && (is_over || clock_ns() - a->looked_ns > LOOK_NS))
        rc = look(stream, tau_files_path(stream->url));
    if (rc < 0)
        return rc;
    if (is_over && a->n_feeds == n_before)
        return STREAM_OVER;
    if (silence_ns && clock_ns() > a->step_ns + silence_ns)
        return err_set(ERR_IO, "no step of '%s' for %u s", stream->url,
                       stream->opts.silence_ms / 1000);
    return STREAM_IDLE;
}

static int next(struct stream *stream, int timeout_ms)
{
    struct adios2 *a = stream->impl;
    uint64_t until = clock_ns() + (uint64_t)timeout_ms * 1000000u, now;

    clear_given(a);
    for (;;) {
        int state = ask_all(stream);

        if (state == STREAM_IDLE)
            state = go_on(stream);
        now = clock_ns();
        if (state != STREAM_IDLE || now >= until)
            return state;
        wait_for_any(a, until - now < LOOK_NS ? until - now : LOOK_NS);
    }
}

const struct stream_ops stream_adios2_ops = {
    .name = "tau",
    .what = "tau:DIR, all of TAU's ADIOS2 files and SST streams there; PATH.bp, one of them",
    .accepts = accepts,
    .open = open_stream,
    .close = close_stream,
    .next = next,
    .part = part,
};

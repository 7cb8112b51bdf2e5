/*
 * stream_adios2 -- what TAU's ADIOS2 plugin writes while the program runs: BP files that grow,
 * SST streams, one (PATH) or all that are in a directory or come to be there (tau:DIR).
 *
 * A step of the stream is a step of one of them. Ranks are those within their program; location
 * and metadata say which program that is. A file or stream that breaks off is over and counted
 * as `broken_off`; the others go on. All are over when each is, and no other has appeared.
 *
 * Each file or stream is read by a process of its own (base/worker_process.h); here whoever has
 * something is listened to, but once a step has begun to come only its sender, so that there is
 * one step in memory.
 */
#include "trace/stream.h"

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
#define NO_INPUT UINT32_MAX

/* One file or stream. */
struct tau_input {
    struct adios2_reader reader;
    struct worker_process *worker_process;
    struct tau_decoder decoder;
    char program[256];
    bool is_begun, is_over;
};

struct adios2_stream {
    struct definitions defs;
    struct names path;        /* of the inputs, as they were found */
    struct names program;     /* "heat/0" */
    struct tau_input **input; /* [n_inputs] */
    uint32_t n_inputs;
    size_t input_cap;
    bool is_directory;
    uint64_t opened_ns, looked_ns, step_ns; /* when; step_ns: that the last step came */
    uint32_t turn;                          /* input to ask first */
    uint32_t busy;                          /* input whose step is coming, or NO_INPUT */
    uint32_t given;                         /* input whose step the caller has, or NO_INPUT */
    uint32_t location;                      /* next part of it */
};

/* --------------------------------------------------------------------------------- opening */

static bool accepts(const char *url)
{
    const char *path = tau_files_path(url);

    return path != url || tau_files_is_one(path) || tau_files_is_named_so(path);
}

static int open_input(struct stream *stream, const char *path)
{
    struct adios2_stream *a = stream->impl;
    struct tau_input *input = mem_alloc(1, sizeof *input);

    *mem_push(&a->input, &a->n_inputs, &a->input_cap) = input;
    tau_files_program(path, input->program, sizeof input->program);
    input->reader = (struct adios2_reader){
        .path = path, .is_live = true, .connect_ms = stream->opts.connect_ms};
    input->decoder = (struct tau_decoder){
        .defs = &a->defs,
        .programs = &a->program,
        .quality = &stream->quality,
        .file_program = input->program,
        .makes_locations = true,
        .wants_counters = stream->opts.wants_counters,
    };
    tau_decoder_init(&input->decoder);
    return worker_process_open(&input->worker_process, adios2_reader_run, &input->reader,
                               tau_files_patience(), NULL);
}

/* Opens what is new in the directory. */
static int look(struct stream *stream, const char *path)
{
    struct adios2_stream *a = stream->impl;
    uint32_t n_before = a->path.n;
    int rc = 0;

    a->looked_ns = clock_ns();
    tau_files_find(path, &a->path);
    for (uint32_t i = n_before; rc == 0 && i < a->path.n; i++)
        rc = open_input(stream, a->path.name[i]);
    return rc;
}

static int open_stream(struct stream *stream, const char *url)
{
    struct adios2_stream *a = mem_alloc(1, sizeof *a);
    const char *path = tau_files_path(url);
    int rc = adios2_reader_check(path);

    stream->impl = a;
    stream->defs = &a->defs;
    a->busy = a->given = NO_INPUT;
    a->opened_ns = a->step_ns = clock_ns();
    a->is_directory = path != url && !tau_files_is_one(path) && !tau_files_is_named_so(path);
    if (rc < 0)
        return rc;
    if (!a->is_directory) {
        names_add(&a->path, path);
        a->step_ns += stream->opts.connect_ms * (uint64_t)1000000;
        return open_input(stream, a->path.name[0]);
    }
    rc = look(stream, path);
    while (rc == 0 && a->n_inputs == 0) {
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
    struct adios2_stream *a = stream->impl;

    for (uint32_t i = 0; i < a->n_inputs; i++) {
        worker_process_close(a->input[i]->worker_process);
        tau_decoder_release(&a->input[i]->decoder);
        free(a->input[i]);
    }
    free(a->input);
    names_release(&a->path);
    names_release(&a->program);
    definitions_release(&a->defs);
    free(a);
}

/* ---------------------------------------------------------------------------------- a step */

static void clear_given(struct adios2_stream *a)
{
    if (a->given == NO_INPUT)
        return;
    for (uint32_t i = 0; i < a->input[a->given]->decoder.location_id.n; i++) {
        struct event_batch *batch = &a->input[a->given]->decoder.location[i].batch;

        batch->n = batch->n_messages = batch->n_counters = 0;
    }
    a->given = NO_INPUT;
}

/* What the input has decoded is the caller's now. Returns false when that is nothing. */
static bool give(struct stream *stream, uint32_t f)
{
    struct adios2_stream *a = stream->impl;
    struct tau_decoder *d = &a->input[f]->decoder;
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
    a->busy = NO_INPUT;
    a->location = 0;
    a->turn = f + 1;
    a->step_ns = clock_ns();
    return is_any;
}

static bool part(struct stream *stream, struct stream_part *out)
{
    struct adios2_stream *a = stream->impl;
    const struct tau_decoder *d;

    if (a->given == NO_INPUT)
        return false;
    d = &a->input[a->given]->decoder;
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

/* The input is over; what still waited in it is a last step. */
static int end_input(struct stream *stream, uint32_t f, int state)
{
    struct adios2_stream *a = stream->impl;
    struct tau_input *input = a->input[f];

    input->is_over = true;
    a->busy = NO_INPUT;
    if (state != WORKER_PROCESS_OVER)
        log_info("tau", "'%s': %s", input->reader.path, err_message());
    if (state == WORKER_PROCESS_DIED)
        stream->quality.n[QUALITY_reader_crash]++;
    else if (state == WORKER_PROCESS_HUNG)
        stream->quality.n[QUALITY_reader_hang]++;
    else if (state < 0 && (input->is_begun || a->n_inputs > 1))
        stream->quality.n[input->is_begun ? QUALITY_broken_off : QUALITY_missing_file]++;
    else if (state < 0)
        return state;
    tau_decoder_finish(&input->decoder);
    return give(stream, f) ? STREAM_STEP : STREAM_IDLE;
}

/* What the input has to say now. Returns an enum stream_state or an error. */
static int ask(struct stream *stream, uint32_t f)
{
    struct adios2_stream *a = stream->impl;
    struct tau_input *input = a->input[f];
    struct worker_process_block block;
    int state;

    while ((state = worker_process_receive(input->worker_process, 0, &block)) ==
           WORKER_PROCESS_BLOCK) {
        bool was_begun = input->is_begun;

        input->is_begun = true;
        a->busy = f;
        if (block.kind == TAU_BROKEN) {
            log_info("tau", "'%s': %.300s", input->reader.path, (const char *)block.data);
            stream->quality.n[QUALITY_broken_off]++;
            a->busy = NO_INPUT;
        }
        if (block.kind < TAU_STEP_END)
            stream->n_bytes += block.bytes;
        tau_decoder_block(&input->decoder, block.kind, block.data, block.bytes);
        if (block.kind == TAU_STEP_END) {
            give(stream, f);
            return STREAM_STEP;
        }
        if (!was_begun && !a->defs.has_wall_time) {
            a->busy = NO_INPUT; /* the others shall say when they began, too */
            return STREAM_IDLE;
        }
    }
    return state == WORKER_PROCESS_IDLE ? STREAM_IDLE : end_input(stream, f, state);
}

/* Before the first step: those who have said nothing yet. */
static bool is_first_awaited(const struct adios2_stream *a)
{
    if (a->defs.has_wall_time || clock_ns() - a->opened_ns > FIRST_NS)
        return false;
    for (uint32_t i = 0; i < a->n_inputs; i++)
        if (!a->input[i]->is_begun && !a->input[i]->is_over)
            return true;
    return false;
}

/* Who may speak now. */
static bool may_speak(const struct adios2_stream *a, uint32_t f, bool is_awaiting)
{
    if (a->input[f]->is_over || (a->busy != NO_INPUT && a->busy != f))
        return false;
    return !is_awaiting || !a->input[f]->is_begun;
}

static int ask_all(struct stream *stream)
{
    struct adios2_stream *a = stream->impl;
    bool is_awaiting = is_first_awaited(a);
    int state = STREAM_IDLE;

    for (uint32_t i = 0; i < a->n_inputs && state == STREAM_IDLE; i++) {
        uint32_t f = (a->turn + i) % a->n_inputs;

        if (may_speak(a, f, is_awaiting))
            state = ask(stream, f);
    }
    return state;
}

static bool are_all_over(const struct adios2_stream *a)
{
    for (uint32_t i = 0; i < a->n_inputs; i++)
        if (!a->input[i]->is_over)
            return false;
    return true;
}

static void wait_for_any(struct adios2_stream *a, uint64_t most_ns)
{
    struct pollfd *p = mem_alloc(a->n_inputs, sizeof *p);
    bool is_awaiting = is_first_awaited(a);
    nfds_t n = 0;

    for (uint32_t f = 0; f < a->n_inputs; f++)
        if (may_speak(a, f, is_awaiting))
            p[n++] = (struct pollfd){.fd = worker_process_fd(a->input[f]->worker_process),
                                     .events = POLLIN};
    poll(p, n, (int)(most_ns / 1000000u) + 1);
    free(p);
}

/* Looks for new files now and then, and before it believes that all is over. */
static int go_on(struct stream *stream)
{
    struct adios2_stream *a = stream->impl;
    uint32_t n_before = a->n_inputs;
    bool is_over = are_all_over(a);
    uint64_t silence_ns = stream->opts.silence_ms * (uint64_t)1000000;
    int rc = 0;

    if (a->is_directory && (is_over || clock_ns() - a->looked_ns > LOOK_NS))
        rc = look(stream, tau_files_path(stream->url));
    if (rc < 0)
        return rc;
    if (is_over && a->n_inputs == n_before)
        return STREAM_OVER;
    if (silence_ns && clock_ns() > a->step_ns + silence_ns)
        return err_set(ERR_IO, "no step of '%s' for %u s", stream->url,
                       stream->opts.silence_ms / 1000);
    return STREAM_IDLE;
}

static int next(struct stream *stream, int timeout_ms)
{
    struct adios2_stream *a = stream->impl;
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

/*
 * stream -- what a program that still runs has to say, a step at a time.
 *
 *     stream_open(&stream, "replay:archive", &opts);
 *     while ((state = stream_next(&stream, 1000)) != STREAM_OVER && state >= 0)
 *         if (state == STREAM_STEP)
 *             while (stream_part(&stream, &part))
 *                 ... part.batch->event[part.begin .. part.end) of part.location ...
 *
 * A step is an I/O step of TAU, a frame of the tracer, or a slice of trace time of a finished
 * trace. It comes in parts, each of one location and in time order; the parts of a location
 * follow each other in time too, within a step and from step to step, but there may be others
 * in between. Its end cuts calls anywhere.
 *
 * Definitions grow: locations, regions, counters, metadata that were not there before are there
 * when the step that uses them is. An index never changes its meaning; ranks and threads are
 * set when a location appears. To add a stream: one file with a struct stream_ops, its name
 * below and one row in stream.c.
 */
#ifndef SNAG_TRACE_STREAM_H
#define SNAG_TRACE_STREAM_H

#include "trace/definitions.h"
#include "trace/event.h"
#include "trace/quality.h"

#include <stdbool.h>
#include <stdint.h>

struct stream;

enum stream_state {
    STREAM_OVER, /* and nothing comes after it, but see stream_again */
    STREAM_STEP,
    STREAM_IDLE, /* nothing yet */
};

/* Events [begin, end) of a batch. */
struct stream_part {
    uint32_t location;
    const struct event_batch *batch;
    size_t begin, end;
};

struct stream_opts {
    uint64_t step_ns;    /* replay: of trace time per step; 0: all at once */
    double speed;        /* replay: seconds of trace per second; 0: as fast as it goes */
    unsigned connect_ms; /* how long to wait for a program that is not there yet */
    unsigned silence_ms; /* how long it may say nothing before that is an error; 0: for ever */
    bool wants_counters;
    const uint32_t *rank;    /* read only this one; NULL: all */
    const uint32_t *as_rank; /* that all locations are said to be of; NULL: as they say */
    uint32_t program;        /* of all locations */
};

struct stream_ops {
    const char *name; /* as in "replay" */
    const char *what; /* one line for --help */

    /* True when the URL looks like one of ours. */
    bool (*accepts)(const char *url);

    /* Set stream->defs and stream->impl. Returns 0 or a negative ERR_*. */
    int (*open)(struct stream *stream, const char *url);
    void (*close)(struct stream *stream);

    /* See stream_next; sets begin_ns and end_ns. */
    int (*next)(struct stream *stream, int timeout_ms);
    bool (*part)(struct stream *stream, struct stream_part *part);

    /* See stream_again; empties stream->defs the first time. NULL: there is nothing more. */
    int (*again)(struct stream *stream, int timeout_ms);
};

/* The kinds there are, but for that of a finished trace, each in the folder of its format. */
extern const struct stream_ops stream_tracer_ops, stream_adios2_ops;

struct stream {
    const struct stream_ops *ops;
    struct stream_opts opts;
    struct definitions *defs;  /* what is known by now; regions may be added */
    struct quality quality;    /* of all that was read by now */
    uint64_t n_steps;          /* stream_next has returned STREAM_STEP so often */
    uint64_t begin_ns, end_ns; /* of the step; its events are before end_ns */
    uint64_t n_lost;           /* events that were dropped before they got here */
    uint64_t n_bytes;     /* read by now: of files as they lie on disk, or through a socket; */
    const char *no_bytes; /* why that is not known; NULL: it is. Constant */
    struct accesses accesses; /* of what was read by now; of a replay, once it is over */
    char *url;
    void *impl;

    bool is_again;        /* it waits for another run */
    bool *is_wanted;      /* [n_locations] are of opts.rank */
    uint32_t n_locations; /* that were looked at */
    size_t wanted_cap, n_metadata;
};

/*
 * stream_open -- find out what url is, and open it.
 *   url   replay:TRACE, where TRACE is anything that source_open takes, or TRACE alone
 *   opts  copied
 * Returns 0, ERR_IO, ERR_FORMAT or ERR_NOT_FOUND with the reason. Close in any case.
 */
int stream_open(struct stream *stream, const char *url, const struct stream_opts *opts);

/* stream_close -- closes and zeroes. A zeroed stream is harmless. */
void stream_close(struct stream *stream);

/*
 * stream_next -- the next step; what is left of the last one is skipped.
 *   timeout_ms  wait no longer than that, 0: not at all
 * Returns an enum stream_state, or a negative ERR_*, then nothing more comes.
 */
int stream_next(struct stream *stream, int timeout_ms);

/*
 * stream_again -- after STREAM_OVER: wait for the program to run once more. What the stream
 * knows of the run that is over is forgotten; definitions begin anew. Returns STREAM_STEP when
 * it is there, and stream_next goes on with it; STREAM_IDLE when it has not come within
 * timeout_ms, and may be asked again; STREAM_OVER for a stream that has one run.
 */
int stream_again(struct stream *stream, int timeout_ms);

/*
 * stream_part -- the next part of the step.
 *   part  out: valid until the next call of any function of the stream
 * Returns false at the end of the step.
 */
bool stream_part(struct stream *stream, struct stream_part *part);

/* stream_list -- the kinds of stream there are, ended by NULL. */
const struct stream_ops *const *stream_list(void);

#endif

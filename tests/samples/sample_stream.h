/* sample_stream -- a stream that a test says event by event, step by step. */
#ifndef SNAG_TESTS_SAMPLE_STREAM_H
#define SNAG_TESTS_SAMPLE_STREAM_H

#include "trace/event_list.h"
#include "trace/stream.h"

#define SAMPLE_STEPS 8u
#define SAMPLE_LOCATIONS 4u

struct sample_stream {
    struct stream stream;
    struct definitions defs;
    struct event_list list[SAMPLE_STEPS][SAMPLE_LOCATIONS];
    uint64_t end_ns[SAMPLE_STEPS];
    uint32_t n_steps; /* that were said; what is said goes to the last one */
    uint32_t read, part;
};

/* sample_stream_open -- location l is of rank l; there is one communicator, the world. */
void sample_stream_open(struct sample_stream *s, uint32_t n_locations);
void sample_stream_close(struct sample_stream *s);

/* sample_stream_step -- the next step begins where the last one ends, and ends then. */
void sample_stream_step(struct sample_stream *s, uint64_t end_ns);

void sample_enter(struct sample_stream *s, uint32_t location, uint64_t time_ns,
                  const char *name);
void sample_leave(struct sample_stream *s, uint32_t location, uint64_t time_ns);

/* sample_call -- enter and leave. */
void sample_call(struct sample_stream *s, uint32_t location, uint64_t time_ns, const char *name,
                 uint64_t duration_ns);

void sample_message(struct sample_stream *s, uint32_t location, uint64_t time_ns,
                    enum message_kind kind, uint32_t peer, uint64_t bytes);
void sample_counter(struct sample_stream *s, uint32_t location, uint64_t time_ns,
                    const char *name, int64_t value);

#endif

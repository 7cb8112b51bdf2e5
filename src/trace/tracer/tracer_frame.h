/*
 * tracer_frame -- the frames of docs/wire.md, from bytes to the locations of their program.
 *
 * Anything may come: what is not as the page says is refused with ERR_FORMAT, and the
 * connection it came from is not to be read any further. What a refused frame said before the
 * place that is wrong may have been taken; it hurts only the locations of that process.
 */
#ifndef SNAG_TRACE_TRACER_FRAME_H
#define SNAG_TRACE_TRACER_FRAME_H

#include "trace/tracer/tracer_bytes.h"
#include "trace/tracer/tracer_locations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One process at the other end of a connection: its numbers are its own. */
struct tracer_sender {
    bool is_known; /* has said hello; then: */
    bool is_done;  /* has said goodbye */
    uint32_t rank;
    uint64_t interval_ns;  /* between its ticks */
    uint64_t shift_ns;     /* what its clock is behind ours, modulo 2^64; 0 if it is the same */
    uint64_t until_ns;     /* it has said all that happened before, on our clock */
    uint64_t wall_ns;      /* what its clock is behind the time since 1970 */
    uint32_t *region;      /* [n_regions] index into the definitions */
    uint32_t *comm;        /* [n_comms] or NO_COMM */
    uint32_t *counter;     /* [n_counters] */
    unsigned char *object; /* [n_objects] enum tracer_object */
    size_t n_regions, region_cap, n_comms, comm_cap, n_counters, counter_cap;
    size_t n_objects, object_cap;

    struct tracer_call *open; /* of a frame, while it is read */
    size_t open_cap;
};

void tracer_sender_release(struct tracer_sender *sender);

/*
 * tracer_frame_size -- how long the frame is that begins here.
 *   data  (n) what has arrived
 *   size  out: with its header; 0 when there is not enough to say
 * Returns 0, or ERR_FORMAT for what is no frame, or a longer one than any may be.
 */
int tracer_frame_size(const unsigned char *data, size_t n, size_t *size);

/* What a process says of itself, first of all. */
struct tracer_hello {
    struct tracer_process who; /* on its own clock */
    uint64_t now_ns, wall_ns, interval_ns;
    char host[TRACER_LONGEST_TEXT + 1], program[TRACER_LONGEST_TEXT + 1];
};

/* tracer_frame_hello -- a hello is read, and nothing done about it. A whole frame, as
 * tracer_frame_size says. Returns 0 or ERR_FORMAT for anything else. */
int tracer_frame_hello(const unsigned char *frame, size_t size, struct tracer_hello *hello);

/*
 * tracer_frame_take -- all that a frame says.
 *   frame   (size) a whole one, as tracer_frame_size says
 *   now_ns  our clock; times more than a minute after it are refused
 * Returns 0 or ERR_FORMAT with the reason. O(size).
 */
int tracer_frame_take(struct tracer_run *run, struct tracer_sender *from,
                      const unsigned char *frame, size_t size, uint64_t now_ns);

/* tracer_frame_refusal -- the one frame that goes to a process: it is not listened to, and why.
 */
void tracer_frame_refusal(struct pack *to, const char *why);

#endif

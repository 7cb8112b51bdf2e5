/*
 * live_frame -- the frames of live output, as docs/wire.md has them, from records.
 *
 * A lane writes the records of one thread into the frame it is at, and keeps the stack of open
 * calls, because a frame begins with the calls that are open. So each frame can be read without
 * those before it, and any of them may be dropped.
 */
#ifndef SNAG_TRACER_LIVE_FRAME_H
#define SNAG_TRACER_LIVE_FRAME_H

#include "blob.h"
#include "recorder.h"

#include <stdint.h>

#define FRAME_FULL ((size_t)192 << 10) /* bytes of records: time for another one */

/* frame_begin, frame_end -- what is put into the blob in between is the payload. */
size_t frame_begin(struct blob *to, enum tracer_frame_kind kind);
void frame_end(struct blob *to, size_t begin);

void frame_number(struct blob *to, uint64_t number); /* 7 bits a byte, the low ones first */
void frame_u64(struct blob *to, uint64_t number);
void frame_text(struct blob *to, const char *text); /* no more than 4,096 bytes of it */

/* frame_refusal -- the text of a refusal, if these are the bytes of one, else NULL. The text is
 * ended with a zero in their place. */
const char *frame_refusal(char *data, size_t n);

struct lane {
    struct recorder *recorder;
    unsigned generation; /* of the chunk that comes next */
    uint32_t n_peeked;   /* slots of it that were taken already */
    uint64_t n_peeked_records;
    struct open_call *open; /* [n_open] after the last record */
    uint32_t n_open, cap_open;

    struct blob stack;   /* at the begin of the frame, encoded */
    struct blob records; /* encoded */
    uint64_t begin_ns, last_ns;
    uint64_t n_records; /* 0: no frame has begun */
    uint64_t n_lost;    /* dropped before the frame */
};

/* lane_records -- n slots of whole records go to the frame. Returns how many records. */
uint64_t lane_records(struct lane *l, const union slot *slot, size_t n);

/* lane_counter -- a counter's value goes to the frame. A record that comes later with a time
 * before it, which a wrapper read a while ago, is moved up to it. */
void lane_counter(struct lane *l, uint64_t time_ns, uint32_t counter, int64_t value);

/* lane_restart -- there is a gap, after which these calls are open. No frame has begun. */
void lane_restart(struct lane *l, const struct open_call *open, uint32_t n_open);

/* lane_bytes -- about what the frame takes; lane_put -- append it, and begin a new one. */
size_t lane_bytes(const struct lane *l);
void lane_put(struct lane *l, struct blob *to);

/* lane_lose -- drop the frame, and begin a new one. */
void lane_lose(struct lane *l);

#endif

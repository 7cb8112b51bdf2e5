/*
 * live_frame -- the frames of live output, as docs/wire.md has them, from records.
 *
 * A frame writer puts the records of one thread into the frame it is at, and keeps the stack of
 * open calls, because a frame begins with the calls that are open. So each frame can be read
 * without those before it, and any of them may be dropped.
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

struct frame_writer {
    struct recorder *recorder;
    unsigned generation; /* of the chunk that comes next */
    uint32_t n_peeked;   /* slots of it that were taken already */
    uint64_t n_peeked_records;
    struct entered_call *open; /* [n_open] after the last record */
    uint32_t n_open;
    size_t cap_open;

    struct blob stack;   /* at the begin of the frame, encoded */
    struct blob records; /* encoded */
    uint64_t begin_ns, last_ns;
    uint64_t n_records; /* 0: no frame has begun */
    uint64_t n_lost;    /* dropped before the frame */
    uint64_t n_queued, n_lost_in_all;
};

/* frame_writer_records -- n slots of whole records go to the frame. Returns how many records.
 */
uint64_t frame_writer_records(struct frame_writer *l, const union slot *slot, size_t n);

/* frame_writer_counter -- a counter's value goes to the frame. A record that comes later with a
 * time before it, which a wrapper read a while ago, is moved up to it. */
void frame_writer_counter(struct frame_writer *l, uint64_t time_ns, uint32_t counter,
                          int64_t value);

/* frame_writer_restart -- there is a gap, after which these calls are open. No frame has begun.
 */
void frame_writer_restart(struct frame_writer *l, const struct entered_call *open,
                          uint32_t n_open);

/* frame_writer_bytes -- about what the frame takes; frame_writer_put -- append it, and begin a
 * new one. */
size_t frame_writer_bytes(const struct frame_writer *l);
void frame_writer_put(struct frame_writer *l, struct blob *to);

/* frame_writer_lose -- drop the frame, and begin a new one. */
void frame_writer_lose(struct frame_writer *l);

#endif

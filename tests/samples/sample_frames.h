/*
 * sample_frames -- the tracer's frames as docs/wire.md has them, for tests: an encoder that
 * shares nothing with the tracer's.
 *
 *     frame_open(&bytes, FRAME_REGIONS);
 *     pack_varint(&bytes, 0), ...
 *     frame_close(&bytes);
 */
#ifndef SNAG_TESTS_SAMPLE_FRAMES_H
#define SNAG_TESTS_SAMPLE_FRAMES_H

#include "base/pack.h"

#include <stdint.h>

enum sample_frame {
    FRAME_HELLO = 1,
    FRAME_REGIONS,
    FRAME_COMMS,
    FRAME_COUNTERS,
    FRAME_EVENTS,
    FRAME_TICK,
    FRAME_BYE,
    FRAME_OBJECTS = 9,
};

enum sample_record {
    RECORD_ENTER,
    RECORD_LEAVE,
    RECORD_SEND,
    RECORD_RECV,
    RECORD_ISEND,
    RECORD_ISEND_COMPLETE,
    RECORD_IRECV_REQUEST,
    RECORD_IRECV,
    RECORD_CANCELLED,
    RECORD_COLLECTIVE_BEGIN,
    RECORD_COLLECTIVE_END,
    RECORD_COUNTER,
    RECORD_ENTER_ESTIMATED,
    RECORD_LEAVE_ESTIMATED,
    RECORD_ICOLLECTIVE,
    RECORD_ICOLLECTIVE_REQUEST,
    RECORD_WINDOW_CREATE,
    RECORD_WINDOW_DESTROY,
    RECORD_WINDOW_BEGIN,
    RECORD_WINDOW_END,
    RECORD_GROUP_SYNC,
    RECORD_MEMORY_SYNC,
    RECORD_LOCK_REQUEST,
    RECORD_LOCK_RELEASE,
    RECORD_PUT,
    RECORD_GET,
    RECORD_ATOMIC,
    RECORD_TRANSFERRED,
    RECORD_TRANSFERRED_REMOTE,
    RECORD_FILE_OPEN,
    RECORD_FILE_CLOSE,
    RECORD_FILE_DELETE,
    RECORD_FILE_SEEK,
    RECORD_IO_BEGIN,
    RECORD_IO_ISSUED,
    RECORD_IO_COMPLETE,
};

/* frame_open, frame_close -- what is packed in between is the payload of one frame. */
void frame_open(struct pack *to, enum sample_frame kind);
void frame_close(struct pack *to);

/* frame_hello -- a process says hello; its clock reads now_ns, and it started at start_ns. */
struct sample_process {
    uint32_t rank, n_ranks, pid;
    uint64_t start_ns, job; /* job 0: as a tracer that does not say it */
};
void frame_hello(struct pack *to, const struct sample_process *process, uint64_t now_ns,
                 uint64_t interval_ns);

/* frame_definitions -- regions "main", "step", "MPI_Send"; the world and self; a counter;
 * window 0 of the world, group 1 of two ranks, file 2, its handle 3. */
void frame_definitions(struct pack *to, uint32_t n_ranks);

/* frame_events -- the begin of a frame of events; depth calls are open: main, step, step, ..,
 * each entered a nanosecond after the one around it, the first at enter_ns. */
void frame_events(struct pack *to, uint32_t thread, uint64_t n_lost, uint64_t begin_ns,
                  uint32_t depth, uint64_t enter_ns);

/* frame_record -- the head of a record, since_ns after the one before. */
void frame_record(struct pack *to, enum sample_record kind, uint64_t since_ns);

void frame_text(struct pack *to, const char *text);
void frame_tick(struct pack *to, uint64_t until_ns);
void frame_bye(struct pack *to);

#endif

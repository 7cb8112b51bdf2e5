/*
 * tracer_numbers -- the numbers of the tracer's frames, for both ends: tracer/ at the root
 * writes them, tracer_frame.c reads them. docs/wire.md says what each is.
 *
 * Includes nothing of ours: the tracer is loaded into other people's programs.
 */
#ifndef SNAG_TRACE_TRACER_NUMBERS_H
#define SNAG_TRACE_TRACER_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TRACER_MAGIC "SNT\2" /* the last byte is the version */
#define TRACER_MAGIC_SIZE 4
#define TRACER_HEADER_SIZE 12 /* magic, kind, length of the payload */
#define TRACER_MAX_PAYLOAD_BYTES ((size_t)1 << 20)
#define TRACER_LONGEST_TEXT 4096
#define TRACER_MAX_RANKS 65536u /* a root that is not below it is none */

enum tracer_frame_kind {
    TRACER_FRAME_HELLO = 1,
    TRACER_FRAME_REGIONS,
    TRACER_FRAME_COMMS,
    TRACER_FRAME_COUNTERS,
    TRACER_FRAME_EVENTS,
    TRACER_FRAME_TICK,
    TRACER_FRAME_BYE,
    TRACER_FRAME_REFUSED, /* the one that comes back */
    TRACER_FRAME_OBJECTS,
};

enum tracer_record_kind {
    TRACER_RECORD_ENTER,
    TRACER_RECORD_LEAVE,
    TRACER_RECORD_SEND,
    TRACER_RECORD_RECV,
    TRACER_RECORD_ISEND,
    TRACER_RECORD_ISEND_COMPLETE,
    TRACER_RECORD_IRECV_REQUEST,
    TRACER_RECORD_IRECV,
    TRACER_RECORD_CANCELLED,
    TRACER_RECORD_COLLECTIVE_BEGIN,
    TRACER_RECORD_COLLECTIVE_END,
    TRACER_RECORD_COUNTER,
    TRACER_RECORD_ENTER_ESTIMATED,
    TRACER_RECORD_LEAVE_ESTIMATED,
    TRACER_RECORD_ICOLLECTIVE,         /* it began as a TRACER_RECORD_ICOLLECTIVE_REQUEST */
    TRACER_RECORD_ICOLLECTIVE_REQUEST, /* from here on the head says TRACER_RECORD_MORE */
    TRACER_RECORD_WINDOW_CREATE,       /* one-sided communication; all of it is an access */
    TRACER_RECORD_WINDOW_DESTROY,
    TRACER_RECORD_WINDOW_BEGIN,
    TRACER_RECORD_WINDOW_END,
    TRACER_RECORD_GROUP_SYNC,
    TRACER_RECORD_MEMORY_SYNC,
    TRACER_RECORD_LOCK_REQUEST,
    TRACER_RECORD_LOCK_RELEASE,
    TRACER_RECORD_PUT,
    TRACER_RECORD_GET,
    TRACER_RECORD_ATOMIC,
    TRACER_RECORD_TRANSFERRED,
    TRACER_RECORD_TRANSFERRED_REMOTE,
    TRACER_RECORD_FILE_OPEN, /* files */
    TRACER_RECORD_FILE_CLOSE,
    TRACER_RECORD_FILE_DELETE,
    TRACER_RECORD_FILE_SEEK,
    TRACER_RECORD_IO_BEGIN,
    TRACER_RECORD_IO_ISSUED,
    TRACER_RECORD_IO_COMPLETE,
    TRACER_RECORDS
};

/* Kinds that are less frequent: the head has this one, and by how much more follows. */
#define TRACER_RECORD_MORE TRACER_RECORD_ICOLLECTIVE_REQUEST

/* What windows and files are, and what they are made of. */
enum tracer_object { TRACER_WINDOW, TRACER_GROUP, TRACER_FILE, TRACER_HANDLE, TRACER_OBJECTS };

/* Who waits for whom in a collective. */
enum tracer_sort {
    TRACER_SORT_BARRIER,
    TRACER_SORT_ALL_FOR_ALL,
    TRACER_SORT_ONE_FOR_ALL,
    TRACER_SORT_ALL_FOR_ONE,
    TRACER_SORT_OTHER,
    TRACER_SORTS
};

/* tracer_rate -- samples per second as a person says it: "200Hz" or "200", up to TRACER_MAX_HZ; 0 for
 * any other text. */
#define TRACER_MAX_HZ 10000

static inline double tracer_rate(const char *text)
{
    char *end;
    double hz = strtod(text, &end);
    bool is_rate = end != text && (*end == '\0' || strcmp(end, "Hz") == 0);

    return is_rate && hz > 0 && hz <= TRACER_MAX_HZ ? hz : 0;
}

#endif

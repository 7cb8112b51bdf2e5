/*
 * otf2_decode -- the event file of one location of an OTF2 archive: its records, in order, and
 * nothing else, whatever is in the file; and what its bytes become, events.
 *
 * otf2_file finds chunks and keeps their bytes in memory, a window at a time; what is known of
 * a location beside them is in otf2_events.h.
 */
#ifndef SNAG_TRACE_OTF2_DECODE_H
#define SNAG_TRACE_OTF2_DECODE_H

#include "trace/otf2/otf2_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be decoded is not longer than this: 255 values of a metric are 2,558 bytes. */
#define OTF2_FILE_MAX_RECORD_BYTES 4096u

struct otf2_file {
    /* For the decoder: */
    const uint8_t *at;   /* the next record */
    const uint8_t *fill; /* from here on ask otf2_file_fill first */
    const uint8_t *end;  /* of the chunk's bytes in memory; zeros for as long as a record */
    uint64_t time;       /* of the last timestamp, ticks */
    uint64_t n_events;   /* of this chunk, decoded so far */
    bool is_big_endian;  /* this chunk's numbers are */

    /* What was found so far, for its report: */
    uint64_t n_lost;    /* events that are missing, as far as the chunks' headers tell */
    uint64_t n_damaged; /* places where records could not be understood */
    bool is_cut;        /* it ends without a mark that it does */

    int fd;
    uint64_t bytes, chunk_bytes; /* of the file; of all chunks but the last */
    uint64_t chunk_at;           /* offset of the current chunk */
    uint64_t loaded;             /* offset of what `end` points to */
    uint64_t first, n_said;      /* of the chunk's header: its first event, how many */
    uint64_t next_event;         /* the number that the next chunk should begin with */
    uint8_t *window;
    size_t window_bytes;
};

/*
 * otf2_file_open -- open the event file of a location; the first chunk is ready to be decoded.
 *   file         zeroed, or closed before (its memory is used again)
 *   chunk_bytes  length of a chunk, as the archive says
 * Returns 0, or ERR_IO if it cannot be opened or read at all; errno says why.
 */
int otf2_file_open(struct otf2_file *file, const char *path, uint64_t chunk_bytes);

/* otf2_file_close -- close it and keep the memory for the next. */
void otf2_file_close(struct otf2_file *file);
void otf2_file_release(struct otf2_file *file);

/* Why there is nothing more to be read in a chunk. */
enum otf2_file_end {
    OTF2_FILE_MARKED,  /* its end is marked */
    OTF2_FILE_LAST,    /* and that of the file */
    OTF2_FILE_OVERRUN, /* the next record has not all its bytes */
    OTF2_FILE_BROKEN,  /* the next record could not be understood */
};

/*
 * otf2_decode -- decode the next events of a file.
 *   file    open
 *   events  where they go; otf2_events_into says how many may
 * Returns how many records there were, fewer than `most` at the end of the file. What could not
 * be read is counted in *file. Time O(bytes), about 4 ns a record.
 */
size_t otf2_decode(struct otf2_file *file, struct otf2_events *events);

#endif

/*
 * otf2_file -- the event file of one location of an OTF2 archive: its records, in order, and
 * nothing else, whatever is in the file.
 *
 *     file:   | chunk 0 .............. | chunk 1 .............. | chunk 2 ... 1 |
 *     chunk:  3 order first(8) last(8) | record | record | ... | 0 0 0 0
 *     record: [5 time(8)] [6 length attributes] type, then one compressed number or a length
 *             and so many bytes
 *
 * All chunks but the last have the length that the archive's anchor file states, and a header
 * with the numbers of their first and last event. That is what makes a damaged file readable: a
 * chunk that cannot be read to its end is left, reading goes on with the next one that has a
 * sensible header, and the numbers say how many events are missing in between. Nothing is
 * believed of the file but what its bytes can hold, every step goes forward, so reading ends;
 * libotf2 goes round in circles in files that were cut off, and reads past its buffers.
 *
 * This module finds chunks and keeps their bytes in memory, a window at a time; what the
 * records mean is the business of otf2_events.
 */
#ifndef SNAG_TRACE_OTF2_FILE_H
#define SNAG_TRACE_OTF2_FILE_H

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
 * Returns 0, or ERR_IO if it cannot be opened or read at all.
 */
int otf2_file_open(struct otf2_file *file, const char *path, uint64_t chunk_bytes);

/* otf2_file_close -- close it and keep the memory for the next. */
void otf2_file_close(struct otf2_file *file);
void otf2_file_release(struct otf2_file *file);

/*
 * otf2_file_fill -- get more bytes of the chunk into memory, or go on to the next chunk where
 * this one has no more. Returns true when there is a record at `at`, false at the end.
 */
bool otf2_file_fill(struct otf2_file *file);

/*
 * otf2_file_has -- whether the chunk has n bytes more from `at` on, be they in memory or not.
 * otf2_file_skip -- go on after these.
 */
bool otf2_file_has(const struct otf2_file *file, uint64_t n);
void otf2_file_skip(struct otf2_file *file, uint64_t n);

/* Why there is nothing more to be read in a chunk. */
enum otf2_file_end {
    OTF2_FILE_MARKED,  /* its end is marked */
    OTF2_FILE_LAST,    /* and that of the file */
    OTF2_FILE_OVERRUN, /* the next record has not all its bytes */
    OTF2_FILE_BROKEN,  /* the next record could not be understood */
};

/* otf2_file_leave -- go on to the next chunk. */
void otf2_file_leave(struct otf2_file *file, enum otf2_file_end end);

#endif

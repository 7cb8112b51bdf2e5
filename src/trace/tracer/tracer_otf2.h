/*
 * tracer_otf2 -- records (tracer_record.h) become the bytes of an OTF2 event file, as libotf2
 * 3.0 would write them: the tests compare them byte by byte.
 *
 * The tracer writes them itself for two reasons. Nothing of libotf2 is to be in other people's
 * programs: it ends them when a disk is full. And what is in the file must be known to the
 * byte at any moment, so that whoever finds it when the program was killed can go on from
 * there (tracer_state.h).
 *
 *     file:   | chunk .............. | chunk .............. | chunk ...... 2 1 |
 *     chunk:  3 order first(8) last(8) | record | record | ... | 0 0 0 0
 *     record: [5 time(8)] [6 length attributes] type, a number, or a length and contents
 *
 * All chunks but the last are equally long. Knows nothing but its arguments.
 */
#ifndef SNAG_TRACE_TRACER_OTF2_H
#define SNAG_TRACE_TRACER_OTF2_H

#include "trace/tracer/tracer_state.h"

#include <stdbool.h>
#include <stddef.h>

#define TRACER_OTF2_MARK 3u              /* the first byte of a chunk */
#define TRACER_OTF2_HEADER 18u           /* bytes before a chunk's first record */
#define TRACER_OTF2_MAX_RECORD_BYTES 80u /* bytes that a record takes at most */
#define TRACER_OTF2_MAX_SLOT_BYTES 24u   /* ... for each of its slots, of many */
#define TRACER_OTF2_END 2u               /* bytes behind the last record of a file */
#define TRACER_OTF2_CHUNK                                                                      \
    (256u << 10) /* bytes of all chunks but the last: the least there is */

/* The attributes of an enter or leave whose time is estimated: by how much it may have been
 * earlier or later, in nanoseconds; of a leave of a function that was inlined, how many calls
 * this one may have been. */
enum { ATTRIBUTE_EARLIER, ATTRIBUTE_LATER, ATTRIBUTE_INLINED };

/* Where the next record goes. */
struct tracer_otf2 {
    uint8_t *at, *end; /* bytes that are free in the chunk */
    uint64_t time_ns;  /* of the last record; times that would go back are put to it */
    uint64_t n_events; /* of the file */
    uint32_t n_open;   /* calls that were entered and not left */
    bool has_time;     /* the chunk has said time_ns */
};

/* tracer_otf2_begin -- begin a chunk of so many bytes; room for its end is kept. */
void tracer_otf2_begin(struct tracer_otf2 *to, uint8_t *chunk, size_t bytes);

/*
 * tracer_otf2_put -- append whole records, as long as there is room for any.
 *   slot, end  the first slot, and that behind the last
 * Returns the first slot that did not go. Kinds that there are not end it, too. Time some 5 ns
 * a record.
 */
const union slot *tracer_otf2_put(struct tracer_otf2 *to, const union slot *slot,
                                  const union slot *end);

/*
 * tracer_otf2_lose -- a record for which there is no room any more: it is lost, but a leave of
 * a call that is in the file.
 *   lost  n_lost and n_lost_open are counted
 * Returns whether it is such a leave, which is to be put.
 */
bool tracer_otf2_lose(struct state_commit *lost, const union slot *slot);

/* tracer_otf2_end -- the chunk is complete: zeros up to its end, or that it is the last.
 * Returns its bytes. */
size_t tracer_otf2_end(struct tracer_otf2 *to, uint8_t *chunk, size_t bytes);
size_t tracer_otf2_end_file(struct tracer_otf2 *to, uint8_t *chunk);

#endif

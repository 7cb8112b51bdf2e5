/*
 * chunks -- a body of a length that is not known before, in chunks (RFC 9112, 7.1), as it comes
 * in piece by piece.
 *
 *     5;name=value CRLF hello CRLF 0 CRLF Trailer: x CRLF CRLF
 *
 * Lines end by CR LF and by nothing else. What stands after a length and in the trailer is
 * left out, and bounded.
 */
#ifndef SNAG_HTTP_CHUNKS_H
#define SNAG_HTTP_CHUNKS_H

#include "http/request_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNKS_MAX_LINE_BYTES 256u     /* bytes that a length may have after it */
#define CHUNKS_MAX_TRAILER_BYTES 4096u /* bytes */

/* Zeroed before the first byte. */
struct chunks {
    enum {
        CHUNKS_LENGTH,
        CHUNKS_EXTENSION,
        CHUNKS_LENGTH_END,
        CHUNKS_DATA,
        CHUNKS_DATA_CR,
        CHUNKS_DATA_LF,
        CHUNKS_TRAILER,
        CHUNKS_TRAILER_LF,
        CHUNKS_DONE
    } state;
    uint64_t n_left;   /* of the data of this chunk */
    unsigned n_digits; /* of its length */
    unsigned n_line;   /* bytes of this line, or of the trailer, so far */
    bool is_empty;     /* this line of the trailer has nothing in it */
};

/*
 * chunks_take -- the data in the next bytes.
 *   bytes   (n) what has come; the data is moved to its beginning
 *   most    bytes of data that are still taken
 *   n_data  out
 * What follows the end is not looked at. Returns a refusal of status 0, 400, or 413 for more
 * than `most`. O(n).
 */
struct http_refusal chunks_take(struct chunks *chunks, char *bytes, size_t n, uint64_t most,
                                size_t *n_data);

#endif

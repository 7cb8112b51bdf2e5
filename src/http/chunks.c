#include "http/chunks.h"

#include <ctype.h>
#include <string.h>

#define MAX_DIGITS 15 /* so that a length fits */

static const struct http_refusal fine;

static struct http_refusal refuse(unsigned status, const char *why)
{
    return (struct http_refusal){status, why};
}

static struct http_refusal take_digit(struct chunks *c, char byte)
{
    int digit =
        isdigit((unsigned char)byte) ? byte - '0' : tolower((unsigned char)byte) - 'a' + 10;

    if (++c->n_digits > MAX_DIGITS)
        return refuse(413, "a chunk is too large");
    c->n_left = 16 * c->n_left + (unsigned)digit;
    return fine;
}

/* A byte of the line with the length; "most" is checked when it is over. */
static struct http_refusal take_length(struct chunks *c, char byte, uint64_t most)
{
    if (c->state == CHUNKS_LENGTH && isxdigit((unsigned char)byte))
        return take_digit(c, byte);
    if (c->n_digits == 0)
        return refuse(400, "a chunk does not begin with its length");
    if (c->state == CHUNKS_LENGTH_END) {
        if (byte != '\n')
            return refuse(400, "the length of a chunk does not end by CR LF");
        if (c->n_left > most)
            return refuse(413, "a body is too large");
        c->state = c->n_left > 0 ? CHUNKS_DATA : CHUNKS_TRAILER;
        c->n_line = c->n_digits = 0;
        c->is_empty = true;
        return fine;
    }
    if (byte == '\r') {
        c->state = CHUNKS_LENGTH_END;
        return fine;
    }
    if (c->state == CHUNKS_LENGTH && byte != ';')
        return refuse(400, "the length of a chunk is not a number");
    c->state = CHUNKS_EXTENSION;
    if (((unsigned char)byte < ' ' && byte != '\t') || ++c->n_line > CHUNKS_MAX_LINE_BYTES)
        return refuse(400, "what follows the length of a chunk is too long, or no text");
    return fine;
}

static struct http_refusal take_trailer(struct chunks *c, char byte)
{
    if (++c->n_line > CHUNKS_MAX_TRAILER_BYTES)
        return refuse(400, "what follows a body is too long");
    if (c->state == CHUNKS_TRAILER_LF) {
        if (byte != '\n')
            return refuse(400, "what follows a body has a line that does not end by CR LF");
        c->state = c->is_empty ? CHUNKS_DONE : CHUNKS_TRAILER;
        c->is_empty = true;
    } else if (byte == '\r') {
        c->state = CHUNKS_TRAILER_LF;
    } else if ((unsigned char)byte < ' ' && byte != '\t') {
        return refuse(400, "what follows a body has a control character");
    } else {
        c->is_empty = false;
    }
    return fine;
}

static struct http_refusal take_byte(struct chunks *c, char byte, uint64_t most)
{
    switch (c->state) {
    case CHUNKS_DATA_CR:
    case CHUNKS_DATA_LF:
        if (byte != (c->state == CHUNKS_DATA_CR ? '\r' : '\n'))
            return refuse(400, "a chunk is not followed by CR LF");
        c->state = c->state == CHUNKS_DATA_CR ? CHUNKS_DATA_LF : CHUNKS_LENGTH;
        return fine;
    case CHUNKS_TRAILER:
    case CHUNKS_TRAILER_LF:
        return take_trailer(c, byte);
    default:
        return take_length(c, byte, most);
    }
}

struct http_refusal chunks_take(struct chunks *c, char *bytes, size_t n, uint64_t most,
                                size_t *n_data)
{
    struct http_refusal refusal = fine;
    size_t i = 0;

    *n_data = 0;
    while (i < n && c->state != CHUNKS_DONE && refusal.status == 0) {
        size_t run = n - i < c->n_left ? n - i : (size_t)c->n_left;

        if (c->state != CHUNKS_DATA) {
            refusal = take_byte(c, bytes[i++], most - *n_data);
            continue;
        }
        memmove(bytes + *n_data, bytes + i, run);
        *n_data += run;
        i += run;
        c->n_left -= run;
        if (c->n_left == 0)
            c->state = CHUNKS_DATA_CR;
    }
    return refusal;
}

/*
 * tracer_bytes -- what the tracer's frames are made of, out of their bytes. Anything may come:
 * what is not as docs/wire.md says makes the pack bad, and yields zeros from then on.
 */
#ifndef SNAG_TRACE_TRACER_BYTES_H
#define SNAG_TRACE_TRACER_BYTES_H

#include "base/err.h"
#include "base/pack.h"
#include "base/text.h"
#include "trace/tracer/tracer_numbers.h"

#include <stdint.h>
#include <string.h>

static inline int tracer_bytes_bad(const char *what)
{
    return err_set(ERR_FORMAT, "a frame has %s", what);
}

/* tracer_bytes_number -- most of them are short. */
static inline uint64_t tracer_bytes_number(struct pack *in)
{
    if (__builtin_expect(!in->is_bad && in->at < in->n && in->data[in->at] < 0x80, 1))
        return in->data[in->at++];
    return unpack_varint(in);
}

/* tracer_bytes_below -- a number below `limit`; anything else makes the pack bad. */
static inline uint32_t tracer_bytes_below(struct pack *in, uint32_t limit)
{
    uint64_t value = tracer_bytes_number(in);

    if (value >= limit) {
        in->is_bad = true;
        return 0;
    }
    return (uint32_t)value;
}

/* tracer_bytes_text -- a text, which lives in `text` until the next one. */
static inline const char *tracer_bytes_text(struct pack *in, char text[TRACER_LONGEST_TEXT + 1])
{
    uint32_t length = tracer_bytes_below(in, TRACER_LONGEST_TEXT + 1);
    const void *bytes = unpack_bytes(in, length);

    text[0] = '\0';
    if (bytes == NULL)
        return text;
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (strlen(text) < length)
        in->is_bad = true;
    return text_printable(text);
}

#endif

/*
 * ps_bytes -- reading MessagePack that may be anything.
 *
 * msgpack-c writes our frames, but does not read them: its unpacker makes room for as many
 * elements as a frame of five bytes claims to hold. This reader makes none. It walks over the
 * bytes, and each function takes the one element that must come next; anything else, or more
 * than is allowed, marks the reader bad, and it yields zeros from then on, so that only the
 * end needs to be looked at.
 *
 * Numbers that count are written in as many bytes as they need; any width is read.
 */
#ifndef SNAG_PS_BYTES_H
#define SNAG_PS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <msgpack.h>

struct ps_reader {
    const unsigned char *at, *end;
    bool is_bad;
};

/* Bytes of a frame: not a copy, not zero-terminated. */
struct ps_span {
    const unsigned char *data;
    uint32_t n;
};

static inline struct ps_reader ps_reader_of(const void *data, size_t bytes)
{
    const unsigned char *at = data;

    return (struct ps_reader){.at = at, .end = at + bytes};
}

/* ps_read_count, ps_read_number, ps_read_real -- an unsigned, a signed, a finite number. */
uint64_t ps_read_count(struct ps_reader *reader);
int64_t ps_read_number(struct ps_reader *reader);
double ps_read_real(struct ps_reader *reader);

/*
 * ps_read_array -- the head of an array of least..most elements. Each takes a byte or more, so
 * a count above the bytes that are left is bad too. Returns the count.
 */
uint32_t ps_read_array(struct ps_reader *reader, uint32_t least, uint32_t most);

/* ps_read_bytes -- binary of at most so many bytes. */
struct ps_span ps_read_bytes(struct ps_reader *reader, uint32_t most);

/* ps_read_text -- text of at most `most` bytes without control characters (below 0x20). */
struct ps_span ps_read_text(struct ps_reader *reader, uint32_t most);

/* ps_read_wide -- 128 bits: binary of 16 bytes, the lowest first. */
unsigned __int128 ps_read_wide(struct ps_reader *reader);

/* ps_read_nil -- true, and moves, if nil comes next. */
bool ps_read_nil(struct ps_reader *reader);

/* ps_next_is_array, ps_next_is_real -- what comes next, without moving. */
bool ps_next_is_array(const struct ps_reader *reader);
bool ps_next_is_real(const struct ps_reader *reader);

/* ps_read_end -- true if all was good and nothing is left. */
bool ps_read_end(const struct ps_reader *reader);

/*
 * ps_write_* -- the counterparts, for a buffer that grows. A new buffer is zeroed; it is given
 * back with msgpack_sbuffer_destroy.
 */
void ps_write_count(msgpack_sbuffer *out, uint64_t value);
void ps_write_number(msgpack_sbuffer *out, int64_t value);
void ps_write_real(msgpack_sbuffer *out, double value);
void ps_write_array(msgpack_sbuffer *out, uint32_t n);
void ps_write_bytes(msgpack_sbuffer *out, const void *data, uint32_t bytes);
void ps_write_text(msgpack_sbuffer *out, const char *text, size_t length);
void ps_write_wide(msgpack_sbuffer *out, unsigned __int128 value);
void ps_write_nil(msgpack_sbuffer *out);

/* ps_write_raw -- bytes that are MessagePack already. */
void ps_write_raw(msgpack_sbuffer *out, const void *data, size_t bytes);

#endif

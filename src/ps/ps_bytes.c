/* The first byte of an element says what it is; its width and the value follow, big-endian. */
#include "ps/ps_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    NIL = 0xc0,
    BIN_8 = 0xc4, /* and 16, 32 bits of length */
    FLOAT_64 = 0xcb,
    UINT_8 = 0xcc, /* and 16, 32, 64 */
    INT_8 = 0xd0,  /* and 16, 32, 64 */
    STR_8 = 0xd9,  /* and 16, 32 */
    ARRAY_16 = 0xdc,
    ARRAY_32 = 0xdd,
};

static size_t left(const struct ps_reader *r)
{
    return (size_t)(r->end - r->at);
}

/* The next byte, without moving; 0xc1, which MessagePack does not use, when there is none. */
static unsigned peek(const struct ps_reader *r)
{
    return r->is_bad || r->at == r->end ? 0xc1 : *r->at;
}

/* A big-endian number of `width` bytes after the first byte of the element. */
static uint64_t take(struct ps_reader *r, size_t width)
{
    uint64_t value = 0;

    if (r->is_bad || left(r) < width + 1) {
        r->is_bad = true;
        return 0;
    }
    for (size_t i = 1; i <= width; i++)
        value = value << 8 | r->at[i];
    r->at += width + 1;
    return value;
}

static uint64_t bad(struct ps_reader *r)
{
    r->is_bad = true;
    return 0;
}

uint64_t ps_read_count(struct ps_reader *r)
{
    unsigned kind = peek(r);

    if (kind < 0x80)
        return r->at++, kind;
    return kind - UINT_8 < 4 ? take(r, (size_t)1 << (kind - UINT_8)) : bad(r);
}

int64_t ps_read_number(struct ps_reader *r)
{
    unsigned kind = peek(r);
    uint64_t value;

    if (kind >= 0xe0)
        return r->at++, (int8_t)kind;
    if (kind - INT_8 < 4) {
        unsigned shift = 64 - (8u << (kind - INT_8));

        value = take(r, (size_t)1 << (kind - INT_8));
        return (int64_t)(value << shift) >> shift;
    }
    value = ps_read_count(r);
    return value > INT64_MAX ? (int64_t)bad(r) : (int64_t)value;
}

double ps_read_real(struct ps_reader *r)
{
    uint64_t bits = ps_next_is_real(r) ? take(r, 8) : bad(r);
    double value;

    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
        value = (double)bad(r);
    return value;
}

uint32_t ps_read_array(struct ps_reader *r, uint32_t least, uint32_t most)
{
    unsigned kind = peek(r);
    uint64_t n;

    if (kind >= 0x90 && kind < 0xa0)
        n = take(r, 0), n = kind - 0x90;
    else if (kind == ARRAY_16 || kind == ARRAY_32)
        n = take(r, kind == ARRAY_16 ? 2 : 4);
    else
        n = bad(r);
    if (n < least || n > most || n > left(r))
        n = bad(r);
    return (uint32_t)n;
}

/* The n bytes that come next. */
static struct ps_span span(struct ps_reader *r, uint64_t n, uint32_t most)
{
    struct ps_span s = {.data = r->at};

    if (r->is_bad || n > most || n > left(r)) {
        r->is_bad = true;
        return s;
    }
    s.n = (uint32_t)n;
    r->at += n;
    return s;
}

struct ps_span ps_read_bytes(struct ps_reader *r, uint32_t most)
{
    unsigned kind = peek(r);
    uint64_t n = kind - BIN_8 < 3 ? take(r, (size_t)1 << (kind - BIN_8)) : bad(r);

    return span(r, n, most);
}

struct ps_span ps_read_text(struct ps_reader *r, uint32_t most)
{
    unsigned kind = peek(r);
    struct ps_span s;
    uint64_t n;

    if (kind >= 0xa0 && kind < 0xc0)
        n = take(r, 0), n = kind - 0xa0;
    else
        n = kind - STR_8 < 3 ? take(r, (size_t)1 << (kind - STR_8)) : bad(r);
    s = span(r, n, most);
    for (uint32_t i = 0; i < s.n; i++)
        r->is_bad |= s.data[i] < 0x20;
    return s;
}

unsigned __int128 ps_read_wide(struct ps_reader *r)
{
    struct ps_span s = ps_read_bytes(r, 16);
    unsigned __int128 value = 0;

    if (s.n != 16)
        return bad(r);
    for (int i = 15; i >= 0; i--)
        value = value << 8 | s.data[i];
    return value;
}

bool ps_read_nil(struct ps_reader *r)
{
    bool is_nil = peek(r) == NIL;

    r->at += is_nil;
    return is_nil;
}

bool ps_next_is_array(const struct ps_reader *r)
{
    unsigned kind = peek(r);

    return (kind >= 0x90 && kind < 0xa0) || kind == ARRAY_16 || kind == ARRAY_32;
}

bool ps_next_is_real(const struct ps_reader *r)
{
    return peek(r) == FLOAT_64;
}

bool ps_read_end(const struct ps_reader *r)
{
    return !r->is_bad && r->at == r->end;
}

/* -------------------------------------------------------------------------------- writing */

/* Out of memory is the only thing that can go wrong. */
static int append(void *out, const char *data, size_t bytes)
{
    if (msgpack_sbuffer_write(out, data, bytes) != 0)
        abort();
    return 0;
}

static msgpack_packer packer(msgpack_sbuffer *out)
{
    msgpack_packer p;

    msgpack_packer_init(&p, out, append);
    return p;
}

void ps_write_count(msgpack_sbuffer *out, uint64_t value)
{
    msgpack_packer p = packer(out);

    msgpack_pack_uint64(&p, value);
}

void ps_write_number(msgpack_sbuffer *out, int64_t value)
{
    msgpack_packer p = packer(out);

    msgpack_pack_int64(&p, value);
}

void ps_write_real(msgpack_sbuffer *out, double value)
{
    msgpack_packer p = packer(out);

    msgpack_pack_double(&p, value);
}

void ps_write_array(msgpack_sbuffer *out, uint32_t n)
{
    msgpack_packer p = packer(out);

    msgpack_pack_array(&p, n);
}

void ps_write_bytes(msgpack_sbuffer *out, const void *data, uint32_t bytes)
{
    msgpack_packer p = packer(out);

    msgpack_pack_bin(&p, bytes);
    msgpack_pack_bin_body(&p, data, bytes);
}

void ps_write_text(msgpack_sbuffer *out, const char *text, size_t length)
{
    msgpack_packer p = packer(out);

    msgpack_pack_str(&p, length);
    msgpack_pack_str_body(&p, text, length);
}

void ps_write_wide(msgpack_sbuffer *out, unsigned __int128 value)
{
    unsigned char bytes[16];

    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    ps_write_bytes(out, bytes, sizeof bytes);
}

void ps_write_nil(msgpack_sbuffer *out)
{
    msgpack_packer p = packer(out);

    msgpack_pack_nil(&p);
}

void ps_write_raw(msgpack_sbuffer *out, const void *data, size_t bytes)
{
    append(out, data, bytes);
}

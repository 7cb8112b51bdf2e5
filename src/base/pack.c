/* Numbers are copied as they are: the machines this runs on are little-endian. */
#include "base/pack.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are little-endian");

void pack_release(struct pack *pack)
{
    free(pack->data);
    *pack = (struct pack){0};
}

void *pack_compress(const struct pack *pack, int level, size_t *n)
{
    size_t bound = ZSTD_compressBound(pack->n);
    void *out = mem_alloc(bound, 1);
    ZSTD_CCtx *context = ZSTD_createCCtx();

    assert(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    *n = ZSTD_compress2(context, out, bound, pack->data, pack->n);
    assert(!ZSTD_isError(*n)); /* there is room, so nothing can go wrong */
    ZSTD_freeCCtx(context);
    return out;
}

int pack_decompress(struct pack *pack, const void *data, size_t n, uint64_t n_plain)
{
    *pack = (struct pack){0};
    if (n_plain / PACK_MAX_RATIO > n || ZSTD_getFrameContentSize(data, n) != n_plain)
        return err_set(ERR_FORMAT, "its unpacked size is not the size in its header");
    pack->data = mem_alloc(n_plain, 1);
    pack->n = n_plain;
    if (ZSTD_decompress(pack->data, n_plain, data, n) != n_plain)
        return err_set(ERR_FORMAT, "its compressed contents are damaged");
    return 0;
}

static void put(struct pack *pack, const void *data, size_t bytes)
{
    mem_grow(&pack->data, &pack->cap, pack->n + bytes);
    if (bytes > 0)
        memcpy(pack->data + pack->n, data, bytes);
    pack->n += bytes;
}

void pack_u32(struct pack *pack, uint32_t value)
{
    put(pack, &value, sizeof value);
}

void pack_u64(struct pack *pack, uint64_t value)
{
    put(pack, &value, sizeof value);
}

void pack_f64(struct pack *pack, double value)
{
    put(pack, &value, sizeof value);
}

void pack_varint(struct pack *pack, uint64_t value)
{
    unsigned char *at;

    mem_grow(&pack->data, &pack->cap, pack->n + 10);
    at = pack->data + pack->n;
    for (; value >= 0x80; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    pack->n = (size_t)(at - pack->data);
}

void pack_bytes(struct pack *pack, const void *data, size_t n)
{
    put(pack, data, n);
}

void pack_array(struct pack *pack, const void *data, size_t n, size_t width)
{
    pack_u64(pack, n);
    put(pack, data, n * width);
}

static void get(struct pack *pack, void *data, size_t bytes)
{
    if (pack->is_bad || bytes > pack->n - pack->at) {
        pack->is_bad = true;
        memset(data, 0, bytes);
        return;
    }
    if (bytes > 0)
        memcpy(data, pack->data + pack->at, bytes);
    pack->at += bytes;
}

uint32_t unpack_u32(struct pack *pack)
{
    uint32_t value;

    get(pack, &value, sizeof value);
    return value;
}

uint64_t unpack_u64(struct pack *pack)
{
    uint64_t value;

    get(pack, &value, sizeof value);
    return value;
}

double unpack_f64(struct pack *pack)
{
    double value;

    get(pack, &value, sizeof value);
    return value;
}

/* What does not fit 64 bits is bad, so that a number has no second spelling of more bytes. */
uint64_t unpack_varint(struct pack *pack)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte;

        get(pack, &byte, 1);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return pack->is_bad ? 0 : value;
    }
    pack->is_bad = true;
    return 0;
}

const void *unpack_bytes(struct pack *pack, size_t n)
{
    const void *at = pack->data + pack->at;

    if (pack->is_bad || n > pack->n - pack->at) {
        pack->is_bad = true;
        return NULL;
    }
    pack->at += n;
    return at;
}

size_t unpack_count(const struct pack *pack, size_t width)
{
    struct pack copy = *pack;
    uint64_t n = unpack_u64(&copy);

    return copy.is_bad || n > (copy.n - copy.at) / width ? 0 : (size_t)n;
}

void *unpack_array(struct pack *pack, size_t n, size_t width)
{
    void *data;

    if (unpack_u64(pack) != n)
        pack->is_bad = true;
    data = mem_alloc(n, width);
    if (!pack->is_bad)
        get(pack, data, n * width);
    return data;
}

void pack_text(struct pack *pack, const char *text)
{
    pack_array(pack, text, strlen(text), 1);
}

char *unpack_text(struct pack *pack, size_t *n)
{
    size_t length = unpack_count(pack, 1);
    char *bytes = unpack_array(pack, length, 1), *text = mem_alloc(length + 1, 1);

    memcpy(text, bytes, length);
    free(bytes);
    if (n)
        *n = length;
    return text;
}

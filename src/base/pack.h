/*
 * pack -- numbers and arrays to bytes and back, little-endian, for what is kept on disk.
 *
 * A writer grows. A reader checks: reading past the end, or an array longer than what is left,
 * marks it bad and yields zeros from then on, so that only the end needs to be looked at.
 */
#ifndef SNAG_BASE_PACK_H
#define SNAG_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_MAX_RATIO 1024u /* plain bytes per compressed one; what we keep has 2 to 30 */

struct pack {
    unsigned char *data; /* [n]; a writer's to free with pack_release, a reader's own */
    size_t n, cap;
    size_t at; /* reader: next byte */
    bool is_bad;
};

void pack_release(struct pack *pack);

/*
 * pack_compress -- what is in a pack as one zstd frame with a checksum.
 * Returns a copy to free(); its bytes are in *n.
 */
void *pack_compress(const struct pack *pack, int level, size_t *n);

/*
 * pack_decompress -- a reader of what one zstd frame holds.
 *   n_plain  bytes that are said to be in it; it must be as many, and not more than a frame of
 *            n bytes that we wrote could hold (PACK_MAX_RATIO), as that much is allocated
 * Returns 0 or ERR_FORMAT.
 */
int pack_decompress(struct pack *pack, const void *data, size_t n, uint64_t n_plain);

void pack_u32(struct pack *pack, uint32_t value);
void pack_u64(struct pack *pack, uint64_t value);
void pack_f64(struct pack *pack, double value);

/* pack_varint -- 7 bits per byte, the low ones first: 1 byte below 128, at most 10. */
void pack_varint(struct pack *pack, uint64_t value);

/* pack_bytes -- n bytes as they are, without their number. */
void pack_bytes(struct pack *pack, const void *data, size_t n);

/* pack_array -- n, then n objects of width bytes as they are in memory. */
void pack_array(struct pack *pack, const void *data, size_t n, size_t width);

/* pack_text -- as the array of its bytes, without the zero. */
void pack_text(struct pack *pack, const char *text);

uint32_t unpack_u32(struct pack *pack);
uint64_t unpack_u64(struct pack *pack);
double unpack_f64(struct pack *pack);
uint64_t unpack_varint(struct pack *pack);

/* unpack_bytes -- where the next n bytes are in the pack; NULL, and bad, if there are fewer. */
const void *unpack_bytes(struct pack *pack, size_t n);

/*
 * unpack_array -- an array that must have n objects; n comes from unpack_count, not from
 * outside. Returns a copy to free(), never NULL; all zero when the pack is bad.
 */
void *unpack_array(struct pack *pack, size_t n, size_t width);

/* unpack_count -- the length of the array that comes next, without moving; 0 when bad. */
size_t unpack_count(const struct pack *pack, size_t width);

/*
 * unpack_text -- what pack_text wrote, to be freed; never NULL, "" when the pack is bad.
 *   n  out: its bytes, before the zero that follows them; or NULL
 * Of a pack from outside there may be zeros among them.
 */
char *unpack_text(struct pack *pack, size_t *n);

#endif

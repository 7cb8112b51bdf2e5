/*
 * bundle -- columns of numbers as bytes, with a JSON header that says what they are.
 *
 *     "SNGC" | length of the header u32 | header, padded with spaces | data
 *
 * Little-endian; header and columns begin at multiples of 8. The header is an object whose
 * "columns" are {"name", "type", "n", "offset"}, offset from the start of the data; the types
 * are those of JavaScript's typed arrays: u8 i8 u16 u32 f32 f64.
 */
#ifndef SNAG_HTTP_BUNDLE_H
#define SNAG_HTTP_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define BUNDLE_TYPE "application/vnd.snag.columns"
#define BUNDLE_MAX_COLUMNS 32
#define BUNDLE_MAX_PARTS (2 * BUNDLE_MAX_COLUMNS + 1)

enum bundle_type { BUNDLE_U8, BUNDLE_I8, BUNDLE_U16, BUNDLE_U32, BUNDLE_F32, BUNDLE_F64 };

struct bundle {
    struct {
        char name[24];
        enum bundle_type type;
        const void *data;
        size_t n;
    } column[BUNDLE_MAX_COLUMNS];
    size_t n_columns;
    json_t *header; /* further fields, or NULL */
};

/* bundle_add -- one more column; data must stay until bundle_bytes. */
void bundle_add(struct bundle *bundle, const char *name, enum bundle_type type,
                const void *data, size_t n);

/* bundle_say -- one more field of the header; takes the value over. */
void bundle_say(struct bundle *bundle, const char *name, json_t *value);

/* bundle_bytes -- all of it; the bundle is empty afterwards. Free with free(). */
void *bundle_bytes(struct bundle *bundle, size_t *size);

/* Bytes that follow each other. */
struct bundle_part {
    const void *data;
    size_t size;
};

/*
 * bundle_parts -- the same without copying: the columns' data where they are, and what is
 * between them; the bundle is empty afterwards.
 *   part  (BUNDLE_MAX_PARTS) out; free() the data of the first, and nothing else
 * Returns how many there are.
 */
size_t bundle_parts(struct bundle *bundle, struct bundle_part *part);

/* bundle_release -- instead of bundle_bytes. */
void bundle_release(struct bundle *bundle);

#endif

/* The machine is little-endian, as the columns of a run are. */
#include "http/bundle.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t width;
} types[] = {
    [BUNDLE_U8] = {"u8", 1},   [BUNDLE_I8] = {"i8", 1},   [BUNDLE_U16] = {"u16", 2},
    [BUNDLE_U32] = {"u32", 4}, [BUNDLE_F32] = {"f32", 4}, [BUNDLE_F64] = {"f64", 8},
};

static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

void bundle_add(struct bundle *bundle, const char *name, enum bundle_type type,
                const void *data, size_t n)
{
    size_t c = bundle->n_columns++;

    assert(c < BUNDLE_MAX_COLUMNS);
    snprintf(bundle->column[c].name, sizeof bundle->column[c].name, "%s", name);
    bundle->column[c].type = type;
    bundle->column[c].data = data;
    bundle->column[c].n = n;
}

void bundle_say(struct bundle *bundle, const char *name, json_t *value)
{
    if (bundle->header == NULL)
        bundle->header = json_object();
    json_object_set_new(bundle->header, name, value);
}

/* The header as text, and how many bytes of data it describes. */
static char *describe(struct bundle *bundle, size_t *data_size)
{
    json_t *columns = json_array();
    char *text;

    *data_size = 0;
    for (size_t c = 0; c < bundle->n_columns; c++) {
        enum bundle_type type = bundle->column[c].type;

        json_array_append_new(
            columns, json_pack("{s:s, s:s, s:I, s:I}", "name", bundle->column[c].name, "type",
                               types[type].name, "n", (json_int_t)bundle->column[c].n, "offset",
                               (json_int_t)*data_size));
        *data_size += padded(bundle->column[c].n * types[type].width);
    }
    bundle_say(bundle, "columns", columns);
    text = json_dumps(bundle->header, JSON_COMPACT);
    return text;
}

/* Everything before the data. */
static char *make_head(struct bundle *bundle, size_t *size)
{
    size_t data_size, header_size;
    char *header = describe(bundle, &data_size), *head;
    uint32_t length;

    header_size = padded(strlen(header));
    *size = 8 + header_size;
    head = mem_alloc(*size, 1);
    length = (uint32_t)header_size;
    memcpy(head, "SNGC", 4);
    memcpy(head + 4, &length, 4);
    memset(head + 8, ' ', header_size);
    memcpy(head + 8, header, strlen(header));
    free(header);
    return head;
}

size_t bundle_parts(struct bundle *bundle, struct bundle_part *part)
{
    static const char padding[8];
    size_t n = 1;

    part[0].data = make_head(bundle, &part[0].size);
    for (size_t c = 0; c < bundle->n_columns; c++) {
        size_t bytes = bundle->column[c].n * types[bundle->column[c].type].width;

        if (bytes > 0)
            part[n++] = (struct bundle_part){bundle->column[c].data, bytes};
        if (bytes % 8 > 0)
            part[n++] = (struct bundle_part){padding, padded(bytes) - bytes};
    }
    bundle_release(bundle);
    return n;
}

void *bundle_bytes(struct bundle *bundle, size_t *size)
{
    struct bundle_part part[BUNDLE_MAX_PARTS];
    size_t n = bundle_parts(bundle, part), at = 0;
    char *bytes;

    *size = 0;
    for (size_t i = 0; i < n; i++)
        *size += part[i].size;
    bytes = mem_alloc(*size, 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(bytes + at, part[i].data, part[i].size);
        at += part[i].size;
    }
    free((void *)(uintptr_t)part[0].data);
    return bytes;
}

void bundle_release(struct bundle *bundle)
{
    json_decref(bundle->header);
    *bundle = (struct bundle){0};
}

/*
 *     "PAR1" | column chunks of the first row group | of the next ... | footer | bytes | "PAR1"
 *
 * A column chunk is a dictionary page, if it has one, and data pages; before each page is its
 * header, which is a struct of Thrift's, as is the footer.
 */
#include "view/parquet.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 1              /* of compression: the next ones take longer than writing more */
#define PAGE_ROWS (1u << 17) /* of a data page: 1 MiB of 64-bit numbers */
#define MAX_STATISTIC 64     /* bytes of a text that is a least or greatest one */
#define PROGRAM "snag " SNAG_VERSION

enum { TYPE_BOOLEAN, TYPE_INT32, TYPE_INT64, TYPE_DOUBLE = 5, TYPE_BYTES };
enum { CONVERTED_UTF8 = 0, CONVERTED_U16 = 12, CONVERTED_U32, CONVERTED_U64 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { CODEC_ZSTD = 6 };

/* A column of a row group, as the footer tells it. */
struct parquet_chunk {
    uint64_t offset, dictionary_bytes; /* of its first page; of the dictionary page, or 0 */
    uint64_t n_plain, n_packed;        /* bytes, with the headers */
    uint64_t n_null;
    bool has_dictionary, has_range;
    struct pack least, greatest; /* of the statistics */
};

static const struct {
    uint8_t type;
    int8_t converted; /* -1: none */
    uint8_t width;    /* of a value in memory */
} types[] = {
    [PARQUET_BOOL] = {TYPE_BOOLEAN, -1, 1},
    [PARQUET_U16] = {TYPE_INT32, CONVERTED_U16, 2},
    [PARQUET_U32] = {TYPE_INT32, CONVERTED_U32, 4},
    [PARQUET_U64] = {TYPE_INT64, CONVERTED_U64, 8},
    [PARQUET_I64] = {TYPE_INT64, -1, 8},
    [PARQUET_F64] = {TYPE_DOUBLE, -1, 8},
    [PARQUET_TEXT] = {TYPE_BYTES, CONVERTED_UTF8, 4},
};

/* ---------------------------------------------------------------- Thrift, compact protocol */

enum { T_TRUE = 1, T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };

/* One struct that is being written, inside another or not. */
struct thrift {
    struct pack *out;
    int last; /* number of the field before */
};

static void byte(struct pack *out, unsigned value)
{
    unsigned char b = (unsigned char)value;

    pack_bytes(out, &b, 1);
}

static void zigzag(struct pack *out, int64_t value)
{
    pack_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void field(struct thrift *t, int number, int type)
{
    int step = number - t->last;

    if (step > 0 && step < 16) {
        byte(t->out, (unsigned)(step << 4 | type));
    } else {
        byte(t->out, (unsigned)type);
        zigzag(t->out, number);
    }
    t->last = number;
}

static void number(struct thrift *t, int field_number, int type, int64_t value)
{
    field(t, field_number, type);
    zigzag(t->out, value);
}

static void bytes(struct pack *out, const void *data, size_t n)
{
    pack_varint(out, n);
    pack_bytes(out, data, n);
}

static void text(struct thrift *t, int field_number, const char *value)
{
    field(t, field_number, T_BINARY);
    bytes(t->out, value, strlen(value));
}

static void list(struct thrift *t, int field_number, int type, size_t n)
{
    field(t, field_number, T_LIST);
    byte(t->out, (unsigned)((n < 15 ? n : 15) << 4 | (unsigned)type));
    if (n >= 15)
        pack_varint(t->out, n);
}

static struct thrift inside(struct thrift *t, int field_number)
{
    field(t, field_number, T_STRUCT);
    return (struct thrift){.out = t->out};
}

static void end(struct thrift *t)
{
    byte(t->out, 0);
}

/* ----------------------------------------------------------------------------------- pages */

/* What one thread makes of a column of a row group. */
struct work {
    const struct parquet_column *column;
    const struct parquet_data *data;
    size_t n;
    struct parquet_chunk *chunk;
    struct pack out;   /* pages with their headers */
    struct pack plain; /* of the page that is being made */
    void *packed;
    size_t packed_cap;
};

static size_t compress(struct work *w, const void *data, size_t n)
{
    size_t most = ZSTD_compressBound(n), got;

    if (most > w->packed_cap) {
        w->packed_cap = most;
        w->packed = mem_resize(w->packed, most, 1);
    }
    got = ZSTD_compress(w->packed, most, data, n, LEVEL);
    return ZSTD_isError(got) ? 0 : got; /* it never is one, with so much room */
}

/* A page of n values, whose bytes are there. */
static void put_page(struct work *w, int type, int encoding, size_t n, const void *data,
                     size_t n_bytes)
{
    struct thrift head = {.out = &w->out}, kind;
    size_t before = w->out.n, n_packed = compress(w, data, n_bytes);

    number(&head, 1, T_I32, type);
    number(&head, 2, T_I32, (int64_t)n_bytes);
    number(&head, 3, T_I32, (int64_t)n_packed);
    kind = inside(&head, type == PAGE_DATA ? 5 : 7);
    number(&kind, 1, T_I32, (int64_t)n);
    number(&kind, 2, T_I32, encoding);
    if (type == PAGE_DATA) {
        number(&kind, 3, T_I32, ENCODING_RLE);
        number(&kind, 4, T_I32, ENCODING_RLE);
    }
    end(&kind);
    end(&head);
    w->chunk->n_plain += w->out.n - before + n_bytes;
    pack_bytes(&w->out, w->packed, n_packed);
    w->chunk->n_packed += w->out.n - before;
}

static unsigned bits_of(uint32_t largest)
{
    return largest == 0 ? 0 : 32 - (unsigned)__builtin_clz(largest);
}

/* Groups of eight values of so many bits, the lowest first. */
static void put_packed(struct pack *out, const uint32_t *value, size_t n, unsigned width)
{
    size_t n_groups = (n + 7) / 8;
    uint64_t bits = 0;
    unsigned n_bits = 0;

    pack_varint(out, n_groups << 1 | 1);
    for (size_t i = 0; i < 8 * n_groups; i++) {
        bits |= (uint64_t)(i < n ? value[i] : 0) << n_bits;
        for (n_bits += width; n_bits >= 8; n_bits -= 8, bits >>= 8)
            byte(out, (unsigned)(bits & 0xff));
    }
}

static void put_run(struct pack *out, uint32_t value, size_t n, unsigned width)
{
    pack_varint(out, n << 1);
    for (unsigned b = 0; b < width; b += 8)
        byte(out, value >> b & 0xff);
}

/* The hybrid of runs and packed groups. A run takes less than a group from nine values on. */
static void put_hybrid(struct pack *out, const uint32_t *value, size_t n, unsigned width)
{
    size_t first = 0; /* not written yet */

    for (size_t i = 0; i < n;) {
        size_t run = 1;

        while (i + run < n && value[i + run] == value[i])
            run++;
        if (run >= 16 || (i + run == n && i == first)) {
            size_t missing = (8 - (i - first) % 8) % 8; /* groups are full but for the last */

            if (missing > run)
                missing = run;
            if (i > first)
                put_packed(out, value + first, i - first + missing, width);
            if (run > missing)
                put_run(out, value[i], run - missing, width);
            first = i + run;
        }
        i += run;
    }
    if (first < n)
        put_packed(out, value + first, n - first, width);
}

static bool is_null(const struct work *w, size_t i)
{
    return w->data->is_null && w->data->is_null[i];
}

/* Which rows of a page have a value: four bytes of length, and runs of ones and zeros. */
static void put_levels(struct work *w, size_t from, size_t n)
{
    uint32_t *level = mem_alloc(n, sizeof *level);
    size_t at = w->plain.n;
    uint32_t n_bytes;

    for (size_t i = 0; i < n; i++)
        level[i] = !is_null(w, from + i);
    pack_u32(&w->plain, 0);
    put_hybrid(&w->plain, level, n, 1);
    n_bytes = (uint32_t)(w->plain.n - at - 4);
    memcpy(w->plain.data + at, &n_bytes, sizeof n_bytes);
    free(level);
}

/* Values are written as they are in memory, but for those that become 32 bits, or one. */
static void put_value(struct work *w, size_t i)
{
    unsigned width = types[w->column->type].width;

    if (w->column->type == PARQUET_U16)
        pack_u32(&w->plain, ((const uint16_t *)w->data->value)[i]);
    else
        pack_bytes(&w->plain, (const char *)w->data->value + i * width, width);
}

static void put_bools(struct work *w, size_t from, size_t n)
{
    unsigned bits = 0, n_bits = 0;

    for (size_t i = from; i < from + n; i++) {
        if (is_null(w, i))
            continue;
        bits |= (((const uint8_t *)w->data->value)[i] ? 1u : 0u) << n_bits;
        if (++n_bits == 8) {
            byte(&w->plain, bits);
            bits = n_bits = 0;
        }
    }
    if (n_bits > 0)
        byte(&w->plain, bits);
}

static void put_plain_page(struct work *w, size_t from, size_t n)
{
    unsigned width = types[w->column->type].width;

    w->plain.n = 0;
    if (!w->column->is_nullable && w->column->type != PARQUET_U16 &&
        w->column->type != PARQUET_BOOL) {
        put_page(w, PAGE_DATA, ENCODING_PLAIN, n, (const char *)w->data->value + from * width,
                 n * width);
        return;
    }
    if (w->column->is_nullable)
        put_levels(w, from, n);
    if (w->column->type == PARQUET_BOOL)
        put_bools(w, from, n);
    for (size_t i = from; i < from + n && w->column->type != PARQUET_BOOL; i++)
        if (!is_null(w, i))
            put_value(w, i);
    put_page(w, PAGE_DATA, ENCODING_PLAIN, n, w->plain.data, w->plain.n);
}

/* ------------------------------------------------------------------------------ dictionary */

/* Only texts that are there are in it, in the order of their numbers. */
static uint32_t *used_texts(const struct work *w, uint32_t *n_used)
{
    const uint32_t *value = w->data->value;
    uint32_t *to = mem_alloc(w->data->n_texts, sizeof *to);

    *n_used = 0;
    for (size_t i = 0; i < w->n; i++)
        if (!is_null(w, i))
            to[value[i]] = 1;
    for (uint32_t i = 0; i < w->data->n_texts; i++)
        to[i] = to[i] ? (*n_used)++ : UINT32_MAX;
    return to;
}

static void put_dictionary(struct work *w, const uint32_t *to, uint32_t n_used)
{
    w->plain.n = 0;
    for (uint32_t i = 0; i < w->data->n_texts; i++) {
        const char *value = w->data->text[i];

        if (to[i] == UINT32_MAX)
            continue;
        pack_u32(&w->plain, (uint32_t)strlen(value));
        pack_bytes(&w->plain, value, strlen(value));
    }
    put_page(w, PAGE_DICTIONARY, ENCODING_PLAIN, n_used, w->plain.data, w->plain.n);
    w->chunk->has_dictionary = true;
    w->chunk->dictionary_bytes = w->out.n;
}

/* A page of numbers into a dictionary; code[i] is that of row from + i. */
static void put_coded_page(struct work *w, size_t from, size_t n, unsigned width,
                           const uint32_t *to)
{
    const uint32_t *value = w->data->value;
    uint32_t *code = mem_alloc(n, sizeof *code);
    size_t n_there = 0;

    for (size_t i = from; i < from + n; i++)
        if (!is_null(w, i))
            code[n_there++] = to ? to[value[i]] : 0;
    w->plain.n = 0;
    if (w->column->is_nullable)
        put_levels(w, from, n);
    byte(&w->plain, width);
    put_hybrid(&w->plain, code, n_there, width);
    put_page(w, PAGE_DATA, ENCODING_RLE_DICTIONARY, n, w->plain.data, w->plain.n);
    free(code);
}

/* Values that are all alike are one in a dictionary. */
static void put_alike(struct work *w, size_t first)
{
    w->plain.n = 0;
    put_value(w, first);
    put_page(w, PAGE_DICTIONARY, ENCODING_PLAIN, 1, w->plain.data, w->plain.n);
    w->chunk->has_dictionary = true;
    w->chunk->dictionary_bytes = w->out.n;
    for (size_t from = 0; from < w->n; from += PAGE_ROWS)
        put_coded_page(w, from, w->n - from < PAGE_ROWS ? w->n - from : PAGE_ROWS, 0, NULL);
}

/* ------------------------------------------------------------------------------ statistics */

/* The statistics of a column of numbers: its rows but for those that are null. */
#define PUT_NUMBERS(type, pack_it)                                                             \
    do {                                                                                       \
        const type *v = w->data->value;                                                        \
        type least = v[first], greatest = v[first];                                            \
                                                                                               \
        for (size_t i = first; i < w->n; i++) {                                                \
            type x = has_nulls && w->data->is_null[i] ? least : v[i];                          \
                                                                                               \
            least = x < least ? x : least;                                                     \
            greatest = x > greatest ? x : greatest;                                            \
        }                                                                                      \
        pack_it(&w->chunk->least, least);                                                      \
        pack_it(&w->chunk->greatest, greatest);                                                \
    } while (0)

static void pack_i64(struct pack *out, int64_t value)
{
    pack_u64(out, (uint64_t)value);
}

static void put_range(struct work *w, size_t first)
{
    bool has_nulls = w->chunk->n_null > 0;

    switch (w->column->type) {
    case PARQUET_BOOL:
        PUT_NUMBERS(uint8_t, byte);
        break;
    case PARQUET_U16:
        PUT_NUMBERS(uint16_t, pack_u32);
        break;
    case PARQUET_U32:
        PUT_NUMBERS(uint32_t, pack_u32);
        break;
    case PARQUET_U64:
        PUT_NUMBERS(uint64_t, pack_u64);
        break;
    case PARQUET_I64:
        PUT_NUMBERS(int64_t, pack_i64);
        break;
    case PARQUET_F64:
        PUT_NUMBERS(double, pack_f64);
        break;
    case PARQUET_TEXT:
        return;
    }
    w->chunk->has_range = true;
}

/* Where a value is no number, nothing is said of the others. */
static bool has_nan(const struct work *w)
{
    const double *v = w->data->value;
    bool has = false;

    for (size_t i = 0; w->column->type == PARQUET_F64 && i < w->n; i++)
        has |= !is_null(w, i) && isnan(v[i]);
    return has;
}

/* The least and the greatest of the texts that are used; `to` says which. */
static void put_text_range(struct work *w, const uint32_t *to)
{
    const char *least = NULL, *greatest = NULL;

    for (uint32_t i = 0; i < w->data->n_texts; i++) {
        const char *one = w->data->text[i];

        if (to[i] == UINT32_MAX)
            continue;
        least = least && strcmp(least, one) <= 0 ? least : one;
        greatest = greatest && strcmp(greatest, one) >= 0 ? greatest : one;
    }
    if (least == NULL || strlen(least) > MAX_STATISTIC || strlen(greatest) > MAX_STATISTIC)
        return;
    pack_bytes(&w->chunk->least, least, strlen(least));
    pack_bytes(&w->chunk->greatest, greatest, strlen(greatest));
    w->chunk->has_range = true;
}

/* Counts what is null, and says the range of the rest. Returns the first row that is not null,
 * or n. */
static size_t put_statistics_of(struct work *w)
{
    size_t first = 0;

    for (size_t i = 0; w->data->is_null && i < w->n; i++)
        w->chunk->n_null += w->data->is_null[i];
    while (first < w->n && is_null(w, first))
        first++;
    if (first < w->n && !has_nan(w))
        put_range(w, first);
    return first;
}

/* To the last bit; zero is not minus zero. */
static bool is_alike(const struct work *w)
{
    const struct parquet_chunk *chunk = w->chunk;

    return chunk->has_range && w->column->type != PARQUET_BOOL &&
           w->column->type != PARQUET_F64 &&
           memcmp(chunk->least.data, chunk->greatest.data, chunk->least.n) == 0;
}

static void put_texts(struct work *w)
{
    uint32_t n_used, *to = used_texts(w, &n_used);

    put_text_range(w, to);
    put_dictionary(w, to, n_used);
    for (size_t from = 0; from < w->n; from += PAGE_ROWS)
        put_coded_page(w, from, w->n - from < PAGE_ROWS ? w->n - from : PAGE_ROWS,
                       bits_of(n_used > 0 ? n_used - 1 : 0), to);
    free(to);
}

static void put_column(void *ctx, size_t begin, size_t end_column, unsigned worker)
{
    struct work *work = ctx;

    (void)worker;
    for (size_t c = begin; c < end_column; c++) {
        struct work *w = &work[c];
        size_t first = put_statistics_of(w);

        if (w->column->type == PARQUET_TEXT)
            put_texts(w);
        else if (is_alike(w))
            put_alike(w, first);
        else
            for (size_t from = 0; from < w->n; from += PAGE_ROWS)
                put_plain_page(w, from, w->n - from < PAGE_ROWS ? w->n - from : PAGE_ROWS);
        pack_release(&w->plain);
        free(w->packed);
    }
}

/* ------------------------------------------------------------------------------------ file */

static void put_bytes(struct parquet *p, const void *data, size_t n)
{
    p->is_bad |= fwrite(data, 1, n, p->file) != n;
    p->n_bytes += n;
}

void parquet_open(struct parquet *p, FILE *file, const char *table,
                  const struct parquet_column *column, uint32_t n_columns)
{
    *p = (struct parquet){
        .file = file, .table = table, .column = column, .n_columns = n_columns};
    put_bytes(p, "PAR1", 4);
}

void parquet_say(struct parquet *p, const char *key, const char *value)
{
    mem_grow(&p->said, &p->said_cap, p->n_said + 2);
    p->said[p->n_said++] = mem_copy_string(key);
    p->said[p->n_said++] = mem_copy_string(value);
}

void parquet_rows(struct parquet *p, const struct parquet_data *data, size_t n,
                  struct pool *pool)
{
    size_t first = p->n_groups * p->n_columns;
    struct work *work;

    if (n == 0)
        return;
    work = mem_alloc(p->n_columns, sizeof *work);
    mem_grow(&p->chunk, &p->chunk_cap, first + p->n_columns);
    *mem_push(&p->group_rows, &p->n_groups, &p->group_cap) = n;
    p->n_rows += n;
    for (uint32_t c = 0; c < p->n_columns; c++) {
        p->chunk[first + c] = (struct parquet_chunk){0};
        work[c] = (struct work){
            .column = &p->column[c], .data = &data[c], .n = n, .chunk = &p->chunk[first + c]};
    }
    pool_for(pool, p->n_columns, 1, put_column, work);
    for (uint32_t c = 0; c < p->n_columns; c++) {
        p->chunk[first + c].offset = p->n_bytes;
        put_bytes(p, work[c].out.data, work[c].out.n);
        pack_release(&work[c].out);
    }
    free(work);
}

/* ---------------------------------------------------------------------------------- footer */

static void put_schema(const struct parquet *p, struct thrift *meta)
{
    struct thrift root = {.out = meta->out};

    list(meta, 2, T_STRUCT, p->n_columns + 1);
    text(&root, 4, p->table);
    number(&root, 5, T_I32, p->n_columns);
    end(&root);
    for (uint32_t c = 0; c < p->n_columns; c++) {
        const struct parquet_column *column = &p->column[c];
        struct thrift t = {.out = meta->out};

        number(&t, 1, T_I32, types[column->type].type);
        number(&t, 3, T_I32, column->is_nullable ? OPTIONAL : REQUIRED);
        text(&t, 4, column->name);
        if (types[column->type].converted >= 0)
            number(&t, 6, T_I32, types[column->type].converted);
        end(&t);
    }
}

static void put_statistics(const struct parquet_chunk *chunk, struct thrift *data)
{
    struct thrift t = inside(data, 12);

    number(&t, 3, T_I64, (int64_t)chunk->n_null);
    if (chunk->has_range) {
        field(&t, 5, T_BINARY);
        bytes(t.out, chunk->greatest.data, chunk->greatest.n);
        field(&t, 6, T_BINARY);
        bytes(t.out, chunk->least.data, chunk->least.n);
    }
    end(&t);
}

static void put_chunk(const struct parquet_column *column, const struct parquet_chunk *chunk,
                      uint64_t n_rows, struct pack *out)
{
    struct thrift t = {.out = out}, data;

    number(&t, 2, T_I64, (int64_t)chunk->offset);
    data = inside(&t, 3);
    number(&data, 1, T_I32, types[column->type].type);
    list(&data, 2, T_I32, 3);
    zigzag(out, ENCODING_PLAIN);
    zigzag(out, ENCODING_RLE);
    zigzag(out, ENCODING_RLE_DICTIONARY);
    list(&data, 3, T_BINARY, 1);
    bytes(out, column->name, strlen(column->name));
    number(&data, 4, T_I32, CODEC_ZSTD);
    number(&data, 5, T_I64, (int64_t)n_rows);
    number(&data, 6, T_I64, (int64_t)chunk->n_plain);
    number(&data, 7, T_I64, (int64_t)chunk->n_packed);
    number(&data, 9, T_I64, (int64_t)(chunk->offset + chunk->dictionary_bytes));
    if (chunk->has_dictionary)
        number(&data, 11, T_I64, (int64_t)chunk->offset);
    put_statistics(chunk, &data);
    end(&data);
    end(&t);
}

static void put_groups(const struct parquet *p, struct thrift *meta)
{
    list(meta, 4, T_STRUCT, p->n_groups);
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct parquet_chunk *chunk = &p->chunk[g * p->n_columns];
        struct thrift t = {.out = meta->out};
        uint64_t n_plain = 0, n_packed = 0;

        list(&t, 1, T_STRUCT, p->n_columns);
        for (uint32_t c = 0; c < p->n_columns; c++) {
            put_chunk(&p->column[c], &chunk[c], p->group_rows[g], meta->out);
            n_plain += chunk[c].n_plain;
            n_packed += chunk[c].n_packed;
        }
        number(&t, 2, T_I64, (int64_t)n_plain);
        number(&t, 3, T_I64, (int64_t)p->group_rows[g]);
        number(&t, 5, T_I64, (int64_t)chunk->offset);
        number(&t, 6, T_I64, (int64_t)n_packed);
        end(&t);
    }
}

/* Least and greatest values are in the order of their type, for every column. */
static void put_orders(const struct parquet *p, struct thrift *meta)
{
    list(meta, 7, T_STRUCT, p->n_columns);
    for (uint32_t c = 0; c < p->n_columns; c++) {
        struct thrift order = {.out = meta->out}, of_type = inside(&order, 1);

        end(&of_type);
        end(&order);
    }
}

static void put_footer(const struct parquet *p, struct pack *out)
{
    struct thrift meta = {.out = out};

    number(&meta, 1, T_I32, 2);
    put_schema(p, &meta);
    number(&meta, 3, T_I64, (int64_t)p->n_rows);
    put_groups(p, &meta);
    if (p->n_said > 0)
        list(&meta, 5, T_STRUCT, p->n_said / 2);
    for (size_t i = 0; i < p->n_said; i += 2) {
        struct thrift t = {.out = out};

        text(&t, 1, p->said[i]);
        text(&t, 2, p->said[i + 1]);
        end(&t);
    }
    text(&meta, 6, PROGRAM);
    put_orders(p, &meta);
    end(&meta);
}

int parquet_close(struct parquet *p)
{
    struct pack footer = {0};
    bool is_bad;

    put_footer(p, &footer);
    pack_u32(&footer, (uint32_t)footer.n);
    put_bytes(p, footer.data, footer.n);
    put_bytes(p, "PAR1", 4);
    is_bad = p->is_bad || fflush(p->file) != 0;
    pack_release(&footer);
    for (size_t i = 0; i < p->n_groups * p->n_columns; i++) {
        pack_release(&p->chunk[i].least);
        pack_release(&p->chunk[i].greatest);
    }
    for (size_t i = 0; i < p->n_said; i++)
        free(p->said[i]);
    free(p->chunk);
    free(p->group_rows);
    free(p->said);
    *p = (struct parquet){0};
    return is_bad ? err_set(ERR_IO, "the file cannot be written") : 0;
}

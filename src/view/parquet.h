/*
 * parquet -- writes a table as an Apache Parquet file, column by column.
 *
 *     parquet_open(&p, file, "calls", column, n_columns);
 *     parquet_say(&p, "trace", "run/traces.otf2");
 *     parquet_rows(&p, data, n_rows, pool);            any number of times
 *     rc = parquet_close(&p);
 *
 * Flat tables: numbers as they are (encoding PLAIN), texts as numbers of a dictionary
 * (RLE_DICTIONARY), also numbers that are all alike; pages of zstd. Every call of parquet_rows
 * makes one row group, whose columns have their least and greatest value and how many are null,
 * so that readers can leave row groups out. Columns are compressed on the threads of a pool.
 *
 * Source: parquet-format 2.9, parquet.thrift, Encodings.md; Thrift's compact protocol.
 */
#ifndef SNAG_VIEW_PARQUET_H
#define SNAG_VIEW_PARQUET_H

#include "base/pack.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PARQUET_GROUP_ROWS (1u << 20) /* of a row group; more are fewer, larger groups */

enum parquet_type {
    PARQUET_BOOL, /* uint8_t, 0 or 1 */
    PARQUET_U16,
    PARQUET_U32,
    PARQUET_U64,
    PARQUET_I64,
    PARQUET_F64,
    PARQUET_TEXT, /* uint32_t, numbers of texts */
};

struct parquet_column {
    const char *name;
    enum parquet_type type;
    bool is_nullable;
};

/* The values of a column in some rows. */
struct parquet_data {
    const void *value;       /* [n] of the type; where it is null, anything */
    const uint8_t *is_null;  /* [n] 1 or 0; NULL: none is */
    const char *const *text; /* [n_texts] of PARQUET_TEXT: UTF-8 */
    uint32_t n_texts;
};

struct parquet_chunk;

struct parquet {
    FILE *file;
    const char *table;
    const struct parquet_column *column; /* [n_columns] the caller's */
    uint32_t n_columns;
    uint64_t n_bytes, n_rows;    /* written */
    struct parquet_chunk *chunk; /* [n_groups * n_columns] */
    uint64_t *group_rows;        /* [n_groups] */
    size_t n_groups, chunk_cap, group_cap;
    char **said; /* [n_said] keys and values in turns */
    size_t n_said, said_cap;
    bool is_bad; /* something could not be written */
};

/* parquet_open -- begin a file; both arguments must stay until it is closed. */
void parquet_open(struct parquet *p, FILE *file, const char *table,
                  const struct parquet_column *column, uint32_t n_columns);

/* parquet_say -- key and value of the file. */
void parquet_say(struct parquet *p, const char *key, const char *value);

/*
 * parquet_rows -- one more row group.
 *   data  (n_columns)
 *   n     rows, at most 2^31; nothing happens for 0
 * O(n), and as much memory as the compressed columns.
 */
void parquet_rows(struct parquet *p, const struct parquet_data *data, size_t n,
                  struct pool *pool);

/* parquet_close -- write the end of the file; the file stays open. Returns 0 or ERR_IO. */
int parquet_close(struct parquet *p);

#endif

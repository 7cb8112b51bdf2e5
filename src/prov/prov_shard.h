/*
 * prov_shard -- one file of a store, as its writer sees it: rows in, in transactions.
 *
 * A job is a row to be: the values of its columns, copied, so that it can be handed to another
 * thread. Whoever makes one appends the values in the order of the table in prov_schema.sql.
 */
#ifndef SNAG_PROV_PROV_SHARD_H
#define SNAG_PROV_PROV_SHARD_H

#include "base/pack.h"
#include "prov/prov_place.h"

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>
#include <zstd.h>

enum prov_table {
    PROV_TABLE_RECORD,
    PROV_TABLE_METADATA,
    PROV_TABLE_FUNC_STATS,
    PROV_TABLE_COUNTER_STATS,
    PROV_TABLE_AD_MODEL,
    N_PROV_TABLES
};

#define PROV_MOST_VALUES 24

struct prov_value {
    char type; /* i whole, r real, t text, z bytes to be compressed */
    int64_t whole;
    double real;
    size_t at, bytes; /* in the job's pack */
};

struct prov_job {
    enum prov_table table;
    unsigned n;
    struct prov_value value[PROV_MOST_VALUES];
    struct pack data; /* texts, each with its zero, and bytes */
};

struct prov_job *prov_job_new(enum prov_table table);
void prov_job_free(struct prov_job *job);
void prov_job_whole(struct prov_job *job, uint64_t value);
void prov_job_real(struct prov_job *job, double value);     /* NULL in the row if not finite */
void prov_job_text(struct prov_job *job, const char *text); /* NULL is "" */

/* prov_job_bytes -- what was appended to job->data since it had `at` bytes. */
void prov_job_bytes(struct prov_job *job, size_t at);

struct prov_shard {
    sqlite3 *db;
    sqlite3_stmt *insert[N_PROV_TABLES], *add_function;
    ZSTD_CCtx *compressor;
    struct pack compressed; /* scratch */
};

/*
 * prov_shard_open -- open, or make, shard `shard` of n_shards.
 * Several processes may do so at once. Returns 0, ERR_IO, ERR_FORMAT for something else or
 * another number of shards, or ERR_DATABASE.
 */
int prov_shard_open(const struct prov_place *place, uint32_t shard, uint32_t n_shards,
                    struct prov_shard *out);
void prov_shard_close(struct prov_shard *shard);

/*
 * prov_shard_write -- all jobs in one transaction.
 *   n_bad  out: rows that cannot be stored whatever happens (too large); the others are
 * Returns 0, or the code of SQLite when none is stored, and it may be tried again.
 */
int prov_shard_write(struct prov_shard *shard, struct prov_job *const *job, size_t n,
                     size_t *n_bad);

/* prov_shard_count -- how many shards the store says it has; 0 if it cannot be read. */
uint32_t prov_shard_count(const struct prov_place *place);

#endif

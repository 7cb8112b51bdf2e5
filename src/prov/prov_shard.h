/*
 * prov_shard -- one file of a store, as its writer sees it: rows in, in transactions.
 *
 * A job is a row to be: values for columns that are named as in prov_schema.sql, copied, so
 * that it can be handed to another thread.
 */
#ifndef SNAG_PROV_PROV_SHARD_H
#define SNAG_PROV_PROV_SHARD_H

#include "base/pack.h"
#include "prov/prov_dir.h"

#include <stddef.h>
#include <stdint.h>

#include <sys/stat.h>
#include <sys/types.h>
#include <zstd.h>

enum prov_table {
    PROV_TABLE_RECORD,
    PROV_TABLE_COST,
    PROV_TABLE_METADATA,
    PROV_TABLE_FUNC_STATS,
    PROV_TABLE_COUNTER_STATS,
    PROV_TABLE_AD_MODEL,
    N_PROV_TABLES
};

/* Of every kind of store. */
extern const struct prov_table_rows {
    const char *name;
    const char *columns; /* as its jobs have them */
    const char *key;     /* as PostgreSQL has it: one row replaces another; NULL: none does */
} prov_tables[N_PROV_TABLES];

#define PROV_MAX_VALUES 24

struct prov_value {
    const char *column; /* constant */
    char type;          /* i whole, r real, t text, z bytes to be compressed */
    int64_t whole;
    double real;
    size_t at, bytes; /* in the job's pack */
};

struct prov_job {
    enum prov_table table;
    unsigned n, tag; /* the tag is whose job it is to say */
    bool is_lost;    /* it cannot be stored whatever happens */
    struct prov_value value[PROV_MAX_VALUES];
    struct pack data; /* texts, each with its zero, and bytes */
};

struct prov_job *prov_job_new(enum prov_table table);
void prov_job_free(struct prov_job *job);

/*
 * prov_job_... -- the value of a column, which has none yet. All jobs of a table name the same
 * columns in the same order. A real that is not finite is NULL in the row; no text is "".
 */
void prov_job_whole(struct prov_job *job, const char *column, uint64_t value);
void prov_job_real(struct prov_job *job, const char *column, double value);
void prov_job_text(struct prov_job *job, const char *column, const char *text);

/* prov_job_bytes -- what was appended to job->data since it had `at` bytes. */
void prov_job_bytes(struct prov_job *job, const char *column, size_t at);

struct prov_shard {
    struct database database;
    char name[32];                                      /* of the file, */
    struct stat file;                                   /* and which it is */
    sqlite3_stmt *insert[N_PROV_TABLES], *add_function; /* the former when first needed */
    ZSTD_CCtx *compressor;
    struct pack compressed; /* scratch */
    int64_t added_bytes;    /* see prov_shard_added */
    int64_t first_record;   /* least id of a record that it has written; 0: none */
};

/*
 * prov_shard_open -- open, or make, shard `shard` of n_shards.
 *   dir  handle of the store's directory
 *   out  stays where it is until it is closed
 * Several processes may do so at once. Returns 0, ERR_IO, ERR_FORMAT for something else or
 * another number of shards, or ERR_DATABASE.
 */
int prov_shard_open(const struct prov_dir *place, int dir, uint32_t shard, uint32_t n_shards,
                    struct prov_shard *out);
void prov_shard_close(struct prov_shard *shard);

/* Who writes: see the table `run`. */
struct prov_run {
    uint32_t program;
    const uint32_t *rank; /* NULL: all */
    uint64_t began_ns;    /* since 1970 */
    const char *run_id;   /* NULL: "" */
};

/* prov_shard_run -- a new run, in shard 0. *id: from 1, no other has it. Returns 0 or
 * ERR_DATABASE. */
int prov_shard_run(struct prov_shard *shard, const struct prov_run *run, int64_t *id);

/* prov_shard_end -- the run is over, all its rows are stored. Of shard 0; may fail: then it was
 * killed. */
void prov_shard_end(struct prov_shard *shard, int64_t id, uint64_t ended_ns);

/*
 * prov_shard_write -- all jobs in one transaction. Those that cannot be stored whatever happens
 * (too large) are marked as lost; the others are stored.
 * Returns 0, or a failure when none is stored, and it may be tried again.
 */
int prov_shard_write(struct prov_shard *shard, struct prov_job *const *job, size_t n);

/* prov_shard_added -- bytes of its file that are in use because of the records and costs that
 * were written and thinned since it was opened, whoever else writes to it. */
uint64_t prov_shard_added(const struct prov_shard *shard);

/*
 * prov_shard_thin -- remove an eighth of the records of a run that were written since it was
 * opened, and their costs: normal ones, then those that lost least, of these the oldest.
 * Returns how many; 0 where there are none, or it did not work. O(records since then).
 */
uint64_t prov_shard_thin(struct prov_shard *shard, int64_t run);

/* prov_shard_why -- what a failure is, in words; NULL for 0. */
const char *prov_shard_why(int failure);

/* prov_shard_is_gone -- its file was removed or replaced: all that was written is lost.
 * Thread-safe. */
bool prov_shard_is_gone(const struct prov_shard *shard, int dir);

/* prov_shard_check -- is it a shard of ours, and which? `as` is its schema. Returns 0,
 * ERR_FORMAT, or as database_error. */
int prov_shard_check(struct database *database, const char *as, uint32_t shard,
                     uint32_t *n_shards, const char *path);

/* prov_shard_is_empty -- nobody has stored anything in it. */
bool prov_shard_is_empty(struct database *database);

/* prov_shard_count -- how many shards the store in a directory says it has; 0: none is there.
 */
uint32_t prov_shard_count(const struct prov_dir *place, int dir);

#endif

/*
 * prov_pg_rows -- rows of a store as PostgreSQL takes them: jobs to bytes for the spool, and
 * these to the tables of postgres_1.sql, many rows in one transaction.
 *
 *     row   u8 table | u8 tag | varint bytes of its function's name | name | u32 bytes | tuple
 *
 * A tuple is one of COPY BINARY: its columns are those of the job, then the row's id. Texts are
 * UTF-8 there; what is none is replaced. Where a record has its function, the tuple has the
 * hash of the name, which comes with every record, because nobody can know which of them
 * arrive.
 */
#ifndef SNAG_PROV_PROV_PG_ROWS_H
#define SNAG_PROV_PROV_PG_ROWS_H

#include "base/idmap.h"
#include "postgres/pg_connection.h"
#include "prov/prov_kind.h"

#define PROV_PG_ROWS_VERSION 1 /* of rows in a spool */
#define PROV_PG_RUNS 256       /* of a partition */
#define PROV_PG_ALIVE 7600713  /* first half of a lock; the other is the run of a sender */

/* What a record takes, with its indexes: an estimate. In a query, and besides its data. */
#define PROV_PG_RECORD_BYTES "octet_length(data) + 450"
#define PROV_PG_BESIDES_BYTES 450u

extern const struct pg_schema prov_pg_schema;

/* prov_pg_pack -- a job as a row with a number; scratch and context are for compression. */
void prov_pg_pack(const struct prov_job *job, uint64_t id, ZSTD_CCtx *context,
                  struct pack *scratch, struct pack *out);

struct prov_pg_row {
    uint8_t table, tag;
    const char *name; /* of its function */
    size_t name_bytes;
    const unsigned char *tuple;
    size_t tuple_bytes;
};

/* prov_pg_unpack -- the next row of a pack; false at its end, or when it is none. */
bool prov_pg_unpack(struct pack *pack, struct prov_pg_row *row);

/* Some rows, by table. A zeroed one is empty. */
struct prov_pg_batch {
    struct pack tuples[N_PROV_TABLES];
    struct pack functions; /* tuples, too */
    uint64_t *added;       /* [n_added] hashes of functions that are new */
    size_t n_added, cap;
};

/* prov_pg_batch_add -- known: functions that are in the database already. */
void prov_pg_batch_add(struct prov_pg_batch *batch, const struct prov_pg_row *row,
                       const struct idmap *known);
void prov_pg_batch_clear(struct prov_pg_batch *batch);
void prov_pg_batch_release(struct prov_pg_batch *batch);

/* prov_pg_prepare -- what a connection needs before the first batch. Returns 0 or ERR_DATABASE.
 */
int prov_pg_prepare(PGconn *connection);

/* prov_pg_alive -- who looks sees that the run is being sent, until the connection ends. */
int prov_pg_alive(PGconn *connection, int64_t run);

/*
 * prov_pg_store -- all rows of a batch, and that those of the run are stored up to `last`, in
 * one transaction; when these are stored up to `before` and not further.
 *   why  out: when it was not stored, or it is not known whether it was
 * Returns 0, or ERR_DATABASE.
 */
int prov_pg_store(PGconn *connection, const struct prov_pg_batch *batch, int64_t run,
                  uint64_t before, uint64_t last, enum pg_trouble *why);

/* prov_pg_stored -- up to which row a run is stored; waits for a transaction that is just
 * ending. Returns 0, ERR_NOT_FOUND when the database does not have the run, or ERR_DATABASE. */
int prov_pg_stored(PGconn *connection, int64_t run, uint64_t *last, enum pg_trouble *why);

/*
 * prov_pg_thin -- remove records of a run, with their costs, until what is left takes `most`
 * bytes at most: the normal ones first, then the anomalies that lost least, of these the
 * oldest.
 *   n_removed  out: records
 *   left       out: bytes that the run's records take now
 * Returns 0 or ERR_DATABASE, then why is as for prov_pg_store. Time: all records of the run are
 * looked at.
 */
int prov_pg_thin(PGconn *connection, int64_t run, uint64_t most, uint64_t *n_removed,
                 uint64_t *left, enum pg_trouble *why);

/*
 * prov_pg_begin_verdicts, prov_pg_keep_verdicts (of a PGconn), prov_pg_end_verdicts -- a
 * transaction that brings verdicts to the records of a run, all or none. Return 0 or
 * ERR_DATABASE.
 */
int prov_pg_begin_verdicts(PGconn *connection);
int prov_pg_keep_verdicts(void *connection, const struct prov_verdict *verdict, size_t n);
int prov_pg_end_verdicts(PGconn *connection, int64_t run);

/* prov_pg_end -- a run is over, and all its rows are stored. ended_ns: since 1970 */
int prov_pg_end(PGconn *connection, int64_t run, uint64_t ended_ns, enum pg_trouble *why);

#endif

/*
 * prov_store -- where verdicts and all that explains them go while a program runs.
 *
 * Whoever finds something puts it and goes on: a thread per shard writes it, in transactions of
 * as many rows as are waiting. A row is *stored* when its transaction is; prov_store_flush
 * waits for that. What is stored survives the end of the process in whatever way (SIGKILL too),
 * and no part of a record is ever seen. A power failure may take the last transactions with it.
 *
 * When the disk is full, or too slow, a put waits a little; when that does not help, rows are
 * dropped and counted, and the writer tries on. The program that is watched is never stopped.
 * When a shard is removed, all that was in it is lost, and counted so.
 *
 * Each opening is a run of its own, with a number that all its rows have: a store may hold
 * several, of one instance after the other or of several at once, and what is said of one says
 * of which.
 *
 * What a run's records take in a store has a limit, as a program that runs for weeks may be
 * strange for weeks; what was there before does not count, nor do statistics and models, which
 * stay. What is beyond it goes: the normal ones first, then the anomalies that lost least, of
 * these the oldest; they are counted. What was freed is used again, so a store keeps its size
 * while the run goes on. In a database there is a limit only where it is said: what is free
 * there a database does not tell.
 *
 * In PostgreSQL (docs/postgresql.md) rows go through a spool on disk, and wait there while the
 * database is away; what is said below of a shard is said of that. They are stored when they
 * are in the database. What still waits at the end is sent by the next who writes to it.
 *
 * Several processes may write to a store at the same time, each the records of another rank
 * (prov_dir.h), and any number read it (prov_reader.h), on one machine: SQLite's WAL does not
 * work on network file systems.
 */
#ifndef SNAG_PROV_PROV_STORE_H
#define SNAG_PROV_PROV_STORE_H

#include "prov/prov_dir.h"
#include "prov/prov_record.h"

#include <stdint.h>

struct prov_store;

struct prov_store_opts {
    size_t queue;         /* rows that may wait per shard; 0: 4096 */
    unsigned wait_ms;     /* that a put waits for room at most; 0: 1000 */
    uint32_t program;     /* that is written, */
    const uint32_t *rank; /* and its only rank; NULL: all */
    const char *run_id;   /* of the job, alike in all that writes of it; NULL: "" */
    uint64_t limit_bytes; /* see above; 0: a quarter of what is free on a directory's disk */

    /* Of PostgreSQL: where rows wait, */
    const char *spool;    /* a directory; NULL: PROV_SPOOL */
    uint64_t spool_bytes; /* and how many bytes at most; 0: PROV_SPOOL_BYTES */
};

#define PROV_SPOOL "snag-spool"
#define PROV_SPOOL_BYTES ((uint64_t)1 << 30)

enum prov_kind { PROV_ANOMALY, PROV_NORMAL };

/* Of durations or scores, as Chimbuko's RunStats; times in microseconds. */
struct prov_stats {
    uint64_t count;
    double accumulate, minimum, maximum, mean, stddev, skewness, kurtosis;
};

/* What a call or an execution cost the program: it would be so much ahead without. */
struct prov_cost {
    struct prov_event event; /* of the record, */
    uint32_t program;
    bool is_execution; /* and which of two of the same root */
    uint64_t cost_ns;
    bool is_bound; /* at most that */
};

struct prov_metadata {
    uint32_t program, rank, thread;
    const char *descr, *value;
};

struct prov_func_stats {
    uint32_t program, fid;
    const char *func;
    uint64_t n_calls, n_anomalies;
    struct prov_stats exclusive, inclusive; /* of all calls */
    struct prov_stats severity, score;      /* of the anomalies */
};

struct prov_counter_stats {
    uint32_t program;
    const char *counter;
    struct prov_stats stats;
};

/* What judged the calls of a function. */
struct prov_model {
    uint64_t version; /* what records name */
    uint32_t program, fid;
    const char *func, *algorithm;
    struct prov_stats stats;
    const void *data; /* (bytes) a packed sketch */
    size_t bytes;
};

struct prov_counts {
    int64_t run;        /* number of this run in the store */
    uint64_t n_stored;  /* rows that are safe; without statistics, which replace each other */
    uint64_t n_waiting; /* rows not yet */
    uint64_t n_dropped; /* rows that are lost */
    uint64_t n_removed; /* records that were stored, and gave way to others */
    bool is_failing;    /* the last transaction did not work, */
    const char *why;    /* and why not; NULL if it did */

    uint64_t bytes; /* by which the files of the store have grown, or that were sent to a
                       database, */
    bool is_sent;   /* as this says */
    bool is_shared; /* others may write to these files, too: bytes are of all */

    /* Of the rows that are safe, records of calls and of executions. */
    uint64_t n_anomalies, n_normals, n_executions, n_normal_executions;
    uint64_t n_late; /* of the anomalies: those that say so */
};

/*
 * prov_store_open -- open a store for writing, or make it.
 *   url   sqlite:DIR?shards=N; without N, as many as it has, or 1. Or postgresql://...
 *         (pg_connection.h)
 *   opts  NULL for the defaults
 * Returns 0, ERR_USAGE, ERR_UNSUPPORTED, ERR_IO, ERR_FORMAT, ERR_DATABASE, or ERR_EXISTS when
 * something else is there or another process writes it; *store is NULL then.
 */
int prov_store_open(const char *url, const struct prov_store_opts *opts,
                    struct prov_store **store);

/* prov_store_is -- there is a store of that name to be read; false also for what is no URL. */
bool prov_store_is(const char *url);

/*
 * prov_store_look -- whether a store can be read just now: its directory is there, or its
 * database answers, which may take as long as that waits to connect. Returns 0, ERR_NOT_FOUND
 * or ERR_DATABASE.
 */
int prov_store_look(const char *url);

/* prov_store_is_written -- whether somebody writes it just now, of a database the runs that the
 * URL is about; false, too, when that cannot be told. */
bool prov_store_is_written(const char *url);

/* prov_store_discard -- see prov_home_discard; a database is left as it is. */
void prov_store_discard(const char *url);

/*
 * prov_store_put and the others -- copy a row and give it to the writer of its shard, that of
 * its rank modulo the number of shards, or 0 for rows of the whole job. Of one thread, rows of
 * a shard are stored in the order they were put in. A row of the collections func_stats,
 * counter_stats and ad_model, or a cost, replaces that of the same key in this run.
 * Return false when the row was dropped. Thread-safe.
 */
bool prov_store_put(struct prov_store *store, enum prov_kind kind,
                    const struct prov_record *record);
bool prov_store_put_cost(struct prov_store *store, const struct prov_cost *row);
bool prov_store_put_metadata(struct prov_store *store, const struct prov_metadata *row);
bool prov_store_put_func_stats(struct prov_store *store, const struct prov_func_stats *row);
bool prov_store_put_counter_stats(struct prov_store *store,
                                  const struct prov_counter_stats *row);
bool prov_store_put_model(struct prov_store *store, const struct prov_model *row);

/*
 * prov_store_put_size -- of how many bytes of trace this run was made, and, of a database, how
 * many were sent: as metadata, once, at the end. See reduction.h.
 */
bool prov_store_put_size(struct prov_store *store, uint64_t trace_bytes);
#define PROV_TRACE_BYTES "snag trace bytes"
#define PROV_SENT_BYTES "snag sent bytes"

/*
 * prov_store_flush -- wait until all that was put is stored.
 * Returns 0, or ERR_IO when it cannot be stored now, or rows were dropped since the last flush.
 * Thread-safe.
 */
int prov_store_flush(struct prov_store *store);

/* prov_store_counts -- of all shards together; may be asked at any time, by any thread. */
void prov_store_counts(struct prov_store *store, struct prov_counts *out);

/* A verdict by the final model. Leaving final->is_judged false leaves the record as it is. */
typedef void prov_judge_fn(void *ctx, enum prov_kind kind, const struct prov_record *record,
                           struct prov_final *final);

struct prov_rejudged {
    uint64_t n_records, n_judged, n_pruned;
    uint64_t n_taken_back, taken_back_ns; /* anomalies among those pruned, and their severity */
    uint64_t n_damaged;                   /* records that could not be read, left as they are */
};

/*
 * prov_store_rejudge -- ask for a last verdict on every record of this run, and keep it beside
 * the first: Chimbuko's pruning, but nothing is deleted or changed. May be done again.
 *   out  may be NULL
 * Flushes first. Returns 0 or an error, then of some shards all verdicts are kept, of others
 * none. O(records).
 */
int prov_store_rejudge(struct prov_store *store, prov_judge_fn *judge, void *ctx,
                       struct prov_rejudged *out);

/*
 * prov_store_end -- store what is waiting, and take no more: a put from now on is dropped. The
 * counts are final then. Twice is harmless. Not while other threads use the store.
 */
void prov_store_end(struct prov_store *store);

/*
 * prov_store_close -- store what is waiting, and free. NULL is harmless.
 * Returns 0, or ERR_IO when rows were dropped at any time.
 */
int prov_store_close(struct prov_store *store);

#endif

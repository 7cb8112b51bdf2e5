/*
 * prov_kind -- what a kind of store does: one row per kind, chosen by the URL. All the rest of
 * the program knows stores by prov_store.h (to write) and prov_reader.h (to read).
 *
 * A kind says how some rows are kept (struct prov_sink_ops); the queues, the threads that bring
 * rows, counting, waiting and trying again are in prov_store.c.
 */
#ifndef SNAG_PROV_PROV_KIND_H
#define SNAG_PROV_PROV_KIND_H

#include "base/database.h"
#include "prov/prov_keep.h"
#include "prov/prov_shard.h"
#include "prov/prov_store.h"

#include <stdatomic.h>

/* What a row is, for the counts. */
enum prov_tag {
    PROV_TAG_OTHER,
    PROV_TAG_STATISTICS, /* one takes the place of another: they are no more rows */
    PROV_TAG_ANOMALY,
    PROV_TAG_LATE,
    PROV_TAG_NORMAL,
    PROV_TAG_EXECUTION,
    PROV_TAG_NORMAL_EXECUTION,
    N_PROV_TAGS
};

/* What became of rows. Of any thread. */
struct prov_tally {
    atomic_uint_fast64_t n_stored[N_PROV_TAGS];
    atomic_uint_fast64_t n_done, n_dropped; /* done: taken and stored or dropped */
    atomic_uint_fast64_t n_removed;         /* records, of those stored */
    atomic_uint_fast64_t bytes;             /* sent, of those stored, where that is counted */
};

void prov_tally_add(struct prov_tally *tally, unsigned tag, bool is_stored);

/* prov_tally_removed -- so many records gave way to others, as the run has a limit; that is
 * said when it begins. */
void prov_tally_removed(struct prov_tally *tally, uint64_t n);

/* prov_wait_again -- before something is tried once more: ever longer, from 20 to 500 ms.
 *   ms  that it waited last; 0: this is the first time */
void prov_wait_again(unsigned *ms);

struct prov_sink_ops {
    /*
     * Rows in, from the first on; those that cannot be stored whatever happens are marked as
     * lost. Of the writer's thread. *n_written: out, how many are done with. Returns 0 when all
     * are, or a failure when the others may be tried again.
     */
    int (*write)(void *sink, struct prov_job *const *job, size_t n, size_t *n_written);
    const char *(*why)(void *sink, int failure); /* in words; NULL for none */
    bool (*is_gone)(void *sink);                 /* what was stored is lost. Of any thread. */
    bool stores_later; /* what was written is counted by the sink, when it is stored */
};

/* A store that is written, as its kind has made it. */
struct prov_base {
    void *state;
    uint32_t n_sinks; /* one writer each */
    int64_t run;      /* all rows are of it */
};

/* The final model's verdict on the record of this id. */
struct prov_verdict {
    int64_t id;
    bool is_pruned;
    double score, p;
};

/* The records of a run, to be judged once more. */
struct prov_rejudge {
    int64_t run;
    prov_judge_fn *judge;
    void *ctx;
    /* The kind's: */
    struct database *from; /* has the table `record`; */
    const char *path;      /* for messages; */
    int (*keep)(void *keeper, const struct prov_verdict *verdict, size_t n); /* or an error */
    void *keeper;
};

/*
 * prov_rejudge_records -- ask for all verdicts and have them kept, some at a time. While they
 * are kept nothing is being read. Adds to counts. Returns 0, what keep returned, or as
 * database_error. O(records), in memory of some.
 */
int prov_rejudge_records(const struct prov_rejudge *records, struct prov_rejudged *counts);

struct prov_kind_ops {
    const char *name;
    bool (*is_mine)(const char *url); /* as far as its beginning says */
    const struct prov_sink_ops *sink_ops;

    /* Open a store for writing, or make it. Returns 0 or as prov_store_open. */
    int (*open)(const char *url, const struct prov_store_opts *opts, struct prov_base *base);

    /* The sink of writer i, which begins; it may count what it stores there. NULL: error. */
    void *(*sink)(void *state, uint32_t i, struct prov_tally *tally);

    void (*end)(void *state);   /* the writers have ended; twice is harmless */
    void (*close)(void *state); /* and the counts are known. NULL is harmless. */

    /* By how many bytes its files have grown since it was opened, until it is closed; bytes of
     * the files of a store. Of any thread. NULL: what is sent is counted (prov_tally). */
    uint64_t (*grown)(const void *state);
    uint64_t (*size)(const char *url);

    /* See prov_store_rejudge; all is stored. *records: with what the caller knows of them. */
    int (*rejudge)(const struct prov_base *base, const struct prov_rejudge *records,
                   struct prov_rejudged *counts);

    /* See prov_reader_open, prov_reader_open_run. */
    int (*read)(const char *url, int64_t run, struct database *reader);

    const struct prov_keep_ops *keep;

    bool (*is_there)(const char *url);   /* see prov_store_is */
    int (*look)(const char *url);        /* see prov_store_look */
    bool (*is_written)(const char *url); /* see prov_store_is_written */
    void (*discard)(const char *url);    /* see prov_store_discard */
};

extern const struct prov_kind_ops prov_sqlite, prov_postgres;

/* prov_kind_of -- by an URL; a path is SQLite's. */
const struct prov_kind_ops *prov_kind_of(const char *url);

#endif

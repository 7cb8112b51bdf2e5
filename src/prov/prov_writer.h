/*
 * prov_writer -- a queue of rows and the thread that puts them where they are kept, for all
 * kinds of stores. A kind says how some rows are kept (struct prov_sink_ops); counting, waiting
 * and trying again are done here.
 */
#ifndef SNAG_PROV_PROV_WRITER_H
#define SNAG_PROV_PROV_WRITER_H

#include "base/queue.h"
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

/* prov_tally_removed -- so many records gave way to others, as the store has a limit; that is
 * said when it begins. */
void prov_tally_removed(struct prov_tally *tally, uint64_t n);

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

struct prov_writer {
    pthread_t thread;
    bool has_thread;
    uint32_t index;
    const struct prov_sink_ops *ops;
    void *sink;
    struct queue queue; /* of struct prov_job, while there is a thread; */
    uint64_t n_put;     /* how many ever, afterwards */
    struct prov_tally tally;
    atomic_int failure;   /* of the last attempt to write; 0 if it worked */
    atomic_bool is_gone;  /* what was stored is lost */
    atomic_bool is_stuck; /* a put waited in vain: the next ones do not */
};

/* prov_writer_begin -- start it. Returns 0 or ERR_IO. */
int prov_writer_begin(struct prov_writer *writer, uint32_t index, size_t queue,
                      const struct prov_sink_ops *ops, void *sink);

/* prov_writer_end -- write what waits and stop; twice is harmless. The sink is still needed. */
void prov_writer_end(struct prov_writer *writer);

/* prov_writer_put -- takes the job. Returns false when it was dropped. Thread-safe. */
bool prov_writer_put(struct prov_writer *writer, struct prov_job *job, unsigned wait_ms);

/* prov_writer_drain -- wait for what was put so far; false when it cannot be stored now. */
bool prov_writer_drain(struct prov_writer *writer);

/* prov_writer_why -- why nothing can be stored now, or NULL. */
const char *prov_writer_why(struct prov_writer *writer);

/* prov_writer_counts -- add its counts, at any time until the sink is closed. */
void prov_writer_counts(struct prov_writer *writer, struct prov_counts *out);

#endif

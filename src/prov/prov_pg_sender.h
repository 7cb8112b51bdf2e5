/*
 * prov_pg_sender -- the thread that brings rows from a spool to a PostgreSQL database, for as
 * long as it takes: what an earlier process left first, then those of this run as they come.
 *
 * Each transaction has some thousand rows and the number of the last of them in the row of
 * their run. So after a broken connection the database says what it has, and what it has is not
 * sent again. A row that the database will never take is found by halving, and lost alone.
 */
#ifndef SNAG_PROV_PROV_PG_SENDER_H
#define SNAG_PROV_PROV_PG_SENDER_H

#include "base/queue.h"
#include "prov/prov_kind.h"
#include "prov/prov_spool.h"

struct prov_pg_sender;

struct prov_pg_sender_opts {
    const char *url;                      /* copied */
    struct prov_spool *spool;             /* of this run */
    const struct prov_spool_opts *spools; /* where others may have left some */
    struct prov_tally *tally;             /* what becomes of the rows */
    uint64_t limit_bytes; /* that a run's records may take in the database; 0: no limit */
};

/* prov_pg_sender_new -- start it. Returns 0 or ERR_IO. */
int prov_pg_sender_new(const struct prov_pg_sender_opts *opts, struct prov_pg_sender **sender);

/* prov_pg_sender_wake -- there is something in the spool. Of any thread. */
void prov_pg_sender_wake(struct prov_pg_sender *sender);

/* prov_pg_sender_why -- why nothing can be sent now; NULL: it can. Of any thread. */
const char *prov_pg_sender_why(struct prov_pg_sender *sender);

/*
 * prov_pg_sender_end -- send what is there, for some seconds when that does not work, and stop.
 * Returns how many rows of the spool of this run are done with: stored, or lost.
 * prov_pg_sender_free -- the same, and free; NULL is harmless.
 */
uint64_t prov_pg_sender_end(struct prov_pg_sender *sender);
void prov_pg_sender_free(struct prov_pg_sender *sender);

#endif

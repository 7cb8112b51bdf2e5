/*
 * ingest_crew -- several processes read one trace (base/crew.h): who reads which location, and
 * what the others tell number 0 when theirs are read.
 *
 * A location goes to the process that has least to read so far, in the order of locations, by
 * the number of events that the trace announces. So each process reads in ascending order and
 * at any time all are at about the same location. That matters as a location gets its place in
 * the files when all before it have theirs: the place of the next one is handed from process to
 * process, 48 bytes for a location, and who waits for it holds no more than the location in
 * hand.
 *
 *     process 0   read 0 .. write 0   read 2 ...... [place] write 2
 *                       \ place                    /         \ place
 *     process 1   read 1 .. [place] write 1 ------            read 3 ...
 *
 * The columns are written by all, each to its own rows, which no other process writes. What is
 * needed together, messages, collectives and spans of teams, goes to number 0: 4 to 56 bytes
 * each.
 */
#ifndef SNAG_RUN_INGEST_CREW_H
#define SNAG_RUN_INGEST_CREW_H

#include "base/crew.h"
#include "run/columns.h"
#include "run/ingest.h"

/* Who reads what. */
struct deal {
    unsigned *owner; /* [n_locations] process */
    uint32_t *mine;  /* [n_mine] locations of this one, ascending */
    uint32_t n_mine, n_locations;
};

/* deal_init -- the same on all processes. crew may be NULL. O(locations x processes). */
void deal_init(struct deal *deal, const struct crew *crew, const struct definitions *defs);
void deal_release(struct deal *deal);

/* ingest_take_turn -- wait for the place of a location of ours; ingest_pass_turn -- hand on
 * that of the one after it. Where the same process has both nothing is sent. */
void ingest_take_turn(struct crew *crew, const struct deal *deal, uint32_t location,
                      struct column_place *next);
void ingest_pass_turn(struct crew *crew, const struct deal *deal, uint32_t location,
                      const struct column_place *next);

/* What a process has of its own locations, number 0 in the end of all. */
struct ingest_share {
    const struct deal *deal;
    struct ingested *ingested;     /* location, profile and traffic */
    struct loops_found *found;     /* [n_locations] */
    struct columns_writer *writer; /* or NULL */
};

/*
 * ingest_gather -- number 0 gets what all others have. All must call it.
 *   rc  of this process
 * Returns 0, or the error of the first process that has one.
 */
int ingest_gather(struct crew *crew, struct ingest_share *share, int rc);

/* ingest_check_definitions -- whether all have read the same ones. Returns 0 or ERR_FORMAT. All
 * must call it. */
int ingest_check_definitions(struct crew *crew, const struct definitions *defs);

#endif

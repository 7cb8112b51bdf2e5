/* syncs_needs -- who needs whom, and in which order a replay can go through all of them. */
#ifndef SNAG_REPLAY_SYNCS_NEEDS_H
#define SNAG_REPLAY_SYNCS_NEEDS_H

#include "replay/syncs.h"
#include "explain/unrecorded.h"

/* In which syncs the records of a trace are: NEED_INDEX where in none. */
struct record_syncs {
    uint32_t *posted, *ended;                  /* [messages] */
    uint32_t *entered, *left;                  /* [collectives] */
    size_t *first_collective;                  /* [n_locations + 1] among all */
    uint32_t *finalized;                       /* [n_locations] */
    bool *is_finalize;                         /* [regions] NULL: none is */
    uint32_t *span_begin, *span_end;           /* [spans] of teams */
    size_t *first_barrier;                     /* [n_locations + 1] among all */
    uint32_t *barrier;                         /* [barriers] of teams */
    const struct found_dependency *dependency; /* [n_dependencies] */
    size_t n_dependencies;
    const struct unrecorded *unrecorded;
    uint32_t *unrecorded_sync; /* [unrecorded->n] */
};

/* syncs_need_all -- fill in first_need, need, members, last_ns and is_blind. */
void syncs_need_all(struct syncs *s, const struct record_syncs *at);

/* syncs_order -- fill in order, place and reach; mark needs that come too early. */
void syncs_order(struct syncs *s);

/* syncs_retime -- the same once the times of syncs have been moved. */
void syncs_retime(struct syncs *s);

/* syncs_is_synchronous -- whether a message whose other end is known is held to be: by its
 * length, or as MPI_Ssend posted it. */
bool syncs_is_synchronous(const struct syncs *s, const struct message *m);

#endif

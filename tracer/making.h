/*
 * making -- communicators are made and freed. Making one is a collective of the communicator it
 * is made from, and freeing one a collective of its own.
 *
 * Whether a new communicator is named must be the same on all its members, because naming it
 * is a broadcast (communicators.h). It depends on session_is_open only, never on whether this
 * process still records.
 */
#ifndef SNAG_TRACER_MAKING_H
#define SNAG_TRACER_MAKING_H

#include "wrap.h"

struct communicator_making {
    uint32_t communicator; /* whose collective it is; COMMUNICATOR_NONE: no records */
    MPI_Comm from;
};

/* making_begin, making_end -- from comm one is made; NULL if that failed. */
void making_begin(struct communicator_making *m, const struct call *call, MPI_Comm comm);
void making_end(const struct communicator_making *m, struct call *call, const MPI_Comm *made);

/* making_apart -- one was made by only some of the members of comm; NULL if that failed. */
void making_apart(MPI_Comm comm, const MPI_Comm *made);

void freeing_begin(struct communicator_making *m, const struct call *call, MPI_Comm comm);
void freeing_end(const struct communicator_making *m, struct call *call);

#endif

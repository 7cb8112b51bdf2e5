/* communicator_handles -- from the handles of MPI to the numbers of communicators.h. */
#ifndef SNAG_TRACER_COMMUNICATOR_HANDLES_H
#define SNAG_TRACER_COMMUNICATOR_HANDLES_H

#include "communicators.h"

#include <mpi.h>

/* communicator_id -- the local number, or COMMUNICATOR_NONE. Thread-safe. */
uint32_t communicator_id(MPI_Comm comm);

/* communicator_is_alone -- whether it is known, and has one member. Thread-safe. */
bool communicator_is_alone(MPI_Comm comm);

/*
 * communicator_add -- a communicator was made; does nothing for MPI_COMM_NULL and
 * intercommunicators. Collective over comm. Thread-safe.
 */
void communicator_add(MPI_Comm comm, MPI_Comm parent);

/* group_members -- the ranks in MPI_COMM_WORLD of the n members of a group; (uint32_t)
 * MPI_UNDEFINED for others. Free the array. */
uint32_t *group_members(MPI_Group group, int n);

/* communicator_remove -- the handle is about to be freed; its definition stays. */
void communicator_remove(MPI_Comm comm);

#endif

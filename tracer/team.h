/*
 * team -- the processes that write one trace together, rank 0 its definitions.
 *
 * Those of MPI_COMM_WORLD (team_mpi.c), or one process alone (team_alone.c): which of the two
 * is linked in makes the difference between the libraries. All but team_rank, team_size,
 * team_send and team_receive are called by all of them together.
 */
#ifndef SNAG_TRACER_TEAM_H
#define SNAG_TRACER_TEAM_H

#include <stdbool.h>
#include <stddef.h>

/* team_form, team_part -- before and after all others. */
void team_form(void);
void team_part(void);

int team_rank(void);
int team_size(void);

/* team_is_mpi -- the processes are ranks of MPI. */
bool team_is_mpi(void);

/* team_is_spawned -- other ranks, which have a trace of their own, have started these. */
bool team_is_spawned(void);

/* team_broadcast -- what rank 0 has in data (bytes), to all. */
void team_broadcast(void *data, size_t bytes);

/* team_barrier -- nobody goes on before all are here. */
void team_barrier(void);

/* team_all -- is it true for everybody? */
bool team_all(bool is_true);

/* team_gather -- own (bytes, the same number everywhere) of all, in order of their ranks, in
 * all (size * bytes) at rank 0. */
void team_gather(const void *own, size_t bytes, void *all);

/* team_send, team_receive -- between two; what was sent first arrives first. */
void team_send(int to, const void *data, size_t bytes);
void team_receive(int from, void *data, size_t bytes);

#endif

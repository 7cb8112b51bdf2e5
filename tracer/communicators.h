/*
 * communicators -- local numbers for the communicators of this process, and what they are.
 *
 * Each is known in all its members by the same pair: the rank in MPI_COMM_WORLD of its first
 * member, and how many that one had named before. Its first member makes the pair up and
 * broadcasts it when the communicator is made, which every member takes part in anyway; that
 * is the one message the tracer adds to a program while it runs.
 *
 * Intercommunicators, and communicators made by functions that are not traced, are not known:
 * their messages and collectives leave no records.
 */
#ifndef SNAG_TRACER_COMMUNICATORS_H
#define SNAG_TRACER_COMMUNICATORS_H

#include <stdbool.h>
#include <stdint.h>

#define COMMUNICATOR_WORLD 0u
#define COMMUNICATOR_SELF 1u
#define COMMUNICATOR_NONE UINT32_MAX
#define MAX_COMMUNICATORS 16384 /* a program may make and free them for ever */

struct communicator {
    uint32_t first_rank, number; /* the pair: first member's world rank, its count */
    uint32_t parent;             /* local id, or COMMUNICATOR_NONE */
    uint32_t size;
    uint32_t *member; /* [size] ranks in MPI_COMM_WORLD; of a team threads of first_rank */
    char *name;       /* by MPI_Comm_set_name; NULL if none */
};

/* communicators_begin -- define MPI_COMM_WORLD and MPI_COMM_SELF, if there is MPI. Once, after
 * MPI_Init, when the state is open: all go into its journal, as does what their names were when
 * they were freed. */
void communicators_begin(void);

/* communicators_from -- as regions_from. */
uint32_t communicators_from(uint32_t first,
                            void (*each)(void *ctx, const struct communicator *c), void *ctx);

/* communicators_end -- the names of those there are go into the journal of the state (state.h).
 * Call at the end, while there is MPI. */
void communicators_end(void);

#endif

/*
 * session -- the traced run as a whole: from MPI_Init to MPI_Finalize, or of a process that is
 * alone from its first call to its end. All of the team (team.h) open and close it together.
 *
 * Until it is open, records are kept in memory, because the rank is not known. When it ends,
 * what the ranks know is brought together on rank 0, which writes the definitions of the
 * archive. A process that ends without MPI_Finalize saves what it can alone (rescue.h).
 *
 * With live output (live.h) the archive can be left out: SNAG_TRACER_ARCHIVE=0.
 */
#ifndef SNAG_TRACER_SESSION_H
#define SNAG_TRACER_SESSION_H

#include <stdbool.h>

/* session_open -- start the archive. After PMPI_Init. */
void session_open(void);

/* session_end_of_run -- what must be measured while MPI_Finalize is still recorded: the clocks.
 */
void session_end_of_run(void);

/* session_close -- stop recording and complete the archive. Before
 * PMPI_Finalize. Nothing happens if it is not open, or in a child of a fork. */
void session_close(void);

/* session_abandon -- as session_close, but alone: the program ends without MPI_Finalize, or is
 * ended. Any thread may call it. */
void session_abandon(void);

/* session_is_open -- whether the session is open; the same on all ranks, false in a child of a
 * fork. */
bool session_is_open(void);

/* session_is_unsaved -- whether session_abandon would save anything. */
bool session_is_unsaved(void);

/* session_first_call -- the process records for the first time: who is alone begins here. */
void session_first_call(void);

#endif

/*
 * session -- the traced run as a whole: from MPI_Init to MPI_Finalize, or of a process that is
 * alone from its first call to its end. All of the team (team.h) open it together; each closes
 * it for itself.
 *
 * Until it is open, records are kept in memory, because the rank is not known. Afterwards all
 * that a process knows is in files that outlive it (state.h, event_files.h), and whoever finds
 * these makes an archive of them: so there is nothing to be done at the end, however it comes,
 * but to say how it came.
 *
 * With live output (live.h) the archive can be left out: SNAG_TRACER_ARCHIVE=0.
 */
#ifndef SNAG_TRACER_SESSION_H
#define SNAG_TRACER_SESSION_H

#include "trace/tracer/tracer_state.h"

#include <stdbool.h>

/* session_open -- start the recording. After PMPI_Init. */
void session_open(void);

/* session_end_of_run -- what must be measured while MPI_Finalize is still recorded: the clocks.
 */
void session_end_of_run(void);

/* session_close -- stop recording: the process ends so. Nothing happens if it is not open, or
 * in a child of a fork. */
void session_close(enum state_ending ending);

/* session_is_open -- whether the session is open; the same on all ranks, false in a child of a
 * fork. */
bool session_is_open(void);

/* session_first_call -- the process records for the first time: who is alone begins here. */
void session_first_call(void);

#endif

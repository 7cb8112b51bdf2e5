/*
 * run -- MPI begins and ends. The trace ends with MPI_Finalize: what runs afterwards is not
 * recorded, and the functions it was called from, main first of all, are taken to end with it.
 */
#ifndef SNAG_TRACER_RUN_H
#define SNAG_TRACER_RUN_H

#include "wrap.h"

/* run_begun -- after MPI_Init or MPI_Init_thread, whether it succeeded. */
void run_begun(bool is_good);

/* run_ends, run_aborted -- before MPI_Finalize and MPI_Abort; the call is ended. */
void run_ends(struct call *call);
void run_aborted(struct call *call);

#endif

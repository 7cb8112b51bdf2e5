/*
 * wrap -- what the wrappers of the MPI functions have in common. They are made of the table
 * mpi_calls.table, each in this way:
 *
 *     struct call call = call_begin(CALL_Send);
 *     ...                                          records at call.begin_ns
 *     rc = PMPI_Send(...);
 *     ...                                          records at call_returned(&call)
 *     call_end(&call);
 *     return rc;
 *
 * The clock is read twice: what is sent is sent at the enter, what is received is there at the
 * leave. When call.is_recorded is false nothing else must be recorded for it either.
 */
#ifndef SNAG_TRACER_WRAP_H
#define SNAG_TRACER_WRAP_H

#include "mpi_calls.h"

#include <mpi.h>
#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

struct call {
    uint64_t begin_ns;
    uint64_t end_ns; /* 0 before call_returned */
    uint32_t region;
    bool is_recorded;
};

/* call_begin -- the traced program calls an MPI function. */
struct call call_begin(enum mpi_call which);

/* call_returned -- the time at which MPI was done with it; the first call reads the clock. */
uint64_t call_returned(struct call *call);

/* call_end -- the function returns to the program. */
void call_end(struct call *call);

/* bytes_of -- what count elements of a type take in a message; 0 for MPI_DATATYPE_NULL. */
uint64_t bytes_of(int count, MPI_Datatype type);

/* bytes_received -- what a receive's status says there was. */
uint64_t bytes_received(const MPI_Status *status);

#endif

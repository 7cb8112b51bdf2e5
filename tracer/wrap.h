/*
 * wrap -- what the wrappers of the MPI functions have in common. They are made of the table
 * mpi_calls.table, each in this way:
 *
 *     struct call call = call_begin(CALL_Send, __builtin_return_address(0));
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
    uint64_t begin_ns; /* 0: it is left out (budget.h), what it completes is not */
    uint64_t end_ns;   /* 0 before call_returned */
    uint32_t region;
    bool is_recorded;
    bool is_watched;   /* what we do is timed: budget.h */
    bool is_continued; /* part of the poll before, if it finds nothing, too: polls.h */
    bool is_in_vain;   /* a poll that found nothing */
};

/* call_begin -- the traced program calls an MPI function, which returns to there. */
struct call call_begin(enum mpi_call which, const void *returns_to);

/* call_begin_on -- likewise a collective. On a communicator of one member, which waits for
 * nobody, it may be left out, and then is not recorded at all. */
struct call call_begin_on(enum mpi_call which, const void *returns_to, MPI_Comm comm);

/* call_asks -- MPI is called now. call_answers -- it has returned. */
void call_asks_watched(struct call *call);

static inline void call_asks(struct call *call)
{
    if (__builtin_expect(call->is_watched, 0))
        call_asks_watched(call);
}

/* call_returned -- the time at which MPI was done with it; the first call reads the clock. */
uint64_t call_returned(struct call *call);

static inline void call_answers(struct call *call)
{
    if (__builtin_expect(call->is_watched, 0))
        call_returned(call);
}

/* call_polled -- MPI was asked whether something is there, and has answered. Before anything is
 * recorded of it. */
void call_polled(struct call *call, bool found_nothing);

/* call_end -- the function returns to the program. */
void call_end(struct call *call);

/* bytes_of -- what count elements of a type take in a message; 0 for MPI_DATATYPE_NULL. */
uint64_t bytes_of(int count, MPI_Datatype type);

/* bytes_received -- what a receive's status says there was. */
uint64_t bytes_received(const MPI_Status *status);

#endif

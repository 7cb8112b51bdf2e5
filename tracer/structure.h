/*
 * structure -- where the calls of the program's own functions come from: from hooks that it was
 * compiled with, or from its stacks at calls of MPI (stack.h), not from both, as one does not
 * know of the other's calls. $SNAG_TRACER_STRUCTURE says "functions", "stacks" or "mpi" (from
 * neither); without it, hooks if one is called before the first function of MPI is, or if the
 * process is an interpreter that tells us (python.h).
 */
#ifndef SNAG_TRACER_STRUCTURE_H
#define SNAG_TRACER_STRUCTURE_H

#include <stdatomic.h>
#include <stdbool.h>

enum structure { STRUCTURE_OPEN, STRUCTURE_FUNCTIONS, STRUCTURE_STACKS, STRUCTURE_MPI };

extern atomic_int structure_now;

/* structure_is_said -- whether the variable says this. */
bool structure_is_said(enum structure wanted);

/* structure_decide -- it was open; whoever asks first has it. Returns whether that is wanted.
 */
bool structure_decide(enum structure wanted);

/* structure_is -- whether it is this; decides if it is open. Thread-safe. */
static inline bool structure_is(enum structure wanted)
{
    int now = atomic_load_explicit(&structure_now, memory_order_relaxed);

    return __builtin_expect(now == STRUCTURE_OPEN, 0) ? structure_decide(wanted)
                                                      : now == (int)wanted;
}

#endif

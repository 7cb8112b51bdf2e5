/*
 * stack -- the program's own functions, found on the stack whenever MPI is called.
 *
 * The frames above a call of MPI are compared with those of the thread's last one. What is
 * there no more was left in between, what is new was entered in between:
 *
 *     MPI_Send                    MPI_Recv
 *     |      |                    |
 *   exchange                    wait          earliest: the leave of MPI_Send
 *   step                        step          latest:   the enter of MPI_Recv
 *   main                        main
 *              leave exchange, enter wait
 *
 * Both are recorded in the middle, with how much earlier and later they may have been.
 * Functions that call no MPI, they or what they call, are never seen. An activation that ended
 * and one that began at the same place since are told apart by marks (stack_marks.h); where
 * there can be none, two calls from the same place look like one.
 */
#ifndef SNAG_TRACER_STACK_H
#define SNAG_TRACER_STACK_H

#include "recorder.h"

#include <stdint.h>

/*
 * stack_enter -- record what the program entered and left until it called MPI just now.
 * Returns the time at which it was done, that of the call. For STRUCTURE_STACKS.
 */
uint64_t stack_enter(struct recorder *r);

/* stack_left -- MPI returns to the program. */
void stack_left(struct recorder *r, uint64_t time_ns);

#endif

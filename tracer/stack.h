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
 * Constructs of OpenMP outside of teams are looked at as calls of MPI are; in a team, and in
 * what it does, the stack is not looked at.
 *
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

/* stack_caller -- the return address in the program's innermost function that stack_enter has
 * found; 0 if there is none. */
uintptr_t stack_caller(const struct recorder *r);

/* stack_address -- a return address as it was before there was a mark (stack_marks.h) in its
 * place: a function whose last call is a jump has its own there. */
uintptr_t stack_address(uintptr_t returns_to);

/* stack_is_of_mpi -- whether code is of a library of MPI, or ours. */
bool stack_is_of_mpi(uintptr_t code);

/* stack_left -- MPI returns to the program. */
void stack_left(struct recorder *r, uint64_t time_ns);

/* stack_end -- the thread is at its end: what was still open has ended since it was seen last,
 * but for the function around all. */
void stack_end(struct recorder *r, uint64_t time_ns);

/* stack_return_ns -- what a return through a mark takes longer than another; 0 where there are
 * none. Before any stack is looked at. */
double stack_return_ns(void);

/* stack_prepare -- the calling thread, whose recorder this is, may be sampled. */
void stack_prepare(struct recorder *r);

/* stack_trouble -- why no stack can be looked at, a sentence; "" if all is well. */
const char *stack_trouble(void);

struct stack_site;

/* What stack_sample has not met yet, each 0 or NULL if it is none of that. */
struct stack_unknown {
    uintptr_t pc;                       /* for site_add_around */
    uintptr_t address;                  /* for site_add */
    const struct stack_site *from, *to; /* for site_change_add */
};

/*
 * stack_sample -- as stack_enter, in a signal handler: the program was interrupted.
 *   at  where
 * Returns false if nothing could be said: MPI is at work, something on the stack is unknown, or
 * there is no room for records. Then the next sample will say it.
 */
struct frame_registers;
bool stack_sample(struct recorder *r, const struct frame_registers *at,
                  struct stack_unknown *unknown);

#endif

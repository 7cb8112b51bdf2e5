/*
 * stack_marks -- return addresses that say of an activation that it was seen before.
 *
 * Two calls of a function from one place in a loop look alike on the stack: the same frame
 * address, the same return address. So the return address of a frame that was recorded is
 * replaced by a mark: the address of code that goes on where the frame would have returned to.
 * As long as the activation lives the mark is there; the call that makes the next one
 * overwrites it. A mark knows nothing but the return address that it stands for, so nothing has
 * to survive a longjmp, a fork, or a change of stacks. On its way it takes down when that was,
 * in stack_returns of the thread: who finds nothing there has only lost a time. Unwinders (of
 * exceptions, of debuggers) go through a mark as through a frame without size: its .eh_frame
 * says where the return address is.
 *
 *     code   take the time, jmp *address[0]   the same, jmp *address[1]   ...      8 bytes each
 *     data   address[0]        address[1]        ...      at one distance behind
 *
 * With a shadow stack, which allows no return address but the one that the call wrote, there
 * are none. Also for other processors than x86-64 there are none.
 */
#ifndef SNAG_TRACER_STACK_MARKS_H
#define SNAG_TRACER_STACK_MARKS_H

#include "recorder.h"

#include <stdbool.h>
#include <stdint.h>

#define STACK_MARKS 4096  /* return addresses at most; stack_marks.S has these numbers too */
#define STACK_RETURNS 256 /* that are kept of a thread */

extern char stack_marks_code[] __attribute__((visibility("hidden")));
extern uintptr_t stack_marks_address[STACK_MARKS] __attribute__((visibility("hidden")));

/* The activations with a mark that returned, in order; the last STACK_RETURNS are there. */
struct stack_returns {
    uint64_t n;
    struct {
        uintptr_t end;  /* of the frame */
        uint64_t ticks; /* of the processor's clock */
    } at[STACK_RETURNS];
};

extern _Thread_local struct stack_returns stack_returns __attribute__((visibility("hidden")));

/* A moment on both clocks. */
struct clock_moment {
    uint64_t ns, ticks;
};

/* moment_now -- of CLOCK_MONOTONIC, and the processor's clock. */
static inline struct clock_moment moment_now(void)
{
    uint64_t ns = clock_ns();

    return (struct clock_moment){ns, __builtin_ia32_rdtsc()};
}

/* ticks_to_ns -- CLOCK_MONOTONIC when the processor's clock had these ticks, which was before
 * now; 0 where that clock is not steady. Off by as much as it takes to read a clock.
 * Thread-safe. */
uint64_t ticks_to_ns(uint64_t ticks, struct clock_moment now);

/* The addresses lie among code, where ThreadSanitizer has no place for what it knows of them.
 */
#define NOT_OF_TSAN __attribute__((no_sanitize_thread))

/* stack_marks_new -- a mark for a return address; 0 if there is none left. Each address asks
 * once. The caller holds a lock. */
uintptr_t stack_marks_new(uintptr_t address);

/* stack_marks_return_ns -- what a return through a mark takes longer than another, measured; 0
 * if there are no marks. The caller holds a lock as for stack_marks_new; uses up one. */
double stack_marks_return_ns(void);

static inline bool stack_marks_is(uintptr_t address)
{
    return address - (uintptr_t)stack_marks_code < 8 * (uintptr_t)STACK_MARKS;
}

/* stack_marks_behind -- the return address that a mark stands for. */
NOT_OF_TSAN static inline uintptr_t stack_marks_behind(uintptr_t mark)
{
    return stack_marks_address[(mark - (uintptr_t)stack_marks_code) / 8];
}

#endif

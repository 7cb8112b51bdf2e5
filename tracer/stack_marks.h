/*
 * stack_marks -- return addresses that say of an activation that it was seen before.
 *
 * Two calls of a function from one place in a loop look alike on the stack: the same frame
 * address, the same return address. So the return address of a frame that was recorded is
 * replaced by a mark: the address of an instruction that jumps to where the frame would have
 * returned to. As long as the activation lives the mark is there; the call that makes the next
 * one overwrites it. A mark knows nothing but the return address that it stands for, and keeps
 * no account of anything, so nothing has to survive a longjmp, a fork, or a change of stacks.
 * Unwinders (of exceptions, of debuggers) go through a mark as through a frame without size:
 * its .eh_frame says where the return address is.
 *
 *     code   jmp *address[0]   jmp *address[1]   ...      8 bytes each
 *     data   address[0]        address[1]        ...      at one distance behind
 *
 * With a shadow stack, which allows no return address but the one that the call wrote, there
 * are none. Also for other processors than x86-64 there are none.
 */
#ifndef SNAG_TRACER_STACK_MARKS_H
#define SNAG_TRACER_STACK_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_MARKS 4096 /* return addresses at most; stack_marks.S has this number too */

extern char stack_marks_code[] __attribute__((visibility("hidden")));
extern uintptr_t stack_marks_address[STACK_MARKS] __attribute__((visibility("hidden")));

/* stack_marks_new -- a mark for a return address; 0 if there is none left. Each address asks
 * once. The caller holds a lock. */
uintptr_t stack_marks_new(uintptr_t address);

static inline bool stack_marks_is(uintptr_t address)
{
    return address - (uintptr_t)stack_marks_code < 8 * (uintptr_t)STACK_MARKS;
}

/* stack_marks_behind -- the return address that a mark stands for. */
static inline uintptr_t stack_marks_behind(uintptr_t mark)
{
    return stack_marks_address[(mark - (uintptr_t)stack_marks_code) / 8];
}

#endif

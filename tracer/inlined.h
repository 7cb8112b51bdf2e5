/*
 * inlined -- the functions that the compiler put in the place of calls, as the debug
 * information says it. Without it, or without libdw (lines_none.c), there are none. Not
 * thread-safe: regions.c asks under its lock.
 */
#ifndef SNAG_TRACER_INLINED_H
#define SNAG_TRACER_INLINED_H

#include <stdint.h>

/* What came of a call that was inlined. */
struct inlined {
    const struct inlined *caller; /* NULL: the function that has it all */
    const char *name; /* as the linker would see it; of what it does not see with its scopes */
    const char *file; /* where the function begins; NULL: not known */
    uint32_t line;
    uint32_t depth; /* callers there are */
    uint64_t place; /* the same for all that the compiler made of one call */
};

/*
 * inlined_at -- the innermost one that an instruction is of; NULL: none.
 *   until  out: up to there code is of the same one; 0: it is not known
 * What is returned, with its strings, is never freed. What there is in a function is read once.
 */
const struct inlined *inlined_at(uintptr_t code, uintptr_t *until);

/*
 * inlined_between -- whether two calls, one after the other in one activation of the function
 * that has it all, are of the same activation of what is inlined around both.
 *   from, to  where they return to
 *   place     of what is inlined
 */
enum inlined_relation { INLINED_SAME, INLINED_MAYBE_SAME, INLINED_OTHER };
enum inlined_relation inlined_between(uintptr_t from, uintptr_t to, uint64_t place);

#endif

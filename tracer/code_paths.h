/*
 * code_paths -- whether a processor can get from one call of a function to another, by the
 * instructions that the function has.
 *
 * Only jumps and lengths of instructions are decoded. Where it is not known how code goes on (a
 * jump through a register, an instruction that is not known, a function that is too long) it
 * may get anywhere.
 */
#ifndef SNAG_TRACER_CODE_PATHS_H
#define SNAG_TRACER_CODE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code from begin to before end. */
struct code_range {
    uintptr_t begin, end;
};

struct code_paths {
    const struct code_range *range; /* [n_ranges] the function */
    size_t n_ranges;
    uintptr_t from, to; /* where the calls return to; a way does not pass them in between */
    bool (*may_pass)(void *ctx, uintptr_t code);  /* instructions on the way; NULL: all */
    bool (*must_pass)(void *ctx, uintptr_t code); /* one of them; NULL: none */
    void *ctx;
};

/* code_paths_reach -- whether there is a way. Thread-safe. */
bool code_paths_reach(const struct code_paths *paths);

/* An instruction. */
enum code_flow {
    CODE_GOES_ON,
    CODE_CALLS,
    CODE_BRANCHES, /* to the target, or goes on */
    CODE_JUMPS,    /* to the target */
    CODE_ENDS,     /* nothing comes after it here */
    CODE_UNKNOWN
};

struct code_instruction {
    enum code_flow flow;
    unsigned length;  /* bytes; 0: unknown */
    uintptr_t target; /* of a direct branch or jump */
};

/* code_decode -- the instruction of an x86-64 at an address, of at most so many bytes. */
struct code_instruction code_decode(uintptr_t at, size_t most);

#endif

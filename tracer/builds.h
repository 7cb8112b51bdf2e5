/*
 * builds -- which build of the program and of its libraries was run, by their build ids, in the
 * journal of the state (state.h): debug information is found by them, today's or that of years
 * ago.
 */
#ifndef SNAG_TRACER_BUILDS_H
#define SNAG_TRACER_BUILDS_H

#include <stdbool.h>
#include <stdint.h>

/* builds_journal -- look at what is loaded; what is new goes into the journal. */
void builds_journal(void);

/* build_address -- the file that code is in, by its number in the journal, and where in it. False
 * if it is in none. Thread-safe. */
struct build_address {
    uint32_t build;
    uint64_t address;
};
bool build_address(uintptr_t code, struct build_address *place);

#endif

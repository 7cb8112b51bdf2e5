/*
 * loaded -- the program and its libraries, as the dynamic linker has them.
 *
 * Not by dladdr: who holds one of our locks must not wait for the linker's, which another
 * thread may hold that loads a library, whose constructors have hooks. What goes through the
 * list of what is loaded needs a lock that nothing of the program's runs under.
 */
#ifndef SNAG_TRACER_LOADED_H
#define SNAG_TRACER_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_BUILD_ID_BYTES 64 /* bytes of one */
#define BUILD_ID_TEXT (2 * MAX_BUILD_ID_BYTES + 1)

struct loaded {
    uintptr_t to;     /* by how much its addresses were moved */
    const char *path; /* as the linker has it, which may forget it when it is unloaded */
    const char *name; /* the same without directories, of the program as it was called */
    char build_id[BUILD_ID_TEXT]; /* hexadecimal digits; "" if it has none */
};

/* loaded_at -- the file that code is of. False if it is of none. Thread-safe. */
bool loaded_at(uintptr_t code, struct loaded *loaded);

/* loaded_mapping -- from where to where the mapping goes that an address is in; both 1 if it is
 * not known. Needs nobody's memory or locks. */
void loaded_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high);

/* loaded_stack -- from where to where the calling thread's stack may grow; both 1 if it is not
 * known. Takes memory of the program's. */
void loaded_stack(uintptr_t *low, uintptr_t *high);

/* loaded_each -- call fn for all of them, the program first. */
void loaded_each(void (*fn)(void *ctx, const struct loaded *loaded), void *ctx);

#endif

/*
 * debug_info -- that of the file which code was loaded from, or of /usr/lib/debug/.build-id,
 * where distributions put it. Nothing is asked of the network. Not thread-safe: see lines.h.
 */
#ifndef SNAG_TRACER_DEBUG_INFO_H
#define SNAG_TRACER_DEBUG_INFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* A function, or one of the pieces it was put down in. */
struct debug_function {
    Dwarf_Addr begin, end; /* in the file */
    Dwarf_Die die;
    struct inlined_code *inlined; /* of inlined.c, which owns it */
};

/*
 * debug_unit, debug_function -- the compilation unit, and the function (never one that was
 * inlined), that an instruction is in.
 *   unit     out: the unit
 *   address  out: the instruction's, in the file
 * False, or NULL, if there is no debug information. The function is never freed.
 */
bool debug_unit(uintptr_t code, Dwarf_Die *unit, Dwarf_Addr *address);
struct debug_function *debug_function(uintptr_t code, Dwarf_Addr *address);

#endif

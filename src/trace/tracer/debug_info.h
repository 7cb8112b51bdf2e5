/*
 * debug_info -- that of a file of code, or of /usr/lib/debug/.build-id, where distributions put
 * it. Nothing is asked of the network. Not thread-safe.
 *
 * For both ends: tracer/ at the root asks while a program runs, snag when it finishes its
 * trace. libdw ends a program that has no memory left for it, so whatever asks it is called by
 * debug_safely. Includes nothing else of ours.
 */
#ifndef SNAG_TRACE_DEBUG_INFO_H
#define SNAG_TRACE_DEBUG_INFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct debug_file;

/* A function, or one of the pieces it was put down in. */
struct debug_function {
    Dwarf_Addr begin, end; /* in the file */
    Dwarf_Die die;
    struct inlined_code *inlined; /* of the tracer's inlined.c, which owns it */
};

/*
 * debug_safely -- call fn(ctx), which calls libdw. Returns false if memory ran out in there, or
 * has before: then nothing is asked of libdw any more, and fn may have been left anywhere. May
 * be nested.
 */
bool debug_safely(void (*fn)(void *ctx), void *ctx);

/* debug_give_up -- libdw cannot go on: does not return, if that is within debug_safely.
 * debug_is_asked -- whether this is within it. */
void debug_give_up(void);
bool debug_is_asked(void);

/* debug_prepare -- what has to be done before libdw is asked; false: it must not be. Supplied
 * by each end. */
bool debug_prepare(void);

/* debug_elf -- a file of code, of which nothing but memory is held; it stays. NULL if it cannot
 * be read, or has another build id: then it is not what was loaded. */
Elf *debug_elf(const char *path, const char *build_id);

/* debug_file -- by its path and build id (hexadecimal digits, "" if it has none); it stays
 * open. NULL if there is no debug information. */
struct debug_file *debug_file(const char *path, const char *build_id);

/*
 * debug_unit, debug_function -- the compilation unit, and the function (never one that was
 * inlined), that an instruction is in.
 *   address  in the file
 *   unit     out
 * False, or NULL, if there is none. The function is never freed.
 */
bool debug_unit(struct debug_file *file, Dwarf_Addr address, Dwarf_Die *unit);
struct debug_function *debug_function(struct debug_file *file, Dwarf_Addr address);

#endif

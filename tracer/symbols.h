/*
 * symbols -- the name of the function at an address.
 *
 * It is found in the symbol table (.symtab) of the file the code was loaded from, which has
 * static functions, too; of a file that was stripped in what the dynamic linker needs
 * (.dynsym).
 */
#ifndef SNAG_TRACER_SYMBOLS_H
#define SNAG_TRACER_SYMBOLS_H

#include <stdint.h>

/*
 * symbol_name -- a name for the function that starts at address, as the linker spells it.
 * Returns a string to be freed; "file+0x1234" if there is no name, which is the same in every
 * process that has the file loaded. Not thread-safe: regions.c calls it under its lock.
 */
char *symbol_name(uintptr_t address);

/*
 * symbol_whole -- where the function begins that a piece of code belongs to. Compilers put what
 * is rarely run elsewhere, under the function's name with ".cold" behind it; that is the same
 * function. Returns address itself if it is no such piece, or the file was stripped. Not
 * thread-safe, as symbol_name: stack_sites.c calls it when nobody but itself asks for names.
 */
uintptr_t symbol_whole(uintptr_t address);

/*
 * symbol_place -- where an address is: "function+0x1f", or in a stripped file
 * "program+0x12ab40". To be freed. Not thread-safe, as symbol_name.
 */
char *symbol_place(uintptr_t address);

#endif

/*
 * python -- functions of Python, where the process is an interpreter (CPython 3.9 or later).
 *
 * Nothing of it is linked, and no header of it is used: its functions are looked for by name in
 * what is loaded. Before it begins we put ourselves into its table of built-in modules, in the
 * place of one that it always imports first of all: so there is a moment at which it is there,
 * and has run nothing, and neither the program nor its sys.path notices. From then on
 *
 *     3.9 to 3.11   each call of a function comes to us, which calls the interpreter (PEP 523)
 *     3.12 on       the interpreter tells us when one begins, yields, goes on and ends
 *                   (sys.monitoring)
 *
 * A generator is left when it yields, and entered when it goes on. Of each code object the
 * region is kept in the object, so that it goes with it.
 *
 * Functions of Python take the place of those from stacks (structure.h): what is on the stack
 * of an interpreter is the interpreter.
 */
#ifndef SNAG_TRACER_PYTHON_H
#define SNAG_TRACER_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

/* python_is_recorded -- whether the process is an interpreter whose functions are recorded. */
bool python_is_recorded(void);

/* python_call_ns -- what a call of its functions takes longer because we are told of it,
 * besides the records. */
double python_call_ns(void);

/* python_place -- the function and the line that the calling thread is on, as region_of_call
 * takes it; 0 if it is on none that is known, or the version is one whose frames are not (3.11
 * to 3.13 are). Needs no lock, nor the interpreter's. */
uintptr_t python_place(void);

#endif

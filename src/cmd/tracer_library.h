/*
 * tracer_library -- which of the tracer's libraries a program needs, and where it is.
 *
 * That for MPI is for what a launcher of MPI starts, or what is linked with an MPI library; the
 * other one is for everything else.
 */
#ifndef SNAG_CMD_TRACER_LIBRARY_H
#define SNAG_CMD_TRACER_LIBRARY_H

#include "base/fs.h"

#include <stdbool.h>

enum tracer_kind { TRACER_MPI, TRACER_SERIAL, TRACER_KINDS };

/* tracer_kind_find -- by its name, "mpi" or "serial"; TRACER_KINDS for another. */
enum tracer_kind tracer_kind_find(const char *name);

/* What is known of a program before it runs. */
struct tracer_program {
    enum tracer_kind kind;
    bool is_static; /* no library can be loaded into it */
};

/*
 * tracer_program_look -- look at what is about to be run.
 *   program  as typed; found by PATH where it has no slash
 * Asks the dynamic loader for the libraries of the program, which does not run for that.
 */
struct tracer_program tracer_program_look(const char *program);

/*
 * tracer_library_find -- the library: where it was installed beside this program, or built.
 * Returns 0, ERR_NOT_FOUND when it is not there, or ERR_UNSUPPORTED for a path that the loader
 * would not take.
 */
int tracer_library_find(enum tracer_kind kind, char path[FS_PATH_SIZE]);

#endif

/*
 * own_library -- where the libraries are that were built with this program, and which of the
 * tracer's a program is recorded with.
 *
 * Those for MPI are for what a launcher of MPI starts, or what is linked with an MPI library:
 * one for Open MPI, and for MPICH and all that are like it inside one for each of the two names
 * that their library has, and one for any other name: that one asks for no library, as the program's is
 * loaded beside it. The last one is for everything else.
 */
#ifndef SNAG_CMD_OWN_LIBRARY_H
#define SNAG_CMD_OWN_LIBRARY_H

#include "base/fs.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * own_library_find -- a library, by where this program is.
 *   built  the directory beside the program where the build has it
 *   file   its name
 * Returns 0, or ERR_NOT_FOUND without a message.
 */
int own_library_find(const char *built, const char *file, char path[FS_PATH_SIZE]);

enum tracer_kind {
    TRACER_OPEN_MPI,
    TRACER_MPICH_ABI, /* MPICH or what is like it, as libmpi.so.12 */
    TRACER_MPICH,     /* the same as libmpich.so.12 */
    TRACER_MPICH_NAMED, /* the same by a name of its own, libmpi_cray.so.12 say; needs tracer_program.mpi */
    TRACER_SERIAL,
    TRACER_KINDS
};

/* tracer_kind_find -- by its name, "openmpi", "mpich", "mpich-abi", "mpich-named" or "serial"; TRACER_KINDS for another. */
enum tracer_kind tracer_kind_find(const char *name);

/* Why no library can be loaded into a program. */
enum tracer_obstacle { TRACER_NO_OBSTACLE, TRACER_STATIC, TRACER_MUSL, TRACER_SET_UID };

/* What is known of a command before it runs. */
struct tracer_program {
    enum tracer_kind kind;
    enum tracer_obstacle obstacle;
    const char *name;       /* the argument that is the program, behind launchers */
    char mpi[FS_PATH_SIZE]; /* the library of MPI that it finds; "" if that is not known */
};

/*
 * tracer_program_look -- look at what is about to be run.
 *   args  (n) as typed; programs are found by PATH where they have no slash
 * Behind a launcher of MPI the first argument that is a program of MPI decides; where there is
 * none, scripts say, the launcher does. Asks the dynamic loader for the libraries of programs,
 * which do not run for that.
 */
struct tracer_program tracer_program_look(const char *const *args, size_t n);

/*
 * tracer_library_find -- the library: where it was installed beside this program, or built.
 * Returns 0, ERR_NOT_FOUND when it is not there, or ERR_UNSUPPORTED for a path that the loader
 * would not take.
 */
int tracer_library_find(enum tracer_kind kind, char path[FS_PATH_SIZE]);

#endif

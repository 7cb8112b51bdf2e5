/*
 * A library that is loaded by another one, as Python loads its modules, is not where
 * RTLD_NEXT looks: then it is asked for by its name.
 *
 * The addresses are those that the linker has settled for the whole program; with a compiler
 * that adds no underscore, or two, the variables have other names.
 */
#include "fortran.h"

#include "complain.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define SPECIAL(name)                                                                          \
    extern char name __attribute__((weak)), name##_ __attribute__((weak)),                     \
        name##__ __attribute__((weak))
#define IS_SPECIAL(at, name) ((at) == &name || (at) == &name##_ || (at) == &name##__)

SPECIAL(mpi_fortran_in_place);
SPECIAL(mpi_fortran_status_ignore);
SPECIAL(mpi_fortran_statuses_ignore);

/* Those of mpi_f08 in MPICH, whose header has them with a type. */
extern char mpich_status_ignore __asm__("MPIR_F08_MPI_STATUS_IGNORE_OBJ") __attribute__((weak));
extern char mpich_statuses_ignore __asm__("MPIR_F08_MPI_STATUSES_IGNORE_OBJ")
    __attribute__((weak));

void *fortran_find_slowly(void *_Atomic *found, const char *name)
{
    static const char *const libraries[] = {"libmpi_mpifh.so.40", "libmpi_usempif08.so.40",
                                            "libmpichfort.so.12"};
    void *function = dlsym(RTLD_NEXT, name);

    for (int i = 0; i < 3 && function == NULL; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        function = library ? dlsym(library, name) : NULL;
    }
    if (function == NULL) {
        complain("this MPI has no '%s', which the program calls", name);
        abort();
    }
    *found = function;
    return function;
}

const void *fortran_buffer(const void *buffer)
{
    return buffer && IS_SPECIAL(buffer, mpi_fortran_in_place) ? MPI_IN_PLACE : buffer;
}

const char *fortran_text(const char *text, size_t n, char own[FORTRAN_LONGEST_TEXT])
{
    while (n > 0 && text[n - 1] == ' ')
        n--;
    if (n >= FORTRAN_LONGEST_TEXT)
        n = FORTRAN_LONGEST_TEXT - 1;
    memcpy(own, text, n);
    own[n] = '\0';
    return own;
}

bool fortran_ignores_status(const void *status)
{
    return status == NULL || IS_SPECIAL(status, mpi_fortran_status_ignore) ||
           status == &mpich_status_ignore;
}

bool fortran_ignores_statuses(const void *statuses)
{
    return statuses == NULL || IS_SPECIAL(statuses, mpi_fortran_statuses_ignore) ||
           statuses == &mpich_statuses_ignore;
}

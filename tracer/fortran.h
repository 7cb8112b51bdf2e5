/*
 * fortran -- what the wrappers of Fortran's functions need.
 *
 * Open MPI's Fortran layer calls PMPI_Send where a program calls mpi_send_, or mpi_send_f08_
 * with "use mpi_f08". In MPICH only what is of mpi_f08 and has no choice buffer, mpi_wait_f08_
 * say, does so; all else calls MPI_Send, which is wrapped already. So with MPICH only the
 * wrappers of mpi_f08 are built.
 *
 * MPI's special values are variables in Fortran, known by their addresses.
 */
#ifndef SNAG_TRACER_FORTRAN_H
#define SNAG_TRACER_FORTRAN_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* What the functions behind the wrappers begin with. */
#define FORTRAN_REAL_MPI "pmpi_"
#ifdef OPEN_MPI
#define FORTRAN_REAL_F08 "pmpi_"
#else
#define FORTRAN_REAL_F08 "pmpir_"
#endif

/*
 * fortran_find -- the function behind a wrapper, pmpi_send_ say; ends the program
 * if there is none, as a program that calls mpi_send_ cannot go on without.
 *   found  remembers it
 */
void *fortran_find_slowly(void *_Atomic *found, const char *name);

static inline void *fortran_find(void *_Atomic *found, const char *name)
{
    void *known = atomic_load_explicit(found, memory_order_acquire);

    return __builtin_expect(known != NULL, 1) ? known : fortran_find_slowly(found, name);
}

/* fortran_buffer -- MPI_IN_PLACE of C for that of Fortran, others as they are. */
const void *fortran_buffer(const void *buffer);

/* fortran_text -- n characters, without the blanks at their end, in `own`, which is returned.
 */
#define FORTRAN_LONGEST_TEXT 4096
const char *fortran_text(const char *text, size_t n, char own[FORTRAN_LONGEST_TEXT]);

/* fortran_ignores_status, fortran_ignores_statuses -- MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE.
 */
bool fortran_ignores_status(const void *status);
bool fortran_ignores_statuses(const void *statuses);

/* fortran_status -- converted into own, which is returned. */
static inline const MPI_Status *fortran_status(const MPI_Fint *status, MPI_Status *own)
{
    PMPI_Status_f2c(status, own);
    return own;
}

/* fortran_succeeded -- ierror is left out by programs of mpi_f08 that do not look at it. */
static inline bool fortran_succeeded(const MPI_Fint *ierror)
{
    return ierror == NULL || *ierror == MPI_SUCCESS;
}

#endif

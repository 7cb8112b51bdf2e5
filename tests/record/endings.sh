#!/usr/bin/env bash
# Programs of MPI that do not end as they should leave a trace of all ranks: of the one that ended,
# and of those that the launcher ends for it.
#
#   endings.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

# ended MPI HOW -- all barriers of both ranks are there.
ended() {
    record any $1.$2 $1 2 ./ends.$1 $2
    [ "$(calls $1.$2 MPI_Barrier)" = 200 ] || fail "$1, $2: not all barriers are there"
    grep -q 'next: snag analyze' err || fail "$1, $2: no trace is offered"
}

for mpi in "${mpis[@]}"; do
    mpicc.$mpi -o ends.$mpi "$sources/ends.c"
    for how in _exit exit abort abort_late error fault kill term mpi_abort; do
        ended $mpi $how
    done
done

# Fortran's own library handles the signals of errors
if command -v gfortran >/dev/null; then
    cat >ends.f90 <<'END'
program ends
  use mpi
  implicit none
  integer :: i, ierr

  call MPI_Init(ierr)
  do i = 1, 100
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call abort()
end program
END
    for mpi in "${mpis[@]}"; do
        mpif90.$mpi -o ends_fortran ends.f90
        record any fortran.$mpi $mpi 1 ./ends_fortran
        [ "$(calls fortran.$mpi MPI_Barrier)" = 100 ] || fail "$mpi: a program of Fortran that aborts leaves no trace"
    done
fi
echo "${mpis[*]}: all endings left their traces"

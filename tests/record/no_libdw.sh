#!/usr/bin/env bash
# Where a program runs there may be no libdw, or one that lacks what is needed: the tracer says so, and records the calls
# of MPI.
#
#   no_libdw.sh SNAG TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"

cat >program.c <<'C'
#include <mpi.h>
static void __attribute__((noinline)) step(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 20; i++)
        step();
    MPI_Finalize();
    return 0;
}
C
mkdir bad
echo >nothing.c
gcc -shared -o bad/libdw.so.1 nothing.c # has nothing in it
for mpi in "${mpis[@]}"; do
    mpicc.$mpi -g -o program program.c
    record 0 with.$mpi $mpi 2 ./program
    [ "$(calls with.$mpi step)" = 40 ] || fail "$mpi: no stacks, though libdw is there"
    record 0 without.$mpi $mpi 2 env LD_LIBRARY_PATH="$PWD/bad${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./program
    said 'has no libdw.so.1'
    [ "$(grep -c 'has no libdw.so.1' err)" = 1 ] || fail "$mpi: it is said more than once"
    [ "$(calls without.$mpi MPI_Barrier)" = 40 ] && [ -z "$(calls without.$mpi step)" ] ||
        fail "$mpi: not the calls of MPI alone"
done

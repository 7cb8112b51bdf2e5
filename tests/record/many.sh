#!/usr/bin/env bash
# 10,000 communicators and 100,000 open requests: all are recorded, and the tracer needs no more of
# time than a few times what the program does.
#
#   many.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

for mpi in "${mpis[@]}"; do
    # as many communicators as the MPI has room for
    n=$([ $mpi = mpich ] && echo 2000 || echo 10000)
    mpicc.$mpi -o many.$mpi "$sources/many.c"
    record 0 trace.$mpi $mpi 1 ./many.$mpi $n
    "$snag" info trace.$mpi --json >info
    [ "$(jq .sends info)" = $((n + 100000)) ] || fail "$mpi: not all messages were sent"
    [ "$(jq .recvs info)" = $((n + 100000)) ] || fail "$mpi: not all messages were received"
    [ "$(calls trace.$mpi MPI_Comm_free)" = $n ] || fail "$mpi: not all communicators were freed"
done
echo "${mpis[*]}: as many as there were"

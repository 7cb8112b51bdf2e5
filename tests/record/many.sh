#!/usr/bin/env bash
# 10,000 communicators, 100,000 open requests, four threads that talk at once, ranks that start
# others: all is recorded, within the time that a test has; and programs whose memory is used up go on.
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

    mpicc.$mpi -o threads.$mpi "$sources/threads.c" -pthread
    record 0 threads.$mpi.trace $mpi 2 ./threads.$mpi
    "$snag" info threads.$mpi.trace --json >info
    ! grep -q multiple out || [ "$(jq -c '[.sends, .recvs, .collectives >= 1600, .is_damaged]' info)" = '[1600,1600,true,false]' ] ||
        fail "$mpi: of what threads say and hear at once not all is there"

    # where there is no memory to keep them all, recording ends, and nothing else
    mpicc.$mpi -w -o short.$mpi "$sources/short.c"
    for how in all some; do
        record 0 short.$how.$mpi $mpi 1 ./short.$mpi $how
        [ "$(cat out)" = 1000 ] || fail "$mpi: not all messages arrive where memory is short"
        said 'is recorded no further: Cannot allocate memory'
    done
done

# Debian's MPICH starts no others
if [ ${mpis[0]} = openmpi ]; then
    mpicc.openmpi -o spawn "$sources/spawning.c"
    record 0 spawn.trace openmpi 2 ./spawn
    said "1 more process: 'spawn.trace/process-2'"
    [ "$(calls spawn.trace MPI_Comm_spawn)" = 2 ] && [ "$(calls spawn.trace/process-2 MPI_Barrier)" = 2 ] ||
        fail "of those that start others, or those, there is no trace"
fi
echo "${mpis[*]}: as many as there were"

#!/usr/bin/env bash
# Windows of memory that MPI allocates; and who flushes one in a loop: with a limit of the cost these
# calls are left out, but not what they complete.
#
#   windows.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"
for tool in jq otf2-print; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done

export OMPI_MCA_osc=pt2pt,sm # the latter shares memory

# records TRACE -- of one-sided communication, each kind with its number
records() {
    otf2-print "$1/traces.otf2" >events 2>otf2.err || fail "$1: otf2-print ends with $?"
    [ ! -s otf2.err ] || fail "$1: otf2-print complains: $(head -n 3 otf2.err)"
    grep -o '^RMA_[A-Z_]*' events | sort | uniq -c | awk '{ print $2, $1 }'
}

for mpi in "${mpis[@]}"; do
    mpicc.$mpi -O1 -o flushes.$mpi "$sources/flushes.c"
    record 0 all.$mpi $mpi 2 ./flushes.$mpi
    read -r puts flushes <out
    records all.$mpi >want
    for line in "RMA_PUT $puts" "RMA_WIN_CREATE 4" "RMA_WIN_DESTROY 4" "RMA_OP_COMPLETE_REMOTE $puts"; do
        grep -qxF "$line" want || fail "$mpi: not '$line': $(cat want)"
    done
    grep -c 'Operation: CREATE_HANDLE_AND_ALLOCATE' events >allocated || true
    [ "$(cat allocated)" = 4 ] || fail "$mpi: $(cat allocated) windows with memory of their own, not 4"
    [ "$(calls all.$mpi MPI_Win_flush)" = "$flushes" ] || fail "$mpi: not all flushes are calls"

    SNAG_TRACER_OVERHEAD=0.1% record 0 less.$mpi $mpi 2 ./flushes.$mpi
    "$snag" info less.$mpi --json >info || fail "$mpi: snag info ends with $?"
    jq -e --argjson n "$flushes" '[.left_out[].plain] == ["MPI_Win_flush"] and .left_out[0].calls <= $n and
        .left_out[0].calls > $n / 10' info >/dev/null || fail "$mpi: MPI_Win_flush is not left out: $(jq -c .left_out info)"
    records less.$mpi >less
    diff want less || fail "$mpi: what flushes complete is left out, too"
done
echo "${mpis[*]}: windows, and flushes that are left out"

#!/usr/bin/env bash
# A limit of the cost leaves out collectives that a rank has to itself, and none of several ranks,
# though both are called from one place; what is left out is counted and named.
#
#   alone.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

for mpi in "${mpis[@]}"; do
    mpicc.$mpi -O1 -o alone "$sources/own.c"
    for structure in stacks mpi; do
        trace=$mpi.$structure
        SNAG_TRACER_STRUCTURE=$structure SNAG_TRACER_OVERHEAD=0.1% record 0 $trace $mpi 2 ./alone
        read -r together alone _ <out
        "$snag" info $trace --json >info || fail "$trace: snag info ends with $?"
        left_out=$(jq '[.left_out[] | select(.name | endswith(" alone"))] | map(.calls) | add // 0' info)
        [ "$left_out" -gt $((alone / 10)) ] && [ "$left_out" -le "$alone" ] || fail "$trace: $left_out of $alone are left out"
        jq -e 'all(.left_out[]; .plain == "sum_of" or (.name | endswith(" alone"))) and (.is_damaged | not)' info >/dev/null ||
            fail "$trace: something else is left out: $(jq -c .left_out info)"
        [ "$(calls $trace MPI_Allreduce)" = "$together" ] || fail "$trace: of those of both ranks not all are calls"
        # also for others, who read what was recorded before
        otf2-print $trace/traces.otf2 >events 2>otf2.err || fail "$trace: otf2-print ends with $?"
        [ ! -s otf2.err ] || fail "$trace: otf2-print complains: $(head -n 3 otf2.err)"
        n=$(grep -c 'MPI_COLLECTIVE_END .*ALLREDUCE.*"MPI_COMM_WORLD"' events)
        [ "$n" = "$together" ] || fail "$trace: $n collectives of both ranks, not $together"
    done

    # without a limit all are there, and none is told apart
    record 0 all.$mpi $mpi 2 ./alone
    [ "$(calls all.$mpi MPI_Allreduce)" = $((together + alone)) ] || fail "$mpi: without a limit some are missing"
    ! "$snag" info all.$mpi --json | grep -q ' alone' || fail "$mpi: without a limit some are told apart"
done
echo "${mpis[*]}: collectives of one rank are left out"

#!/usr/bin/env bash
# Who asks MPI in a loop whether a message has come, at once or behind a nap, has few calls in the
# trace, and none is lost: what was joined is counted. What is asked behind work is a call of its
# own, and so is what finds something. A limit of the cost leaves them out, but not the message.
#
#   polls.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

for mpi in "${mpis[@]}"; do
    mpicc.$mpi -O1 -o polls.$mpi "$sources/polls.c"
    record 0 trace.$mpi $mpi 2 ./polls.$mpi
    in_vain=$(tail -n 1 out)
    "$snag" info trace.$mpi --json >info
    tests=$(calls trace.$mpi MPI_Test) joined=$(jq '.quality.polls // 0' info)
    # all of MPI_Test that found nothing, the one that did not; those of two functions in turns stay
    [ $((tests + joined)) -eq $((in_vain + 1)) ] || fail "$mpi: $tests calls and $joined joined are not $in_vain and 1"
    [ "$joined" -gt 0 ] || fail "$mpi: of $in_vain polls none are joined"
    [ "$(calls trace.$mpi MPI_Iprobe)" = 1000 ] && [ "$(calls trace.$mpi MPI_Testsome)" = 1000 ] ||
        fail "$mpi: polls of two functions are joined"
    [ "$(jq -c '[.sends, .recvs, .is_damaged]' info)" = '[2,2,false]' ] || fail "$mpi: messages are missing"
    otf2-print trace.$mpi/traces.otf2 >events 2>otf2.err || fail "$mpi: otf2-print ends with $?"
    [ ! -s otf2.err ] || fail "$mpi: otf2-print complains: $(head -n 3 otf2.err)"
    # of the tracer; who reads the trace may join more, where polls themselves took long
    recorded=$(grep -c '^ENTER .*"MPI_Test"' events)
    [ "$recorded" -gt 40 ] || fail "$mpi: $recorded calls: those that were made behind a millisecond of work are joined, too"
    [ "$tests" -lt 80 ] || fail "$mpi: $tests calls: those that were made behind a nap of a millisecond are not joined"
done

# many, by a limit that nothing meets
export SNAG_TRACER_OVERHEAD=0.0001%
record 0 less ${mpis[0]} 2 ./polls.${mpis[0]}
"$snag" info less --json >info
[ "$(jq -c '[.sends, .recvs, .is_damaged]' info)" = '[2,2,false]' ] || fail "messages are left out"
echo "${mpis[*]}: polls are joined"

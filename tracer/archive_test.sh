#!/bin/bash
# archive_test.sh TRACER MD SNAG -- trace a short run of md on two ranks and look at the archive: it is
# readable without a warning, every enter has its leave, every message both its ends, and
# functions that are static have names. Exit status 77: something it needs is not installed.
set -eu

tracer=$1 md=$2 snag=$3
run_mpi=$(dirname "$(realpath "$0")")/../examples/run_mpi.sh
command -v otf2-print >/dev/null || { echo "otf2-print is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

export SNAG_TRACER_DIR=$dir/trace SNAG_TRACER_RANKS=$dir/ranks
TRACER=$tracer "$run_mpi" 2 "$md" --steps 60 --particles 500
"$snag" record --quiet --finish "$dir/trace"
otf2-print -Werror --silent "$dir/trace/traces.otf2" >"$dir/silent" 2>&1 || {
    cat "$dir/silent"
    exit 1
}
[ "$(wc -l <"$dir/ranks")" -eq 2 ] || { echo "not two lines in the file of the ranks"; exit 1; }

otf2-print "$dir/trace/traces.otf2" | awk '
    $1 == "ENTER" { open[$2, ++depth[$2]] = $0; sub(/.*Region: /, "", open[$2, depth[$2]]) }
    $1 == "LEAVE" {
        region = $0
        sub(/.*Region: /, "", region)
        if (depth[$2] < 1 || open[$2, depth[$2]] != region) complain("leaves " region)
        delete open[$2, depth[$2]--]
        calls[region]++
    }
    $1 ~ /^MPI_I?SEND$/ { sent++ }
    $1 ~ /^MPI_I?RECV$/ { received++ }
    $1 == "MPI_COLLECTIVE_BEGIN" { collectives[$2]++ }
    function complain(text) { print "location " $2 " at " $3 ": " text; bad = 1 }
    function expect(name, n,    region, found) {
        for (region in calls)
            if (index(region, "\"" name "\" ") == 1) found += calls[region]
        if (found != n) { print found + 0 " calls of " name ", not " n; bad = 1 }
    }
    END {
        for (location in depth)
            if (depth[location]) { print depth[location] " calls stay open"; bad = 1 }
        if (!sent || sent != received) { print sent " sent, " received " received"; bad = 1 }
        if (collectives[0] != collectives[1]) { print "collectives differ"; bad = 1 }
        expect("main", 2)
        expect("step", 120)
        expect("list_neighbours", 14)
        expect("MPI_Finalize", 2)
        print sent " messages, " collectives[0] " collectives per rank"
        exit bad
    }'

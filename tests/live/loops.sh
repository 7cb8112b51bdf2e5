#!/usr/bin/env bash
# The loop of a program while it runs against the one that is found after the run, on synthetic traces of
# which all calls but MPI's are hidden: the same iterations with the same numbers from the moment it is known,
# wherever steps cut, in any source.
#
#   loops.sh SNAG EXECUTIONS
set -eu
SNAG=$1 EXECUTIONS=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
. "$here/compare.sh"
export SNAG_MPI_ONLY=1

# found TRACE: rank, number, begin of all iterations.
found() {
    "$SNAG" analyze "$1" --foi loop -o run.snag --force --quiet >/dev/null
    "$SNAG" list run.snag --all --json |
        jq -r 'select(.enter_ns) | [.rank, .index, .enter_ns] | @tsv' | sort -n -k1 -k2 >found
}

# followed TRACE STEP
followed() {
    "$EXECUTIONS" --step "$2" "$1" loop | sed 1d | tr '#,-' '   ' |
        awk '{ print $1 "\t" $2 "\t" $4 }' | sort -n -k1 -k2 >followed
}

# same_iterations TRACE LATE STEP...: each is there from the first that is followed to the last but one,
# and begins LATE ns after where it is found.
same_iterations() {
    local trace=$1 late=$2 step
    shift 2
    found "$trace"
    for step in "$@"; do
        followed "$trace" "$step"
        awk -v late="$late" -v step="$step" '
            FNR == NR { begin[$1, $2] = $3; if ($2 > last[$1]) last[$1] = $2; next }
            !($1 in next_one) { first[$1] = next_one[$1] = $2 }
            $2 != next_one[$1]++ || $3 != begin[$1, $2] + late { n_wrong++ }
            END {
                for (r in last) {
                    n_ranks++
                    if (!(r in first) || first[r] > last[r] / 2 || next_one[r] != last[r]) n_wrong++
                }
                if (n_wrong || !n_ranks) { print "steps of " step " s: " n_wrong + 0 " are wrong"; exit 1 }
            }' found followed || complain "$trace"
    done
}

plain='synth:main(init@20ms 300*step(compute@1ms >1 <1 |) report@3ms);ranks=4;jitter=0.2'
twice='synth:main(init@20ms >3 <3 300*step(compute@1ms >1 <1 >2 <2 |) report@3ms);ranks=4;jitter=0.2'
same_iterations "$plain" 0 0.0005 0.0037 0.1
same_iterations "$twice" 500 0.0005 0.0037 0.1 # to whom the first message goes is known when it is sent

# What is said of it: executions are those that were followed to their end.
"$SNAG" ad "$plain" --foi loop --step 0.01 --json --quiet >said
followed "$plain" 0.01
[ "$(jq -c '[.foi[0].foi, .foi[0].executions]' said)" = "[\"loop@MPI_Send\",$(wc -l <followed)]" ] ||
    complain "executions: $(jq -c .foi said), but $(wc -l <followed) were followed"

# Nothing repeats; or it is not known in time; or several loops are asked for.
status=0
"$SNAG" ad 'synth:main(20*step(a@1ms |))' --foi loop --quiet >/dev/null 2>said || status=$?
[ "$status,$(cat said)" = "1,snag: --foi loop: no such loop was found" ] || complain "$status: $(cat said)"
status=0
"$SNAG" ad "$plain" --foi loop --foi loop@x --quiet >/dev/null 2>said || status=$?
[ "$status,$(grep -c 'one loop can be followed' said)" = 2,1 ] || complain "$status: $(cat said)"
exit $failed

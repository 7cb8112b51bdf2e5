#!/usr/bin/env bash
# What recording costs a whole program: it is run alone and under snag record in turn, and the ratios
# of the processor time of both, pair by pair, are printed in order. With everything that belongs to
# it: reading symbols, definitions, what snag itself does. The trace goes to memory.
#
#   cost.sh SNAG PAIRS 'OPTIONS OF SNAG RECORD' COMMAND...
set -eu
snag=$1 pairs=$2 options=$3
shift 3
dir=$(mktemp -d /dev/shm/snag-cost-XXXXXX)
trap 'rm -rf "$dir"' EXIT
TIMEFORMAT='%U %S'

# took FILE COMMAND... -- the processor time of a command, children and all, as a line of FILE
took() {
    local file=$1
    shift
    { time "$@" >/dev/null 2>"$dir/err"; } 2>>"$file" || { cat "$dir/err"; exit 1; }
}

"$@" >/dev/null 2>&1 || { echo "'$*' fails"; exit 1; }
for ((i = 0; i < pairs; i++)); do
    took "$dir/alone" "$@"
    # shellcheck disable=SC2086
    took "$dir/recorded" "$snag" record --quiet $options -o "$dir/trace" -- "$@"
    rm -rf "$dir/trace"
done
paste "$dir/recorded" "$dir/alone" | awk '{ print ($1 + $2) / ($3 + $4) }' | sort -n | awk '
    { ratio[NR] = $1 }
    END { printf "least %.3f, median %.3f, most %.3f of %d pairs\n", ratio[1], ratio[int((NR + 1) / 2)], ratio[NR], NR }'

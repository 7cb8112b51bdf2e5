#!/usr/bin/env bash
# What recording costs a whole program: it is run alone and under snag record in turn, and the ratios
# of the processor time of both, pair by pair, are printed in order. With everything that belongs to
# it: reading symbols, definitions, what snag itself does. The trace goes to memory.
#
#   cost.sh SNAG PAIRS 'OPTIONS OF SNAG RECORD' [LAUNCHER... --] COMMAND...
#
# With EZTRACE='-t openmpi' in the environment it is run under EZTrace too, each time after the other
# two. That has to stand between the launcher and the command.
set -eu
snag=$1 pairs=$2 options=$3
shift 3
launcher=()
if [[ " $* " == *" -- "* ]]; then
    while [ "$1" != -- ]; do
        launcher+=("$1")
        shift
    done
    shift
fi
dir=$(mktemp -d /dev/shm/snag-cost-XXXXXX)
trap 'rm -rf "$dir"' EXIT
TIMEFORMAT='%U %S'

# took FILE COMMAND... -- the processor time of a command, children and all, as a line of FILE
took() {
    local file=$1
    shift
    { time "$@" >/dev/null 2>"$dir/err" </dev/null; } 2>>"$file" || { cat "$dir/err"; exit 1; }
}

# ratios WHAT FILE
ratios() {
    paste "$dir/$2" "$dir/alone" | awk '{ print ($1 + $2) / ($3 + $4) }' | sort -n | awk -v what="$1" '
        { ratio[NR] = $1 }
        END { printf "%s: least %.3f, median %.3f, most %.3f of %d pairs\n", what, ratio[1], ratio[int((NR + 1) / 2)], ratio[NR], NR }'
}

"${launcher[@]}" "$@" >/dev/null 2>&1 </dev/null || { echo "'$*' fails"; exit 1; }
for ((i = 0; i < pairs; i++)); do
    took "$dir/alone" "${launcher[@]}" "$@"
    # shellcheck disable=SC2086
    took "$dir/recorded" "$snag" record --quiet $options -o "$dir/trace" -- "${launcher[@]}" "$@"
    rm -rf "$dir/trace"
    [ -n "${EZTRACE:-}" ] || continue
    # shellcheck disable=SC2086
    took "$dir/eztrace" "${launcher[@]}" eztrace $EZTRACE -o "$dir/trace" "$(command -v "$1")" "${@:2}"
    rm -rf "$dir/trace"
done
ratios "snag record $options" recorded
[ -z "${EZTRACE:-}" ] || ratios "eztrace $EZTRACE" eztrace

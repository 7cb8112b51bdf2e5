#!/usr/bin/env bash
# What snag says contradicts itself nowhere, and adds up: of programs made at random, of the traces that are
# not part of the repository, of small inputs on which it was wrong.
#
#   run.sh SNAG SOURCE WORK synth|losses|live
#   run.sh SNAG SOURCE WORK data NAME [FILE]     a trace, see ../data/find.sh
#   run.sh SNAG SOURCE WORK cases
set -eu
SNAG=$1 SOURCE=$2 WORK=$3 what=$4
audit=$SOURCE/tests/audit
export PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || {
    echo "python3 is not here"
    exit 77
}

case $what in
synth)
    exec python3 "$audit/audit.py" "$SNAG" synth --programs $((${SNAG_LONG:+488} + 12))
    ;;
live)
    exec python3 "$audit/live.py" "$SNAG" synth --programs $((${SNAG_LONG:+288} + 12))
    ;;
losses)
    exec python3 "$audit/losses.py" "$SNAG"
    ;;
data)
    . "$SOURCE/tests/data/find.sh"
    find_trace "$5" ${6:+"$6"}
    jobs=$(find "$directory" -name '*.trace.json' -printf '%h\n' | sort -u) # of PyTorch, a file per rank
    timelines=$(find "$directory" -name 'timeline-*.json.gz')
    python3 "$audit/audit.py" "$SNAG" traces $archive $jobs $timelines
    [ -z "$archive$jobs" ] || python3 "$audit/live.py" "$SNAG" traces $archive $jobs
    ;;
cases)
    cases=${SNAG_CASES:-$SOURCE/../shared/cases}
    [ -d "$cases" ] || {
        echo "the cases are not here, SNAG_CASES may say where they are"
        exit 77
    }
    mkdir -p "$WORK"
    unpacked=$(mktemp -d "$WORK/cases-XXXXXX")
    trap 'rm -rf "$unpacked"' EXIT
    for tar in "$cases"/*/*.tar.zst; do
        zstd -dc "$tar" | tar -x -C "$unpacked"
    done
    python3 "$audit/audit.py" "$SNAG" traces "$cases"/*/*.json "$cases"/*/*.json.gz "$cases"/gpu-wait/*/ \
        $(find "$unpacked" -name '*.otf2')
    ;;
esac

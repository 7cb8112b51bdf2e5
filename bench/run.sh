#!/usr/bin/env bash
# bench/run.sh BUILD [ROW...] -- measures all rows, or those named, and writes bench/RESULTS.md
# (or the file that BENCH_OUT names), where rows that are not named stay as they are. See
# bench/README.md.
set -euo pipefail

# A row is a program bench/row_NAME.sh that prints Markdown. Adding one means one file and one
# line here.
rows=(
    "ingest    Reading a trace into call columns"
    "whole     The whole analysis, of nearly all calls"
    "size      Runs of up to a billion calls"
    "growth    Four times the calls"
    "together  One trace in two processes"
    "what_if   A run played again without its anomalies"
    "residual  Subtree labels, residual model and score"
    "open      Opening a run"
    "stack2vec Learned vectors"
    "ocsvm     One-class SVM"
    "neighbours Nearest neighbours and LOF"
    "tsne      t-SNE"
    "prov      Storing provenance"
    "postgres  Storing provenance in PostgreSQL"
    "retrain   A new ranking after labels"
    "serve     Serving a run"
    "page      The page with a million executions"
    "report    A report to send"
    "ps        Parameter server"
    "live      Judging while a program runs"
    "ad        Judging calls of TAU's files"
    "library   Events pushed into the library"
    "python    Calls as columns of Python"
    "mpi4py    Recording programs of mpi4py"
)

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -ge 1 ] && [ -x "$1/snag" ] || {
    echo "usage: bench/run.sh BUILD [ROW...], BUILD with snag in it" >&2
    exit 2
}
BUILD=$(cd "$1" && pwd)
WORK=${BENCH_WORK:-$BUILD/bench/work}
shift
export source BUILD WORK
mkdir -p "$WORK"

machine() {
    local model memory system
    model=$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)
    memory=$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
    system=$(. /etc/os-release && echo "$PRETTY_NAME")
    echo "$model, $(nproc) cores, $memory GiB, $system, Linux $(uname -r | sed 's/-.*//')"
}

header() {
    echo '# Results'
    echo
    echo 'Written by `bench/run.sh`; how to read it: `bench/README.md`. Sections may be of different days and machines.'
    echo
    echo "Compiler: $(cc --version | head -n 1), build type $(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$BUILD/CMakeCache.txt")"
}

# stored TITLE: the section of the file that there is, if it has one.
stored() {
    [ ! -r "$out" ] || awk -v head="## $1" '/^## / { is_on = $0 == head } is_on' "$out"
}

measure() {
    printf '## %s\n\nMeasured %s on %s; load when it began: %s.\n' "$2" "$(date -u +%Y-%m-%d)" \
        "$(machine)" "$(cut -d' ' -f1 /proc/loadavg)"
    "$source/bench/row_$1.sh"
}

out=${BENCH_OUT:-$source/bench/RESULTS.md}
results=$(mktemp)
trap 'rm -f "$results"' EXIT
header >"$results"
for row in "${rows[@]}"; do
    read -r name title <<<"$row"
    if [ $# -eq 0 ] || [[ " $* " == *" $name "* ]]; then
        section=$(measure "$name" "$title")
    else
        section=$(stored "$title")
    fi
    [ -z "$section" ] || printf '\n%s\n' "$section" >>"$results"
done
cat "$results" >"$out"
echo "bench: written to ${BENCH_OUT:-bench/RESULTS.md}" >&2

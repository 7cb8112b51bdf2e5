#!/usr/bin/env bash
# Programs of the distribution as they are, none of them compiled for snag: each is run alone and
# recorded in turn, with nothing else said, and analysed. Prints a row of a table for each:
#
#   ranks and records; functions that are known; functions and loops that are suggested, at most so
#   many as snag info prints; the first of them, and its executions; how much of the time (but MPI_Init
#   and MPI_Finalize) is under any function, main too, and under one that its rank calls twice or more, or in iterations of a
#   loop that is suggested (named_time); what recording cost, as it says itself and as the median of the
#   ratio of processor time in PAIRS pairs of runs
#
#   programs.sh BUILD [PAIRS [NAME...]] | tests/accuracy/page_table.py programs docs/accuracy.md
#
# Those that are not installed are left out. As root, Open MPI has to be told that this is meant.
set -eu
snag=$(realpath "$1")/snag named_time=$(realpath "$1")/tests/support/named_time pairs=${2:-3}
shift $(($# < 2 ? $# : 2))
inputs=$(realpath "$(dirname "$0")/programs")
. "$(dirname "$0")/../support/own_directory.sh"
export OMP_NUM_THREADS=1
TIMEFORMAT='%U %S'
wanted=" $* "

# median -- of what it reads
median() {
    sort -n | awk '{ v[NR] = $1 } END { printf "%.3f", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

took() {
    local file=$1
    shift
    { time "$@" >out 2>err </dev/null; } 2>>"$file" || { tail -n 3 out err >&2; return 1; }
}

# named FOI... -- the time of trace under functions, or in iterations of these loops
named() {
    local loop
    for loop; do
        analyze "$loop" >/dev/null
        "$snag" list run --all --json | jq -r 'select(.enter_ns) | "\(.rank) \(.enter_ns) \(.enter_ns + .duration_ns)"'
    done | "$named_time" trace >time
}

# analyze FOI -- what it says, as JSON
analyze() {
    rm -rf run
    "$snag" analyze trace -o run --foi "$1" --json --quiet 2>err || [ $? -eq 3 ] || cat err >&2
}

# share WHAT -- of named's
share() {
    awk -v what="$1" '{ ns[$1] = $2 } END { printf "%.0f %%", 100 * ns[what] / ns["all"] }' time
}

# row NAME 'OPTIONS OF SNAG RECORD' PROGRAM COMMAND...
row() {
    local name=$1 options=$2 program=$3
    shift 3
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
    command -v "$program" >/dev/null || { echo "$name is not installed" >&2; return 0; }
    rm -f alone recorded
    for ((i = 0; i < pairs; i++)); do
        took alone "$@" || { echo "$name fails" >&2; return 0; }
        rm -rf trace
        # shellcheck disable=SC2086
        took recorded "$snag" record $options -o trace -- "$@" || { echo "$name fails when recorded" >&2; return 0; }
    done
    grep -o 'recording cost about [0-9.]* %' err | grep -o '[0-9.]*' >said || echo '?' >said
    "$snag" info trace --all --json --quiet >info || [ $? -eq 3 ]
    foi=$(jq -r '.suggestions[0].foi // empty' info)
    [ -n "$foi" ] || { echo "$name: nothing is suggested" >&2; return 0; }
    mapfile -t loops < <(jq -r '.suggestions[] | select(.kind == "loop").foi' info)
    named "${loops[@]}"
    executions=$(analyze "$foi" | jq .trees)
    jq -r --arg name "$name$options" --arg cost "$(cat said)" --arg foi "$foi" --arg n "$executions" \
        --arg any "$(share any)" --arg repeated "$(share repeated)" \
        --arg ratio "$(paste recorded alone | awk '{ print ($1 + $2) / ($3 + $4) }' | median)" '
        ([.regions[] | select(.kind == "user")] | length) as $functions |
        ([.suggestions[] | select(.kind == "user")] | length) as $offered |
        ([.suggestions[] | select(.kind == "loop")] | length) as $loops |
        "| \($name) | \(.locations) | \(.records) | \($functions) | \($offered), \($loops) | `\($foi)` | " +
        "\($n) | \($any) | \($repeated) | \($cost) % | \($ratio) |"' info
}

cp "$inputs"/* .
mkdir -p out.pw
zcat -f /usr/share/doc/hpcc/examples/_hpccinf.txt* 2>/dev/null | sed 's/^1000  *Ns/700 Ns/; s/^2 *Ps/1 Ps/' >hpccinf.txt || true
cp scalapack.dat LU.dat
lu=$(ls -d /usr/lib/*/scalapack/mpich-tests/xdlu 2>/dev/null || true)

echo '| program | ranks | records | functions | suggested: functions, loops | the first | executions | under any function | under a repeated one, or a loop | cost, as it says | processor time |'
echo '|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|'
row pw.x '' pw.x mpirun.openmpi -n 2 pw.x -in pw.in
row cp2k '' cp2k mpirun.openmpi -n 2 cp2k cp2k.inp
row nwchem '' nwchem mpirun.openmpi -n 2 nwchem nwchem.nw
row lammps '' lmp mpirun.openmpi -n 2 lmp -in lammps.in -log none -screen none
row hpcc '' hpcc mpirun.openmpi -n 2 hpcc
row numpy '' /usr/bin/python3 mpirun.openmpi -n 2 /usr/bin/python3 jacobi.py
row bagel '' BAGEL mpirun.mpich -n 2 BAGEL bagel.json
row scalapack '' "${lu:-xdlu}" mpirun.mpich -n 2 "${lu:-xdlu}"
row nwchem ' --overhead 2%' nwchem mpirun.openmpi -n 2 nwchem nwchem.nw
row hpcc ' --overhead 2%' hpcc mpirun.openmpi -n 2 hpcc

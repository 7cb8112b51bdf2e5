#!/usr/bin/env bash
# One trace in two processes of a launcher of MPI, against the same in two threads of one: in turns, on
# one node. On a machine of more than two processors both are kept to two by taskset.
set -euo pipefail
. "$source/bench/lib.sh"

events=${BENCH_EVENTS:-20000000}
times=$WORK/together-times

# took NAME COMMAND...: appends what it took to files of that name. (3: done, but the input was damaged.)
took() {
    local name=$1 log=$times/log
    shift
    taskset -c 0,1 "$tools/measure" "$@" >/dev/null 2>"$log" || [ $? -eq 3 ]
    grep '^measure:' "$log" | field wall_s >>"$times/$name.wall"
    grep '^measure:' "$log" | field cpu_s >>"$times/$name.cpu"
}

# ratio NAME WHAT: of the medians, to those of one process.
ratio() { calc "$(median "$times/$1.$2") / $(median "$times/one.$2")"; }

# input NAME TRACE [FUNCTION]: a line for each MPI.
input() {
    local name=$1 trace=$2 foi=(${3:+--foi "$3"}) mpi
    for mpi in openmpi mpich; do
        rm -rf "$times"
        mkdir -p "$times"
        local launcher=(mpirun."$mpi" -n 2)
        [ $mpi = mpich ] || launcher+=(--oversubscribe)
        for ((i = 0; i < repetitions; i++)); do
            say "$name, $mpi: $((i + 1)) of $repetitions"
            took one "$snag" analyze --quiet --force --threads 2 "${foi[@]}" "$trace" -o "$WORK/together.snag"
            took two "${launcher[@]}" "$snag" analyze --quiet --force --together "${foi[@]}" "$trace" \
                -o "$WORK/together.snag"
        done
        printf '| %s | %s | %s s | %s s | x %s | x %s |\n' "$name" "$mpi" "$(median "$times/one.wall")" \
            "$(median "$times/two.wall")" "$(ratio two wall)" "$(ratio two cpu)"
    done
    rm -rf "$WORK/together.snag"
}

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if ! command -v mpirun.openmpi >/dev/null || ! command -v mpirun.mpich >/dev/null || [ "$(nproc)" -lt 2 ]; then
    printf '\nnot measured: two processors, mpirun.openmpi and mpirun.mpich are not all here.\n'
    exit 0
fi
printf '\n| trace | MPI | two threads, median | two processes, median | of that, target 1.10 | of processor time |\n'
echo '|---|---|---|---|---|---|'
input 'generated, 8 ranks, Simulation::step' "$(generated "$events")" 'Simulation::step'
if trace=$(data scorep-bt-mz); then
    input scorep-bt-mz "$trace"
fi

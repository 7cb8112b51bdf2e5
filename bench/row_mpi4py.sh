#!/usr/bin/env bash
# What snag record costs a program of mpi4py of two ranks, in processor time of the whole job with all that belongs to
# it: one of many small functions of Python, and one of numpy and MPI; alone, and recorded in three ways, in turns.
set -euo pipefail
. "$source/bench/lib.sh"
peer mpi4py python3-mpi4py || exit 0
command -v mpirun.openmpi >/dev/null && [ -e "$BUILD/tracer/libsnag-tracer.so" ] || {
    printf '\nskipped: no Open MPI, or no tracer for it\n'
    exit 0
}
pairs=${BENCH_REPETITIONS:-5}
small_steps=6000 numpy_steps=600
[ -z "${BENCH_TINY:-}" ] || small_steps=5 numpy_steps=10
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OPENBLAS_NUM_THREADS=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
times=$WORK/times
rm -rf "$times"
mkdir -p "$times"
printf 'exclude *\ninclude MPI_*\n' >"$times/filter"

# took NAME COMMAND...: appends the processor time of a command to a file.
took() {
    "$tools/measure" "${@:2}" >"$times/said" 2>"$times/log" </dev/null || {
        cat "$times/log" >&2
        exit 1
    }
    grep '^measure:' "$times/log" | field cpu_s >>"$times/$1"
}

# recorded NAME OPTION: likewise under snag record.
recorded() {
    rm -rf "$times/trace"
    took "$1" "$snag" record --quiet "$2" -o "$times/trace" -- "${job[@]}"
}

# ratio PROGRAM NAME: the median of the pairs' ratios, the least and the most.
ratio() {
    paste "$times/$1.$2" "$times/$1.alone" | awk '{ print $1 / $2 }' | sort -g |
        awk '{ x[NR] = $1 } END { printf "%.2f (%.2f - %.2f)", x[int((NR + 1) / 2)], x[1], x[NR] }'
}

for program in small numpy; do
    steps=${program}_steps
    job=(mpirun.openmpi -n 2 "$python" "$source/bench/mpi4py_program.py" $program "${!steps}")
    took warm "${job[@]}"
    for ((i = 0; i < pairs; i++)); do
        say "mpi4py, $program: $((i + 1)) of $pairs"
        took $program.alone "${job[@]}"
        recorded $program.functions --functions
        "$snag" info "$times/trace" --json | member calls | head -n 1 >"$times/$program.calls"
        SNAG_TRACER_FILTER=$times/filter recorded $program.filter --functions
        recorded $program.mpi --mpi
    done
done
printf '\n2 ranks, %s pairs: processor time, user and system, of the whole job (mpirun, ranks, `snag record`) to that of the
same without; the median (least - most). Waits of MPI are processor time, too.\n\n' "$pairs"
echo '| program | alone, median | calls recorded | functions of Python, too | these left out by a filter | `--mpi` |'
echo '|---|---|---|---|---|---|'
for program in small numpy; do
    steps=${program}_steps
    case $program in
    small) what="short methods of 1,000 objects, ${!steps} steps" ;;
    numpy) what="a Jacobi solver with numpy, ${!steps} steps" ;;
    esac
    printf '| %s | %.2f s | %s | %s | %s | %s |\n' "$what" "$(median "$times/$program.alone")" \
        "$(cat "$times/$program.calls")" "$(ratio $program functions)" "$(ratio $program filter)" "$(ratio $program mpi)"
done

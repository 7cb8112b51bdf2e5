#!/usr/bin/env bash
# What recording costs a call of MPI, beside EZTrace, if that is installed: one rank that talks to
# itself, alone, under snag record (with MPI alone and with stacks, with and without places of calls)
# and under eztrace in turn. Prints nanoseconds, medians of RUNS, as a table. The trace goes to memory.
#
#   cost_calls.sh BUILD [RUNS]
set -eu
snag=$1/snag program=$(realpath "$1/tracer/snag-tracer-overhead") runs=${2:-7}
dir=$(mktemp -d /dev/shm/snag-cost-XXXXXX)
trap 'rm -rf "$dir"' EXIT
unset ${!SNAG_*}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launcher=("$(command -v mpirun.openmpi || command -v mpirun)" -n 1)
calls=('empty function' 'MPI_Irecv + MPI_Isend + MPI_Waitall' MPI_Sendrecv MPI_Allreduce MPI_Barrier
    'MPI_Barrier, 20 frames deep' 'MPI_Barrier, 20 frames, 4 new' 'MPI_Barrier, 20 frames, all new'
    'MPI_Barrier, in an inlined function')
ways=(alone mpi 'mpi, no places' stacks 'stacks, no places')
! command -v eztrace >/dev/null || ways+=(eztrace)

# run WAY -- a line for each of the calls
run() {
    rm -rf "$dir/trace"
    case $1 in
    alone) "${launcher[@]}" "$program" --measure-deep ;;
    eztrace) "${launcher[@]}" eztrace -t openmpi -o "$dir/trace" "$program" --measure-deep ;;
    *', no places') "$snag" record --quiet --no-call-sites "--${1%,*}" -o "$dir/trace" -- "${launcher[@]}" "$program" --measure-deep ;;
    *) "$snag" record --quiet "--$1" -o "$dir/trace" -- "${launcher[@]}" "$program" --measure-deep ;;
    esac
}

for ((i = 0; i < runs; i++)); do
    for way in "${ways[@]}"; do
        run "$way" 2>"$dir/err" </dev/null | grep -E '^[0-9.]+$' >"$dir/ns" || { cat "$dir/err"; exit 1; }
        [ "$(wc -l <"$dir/ns")" -eq ${#calls[@]} ] || { echo "$way: not as many calls"; exit 1; }
        awk -v dir="$dir" -v way="$way" '{ print $1 >>(dir "/" way "." NR - 1) }' "$dir/ns"
    done
done
echo "| ns |$(printf ' %s |' "${ways[@]}")"
echo "|---|$(printf -- '---:|%.0s' "${ways[@]}")"
for ((k = 1; k < ${#calls[@]}; k++)); do
    printf '| `%s` |' "${calls[k]}"
    for way in "${ways[@]}"; do
        sort -n "$dir/$way.$k" | awk '{ v[NR] = $1 } END { printf " %.0f |", v[int((NR + 1) / 2)] }'
    done
    echo
done

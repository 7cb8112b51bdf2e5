#!/usr/bin/env bash
# The package for Python: all calls of a run as columns of numpy, pandas and Arrow, each read once, against numpy that
# maps the files itself; in turns.
set -euo pipefail
. "$source/bench/lib.sh"
peer numpy python3-numpy || exit 0
hows=(files numpy arrow arrow_all)
! peer pandas python3-pandas || hows+=(pandas bare pandas_all bare_all)

trace=$(generated "${BENCH_EVENTS:-20000000}")
run=$trace.python.snag
rm -rf "$run"
"$snag" analyze --foi MPI_Allreduce "$trace" -o "$run" >/dev/null || [ $? -eq 3 ]
export OPENBLAS_NUM_THREADS=1 SNAG_LIBRARY=$BUILD/libsnag.so.1 SNAG_COMMAND=$snag PYTHONPATH=$source/python
times=$WORK/times
rm -rf "$times"
mkdir -p "$times"
for ((i = 0; i < repetitions; i++)); do
    say "python: $((i + 1)) of $repetitions"
    for how in "${hows[@]}"; do
        "$python" "$source/bench/python_columns.py" "$how" "$run" >"$times/said"
        field cpu_ms <"$times/said" >>"$times/$how"
        field anon_mib <"$times/said" >>"$times/anon-$how"
        field calls <"$times/said" >"$times/calls"
    done
    "$python" "$source/bench/python_columns.py" import - | field wall_ms >>"$times/import"
done
rm -rf "$run"
n=$(cat "$times/calls")
printf '\n%s calls, %s MiB of columns, in memory already. `select(...)` is of these columns; without it
rank and thread, which are made, are there, too, 8 bytes a call. Times are of the processor.\n\n' \
    "$n" "$(calc "26 * $n / 1048576" %.0f)"
echo '| until all is read once | least | median | least / floor | target | met | memory of its own |'
echo '|---|---|---|---|---|---|---|'
for how in "${hows[@]}"; do
    case $how in
    files) what='floor: numpy maps the files' ;;
    numpy) what='`run.calls.to_numpy()`' ;;
    arrow) what='Arrow, batches of `calls.select(...)`; regions are checked' ;;
    arrow_all) what='Arrow, batches of `run.calls`' ;;
    pandas) what='`calls.select(...).to_pandas()`' ;;
    pandas_all) what='`run.calls.to_pandas()`' ;;
    bare) what='pandas without snag: these columns, mapped by numpy' ;;
    bare_all) what='pandas without snag: rank and thread, too, by `numpy.repeat`' ;;
    esac
    target=1.2
    case $how in files | bare*) target= ;; esac
    ratio=$(calc "$(smallest "$times/$how") / $(smallest "$times/files")")
    printf '| %s | %s ms | %s ms | %s | %s | %s | %s MiB |\n' "$what" "$(calc "$(smallest "$times/$how")" %.1f)" \
        "$(calc "$(median "$times/$how")" %.1f)" "$ratio" "${target:--}" \
        "$([ -z "$target" ] && echo - || met "$ratio" $target)" "$(calc "$(median "$times/anon-$how") + 0.5" %d)"
done
printf '\n`import snag`: %s ms, the least of %s (target 50: %s).\n' "$(calc "$(smallest "$times/import")" %.1f)" "$repetitions" \
    "$(met "$(smallest "$times/import")" 50)"

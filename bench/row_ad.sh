#!/usr/bin/env bash
# Judging calls of a file of TAU's while it is read, against a program that only reads its steps.
#
# Both take turns. snag reads in a process of its own, which is in its processor time and memory.
set -euo pipefail
. "$source/bench/lib.sh"

if [ ! -x "$tools/adios2_floor" ]; then
    printf '\nskipped: this build is without ADIOS2\n'
    exit
fi
events=${BENCH_TAU_EVENTS:-4000000}

# make STEP_MS: $file, with steps of that length.
make() {
    file=$WORK/tau-$events-$1/tau-metrics-app-0.bp
    [ ! -r "$file/md.idx" ] || return 0
    say "writing $events events as TAU does, steps of $1 ms"
    rm -rf "${file%/*}"
    mkdir -p "${file%/*}"
    # 20 calls, 40 events, 183 us a call of step
    "$BUILD/tests/support/tau_write" \
        "synth:$((events / 40))*step(a@30us(4*b@10us) c@50us(9*d@5us) e(2*f@7us) g);jitter=0.2;slow=d/9973/20" \
        "${file%/*}" engine=BP4 "step=$1"
}

times=$WORK/times
rm -rf "$times"
mkdir -p "$times"
ad() {
    "$BUILD/tests/support/stream_verdicts" "$file" "detector=$1" 2>"$times/log" >/dev/null
    for what in wall_s cpu_s; do field $what <"$times/log" >>"$times/$what.$1"; done
    field peak_bytes <"$times/log" >"$times/peak.$1"
    field reader_peak_bytes <"$times/log" >"$times/reader.$1"
}
# The command, with records of what is strange.
whole() {
    rm -rf "$WORK/ad.store"
    "$tools/measure" "$snag" ad "$file" --call-detector "$1" --threads 1 --store "$WORK/ad.store" \
        --json --quiet 2>"$times/log" >"$times/out"
    for what in wall_s cpu_s; do
        grep '^measure:' "$times/log" | field $what >>"$times/$what.whole_$1"
    done
    strange=$(member anomalies <"$times/out")
}
floor() {
    "$tools/adios2_floor" "$file" >"$times/log"
    for what in wall_s cpu_s; do field $what <"$times/log" >>"$times/$what.floor"; done
    field peak_bytes <"$times/log" >"$times/peak.floor"
    steps=$(field steps <"$times/log")
    rows=$(field rows <"$times/log")
    step_bytes=$(calc "48 * $rows / $steps" %.0f)
}
make 550
for ((i = 0; i < repetitions; i++)); do
    floor
    ad tails
    ad sstd
    whole tails
    whole sstd
done

line() {
    local wall cpu
    wall=$(smallest "$times/wall_s.$2")
    cpu=$(smallest "$times/cpu_s.$2")
    printf '| %s | %s ms | %s ms | %s | %s | %s |\n' "$1" "$(calc "1e3 * $wall" %.1f)" \
        "$(calc "1e3 * $cpu" %.1f)" \
        "$(calc "$wall / $(smallest "$times/wall_s.floor")")" \
        "$(calc "$cpu / $(smallest "$times/cpu_s.floor")")" "$3"
}
verdict() { # met, by the worse of wall and processor time
    local wall cpu
    wall=$(calc "$(smallest "$times/wall_s.$1") / $(smallest "$times/wall_s.floor")")
    cpu=$(calc "$(smallest "$times/cpu_s.$1") / $(smallest "$times/cpu_s.floor")")
    met "$(printf '%s\n' "$wall" "$cpu" | sort -g | tail -n 1)" 4
}
printf '\n%s rows in %s steps of %s MiB.\n\n' "$rows" "$steps" "$(calc "$step_bytes / 1048576" %.1f)"
echo '| | wall, least | processor, least | wall / floor | processor / floor | at most 4 |'
echo '|---|---|---|---|---|---|'
line 'floor: ADIOS2, every step' floor -
line 'judged, tails' tails "$(verdict tails)"
line 'judged, sstd' sstd "$(verdict sstd)"
line 'snag ad --store, tails' whole_hbos "$(verdict whole_hbos)"
line "snag ad --store, sstd, $strange records" whole_sstd "$(verdict whole_sstd)"

# Memory: by how much it grows with the step; the rest is code and libraries, whatever the step.
both() { calc "$(cat "$times/peak.sstd") + $(cat "$times/reader.sstd")" %.0f; }
small=$step_bytes
small_both=$(both)
small_floor=$(cat "$times/peak.floor")
make 4600
floor
ad sstd
growth() { calc "($1 - $2) / ($step_bytes - $small)"; }
mib() { calc "$1 / 1048576" %.1f; }
printf '\n| a step | peak of snag and of what reads for it | of only reading |\n|---|---|---|\n'
printf '| %s MiB | %s MiB | %s MiB |\n' "$(mib "$small")" "$(mib "$small_both")" "$(mib "$small_floor")"
printf '| %s MiB | %s MiB | %s MiB |\n' "$(mib "$step_bytes")" "$(mib "$(both)")" \
    "$(mib "$(cat "$times/peak.floor")")"
printf '| bytes per byte of a step, at most 1.5 | %s, %s | %s |\n' \
    "$(growth "$(both)" "$small_both")" "$(met "$(growth "$(both)" "$small_both")" 1.5)" \
    "$(growth "$(cat "$times/peak.floor")" "$small_floor")"

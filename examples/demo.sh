#!/bin/bash
# demo.sh BUILD [OUT] -- from a running program to its anomalies:
#
#   run md, traced, and disturb it  ->  OUT/trace, OUT/truth.csv
#   snag analyze                    ->  OUT/demo.snag
#   snag list                       ->  OUT/incidents.jsonl
#   compare with the truth          ->  the screen
#
# BUILD is where snag was built; OUT is examples/out unless said otherwise. In the environment:
#   DEMO_RANKS (one per core, 2 to 4)  DEMO_SECONDS (8)  DEMO_PARTICLES (4000, per rank)
#   DEMO_PACE (ms a step lasts at least; 0 with a core per rank)  DEMO_SEED (1)
#   DEMO_DISTURBANCES (one per second)  DEMO_KIND (stop, load or both)  DEMO_SHOW (5)
#   DEMO_TOP (incidents that count; one per rank and disturbance)
set -eu

[ $# -ge 1 ] || { echo "usage: demo.sh BUILD [OUT]" >&2; exit 2; }
snag=$1/snag
build=$1/examples
tracer=$1/tracer/libsnag-tracer.so
here=$(dirname "${BASH_SOURCE[0]}")
out=${2:-$here/out}
out=${out#"$PWD/"} # shorter to read
warmup=1
md_pid=
disturb_pid=

fail() {
    echo "demo: $*" >&2
    exit 1
}

# Whatever happens, nothing we started goes on. A rank that is stopped then is continued by the
# disturber's guardian.
clean_up() {
    [ -z "$disturb_pid" ] || kill "$disturb_pid" 2>/dev/null || true
    [ -z "$md_pid" ] || kill "$md_pid" 2>/dev/null || true
    wait
}

# At most four ranks, and no more than there are cores: ranks that take turns on a core pause
# each other for as long as the disturbances do, and no one could tell which is which.
choose() {
    cores=$(nproc)
    ranks=$((cores > 4 ? 4 : cores < 2 ? 2 : cores))
    ranks=${DEMO_RANKS:-$ranks}
    seconds=${DEMO_SECONDS:-8}
    count=${DEMO_DISTURBANCES:-$seconds}
    top=${DEMO_TOP:-$((ranks * count))}
    particles=${DEMO_PARTICLES:-4000}
    pace=${DEMO_PACE:-$((ranks > cores ? 10 * ranks / cores : 0))}
    seed=${DEMO_SEED:-1}
}

# How many cores are idle, looking for a second: others may be at work here too.
idle_cores() {
    { grep '^cpu ' /proc/stat; sleep 1; grep '^cpu ' /proc/stat; } | awk -v cores="$cores" '
        { total = 0; for (i = 2; i <= 9; i++) total += $i }
        NR == 1 { total0 = total; idle0 = $5 + $6 }
        END {
            idle = cores * ($5 + $6 - idle0) / (total - total0 + 1e-9)
            if (idle > cores) idle = cores # a container may not have all of them
            printf "%.1f\n", idle
        }'
}

check() {
    [ -x "$snag" ] || fail "no snag in '$1'; ./setup.sh build makes it"
    [ -x "$build/md" ] || fail "the example programs are not built: they need MPI and libotf2" \
        "(./setup.sh deps). Without them: $snag analyze" \
        "'synth:300*step(solve@1ms send);jitter=0.1;slow=solve/97/5'"
    mkdir -p "$out" && [ -w "$out" ] || fail "cannot write to '$out'; demo.sh BUILD OUT takes another"
    rm -rf "$out/trace" "$out/ranks" "$out/demo.snag" "$out/truth.csv" || fail "cannot clean '$out'"
}

# timeout: an mpirun that hangs must not hang us. /dev/null: nor one that reads the terminal.
run_disturbed() {
    local status=0
    SNAG_TRACER_DIR=$out/trace SNAG_TRACER_RANKS=$out/ranks TRACER=$tracer \
        timeout -k 5 $((2 * seconds + 30)) "$here/run_mpi.sh" "$ranks" "$build/md" \
        --seconds $((seconds + warmup + 1)) --particles "$particles" --pace "$pace" \
        --output "$out/snapshot.xyz" </dev/null >"$out/md.log" 2>&1 &
    md_pid=$!
    "$build/disturb" --ranks "$out/ranks" --truth "$out/truth.csv" --seconds "$seconds" \
        --warmup "$warmup" --count "$count" --kind "${DEMO_KIND:-both}" \
        --nice -20 --seed "$seed" </dev/null >"$out/disturb.log" 2>&1 &
    disturb_pid=$!
    wait "$md_pid" || status=$?
    md_pid=
    if [ "$status" -ne 0 ]; then
        cat "$out/md.log" >&2
        fail "the program failed, with status $status; above is what mpirun says"
    fi
    wait "$disturb_pid" || { cat "$out/disturb.log" >&2; fail "the disturber failed"; }
    disturb_pid=
}

# Status 3 is "done, but the input was damaged".
run_snag() {
    local status=0
    "$snag" "$@" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || fail "snag $1 failed"
}

say() {
    printf '== %s\n' "$*"
}

choose
check "$1"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
idle=$(idle_cores)
if awk -v idle="$idle" -v cores="$cores" 'BEGIN { exit !(idle < 0.9 * cores) }'; then
    say "this machine is busy: $idle of its $cores cores are idle. What else it does pauses the ranks, and is" \
        "found as well:"
    echo "   it looks like what is done here, and disturbances may not be among the first. Better when it is idle."
else
    say "this machine is quiet: $idle of its $cores cores are idle"
fi
say "running md, a small molecular dynamics program, for $((seconds + warmup + 1)) s on $ranks" \
    "ranks, traced;"
echo "   $count times a rank is stopped, or its core loaded, for 5 to 40 ms"
run_disturbed
sed -n 's/^\([0-9]* steps, .* ms each\),.*/\1/p; /without a core/p' "$out/md.log"
cat "$out/disturb.log"

echo
say "snag analyze $out/trace --foi step -o $out/demo.snag"
run_snag analyze "$out/trace" --foi step -o "$out/demo.snag" --quiet >"$out/analyze.log"
grep ' executions, ' "$out/analyze.log"
run_snag list "$out/demo.snag" --incidents --json --all >"$out/incidents.jsonl"

echo
say "what lost most time, by its head, each with its reason, and what was really done then"
"$build/disturb-score" --top "$top" --show "${DEMO_SHOW:-5}" "$out/truth.csv" \
    "$out/incidents.jsonl" "$out/trace/traces.otf2" >"$out/score.log"
sed '/^$/,$d' "$out/score.log"

echo
say "what was done, and its place among all incidents (1: lost most)"
sed '1,/^$/d' "$out/score.log"
without_core=$(sed -n 's/.* without a core for \(.*\) s$/\1/p' "$out/md.log")
if awk -v waited="$without_core" -v all="$((seconds + warmup + 1))" \
    'BEGIN { exit !(waited > 0.05 * all) }'; then
    echo "The others are real as well: other work of this machine paused each rank for $without_core s in all, which"
    echo "looks just like what was done here. Run it again when the machine is idle."
else
    echo "The others are real as well: this machine paused each rank for $without_core s in all, and now and then"
    echo "rank 0 writes output."
fi

first=$(sed -n 's/^ *1  \(#[^ ]*\) .*/\1/p;/^$/q' "$out/score.log")
cat <<NEXT

What to type next:
  $snag show $out/demo.snag '$first'     # where its time went
  $snag list $out/demo.snag --top 30     # more of them
  $snag record -o run1 -- mpirun -n 4 ./app     # and then analyze run1: a program of your own
  $snag info TRACE                              # and then analyze TRACE: OTF2 or Chrome JSON of others
NEXT

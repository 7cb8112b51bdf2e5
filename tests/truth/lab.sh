#!/usr/bin/env bash
# Of the laboratory of truth what says the same on any machine: see README.md.
#
#   lab.sh BUILD WORK
set -eu
build=$1 work=$2
here=$(dirname "$(realpath "$0")")
export PYTHONDONTWRITEBYTECODE=1
for tool in python3 jq mpicc.openmpi mpirun.openmpi mpifort.openmpi gfortran; do
    command -v $tool >/dev/null || {
        echo "$tool is not here"
        exit 77
    }
done
rm -rf "$work"
mkdir -p "$work"
python3 "$here/model_test.py"
python3 "$here/lab.py" "$build" "$work/lab" --few >"$work/said" || {
    cat "$work/said"
    exit 1
}

# expect WHAT FILTER WANT: of results.jsonl, as jq has it
expect() {
    local got
    got=$(jq -cs "$2" "$work/lab/results.jsonl")
    [ "$got" = "$3" ] || {
        echo "$1: $got, but should be $3"
        exit 1
    }
}

expect "runs with a result" length 16
for program in halo serial; do
    expect "sleeps that $program wrote down, as long as they should be" \
        "[.[] | select(.program == \"$program\" and .disturbance == \"sleep\").truth[] | select(.excess_ns >= 25e6)] | length" 4
done
expect "stops of jobs that are found, on the right rank, with what they cost" \
    '[.[] | select(.program == "training" and .disturbance == "stop").default.events[] | [.found, .rank, .function, .cost]] | unique' \
    '[[true,true,true,true]]'
expect "calls that are usually not there: found, who, what, at what cost" \
    '[.[] | select(.program == "training" and .disturbance == "late").default.events[] | [.found, .rank, .function, .cost]] | unique' \
    '[[true,true,true,true]]'
expect "what all of them cost together" \
    '[.[] | select(.program == "training" and .disturbance == "late") | .default.what_if[1] / ([.truth[].cost_ns] | add) - 1 | fabs < 0.1] | unique' \
    '[true]'
expect "kernels, and batches, that others wait for behind a collective on a stream: who, what, at what cost" \
    '[.[] | select(.program == "sharded" and .disturbance != "none").default.events[] | [.found, .rank, .function, .cost]] | unique' \
    '[[true,true,true,true]]'
expect "a GPU that is always slow: who, what, what it lost, cost, and what if it were not" \
    '[.[] | select(.program == "training" and .disturbance == "always").default.events[] | [.rank, .function, .lost, .cost, ."what-if"]] | unique' \
    '[[true,true,true,true,true]]'
expect "accusations of jobs without any" '[.[] | select((.program == "training" or .program == "sharded") and .disturbance == "none").default.false[]]' '[]'
# whoever reads the run later follows the wait to the thread of autograd, too
for run in "$work"/lab/runs/training-stop-*/default.snag; do
    head=$("$build/snag" list "$run" --incidents --json | jq -rs '.[0].head')
    "$build/snag" show "$run" "$head" --json | jq -c '[.cause[] | .waits_for, .thread]'
done | sort -u >"$work/followed"
[ "$(cat "$work/followed")" = '["team",0,null,1]' ] || {
    echo "stops of a job are followed to: $(cat "$work/followed")"
    exit 1
}
# a thread of autograd that is always late: where the GPU has enough to do meanwhile that costs nothing, else what the job itself says
python3 - "$here" "$work" >"$work/threads" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import training
for ranks, longer_us in ((8, 8000), (8, 25000), (2, 30000)):
    job = training.Job(ranks, 40, 7, lambda rank, step, part, layer: longer_us * (rank == 1 and part == "autograd"))
    job.write(f"{sys.argv[2]}/thread-{ranks}-{longer_us}")
    print(f"thread-{ranks}-{longer_us}", round(1e3 * (job.end_us - training.Job(ranks, 40, 7).end_us)))
END
while read -r job cost_ns; do
    "$build/snag" analyze --force --quiet -o "$work/one.snag" --foi ProfilerStep "$work/$job" >/dev/null
    "$build/snag" ranks --json "$work/one.snag" | jq -c --argjson cost "$cost_ns" '[.places[] | select(.cost_ns != null)] |
        map([.place, .paths[0].path, .paths[0].kernel_on, (.paths[0].kernel | test("NllLoss")), (.cost_ns - $cost | fabs) <= 0.08 * $cost])'
done <"$work/threads" | sort -u >"$work/late_threads"
[ "$(cat "$work/late_threads")" = '[["rank 1","backward > wait for autograd","thread",true,true]]' ] || {
    echo "threads of autograd that are always late: $(cat "$work/late_threads")"
    exit 1
}
# the thread that waits for autograd does nothing that autograd's could be compared with
for run in "$work"/lab/runs/training-none-*/default.snag; do
    "$build/snag" ranks --json "$run" | jq -c '[.. | objects | select(.verdict? == "slow" or .verdict? == "imbalanced")]'
done | sort -u >"$work/accused"
[ "$(cat "$work/accused")" = '[]' ] || {
    echo "ranks of jobs in which nothing went wrong: $(cat "$work/accused")"
    exit 1
}
# of a job of which one rank is there nobody knows who else was late: a cost is at most something, or none
for file in "$work"/lab/runs/training-stop-*/trace/rank?.json.gz; do
    "$build/snag" analyze --force --json -o "$work/one.snag" "$file" | jq -c 'select(.anomalies_cost_ns > 0) | [.anomalies_carrying]'
    "$build/snag" list "$work/one.snag" --incidents --json | jq -c '[.cost_ns, .cost_least_ns]'
done | jq -sc unique >"$work/of_one"
[ "$(cat "$work/of_one")" = "[[null],[null,0],[0,0]]" ] || {
    echo "costs of incidents in one rank's trace of a job of several: $(cat "$work/of_one")"
    exit 1
}
echo "$(jq -s length "$work/lab/results.jsonl") runs"

# The other tool that records these programs, while they run: that it does, and counts. What is found depends on the machine.
python3 "$here/watched.py" "$build" "$work/watch" --only '^serial$' --runs 1 --seconds 4 >"$work/said"
grep -q '^| `serial` | 1 | 8 |' "$work/said" || {
    cat "$work/said"
    exit 1
}

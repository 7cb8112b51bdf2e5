#!/usr/bin/env bash
# tiny_test.sh BUILD WORK -- the benchmark runs through on tiny input and every row says
# something.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rm -rf "$2"
mkdir -p "$2"
BENCH_TINY=1 BENCH_REPETITIONS=1 BENCH_LOAD_S=1 BENCH_EVENTS=20000 BENCH_CALLS=1000000 BENCH_SMALL_EVENTS=4000 BENCH_TAU_EVENTS=40000 BENCH_WORK=$2/work \
    BENCH_OUT=$2/results.md "$source/bench/run.sh" "$1"
grep -Eq 'snag, two threads, to the columns \| [0-9.]+ ms' "$2/results.md"
grep -Eq '^\| 2 \| [0-9.]+ MiB \|' "$2/results.md"
grep -Eq '^\| snag, two threads, all of it \| [0-9.]+ ms' "$2/results.md"
grep -Eq '^\| 2 \| [0-9.]+ ms \| [0-9.]+ ms \| [0-9.]+ ms \| [0-9.]+ ms \| [0-9.]+ MiB' "$2/results.md"
grep -Eq '^\| generated, 8 ranks \| [0-9]+ \| [0-9.]+ ms \| [0-9.]+ ms' "$2/results.md"
grep -Eq '^(\| generated, 8 ranks, Simulation::step \| mpich \| [0-9.]+ s|not measured:)' "$2/results.md"
grep -Eq '^\| 20000 events \| [0-9.]+ ms' "$2/results.md"
grep -Eq '^(\| 1 / 1 of the run \| [0-9.]+ ms|curl or jq is not here)' "$2/results.md"
grep -Eq '^\| 36 \| [0-9]+ \| [0-9]+ \| [0-9]+ \| [0-9]+ \|' "$2/results.md"
grep -Eq '^\| 8 \| [0-9.]+ \| [0-9]+ \| [0-9.]+ [a-z]+ \|' "$2/results.md"
grep -Eq '^\| snag ad, a model per region \| [0-9.]+ ms' "$2/results.md"
grep -Eq '^(\| all points \| [0-9]+ ms|.*: not measured\.$)' "$2/results.md"
grep -Eq '^(\| judged, sstd \| [0-9.]+ ms|skipped: this build is without ADIOS2)' "$2/results.md"
grep -Eq '^\| pushed into libsnag \| [0-9.]+ ms' "$2/results.md"
grep -Eq '^(\| `run.calls.to_numpy\(\)` \| [0-9.]+ ms|skipped: no numpy)' "$2/results.md"
grep -Eq '^\| 4000 executions \| [0-9]+ ms' "$2/results.md"
grep -Eq '^(\| short methods of .* \| [0-9.]+ s \| [0-9]+ \| [0-9.]+ \(|skipped: no (mpi4py|Open MPI))' "$2/results.md"
[ "$(grep -c '^## ' "$2/results.md")" -eq 24 ]
grep -Eq '^(\| our tracer, one thread \| [0-9]+ \| [0-9.]+ s|not measured:)' "$2/results.md"
grep -Eq '^Time grows with calls to the power of' "$2/results.md"

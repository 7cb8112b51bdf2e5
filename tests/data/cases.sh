#!/usr/bin/env bash
# Small traces as other tools write them, on which readers go wrong: what is right, as the README
# beside each says.
#
#   cases.sh SNAG SOURCE WORK
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
cases=${SNAG_CASES:-$SOURCE/../shared/cases}
[ -d "$cases" ] || skip "$cases is not here (set SNAG_CASES to where the cases are)"

# info NAME QUERY WANT [STATUS]: what snag info says of a trace.
info() {
    local status=0
    "$SNAG" info "$cases/$1" --json --quiet >"$run/info.json" 2>"$run/error" || status=$?
    check "$1, status" $status "${4:-0}"
    check "$1, $2" "$(jq -c "$2" "$run/info.json")" "$3"
}
names='[.regions[] | select(.calls > 0) | [.short_name, .calls]] | sort'
places='[.location_table[] | [.rank, .name, .calls]]'

info async-spans/clang13.json "$names" '[["Frontend",1],["Source",8]]'
info async-spans/clang19.json "$names" '[["Frontend",1],["Source",8]]'
info async-spans/clang19.json "$places" '[[0,"",1],[0,"async Source",8]]'
info async-spans/webpack.json "$names" '[["buildModule",20]]'
for n in 13 19; do
    "$SNAG" analyze "$cases/async-spans/clang$n.json" --foi Source -o "$run/$n" --quiet >"$run/analyze"
done
"$SNAG" compare "$run/13" "$run/19" --json --quiet >"$run/compare.json"
check 'async-spans, compare' "$(jq -c .verdict "$run/compare.json")" '"same"'

info bazel-counters/profile.json '.quality' '{}'
check bazel-counters "$("$SNAG" info "$cases/bazel-counters/profile.json" --quiet | sed -n 3p)" \
    '2 counters, read 3 times'
info header-in-the-middle/twohdr.json "$places" '[[0,"",30],[1,"",21]]'
info header-in-the-middle/twohdr.json '.quality' '{}'
info rocprof-pid/results.json "$places" '[[0,"CPU HIP API",2],[1,"GPU0",1]]'
info rocprof-pid/results.json '.quality' '{}'

# gpu NAME VERDICT PATH: rank 1 makes the run of 10.1 s 6.0 s longer; the others wait for it.
gpu() {
    "$SNAG" analyze "$cases/gpu-wait/$1" -o "$run/$1" --quiet >"$run/analyze"
    check "$1, what next" "$(sed -n 's/.*; \(look at the ranks\): .*/\1/p' "$run/analyze")" "look at the ranks"
    "$SNAG" ranks "$run/$1" --json --quiet >"$run/ranks.json"
    check "$1, ranks" "$(jq -c '[.places[] | [.rank, .verdict, .waits_for]] | sort' "$run/ranks.json")" "$2"
    check "$1, cost" "$(jq '.places[] | select(.rank == 1) | (.cost_ns / 6e9 - 1) | fabs < 0.05' "$run/ranks.json")" true
    check "$1, path" "$(jq -r '.places[] | select(.rank == 1) | .paths[0].path' "$run/ranks.json")" "$3"
    check "$1, what-if" "$("$SNAG" what-if "$run/$1" --without rank=1 --json --quiet |
        jq '(.saved_ns / 6e9 - 1) | fabs < 0.05')" true
}
gpu hook4 '[[0,"waits","rank 1"],[1,"imbalanced",null],[2,"waits","rank 1"],[3,"waits","rank 1"]]' 'backward > hook'
gpu slow8 "$(jq -nc '[range(8) | [., if . == 1 then "slow", null else "waits", "rank 1" end]]')" 'ProfilerStep > backward'
check "slow8, anomalies" "$("$SNAG" list "$run/slow8" --json --quiet | jq -s "map(select(.verdict == \"anomaly\")) | length")" 0

# Where it is not known what launched its operations, that is the most.
mkdir "$run/unlaunched"
for f in "$cases"/gpu-wait/slow8/*; do
    zcat "$f" | jq -c '.traceEvents |= map(select(.cat != "ac2g") | del(.args.correlation?))' >"$run/unlaunched/$(basename "$f" .gz)"
done
"$SNAG" analyze "$run/unlaunched" -o "$run/unlaunched.snag" --quiet >/dev/null
check unlaunched "$("$SNAG" ranks "$run/unlaunched.snag" --json --quiet | jq -c '.slowdown_is_bound, (.places[] | select(.rank == 1) |
    [.verdict, .cost_least_ns, (.cost_ns / 6e9 - 1 | fabs < 0.05)])' | paste -sd ' ')" 'true ["slow",0,true]'

# Threads of a team and streams of a GPU have no iterations: what they do between is nothing.
mkdir "$run/worker"
tar -C "$run/worker" -I zstd -xf "$cases/worker-loop/cuda_simple.tar.zst"
"$SNAG" info "$run/worker/2_cuda_simple" --json --quiet >"$run/info.json"
check worker-loop "$(jq -r '.suggestions[0].foi' "$run/info.json")" loop@jacobi
check 'worker-loop, copies' "$(jq -c '[.regions[] | select(.name | startswith("Memcpy")) | [.name, .calls]] | sort' "$run/info.json")" \
    '[["Memcpy DtoH",42],["Memcpy HtoD",44]]'
"$SNAG" analyze "$run/worker/2_cuda_simple" -o "$run/worker.snag" --quiet >/dev/null
check 'worker-loop, cause' "$("$SNAG" show "$run/worker.snag" '#0-8' --json --quiet | jq -r '.cause[-1].function')" 'Memcpy DtoH'
info viztracer-sources/trace.json '.quality' '{}'
info empty-record/trace.json '.quality' '{}'
info x-lengthened/crossed.json '[.regions[] | [.name, .max_ns]] | sort' '[["E",500000],["F",901500000]]'
info x-lengthened/same-begin.json '[.regions[] | [.name, .max_ns]] | sort' '[["E",1000],["F",2000]]'
info small/durations.json '.quality' '{"bad_value":2}' 3
info small/durations.json "$names" '[["a",2]]' 3
info small/leadcomma.json "$names" '[["main",1]]'
info small/nested.json "$names" '[["a",1]]'
status=0
"$SNAG" info "$cases/small/utf16.json" 2>"$run/error" >"$run/info" || status=$?
check 'utf16, status' $status 1
check utf16 "$(grep -o 'is UTF-16' "$run/error")" 'is UTF-16'

# Collectives of which a record is lost are paired by when they end, and no clock is to blame.
"$SNAG" info "$cases/sampled-ranks" --quiet >"$run/sampled"
check sampled-ranks "$(sed -n 3p "$run/sampled")" '6 of 8 collectives have the records of all their members'
check 'sampled-ranks, clocks' "$(grep -c 'clocks' "$run/sampled" || true)" 0

# A name that is shown is one function's, and as --foi it is that one.
info python-names/stack.json "$names" '[["<lambda> (run.py:7)",24],["torch/nn/modules/module.py(1739): _wrapped_call_impl",24],["torch/nn/modules/module.py(1750): _call_impl",24],["torch/optim/sgd.py(120): zero_grad",24],["torch/optim/sgd.py(64): step",24],["train.py(88): step",24]]'
info short-names/clang.json "$names" '[["PassManager<llvm::Function>",12],["PassManager<llvm::Loop>",12],["Total PassManager",1]]'
for name in python-names/stack short-names/clang; do
    "$SNAG" info "$cases/$name.json" --quiet | sed -n "s/^  --foi '\(.*\)'\$/\1/p" >"$run/suggested"
    check "$name: two suggestions are alike" "$(sort "$run/suggested" | uniq -d)" ''
    while IFS= read -r foi; do
        "$SNAG" analyze "$cases/$name.json" --foi "$foi" -o "$run/one" --force --quiet >"$run/analyze"
        check "$name --foi" "$("$SNAG" query "$run/one" 'SELECT name FROM foi' --json | jq -c '[.. | strings]')" \
            "$(jq -cn --arg name "$foi" '[$name]')"
    done <"$run/suggested"
done

# One more line above it is no other function.
before='void step(int) [{a.cpp} {134,1}-{214,1}]'
"$SNAG" analyze "$cases/line-numbers/before.json.gz" --foi "$before" -o "$run/before" --quiet >"$run/analyze"
"$SNAG" model save "$run/before" "$run/model" --quiet >"$run/saved"
"$SNAG" score "$cases/line-numbers/after.json.gz" --model "$run/model" -o "$run/after" --quiet >"$run/score"
check line-numbers "$(sed -n "2p;4p" "$run/score")" 'step: 400 executions, 800 calls, 0 sends and receives, 3 different subtrees; 1 anomaly
the model has never seen: 0 calls on other call paths, in 0 executions'
"$SNAG" analyze "$cases/line-numbers/after.json.gz" --foi "$before" -o "$run/again" --quiet >"$run/analyze"
"$SNAG" compare "$run/before" "$run/again" --json --quiet >"$run/compare.json"
check 'line-numbers, compare' "$(jq -c .verdict "$run/compare.json")" '"same"'

# What does not end, what is too short, and of two executions nothing is said by chance.
first() { "$SNAG" list "$run/case" --executions --top 1 --json | jq -c "$1"; }
"$SNAG" analyze "$cases/hang/hang.json.gz" --foi solve -o "$run/case" --force --quiet >"$run/analyze" || [ $? -eq 3 ]
check hang "$(first '[.id, .verdict, .open_ns > 5e9, .lost_ns, .cost_ns]')" '["#0-1000","anomaly",true,0,null]'
check 'hang, why' "$(first .why | grep -o 'it does not end: .* 5.05 s before')" \
    'it does not end: it is still open when the events of its rank end, 5.05 s before'
"$SNAG" ad "replay:$cases/hang/hang.json.gz" --foi solve --store "$run/store" --quiet >"$run/ad" || [ $? -eq 3 ]
check 'hang, live' "$(grep -c '^solve #0-1000 does not end: ' "$run/ad")" 1
check 'hang, live, recorded' "$("$SNAG" query "$run/store" 'SELECT count(*) FROM anomalies' --format csv | tail -n 1)" 0

"$SNAG" analyze "$cases/short-calls/short.json.gz" --foi solve -o "$run/case" --force --quiet >"$run/analyze" || [ $? -eq 3 ]
check short-calls "$("$SNAG" query "$run/case" "SELECT count(*), sum(lost_ns), sum(why LIKE '% us less than a typical execution with the same calls %') FROM
    execution WHERE verdict = 'anomaly' AND duration_ns < 500000" --format csv | tail -n 1)" 3,0,3
"$SNAG" ad "replay:$cases/short-calls/short.json.gz" --store "$run/short" --quiet >"$run/ad" || [ $? -eq 3 ]
check 'short-calls, live' "$("$SNAG" query "$run/short" 'SELECT count(*) FROM anomalies WHERE runtime_total < 500' --format csv | tail -n 1)" 3

# One of 1,000 executions makes its calls in another order, and takes as long.
"$SNAG" analyze "$cases/order/order.json.gz" --foi step -o "$run/case" --force --quiet >"$run/analyze"
check order "$(first '[.id, .verdict, .lost_ns, (.why | test("^step calls c before a; 1 of its 1,000 calls with the same calls inside is in another order"))]')" '["#0-500","anomaly",0,true]'
check 'order, anomalies' "$("$SNAG" list "$run/case" --executions --all --verdict anomaly --json | wc -l)" 1

for n in two three; do
    "$SNAG" analyze "$cases/two-executions/$n.json" -o "$run/case" --force --quiet >"$run/analyze"
    check "two-executions, $n" "$(grep -c ': too few to say what is typical; they took .* to ' "$run/analyze")" 1
    check "two-executions, $n, chance" "$(first '[.verdict, (.why | test("chance")), (.why | test("too few to say what is typical"))]')" \
        '["normal",false,true]'
done

# What can be analyzed can be asked for, however absurd its clocks are.
for archive in clk1-segv clockoff-run-not-readable clockoff-run-not-readable/tsspan; do
    status=0
    "$SNAG" analyze "$cases/harm/$archive" -o "$run/absurd" --quiet >"$run/analyze" 2>&1 || status=$?
    check "$archive, analyze" $status 3
    id=$("$SNAG" list "$run/absurd" --executions --json | jq -rs '.[0].id')
    for command in "show $run/absurd $id" "what-if $run/absurd --without anomalies" "report $run/absurd -o $run/r.html" \
        "export $run/absurd --what calls" "ranks $run/absurd" "retrain $run/absurd"; do
        status=0
        # shellcheck disable=SC2086 # words
        "$SNAG" $command >"$run/out" 2>&1 || status=$?
        check "$archive, ${command%% *}" $status 0
    done
    rm -r "$run/absurd"
done

exit $failed

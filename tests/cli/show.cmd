#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
snag show t.snag '#1-7'
snag show t.snag '#2-21' --depth 1
snag show t.snag 'step#0-0' --all
snag show t.snag 0-3 --foi step --depth 5 --quiet --threads 1 --verify | sed -n '1,2p'

# Who waited for a rank that an anomaly kept has a cause; who waited as others do has none.
snag analyze 'synth:100*step(compute@1ms >1 <1 |);ranks=4;jitter=0.1;slow=compute/50/30/1' --foi step -o late.snag --quiet >/dev/null
snag show late.snag '#3-49' | grep -E '^the cause|^what it waited|^the chain ends'
snag show late.snag '#0-20' | grep -E '^the cause|^what it waited|^the chain ends'

# Whom it waited for in a fence no record says: that is by time, and who came then need not be the last.
snag analyze 'synth:200*step(compute@1ms MPI_Win_fence@100us);ranks=3;jitter=0.02;slow=compute/150/9/1;slow=MPI_Win_fence/150/81/0;slow=MPI_Win_fence/150/81/2' --foi step -o fence.snag --quiet >/dev/null; snag show fence.snag '#0-149' | sed -n '/^the cause/,/^the chain/p'

# Where a run has several functions, every id says of which it is.
snag analyze 'synth:100*step(compute@1ms >1 <1 |);ranks=3;jitter=0.1;slow=compute/50/30/1' --foi step --foi compute -o several.snag --quiet >/dev/null
snag show several.snag 'step#1-49' | sed -n '/^anomalies elsewhere/,/^$/p' | cut -c1-30
snag show several.snag 'step#1-49' --json | jq -c .peers
snag label several.snag 'step#1-49=normal' --quiet >/dev/null; snag retrain several.snag --foi step --json | jq -c '[.changes[0].id, .by[0].id]'; snag retrain several.snag --foi step --undo | sed -n '/^by /p;/^execution/,$s/ .*//p'

# What is not there.
snag show t.snag '#1-30'
snag show t.snag '#3-0'
snag show t.snag '#1.1-0'
snag show t.snag 'solve#1-7'
snag show t.snag '#1-'
snag show t.snag one
snag show t.snag '#-1-2'
snag show t.snag '#1-99999999999999999999'

# As JSON.
snag show t.snag '#1-7' --json >show.json
jq -c keys_unsorted show.json
jq -c '.paths[0] | keys_unsorted' show.json
jq -c '.paths[0] | [.path, .calls, .exclusive_ns + 0, .usual_ns]' show.json
jq -c '[.id, .place, .of, .verdict, .peers]' show.json
jq -c '.structure | keys_unsorted' show.json
jq '(.paths | map(.exclusive_ns) | add) == .duration_ns' show.json
snag show t.snag '#0-0' --verbose >/dev/null

# Which subtrees make it different from the executions most like it.
printf '40*step(compute@1ms(a 3*b) c@200us) 1*step(compute@1ms(a(new@1ms) 3*b) c@200us) 40*step(compute@1ms(a 3*b) c@200us);jitter=0.1' >program
snag analyze "synth:$(cat program)" --foi step --features stack2vec --detector ocsvm -o foreign.snag --quiet >/dev/null
snag show foreign.snag '#0-40' --subtrees --threshold 1.2 | sed -n '/^subtrees/,/^$/s/^ *[+-][0-9.]*/   X/p'
snag show foreign.snag '#0-40' --subtrees --threshold 1000 | grep '^subtrees'
snag show foreign.snag '#0-40' --subtrees --threshold 0.001 --all | grep -c '  new$'
snag show foreign.snag '#0-40' --subtrees --json | jq -c '.subtrees[0] | [keys_unsorted, .subtree, .importance > 2, .calls, .vertices_here]'
snag show foreign.snag '#0-10' --subtrees --json | jq -c '.subtrees'
snag show foreign.snag '#0-40' --json | jq -c 'has("subtrees")'
snag show t.snag '#1-7' --subtrees --threshold 3 --json 2>note | jq -c '.subtrees | length > 0'; cat note
snag show t.snag '#1-7' --subtrees --threshold high

# Twenty thousand calls deep, with a stack that has no room for as many functions of ours.
awk 'BEGIN { n = 20000; printf "["; for (i = 1; i <= n; i++) printf "{\"ph\":\"B\",\"pid\":0,\"tid\":0,\"ts\":%d,\"name\":\"%s\"},", i, i == 1 ? "step" : "f"; for (i = 1; i <= n; i++) printf "{\"ph\":\"E\",\"pid\":0,\"tid\":0,\"ts\":%d}%s", n + i, i < n ? "," : "]\n" }' >deep.json
snag analyze deep.json --foi step -o deep.snag --quiet >/dev/null
ulimit -s 1024; snag show deep.snag '#0-0' --all | wc -l

# Begins and ends that are estimates, in an archive that another tracer could have written.
mkdir e && sample_archive e estimated && snag analyze e --foi step -o e.snag --quiet >/dev/null; snag show e.snag '#1-7' | sed -n 1,6p; snag show e.snag '#1-7' | sed -n '/^call path/,$p'; snag query e.snag 'SELECT short_name, file, line FROM region WHERE id < 3'
snag list e.snag --executions --verdict anomaly --json | jq -c '[.id, .off_ns]'; snag list e.snag --all --json | jq -c 'select(.off_ns > 20) | [.id, .verdict, .off_ns, .lost_ns]'
snag query e.snag 'SELECT off_ns, count(*) FROM execution GROUP BY off_ns'
cmp e.snag/calls/enter_ns.u64 t.snag/calls/enter_ns.u64 && stat -c %s e.snag/calls/estimates.rec t.snag/calls/estimates.rec
snag list t.snag --all --executions --json | jq -s 'map(.off_ns) | add'

# A rank that hangs: what it lost nobody knows, beside another one that lost time, too.
hang() { awk -v late="$1" 'BEGIN { printf "["; for (p = 0; p < 3; p++) { n = p ? 80 : 40; for (i = 0; i <= n; i++) { t = 10000 * i; more = p == 1 && i == 20 ? late : 0; printf "%s{\"ph\":\"B\",\"pid\":%d,\"tid\":0,\"ts\":%d,\"name\":\"step\"},{\"ph\":\"X\",\"pid\":%d,\"tid\":0,\"ts\":%d,\"dur\":%d,\"name\":\"solve\"}", p + i ? "," : "", p, t, p, t + 100, 800 + more; if (i < n) printf ",{\"ph\":\"E\",\"pid\":%d,\"tid\":0,\"ts\":%d}", p, t + 950 + more + i % 3 } } print "]" }'; }; hang 0 >hang.json; hang 4000 >late.json
snag analyze hang.json --foi step -o hang.snag | sed -n '/^step:/,/^lost in all/p'
snag list hang.snag --groups
snag analyze late.json --foi step -o late.snag --force | sed -n '/^what/p;/^lost in all/p'
snag show hang.snag '#0-40' | grep ^meanwhile
sed 's/{"ph":"B","pid":[12],"tid":0,"ts":800000[^}]*},{[^}]*}/{"ph":"I","pid":1,"tid":0,"ts":800900,"s":"t","name":"end"}/g' hang.json >ended.json; snag analyze ended.json --foi step -o ended.snag --quiet >/dev/null; snag show ended.snag '#0-40' | grep ^meanwhile
snag report hang.snag -o - | sed 's/<[^>]*>/ /g' | grep -o 'took .*; score'

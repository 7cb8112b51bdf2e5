#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
snag list t.snag --executions --top 4
snag list t.snag --executions | wc -l
snag list t.snag --executions --all | wc -l
snag list t.snag --executions --rank 2 --top 2
snag list t.snag --executions --verdict anomaly
snag list t.snag --executions --verdict normal --rank 0 -a | wc -l
snag list t.snag --executions --foi ste --top 1 --quiet --threads 1 --verbose
snag list t.snag --executions --foi other
snag list t.snag --executions --rank 9
snag list t.snag --rank 9 --json

# What was disturbed: executions that were strange together.
snag list t.snag
snag list t.snag --incidents --top 1 --rank 2
snag list t.snag --incidents --json --verdict anomaly | jq -c 'del(.why, .score)'
snag list t.snag --incidents --json --all | jq -c .lost_ns | sed -n 1,2p | sort -rgc && echo sorted
snag list t.snag --incidents --executions
snag list t.snag --all | grep '^incident' # with what is normal in it, of which nothing is a cause
snag label t.snag '#0-3=abnormal' --quiet && snag retrain t.snag --quiet >/dev/null; snag list t.snag --incidents --json --all | jq -c 'select(.members[0] == "#0-3") | [.verdict, .head]'; snag retrain t.snag --undo --quiet >/dev/null; snag list t.snag --incidents --json --verdict anomaly | jq -c .members

# As JSON: one object a line, with the documented keys.
snag list t.snag --top 2 --json | jq -c keys_unsorted
snag list t.snag --top 2 --json | jq -c '[.id, .foi, .rank, .thread, .index, .enter_ns, .duration_ns, .vertices, .messages, .verdict, .label]'
snag list t.snag --all --json | jq -c .score | sort -rg | cmp - <(snag list t.snag --all --json | jq -c .score) && echo sorted

# What lost most first: 9 us of a solve, then one sort more; all of it is in what analyze says.
snag list t.snag --by lost --top 3
snag list t.snag --by lost --incidents

# What cost the run most first: what cost nothing is behind, however much it lost.
snag analyze 'synth:60*step(a@1ms 2:w@2ms |);ranks=3;slow=a/30/9/2;slow=a/20/2.5/1' --foi step -o c.snag >/dev/null
snag list c.snag --by cost --top 3
snag list c.snag --by cost --rank 1 --top 1 --json | jq -c '[.id, .cost_ns, .why]'
snag list c.snag --top 3
snag list t.snag --by time
snag list t.snag --all --json | jq -s '[(map(.lost_ns) | add), (map(.tracer_ns) | add)]' -c
snag analyze t --foi step -o u.snag --json | jq -c '[.lost_ns, .tracer_ns], .lost_by_rank[]'
snag analyze t --foi step -o v.snag | grep 'lost in all'

# An incident that labels alone made lost what its execution lost.
snag analyze 'synth:20*pair(17*step(a@1ms) 3*step(a@1.2ms));jitter=0.01' --foi step -o free.snag >/dev/null
snag label free.snag '#0-219=abnormal' --quiet && snag retrain free.snag --quiet >/dev/null; snag list free.snag --by lost --all --json | jq -c 'select(.id == "#0-219") | [.verdict, .lost_ns]'
snag list free.snag --incidents --all --json | jq -c 'select(.head == "#0-219") | [.incident, .lost_ns]'

# Checksums.
snag list t.snag --verify --top 1 >/dev/null && echo good
printf x | dd of=t.snag/calls/enter_ns.u64 bs=1 seek=100 conv=notrunc 2>/dev/null
snag list t.snag --verify --top 1
snag list t.snag --executions --top 1 >/dev/null && echo not looked at

# What is no run.
snag list nowhere.snag
mkdir empty.snag && snag list empty.snag
snag list t/traces.otf2

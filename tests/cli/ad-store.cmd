#needs jq
# Every 250th wait of rank 0 is long, because rank 1 is late then.
echo 'synth:300*step(0:<1 1:work@100us 1:late@10us 1:>1);ranks=2;jitter=0.05;slow=late/250/1000/1' >program
snag ad "$(cat program)" --step 0.01 --store 'sqlite:one?shards=2'
ls one
snag query one 'SELECT event_id, func, runtime_exclusive, io_step, is_pruned FROM anomalies'
snag query one 'SELECT event_id, func, runtime_exclusive, outlier_score < 6 AS usual FROM normalexecs'
snag query one "SELECT func, calls, anomalies, exclusive ->> 'count' AS n, round(severity ->> 'accumulate') AS lost FROM func_stats ORDER BY func"
snag query one 'SELECT func, count(*) AS models, max(version) AS last, min(algorithm) AS algorithm FROM ad_model GROUP BY func'
snag query one "SELECT l.value ->> 'rank' AS rank, l.value ->> 'function' AS func, l.value ->> 'waits_for' AS waits_for FROM anomalies, json_each(record, '$.cause') AS l"

# The same again is the same, but for what the store calls it.
snag ad "$(cat program)" --step 0.01 --store two --store-limit 64 --quiet | tail -n 2
for s in one two; do snag query $s "SELECT json_remove(record, '$.run_id', '$.stored_utc') FROM anomalies UNION ALL SELECT json_remove(record, '$.run_id', '$.stored_utc') FROM normalexecs" --format csv | sort | md5sum; done | uniq | wc -l

# What it cost: rank 0 waited for the late one; in slack it is nothing, and of one rank alone not known.
snag provdb top one --by cost --json | jq -c '[.event_id, .func, .cost_ns, .cost_is_bound]'
snag ad 'synth:400*step(a@1ms 2:w@8ms |);ranks=4;jitter=0.02;seed=3;slow=a/300/6/1' --foi step --step 0.1 --store slack --quiet >/dev/null
snag provdb filter slack 1 | jq -c '[.rid, .func, .outlier_severity > 4000, .cost_ns, .cost_is_bound]'
snag ad "$(cat program)" --rank 1 --step 0.01 --store alone --quiet >/dev/null
snag provdb top alone --by cost --json | jq -c '[.func, .cost_ns, .cost_is_bound]'

# Windows of two calls on either side, over the borders of steps.
snag ad "$(cat program)" --step 0.01 --store narrow --window 2 --json | jq -c '[.stored_anomalies, .stored_late, .stored_normals, .pruned, .dropped]'
snag provdb filter narrow 'rid = 0' | jq -c '.event_window.exec_window[] | [.event_id, .func, .is_anomaly]'
snag provdb filter narrow 'rid = 0' | jq -c '.partners[] | .rid, (.event_window.exec_window[] | [.event_id, .func])'

# Where steps end does not change what is around a call, nor whom it has to do with.
echo 'synth:6000*step(compute@300us(a 3*b) c@200us >1 d <1);ranks=3;jitter=0.05;slow=c/1499/30/1;slow=d/1111/5000' >long
for k in 0 0.01 0.003; do snag ad "$(cat long)" --step $k --window 5 --store s$k --quiet >/dev/null; snag provdb filter s$k 'outlier_severity > 3000' --all | jq -c '[.rid, .func, .entry, .exit, [.event_window.exec_window[] | [.func, .entry]], [.event_window.comm_window[] | [.type, .timestamp]], [([.entry, .exit] as [$e, $x] | [.event_window.comm_window[] | select(.timestamp >= $e and .timestamp <= $x)]) as $m | .partners[] | select(.rid as $r | $m | any(.src == $r or .tar == $r)) | .rid, [.event_window.exec_window[] | [.func, .entry]]]]' | sort >around$k; wc -l <around$k; md5sum <around$k; done | sort | uniq -c | awk '{ print $1 }'

# Twice into one store: two runs, whose calls and anomalies add up; what the first was told stays.
for i in 1 2; do snag ad "$(cat program)" --step 0.01 --store twice --quiet >/dev/null; done
snag provdb compare one twice
snag query twice 'SELECT run, pid, rid, shard FROM runs'
snag query twice 'SELECT run, count(*) AS n, min(final_p IS NULL) AS not_asked FROM anomalies GROUP BY run'
snag query twice 'SELECT DISTINCT event_id FROM anomalies' --format csv | wc -l

# What works on any store works on this one.
snag provdb top one --top 2 --json | jq -c '[.event_id, .func, .outlier_severity]'
snag provdb compare one narrow
snag export one --what normalexecs | cut -d, -f 4-7
snag export one --format json | jq -r .event_id
snag export one --format chrome | jq '.traceEvents | length > 20'

# With a model per call path; records judged late have no window.
snag ad 'synth:300*step(a(c@1ms) 2*b(c@9ms));jitter=0.05;slow=c/898/9' --model-key path --store paths --quiet | tail -n 2
snag query paths "SELECT func, fid, json_array_length(record, '$.event_window.exec_window') AS around FROM anomalies"
snag query paths 'SELECT func, calls, anomalies FROM func_stats ORDER BY func'
snag ad "$(cat program)" --step 0.01 --min-count 280 --store late --json | jq -c '[.stored_anomalies, .stored_late]'
snag query late "SELECT event_id, func, json_array_length(record, '$.event_window.exec_window') AS around FROM anomalies"

# A job of two instances with one store.
for r in 0 1; do snag ad "$(cat program)" --rank $r --step 0.01 --store both --quiet >/dev/null; done; snag query both 'SELECT rid, func FROM anomalies ORDER BY rid'

# What the node's state is made of.
echo '[["cycles", "cyc"]]' >list.json && snag ad "$(cat program)" --store list --watchlist list.json --counter-prefix x --quiet --json | jq .stored_anomalies
echo '{}' >list.json && snag ad "$(cat program)" --store list --watchlist list.json
snag ad "$(cat program)" --watchlist list.json

# What cannot be written.
snag ad "$(cat program)" --store postgresql://me:secret@db.example/prov
snag ad "$(cat program)" --store 'postgresql://me@/prov?host=/nowhere' --spool waits --spool-limit 5 2>&1 | sed 's/database: .*/database: WHY/'
snag watch "$(cat program)" --store 'postgresql://me@/prov?host=/nowhere' --spool waits --spool-limit 5 2>&1 >/dev/null | sed 's/database: .*/database: WHY/'; ls waits
snag ad "$(cat program)" --store postgresql:///prov --spool-limit 0
snag ad "$(cat program)" --store program
snag ad "$(cat program)" --store wide --window 1001
(ulimit -f 2400; trap '' XFSZ; snag ad 'synth:160000*step(c@200us >1 <1);ranks=4;jitter=0.05;slow=c/100/30' --step 0.1 --call-detector sstd --store full --json >out 2>err; echo $?; jq -c '[.anomalies > 0, .stored_anomalies > 0, .dropped > 0]' out; cat err | sed 's/: [0-9]* rows/: N rows/' | sort | uniq -c | grep -v 'again\|fast enough')

# What is usual in the end was not strange: the first slow calls of c are as long as its last ones usually are.
snag ad 'synth:main(400*a(c@200us) 400*b(c@6ms));ranks=3;jitter=0.1;slow=c/80/30/1' --step 0.02 --store later | sed -n '2,3p'
snag provdb top later --all --format csv | sed 1d | wc -l
snag query later 'SELECT count(*), sum(outlier_severity > 0), sum(is_pruned) > 0, sum(NOT is_pruned) FROM anomalies'
snag ad 'synth:main(400*a(c@200us) 400*b(c@6ms));ranks=3;jitter=0.1;slow=c/80/30/1' --step 0.02 --store again --json | jq -c '[.anomalies, .taken_back > 0, .stored_anomalies == .anomalies + .taken_back]'

# A store that is full: what lost least gives way, and that is said.
snag ad 'synth:60000*step(a@100us);jitter=0.3' --step 0.2 --least 1ns --false-alarms 100000 --store small --store-limit 1 2>&1 | grep -o -e 'reached its limit' -e 'removed from the store to keep this run below its limit'
snag query small 'SELECT count(*) BETWEEN 100 AND 3000 AS is_bounded FROM anomalies'

# There is no store of that name, but with a path.
snag ad synth:10*a --store none; ls -d none 2>&1; snag ad synth:10*a --store ./none --quiet | tail -n 1; snag ad synth:10*a --store none

# How much less is stored than was read: bytes of files on either side. A second run adds little to the store.
sample_archive real estimated; cat real/*.otf2 real/*.def real/*/* | wc -c >bytes
snag ad real --store reduced --json --quiet | jq -c --argjson bytes "$(cat bytes)" '[.trace_bytes == $bytes, (.reduction * .stored_bytes / .trace_bytes - 1 | fabs < 1e-9), .stored_is, .reduction_unknown]'
snag provdb reduction reduced --json | jq -c --argjson bytes "$(cat reduced/shard-*.db | wc -c)" --argjson trace "$(cat bytes)" '[.stored_bytes == $bytes, .trace_bytes == $trace, (.reduction * .stored_bytes / .trace_bytes - 1 | fabs < 1e-9)]'
snag provdb reduction reduced | sed 's/^[0-9.]* KiB/N/;s/[0-9.]* times/N times/'
snag ad real --rank 1 --json --quiet | jq -c --argjson bytes "$(cat bytes)" '[.trace_bytes < $bytes, .stored_bytes, .reduction_unknown]'
snag ad real --store reduced --quiet | tail -n 1 | sed 's/^[0-9.]* KiB/N/;s/[0-9.]* times/N times/'
snag provdb reduction two

# Whoever is in the cause of a record has a lane in it.
snag ad 'synth:2000*step(compute@1ms >1 <1 c@200us);ranks=6;jitter=0.1;slow=compute/700/12/2' --step 0.2 --store 'sqlite:causes?shards=1' --quiet >/dev/null
snag provdb filter causes 1 | jq -c 'select(.cause | length > 1) | (.cause | map(.rank)) - ([.rid] + (.partners | map(.rid)))' | sort | uniq -c | tr -s ' '

# What the models at the end take back is in no number of the store then; without a store nothing is judged again, which is said.
echo 'synth:300*step(a@1ms b@2ms >1 <1 |);ranks=6;jitter=0.05;slow=a/1/1.3/3;slow=b/100/20/4' >taken
snag ad "$(cat taken)" --step 0.02 --call-detector hbos --quiet | sed -n 2p
snag ad "$(cat taken)" --step 0.02 --call-detector hbos --quiet --store taken.store | sed -n 2,3p
snag query taken.store "SELECT (SELECT anomalies FROM jobs), sum(anomalies), sum(severity ->> 'count'), abs(sum(severity ->> 'accumulate') - (SELECT sum(outlier_severity) FROM anomalies WHERE NOT is_pruned)) < 1 FROM func_stats"

#needs jq
sample_store one && sample_store two 40 && ls one

# Records by a condition, all of each.
snag provdb filter one 'rid = 3 AND outlier_severity > 40000' | jq -c '[.event_id, .func, .outlier_severity]'
snag provdb filter one "func = 'MPI_Wait()'" --top 1 | jq -S 'del(.stored_utc, .call_stack[1:], .event_window.exec_window[1:], .event_window.comm_window[1:], .partners[].event_window) | walk(if type == "number" then . + 0 else . end)'
snag provdb filter sqlite:one 'tid = 1 -- and nothing else' --rank 0 --top 2 --json | jq -r .event_id
snag provdb filter one 'is_gpu_event' --what normalexecs --all | jq -c '.gpu_parent.event_id, .gpu_location'
snag provdb filter one 'rid = '
snag provdb filter one '1) UNION SELECT (1'
snag provdb filter one '1 THEN 1 END UNION SELECT CASE WHEN 1'
snag provdb filter one '1); SELECT (1'
snag provdb filter one 'colour = 3'

# Those that lost the most time, and the strangest.
snag provdb top one --top 3
snag provdb top one --top 3 --by score --rank 2 --format csv
snag provdb top one --top 3 --by cost --format csv
snag provdb top one --by cost --incidents --top 2 --json | jq -c '[.cost_ns, .event_id]'
snag provdb filter one 'cost_ns > 0' | jq -c '[.event_id, .cost_ns, .cost_is_bound]'
snag provdb top one --by severity --what normalexecs --json --quiet --threads 1 | jq -c '[.event_id, .outlier_severity]'
snag provdb top one --all --verbose | wc -l

snag provdb --help | sed -n 1,3p

# Two stores side by side.
snag provdb compare one two --top 4
snag provdb compare one two --all --format csv --rank 1 | wc -l
snag provdb compare one two --all --format csv | grep -e rate -e MPI_W
snag provdb compare one one --json | jq -s 'map(.difference) | add'

# What was strange when little was known, and is not in the end, is none of what is compared.
snag ad 'synth:400*step(solve@1ms(a 3*b) >1 <1);ranks=2;jitter=0.1;slow=b/40/3' --store early --step 0.02 --min-count 5 --quiet | tail -2
snag provdb compare early early --json | wc -l

# SQL and exports take a store too.
snag query one 'SELECT rid, count(*) AS n FROM anomalies GROUP BY rid'
snag query one 'SELECT pid, rid, tid, descr, value FROM metadata'
snag query one "SELECT func, calls, anomalies, exclusive ->> 'mean' AS mean FROM func_stats"
snag query one 'SELECT counter, stats FROM counter_stats'
snag query one 'SELECT version, fid, func, algorithm, length(data) > 6 AS has_data FROM ad_model'
snag query one "SELECT json_array_length(record, '$.call_stack') AS depth FROM normalexecs LIMIT 2"
snag query one 'DELETE FROM s0.record'
snag export one | sed -n 1,3p | cut -c1-100
snag export one --what normalexecs --format json --rank 0 | jq -r .event_id
snag export one --format chrome -o one.json && jq -c '.traceEvents | [length, (map(select(.cat == "anomaly")) | length)]' one.json
jq -c '.traceEvents[0] | walk(if type == "number" then . + 0 else . end)' one.json

# What is not a store, or not of one.
snag provdb top nowhere
snag provdb top postgresql://me:secret@db.example/prov
snag provdb top 'sqlite:one?shards=0'
snag provdb topmost one
snag provdb filter one
snag provdb top one --what calls
snag provdb top one --format chrome
snag export one --what calls
snag export one --foi main
snag query one 'SELECT nothing'
rm one/shard-0001.db && snag provdb top one

# A damaged record is left out and said to be.
snag query two 'SELECT count(*) AS n FROM anomalies'
cp -r two bad && for f in bad/*.db; do LC_ALL=C sed -i 's/\x28\xb5\x2f\xfd/\x28\xb5\x2f\xfe/' $f; done
snag provdb filter bad 1 2>&1 | tail -1

# A delay that goes from rank to rank is one incident, by the call that it goes back to.
snag ad 'synth:1200*step(solve@1ms(pack@50us kernel@600us) >1 <1);ranks=6;jitter=0.02;slow=kernel/500/9/3' --store waves --step 0.5 --quiet | sed -n 2p
snag provdb top waves --incidents --json | jq -c '[.calls, .ranks, .rank, .function, .lost > 4 * .most_lost]'
snag provdb top waves --incidents --rank 5 --by score --top 1 --json | jq -c '[.calls, .rank]'
sample_store three && snag provdb top three --incidents --all --json | jq -s 'map(.calls) | add'; snag provdb top three --all --json | wc -l

# An execution that is strange by its own time and the call of its root are one.
snag ad 'synth:600*step(solve@1ms(pack@50us kernel@600us) >1 <1);ranks=2;jitter=0.02;slow=kernel/300/9/1' --foi kernel --store own --step 0.5 --quiet | sed -n 2p
snag provdb top own --json | jq -c '[.event_id, .func, .cost_ns]'
snag provdb top own --incidents --json | jq -c '[.calls, .rank, .function, .cost_ns, .lost < 2.1 * .most_lost]'

# A function that is strange in one store only has none of its calls strange in the other.
snag ad 'synth:600*step(solve@1ms(pack@50us kernel@600us) >1 <1);ranks=2;jitter=0.02' --store calm --step 0.5 --quiet | sed -n 2p
snag provdb compare own calm --json | jq -c '[.func, .anomalies_1, .anomalies_2, .rate_1 > 0, .rate_2 == 0]'
snag query own 'SELECT (SELECT count(*) FROM anomalies) AS records, anomalies FROM jobs' --format csv

# What is backed up may be dropped; times and sizes are of the machine.
sample_store kept
snag provdb prune kept
snag provdb prune kept --keep-days 0 2>&1 | sed 's/[0-9.]* KiB/N KiB/g'
snag provdb prune kept --keep-mib 1 --json | jq -c 'del(.bytes, .bytes_before)'
snag provdb backup kept copy --json | jq -c '.bytes > 4096, del(.bytes)'
snag provdb backup kept copy
snag query copy 'SELECT count(*) AS n FROM anomalies' --format csv
snag query kept 'SELECT run, run_id, backed_up IS NOT NULL AS is_safe, dropped FROM runs' --format csv
snag provdb prune kept --keep-days 0 --json | jq -c 'del(.bytes, .bytes_before)'
snag query kept 'SELECT count(*) AS n FROM anomalies' --format csv
sample_store kept && snag provdb compare kept kept --top 1 --json | jq -c '[.runs_1, .runs_2]'; snag query kept 'SELECT job, anomalies FROM jobs' --format csv
snag provdb backup nowhere copy-2
snag provdb backup kept
snag provdb prune kept --keep-mib 0

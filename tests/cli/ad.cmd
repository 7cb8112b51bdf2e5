#needs jq
# Every 80th call of c on rank 1 is 30 times as long as the others.
echo 'synth:400*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/80/30/1' >program
snag ad "$(cat program)"
snag ad "replay:$(cat program)" --json | jq -c 'del(.source) | .false_alarms_per_million += 0'
snag ad "$(cat program)" --step 0.05 --json | jq -c '[.steps, .calls, .anomalies]'
snag ad "$(cat program)" --step 0 --json | jq -c '[.steps, .calls, .anomalies]'
snag ad "$(cat program)" --rank 1 --as-rank 7 --program 2 --json | jq -c '[.calls, .anomalies]'
snag ad "$(cat program)" --rank 3 --json | jq -c .calls
snag ad "$(cat program)" --rank 2 --json | jq -c '[.calls, .anomalies]'
snag ad "$(cat program)" --call-detector sstd --inclusive --json | jq -c '[.calls, .anomalies > 0]'
snag ad "$(cat program)" --min-count 1000 --json | jq -c '[.anomalies, .unjudged]'
snag ad 'synth:2*a' --connect-timeout 1 --silence-timeout 60 --speed 100 --quiet | sed -n 2p
snag ad 'synth:2*a' --verbose --threads 1 --step 2 | sed -n 2p

# A program that says nothing for too long; a signal (without --foreground, SIGCONT would follow and undo the SIGSTOP of a leak checker).
snag ad 'synth:5*a@1s' --speed 0.001 --silence-timeout 0.3
timeout --foreground -s INT 1.5 snag ad 'synth:5*a@1s' --speed 0.001 --json | jq -c '[.events, .is_interrupted]'
timeout --foreground -s TERM 1.5 snag ad 'synth:500*a@10ms' --speed 1 --step 0.1 --json | jq '.is_interrupted'

# It dies, as of a damaged file.
snag ad 'synth:50*a@1s' --speed 0.01 & until grep -q . /proc/$!/task/$!/children; do sleep 0.05; done; kill -SEGV $(cat /proc/$!/task/$!/children); wait $!

# Damage.
echo '[{"ph":"B","pid":0,"tid":0,"ts":1,"name":"main"},{"ph":"E","pid":0,"tid":0,"ts":2},{"ph":"E","pid":0,"tid":0,"ts":3}]' >odd.json; snag ad odd.json | sed 1d
snag ad nowhere
snag ad replay:nowhere
snag ad
snag ad a b
snag ad synth:a --step -1
snag ad synth:a --min-time 5
snag ad synth:a --silence-timeout nan
snag ad synth:a --model-key thread
snag ad --help | sed -n 1p

# Options of what is not asked for.
snag ad synth:a --window 3 --counter-prefix x --tree-window 60 --quiet | sed -n 2p

# What is ignored is neither learnt nor judged; a region may have a threshold of its own.
printf '# strange ones\nc\n/^st[e-f]p$/\nnobody\n' >ignore; snag ad "$(cat program)" --ignore ignore --json | jq -c '[.calls, .ignored, .anomalies]'
echo 'c 1e-300' >thresholds; snag ad "$(cat program)" --thresholds thresholds --json | jq .anomalies
echo 'compute 0.2' >thresholds; snag ad "$(cat program)" --thresholds thresholds --json | jq '.anomalies > 10'
snag ad "$(cat program)" --min-time 5ms --json | jq .anomalies
snag ad "$(cat program)" --min-time 1s --json | jq .anomalies
# What lost too little is counted; how many normal calls may be called strange.
snag ad "$(cat program)" --least 5500us --json | jq -c '[.anomalies, .slight, .least_ns]'
snag ad "$(cat program)" --least 1s | sed 1d
snag ad "$(cat program)" --false-alarms 20000 --least 0us --json | jq -c '[.anomalies > 20, .false_alarms_per_million + 0]'
snag ad synth:a --false-alarms 1e6
snag ad synth:a --least 5
echo '/(/' >ignore; snag ad "$(cat program)" --ignore ignore
echo 'c 2' >thresholds; snag ad "$(cat program)" --thresholds thresholds
snag ad "$(cat program)" --thresholds thresholds --call-detector sstd --json | jq '.anomalies >= 5'
echo 'c' >thresholds; snag ad synth:c --thresholds thresholds
snag ad synth:c --thresholds nowhere

# Calls that are too short: c takes a tenth of the time on every 500th call.
for which in none work all; do snag ad 'synth:2000*step(c@1ms >1 <1);ranks=2;jitter=0.05;slow=c/500/0.1' --short $which --json | jq -c '[.anomalies, .slight]'; done
snag ad 'synth:2000*step(c@1ms >1 <1);ranks=2;jitter=0.05;slow=c/500/0.1' --least 950us | sed 1,2d
snag ad synth:a --short some

# Models per call path: 9 ms of c are usual in b, but not in a.
for key in region path; do snag ad 'synth:300*step(a(c@1ms) 2*b(c@9ms));jitter=0.05;slow=c/898/9' --model-key $key --json | jq -c '[.models, .anomalies]'; done

# Chimbuko's file.
echo '{"algorithm": "SSTD", "sstd_sigma": 3, "hbos_thres": 0.99, "glob_thres": true}' >algo.json; snag ad "$(cat program)" --algo-file algo.json --json | jq '.anomalies > 5'
snag ad "$(cat program)" --algo-file algo.json --call-detector hbos --quiet --json | jq '.anomalies'
for detector in tails sstd hbos copod; do snag ad "$(cat program)" --call-detector $detector --json | jq -c '[.anomalies, .slight, .least_ns, .false_alarms_per_million]' | sed 's/10\.0/10/g'; done
echo '{"algorithm": "hbos", "hbos_thres": 0.5, "glob_thres": false, "hbos_max_bins": 20}' >algo.json; snag ad "$(cat program)" --algo-file algo.json --json | jq '.anomalies'
echo '{"algorithm": "copod", "hbos_thres": 0.5}' >algo.json; snag ad "$(cat program)" --algo-file algo.json --json | jq '.anomalies'
echo 'c 0.5' >thresholds; snag ad "$(cat program)" --call-detector copod --thresholds thresholds --json | jq '.anomalies'
snag ad "$(cat program)" --call-detector hbos --false-alarms 3
echo '{"hbos_thres": 0}' >algo.json; snag ad synth:a --algo-file algo.json
echo '{"hbos_max_bins": 0.5}' >algo.json; snag ad synth:a --algo-file algo.json
echo '{"algorithm": "magic"}' >algo.json; snag ad synth:a --algo-file algo.json
echo '{"sstd_sigma": -1}' >algo.json; snag ad synth:a --algo-file algo.json
echo '{"sstd_sgima": 1}' >algo.json; snag ad synth:a --algo-file algo.json
echo '[1, 2' >algo.json; snag ad synth:a --algo-file algo.json
echo '[]' >algo.json; snag ad synth:a --algo-file algo.json

# With a parameter server, which is over before it is asked to end: see tests/live for what it is for.
snag ps --snapshot job.ps --curve-key job.key >out & while [ ! -s out ]; do sleep 0.01; done; snag ad "$(cat program)" --ps "$(cat out)" --curve-key job.key --json | jq -c '[.anomalies, .server.is_complete, .server.restarts]'; kill $!; wait $!; tail -n 1 out | grep -o '5 functions'
snag ps --deterministic 1 >out2 & while [ ! -s out2 ]; do sleep 0.01; done; snag ad "$(cat program)" --ps "$(cat out2)" --deterministic 1 --step 0.1 --json | jq -c '[.anomalies, .steps, .server.round >= 6]'; kill $!; wait $!
snag ad synth:a --deterministic 2
SNAG_DETERMINISTIC=2 SNAG_CURVE_KEY=job.key snag ad synth:a --json | jq .calls
snag ad synth:a --ps nonsense

# Where metrics are comes first.
snag ad 'synth:2*a' --metrics 127.0.0.1:0 | sed -n '1s/:[0-9][0-9]*\//:PORT\//p'
snag ad 'synth:2*a' --metrics 0 --json | jq -cs '[.[0] | has("metrics")], (.[1].calls)'
snag ad 'synth:2*a' --metrics a:1

# A log, and what the run is called. (Status 3 where a call was open when it was told to end.)
snag ad 'synth:300*step(c@1ms)' --run-id job:77 --log log --quiet | tail -n 1; sed 's/^20[0-9TZ:.-]* //; s/version .*/version V/' log
snag ad 'synth:3*step' --run-id 'no blanks'
snag ad 'synth:3*step' --log nowhere/log
snag ad 'synth:100000*step@1ms' --speed 1 --step 0.05 --run-id j8 --log moved >/dev/null & while [ ! -s moved ]; do sleep 0.05; done; mv moved moved.1; kill -HUP $!; while [ ! -s moved ]; do sleep 0.05; done; kill -TERM $!; wait $!; case $? in 0|3) echo 'ended itself';; *) echo killed;; esac; sed 's/^[^ ]* //; s/version .*/V/; s/status [03]$/status S/' moved.1 moved

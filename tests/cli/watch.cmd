#needs curl
#needs jq
# In one process: a page, and what snag ad counts.
echo 'synth:400*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/80/30/1' >program
snag watch "$(cat program)" --once --speed 0 --step 0.05 --quiet --verbose --threads 1 | sed 's/:[0-9]*\/$/:PORT\//'
snag ad "$(cat program)" --step 0.05 | sed -n 2p
snag watch --help | sed -n 1p
# The page is there before the program is over, and stays until it is told.
snag watch "$(cat program)" --speed 0 --port 0 --listen 127.0.0.2 --print-tunnel >said1 & until grep -qs 'strange$' said1; do sleep 0.05; done; curl -s "$(head -n 1 said1)api/v1/live/status" | jq -c '[.state, .calls, .ranks]'; kill $!; wait $!; sed "s/:[0-9]*\/$/:PORT\//; s/-L .* .*/-L TUNNEL HOST/" said1
snag watch 'synth:10000*a@10ms' --speed 1 --step 0.1 >said2 & until grep -qs http said2; do sleep 0.05; done; curl -s "$(head -n 1 said2)api/v1/live/status" | jq -c '[.source, .detector, .is_inclusive]'; kill -INT $!; wait $!; sed -n 3p said2 | sed 's/: [0-9]*/: N/'
# Calls compared by path; another detector.
snag watch "$(cat program)" --once --speed 0 --step 0.05 --model-key path --call-detector sstd --inclusive | sed -n 3p | sed 's/[0-9]* strange/N strange/'
# What snag ad takes too.
echo b >ignored; echo 'c 1e-9' >thresholds; echo '{"algorithm": "hbos"}' >algorithm.json
snag watch "$(cat program)" --once --speed 0 --step 0.05 --rank 1 --as-rank 7 --program 2 --min-count 50 --min-time 1us --least 1us --short all --false-alarms 5 --ignore ignored --thresholds thresholds --window 3 --tree-window 60 --connect-timeout 1 --silence-timeout 60 --counter-prefix x --json | jq -c "if .url then {url: 1, tunnel} elif .stored_bytes then .stored_bytes = 1 else . end" | sed 's/\(per_million":[0-9]*\)\.0/\1/'
snag watch "$(cat program)" --once --speed 0 --algo-file nowhere
snag watch synth:a --once --foi a --model nowhere --store nowhere/at/all --watchlist nowhere >nothing 2>&1

# Executions of a function of interest are points and records; what is not kept, and what was never called.
snag watch "$(cat program)" --once --speed 0 --step 0.05 --foi step --tree-features duration,calls --tree-sigmas 5 --store kept --store-limit 64 | sed 1d
snag serve kept --port 0 >said3 & until grep -qs http said3; do sleep 0.05; done; curl -s "$(head -n 1 said3)api/v1/live/status" | jq -c '[.points.kind, .executions, .anomalies, (.fois | length)]'; curl -s "$(head -n 1 said3)api/v1/live/records?kind=executions&order=oldest" | jq -c '.items[0] | [.execution, .func, .rank]'; kill $!; wait $!
snag watch "$(cat program)" --once --speed 0 --step 0.05 --store none | sed 1d; [ ! -e none ] && echo nothing
snag watch "$(cat program)" --once --speed 0 --step 0.05 --foi nowhere --store none 2>&1 | sed 1d

# What cannot be watched.
snag watch nowhere --port 0 2>&1 | sed 's/:[0-9]*\/$/:PORT\//'
snag watch "$(cat program)" --listen example.org
snag watch
snag watch a b
# What is left in a store is shown by snag serve.
sample_store left
snag serve left --port 0 >said4 & until grep -qs http said4; do sleep 0.05; done; curl -s "$(head -n 1 said4)api/v1/live/status" | jq -c '[.state, .anomalies, .store.stored]'; kill $!; wait $!
# What chooses how to judge, and an end with the program, is not for what was judged.
snag watch left --once; snag watch left --least 10us; snag watch --server tcp://localhost:1 --foi step
snag serve left/nothing
snag watch --once --quiet --store none --run-id w1 --log log 'synth:3*step' >/dev/null; grep -c ' w1 info snag: watch begins' log

#needs jq
# Every 80th call of c on rank 1 is 30 times as long as the others.
echo 'synth:400*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/80/30/1' >program
snag ad "$(cat program)"
snag ad "replay:$(cat program)" --json | jq -c 'del(.source)'
snag ad "$(cat program)" --step 0.05 --json | jq -c '[.steps, .calls, .anomalies]'
snag ad "$(cat program)" --step 0 --json | jq -c '[.steps, .calls, .anomalies]'
snag ad "$(cat program)" --rank 1 --as-rank 7 --program 2 --json | jq -c '[.calls, .anomalies]'
snag ad "$(cat program)" --rank 2 --json | jq -c '[.calls, .anomalies]'
snag ad "$(cat program)" --call-detector sstd --inclusive --json | jq -c '[.calls, .anomalies > 0]'
snag ad "$(cat program)" --min-count 1000 --json | jq -c '[.anomalies, .unjudged]'
snag ad 'synth:2*a' --connect-timeout 1 --silence-timeout 60 --speed 100 --quiet | sed -n 2p
snag ad 'synth:2*a' --verbose --threads 1 --step 2 | sed -n 2p

# A program that says nothing for too long; a signal.
snag ad 'synth:5*a@1s' --speed 0.001 --silence-timeout 0.3
timeout -s TERM 0.5 snag ad 'synth:50*a@10ms' --speed 1 --step 0.1 --json | jq '.is_interrupted'

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

# What is not there yet says so.
snag ad synth:a --foi a
snag ad synth:a --model file
snag ad synth:a --store dir
snag ad synth:a --watchlist file
snag ad synth:a --window 3 --counter-prefix x --tree-window 60 --quiet | sed -n 2p

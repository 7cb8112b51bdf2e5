#needs jq
# serve snag ps ...: a server, $run while it runs, then SIGTERM. The address comes first, counts at the end.
printf '%s\n' 'rm -f out; "$@" >out & while [ ! -s out ]; do sleep 0.01; done' 'address=$(grep -o "tcp://[^\"]*" out | sed -n 1p); eval "$run"; kill -${signal:-TERM} $!; wait $!' >serve
bash serve snag ps --workers 3 --interval 0.05 && sed 's/:[0-9]*$/:PORT/' out
signal=INT bash serve snag ps --listen 'tcp://127.0.0.1:*' --json && sed 's/:[0-9]*"/:PORT"/' out

# A snapshot is gone on from; its models are loaded, frozen, elsewhere.
run='snag sim $address --ranks 3 --functions 5 --rate 20 --seconds 0.5 --seed 2 >sim' bash serve snag ps --snapshot job.ps && tail -n 1 out | grep -o '[0-9]* clients\|5 functions'
bash serve snag ps --snapshot job.ps --json && tail -n 1 out | jq -c '[.clients, .functions, .deltas, .duplicates, .lost_calls, .version > 0]'
run='snag sim $address --functions 5 --rate 0 --ranks 2 --seconds 0.2 --json >sim' bash serve snag ps --load job.ps --frozen --json && tail -n 1 out | jq -c '[.functions, .deltas > 0]'
jq -c '[.ranks, .functions, .refused, .answered > 0, .requests_per_s > 0, .latency_median_ns > 0]' sim
snag ps --load missing.ps
echo hello >bad.ps; snag ps --snapshot bad.ps

# The same calls again are other clients, not the first ones once more.
run='for i in 1 2; do snag sim $address --ranks 2 --functions 5 --rate 20 --seconds 0.3 --seed 4 >sim; done' bash serve snag ps --json && tail -n 1 out | jq -c '[.clients, .duplicates]'

# Rounds.
bash serve snag ps --deterministic 2 --json && tail -n 1 out | jq -c '[.round, .snapshots]'

# Servers below another: the one at the top knows all, and says what is called what.
snag ps --upstream tcp://127.0.0.1:9
snag ps --snapshot top.ps --interval 0.02 >top.said & top=$!; while [ ! -s top.said ]; do sleep 0.01; done; snag ps --snapshot leaf.ps --interval 0.02 --upstream $(head -n 1 top.said) --json >said & leaf=$!; while [ ! -s said ]; do sleep 0.01; done; snag sim $(grep -o 'tcp://[^"]*' said) --ranks 4 --functions 5 --rate 20 --seconds 0.5 >/dev/null; kill $leaf; wait $leaf; kill $top; wait $top; tail -n 1 said | jq -c '[.clients, .functions, .upstream.unsaved, .upstream.restarts, .upstream.answered > 0, .received_bytes > 0, .sent_bytes > 0]'
snag sim --tree 3x4 --ranks 24 --functions 5 --rate 10 --seconds 0.5 --json | jq -c '[.ranks, .refused, .answered > 0, (.levels | map(.servers)), .levels[1].requests > .levels[0].requests, .levels[0].sent_bytes > 0, .levels[1].received_bytes > .levels[0].received_bytes]'
snag sim --tree 2x1 --ranks 2 --functions 5 --seconds 0.2 | grep -o 'level 0: 1 server, together'

# Beyond this machine only with a key, which is made; a client needs the same.
snag ps --listen 'tcp://*:*'
bash serve snag ps --listen 'tcp://*:*' --insecure && sed -n '1s/:[0-9]*$/:PORT/p' out
run='snag sim $address --curve-key job.key --ranks 1 --rate 5 --seconds 0.3 | grep -o "0 refused"' bash serve snag ps --curve-key job.key && stat -c %a job.key
chmod 644 job.key; snag ps --curve-key job.key

# What cannot be.
snag ps --listen 5559
snag ps --listen tcp://127.0.0.1:99999
snag ps --listen tcp://127.0.0.1
snag ps --interval 0
snag ps --workers 1000
snag ps trace
snag sim
snag sim tcp://127.0.0.1:1 --tree 3x2
snag sim --tree 3
snag sim --tree 1x2
snag sim --tree 4x99
snag sim tcp://127.0.0.1:1 --rate -1
snag sim tcp://127.0.0.1:1 --seconds 0
snag sim tcp://127.0.0.1:1 --ranks 100000

# What all commands take.
snag ps --help | sed -n 1p; snag sim --help | sed -n 1p
bash serve snag ps --threads 1 --quiet && bash serve snag ps --verbose && snag ps --quiet --threads 1 --verbose x
snag sim --quiet --threads 1 --verbose x --rate 2e6

# Metrics have an address of their own.
bash serve snag ps --metrics 0 && sed 's/:[0-9]*\(\/metrics\)*$/:PORT\1/' out
bash serve snag ps --metrics '[::1]:0' --json && head -n 1 out | jq -r .metrics | sed 's/:[0-9][0-9]*\//:PORT\//'
snag ps --metrics 99999
snag ps --metrics localhost:1
snag ps --metrics ::1:1

# A log that is renamed goes on under its name.
snag ps --run-id j7 --log log >logged & while [ ! -s logged ]; do sleep 0.05; done; mv log log.1; kill -HUP $!; while [ ! -s log ]; do sleep 0.05; done; kill -TERM $!; wait $!; echo $?; sed 's/^[^ ]* //; s/version .*/V/' log.1 log

# What a server knows can be asked for, with the key of the job where it has one.
snag ps --curve-key own.key --snapshot k.ps --interval 0.05 >asked & server=$!; until [ -s asked ]; do sleep 0.05; done; snag ad 'synth:100*step(a@1ms)' --ps "$(cat asked)" --curve-key own.key --quiet >/dev/null; until snag query "$(cat asked)" 'SELECT count(*) AS n FROM functions' --curve-key own.key --json | grep -q ': 2'; do sleep 0.05; done; snag query "$(cat asked)" 'SELECT name, calls FROM functions ORDER BY name' --curve-key own.key; snag ps --dump "$(cat asked)" --curve-key own.key | jq -c '[.server[0].clients, (.functions | length), (.statistics | length)]'; snag model save "$(cat asked)" saved.ps --curve-key own.key; snag watch --server "$(cat asked)" --curve-key own.key --port 0 >page & page=$!; until [ -s page ]; do sleep 0.05; done; curl -s "$(head -n 1 page)api/v1/live/status" | jq -c '[.calls, .ranks]'; kill $page; wait $page; kill $server; wait $server
snag query saved.ps 'SELECT sum(calls) FROM functions'; snag query k.ps 'SELECT clients FROM server'
snag ps --dump nowhere
snag watch synth:3*a --server tcp://127.0.0.1:1
snag serve nowhere --server tcp://127.0.0.1:1 --curve-key own.key

#needs jq python3
# One of 1,000 steps makes its calls in another order; how long they take does not tell.
snag analyze 'synth:499*step(a b c) step(c b a) 500*step(a b c);jitter=0.05' --foi step -o one.snag --quiet
snag show one.snag '#0-499' | sed -n '2p;7p'
snag show one.snag '#0-499' --json | jq -c .structure
snag show one.snag '#0-3' --json | jq -c .structure.order
snag export one.snag --verdict anomaly | sed -n 's/.*anomaly/anomaly/p'

# Where nothing was lost, what is said first is what is listed first, not what happened most often.
snag analyze 'synth:99*step(a b c) step(a b c d@10ns) 199*step(a b c) step(a b c d@10ns) 200*step(a b c) step(c b a) 500*step(a b c);jitter=0.05' --foi step -o often.snag | sed -n '3p;/^incident/,/^ *1 /p'

# Three of them, deep inside, one on each of three ranks; the same by a model, while it runs and after it.
echo 'synth:main(200*step(x phase(a b)) 2:step(x phase(b a)) 100*step(x phase(a b)) 3:step(x phase(b a)) 0:step(x phase(b a)) 20*step(x phase(a b)));ranks=4;jitter=0.1' >three
snag analyze "$(cat three)" --foi step -o three.snag --quiet --json | jq -c '[.trees, .anomalies]'
snag list three.snag -n 1 | sed -n '2p;/^ *1 /p'
snag list three.snag --all --json | jq -r 'select(.verdict == "anomaly") | .id + " " + .why' | sort
snag analyze 'synth:300*step(x phase(a b));jitter=0.1;ranks=4;seed=2' --foi step -o usual.snag --quiet --json | jq .anomalies
snag model save usual.snag usual.model --quiet
snag score "$(cat three)" --model usual.model -o scored.snag --quiet --json | jq -c '[.trees, .anomalies]'
snag list scored.snag --all --json | jq -r 'select(.verdict == "anomaly") | .id + " " + .why' | sort
snag ad "$(cat three)" --model usual.model --store three.store --quiet --json | jq -c '.foi[] | [.foi, .executions, .anomalies]'
snag query three.store "SELECT record ->> '$.execution.why' AS why, count(*) AS n FROM anomalies WHERE execution IS NOT NULL GROUP BY 1"

# Nothing is said where two orders alternate, where the order is free, and of all ranks' last step.
snag analyze 'synth:500*pair(step(a b c) step(c b a));jitter=0.05' --foi step --json --quiet | jq .anomalies
python3 -c "import random; r = random.Random(1); print('synth:' + ' '.join('step(' + ' '.join(r.sample('abcd', 4)) + ')' for _ in range(400)) + ';jitter=0.05')" >any
snag analyze "$(cat any)" --foi step -o any.snag --json --quiet | jq .anomalies
snag list any.snag --all --json | grep -c ' before ' || true
snag analyze 'synth:500*step(a b c) step(c b a);ranks=4;jitter=0.05' --foi step --json --quiet | jq .anomalies

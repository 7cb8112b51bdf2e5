#needs jq
snag analyze 'synth:300*step(a@1ms b@1ms >1 <1 |);ranks=4;jitter=0.01;slow=a/97/20/2' --foi step -o t.snag >/dev/null
snag what-if t.snag
snag what-if --help | sed -n 1,3p
snag what-if t.snag --without anomalies
snag what-if t.snag --without '#2-96' --top 2
snag what-if t.snag --without 'step#2-96' --without '#2-193' --foi step --all --verify
snag what-if t.snag --without rank=2 --quiet --threads 1
snag what-if t.snag --without path='step > a' --verbose 2>&1 | sed 's/in [0-9.]* ms/in T ms/g'
snag what-if t.snag --without region=b
# The victims only waited: without what they lost, nothing is shorter.
snag what-if t.snag --without '#1-96' --json | jq -c 'del(.waits, .excess_ns, .late_senders)'
SNAG_WITHOUT=anomalies snag what-if t.snag --json | jq -c '[.run_ns == .replay_ns, .replay_ns - .without_ns == .saved_ns, .executions, (.waits | map(.before_ns > .after_ns))]'
SNAG_WITHOUT=anomalies snag what-if t.snag --without rank=2 --json | jq -c .executions
snag what-if t.snag --json | jq -c keys_unsorted

# Incidents: what their lines say that they cost, one, some of them, and all that are alike.
snag analyze 'synth:600*step(a@1ms b@1ms >1 <1 |);ranks=4;jitter=0.01;slow=a/97/20/2' --foi step -o p.snag >/dev/null
snag list p.snag | sed -n 4,11p
snag what-if p.snag --without incident=2 | sed -n 2p
snag what-if p.snag --without incident=2,4-5 --without incident=5 | sed -n 2,3p
snag what-if p.snag --without repeats | sed -n 2,3p
snag what-if p.snag --without repeats --without anomalies | sed -n 2,3p
snag what-if p.snag --without incident=5,2 --json | jq -c '[.executions, .incidents, .one_by_one_ns - .saved_ns]'
for i in $(seq 6); do snag what-if p.snag --without incident=$i --json | jq .saved_ns; done | paste -sd ' '
snag list p.snag --incidents --json | jq .cost_ns | paste -sd ' '
for i in 99 0 -1 2, 3-2 x '' 2-99; do snag what-if p.snag --without incident=$i; done
snag what-if t.snag --without repeats

# What is not there, or not understood.
snag what-if t.snag --without rank=7
snag what-if t.snag --without rank=two
snag what-if t.snag --without '#2-300'
snag what-if t.snag --without '#2'
snag what-if t.snag --without region=c
snag what-if t.snag --without path='a > step'
snag what-if t.snag --without everything
snag what-if t.snag --without 'other#2-1'
snag what-if nowhere.snag
snag what-if t.snag$(printf ' --without rank=%d' $(seq 0 200))
printf x | dd of=t.snag/calls/subtree_len.u32 bs=1 seek=8 conv=notrunc 2>/dev/null
snag what-if t.snag

# Several functions of interest: one of them is asked about at a time.
snag analyze 'synth:300*step(a@1ms(c) b@1ms);slow=a/97/20' --foi step --foi a -o v.snag >/dev/null
snag what-if v.snag --without anomalies
snag what-if v.snag --without anomalies --foi a | sed -n 2p
snag what-if v.snag --without 'a#0-96' | sed -n 2p
snag what-if v.snag --without 'a#0-96' --without 'step#0-96'
snag what-if v.snag --json | jq .saved_ns

# A trace of one rank waits for nothing: all that is lost is saved.
snag analyze 'synth:300*step(a@1ms b@1ms);slow=a/97/20' --foi step -o u.snag >/dev/null
snag what-if u.snag --without anomalies

# Begins and ends that are estimates: what is saved is known to within so much.
snag analyze 'synth:300*step(a@1ms b@1ms >1 <1 |);ranks=4;jitter=0.01;slow=a/97/20/2;off=step/30us;off=a/20us' --foi step -o off.snag >/dev/null
for without in anomalies region=a '#2-96'; do snag what-if off.snag --without "$without" | sed -n 2p; snag what-if off.snag --without "$without" --json | jq -c '[.off_ns > 0, .off_ns < .saved_ns]'; done

# Names of C++ may have a '#', as ids of executions have.
jq -nc '[range(40) | (. * 10000) as $t | {ph: "X", pid: 0, tid: 0, ts: $t, dur: 5000, name: "step"}, {ph: "X", pid: 0, tid: 0, ts: ($t + 1), dur: (1000 + 3000 * (. % 20 / 19 | floor)), name: "f::{lambda(int)#1}::operator()"}]' >lambda.json
snag analyze lambda.json --foi step -o lambda.snag --quiet >/dev/null
snag what-if lambda.snag --without 'path=step > f::{lambda(int)#1}::operator()' | sed -n 2p; snag what-if lambda.snag --without 'region=f::{lambda(int)#1}::operator()' --json | jq -c '[.executions, .saved_ns > 0]'
printf '# limits\nstep > {lambda(int)#1}::operator():5%%  # of the kernel\n' >limits; cp -r lambda.snag again.snag; snag compare lambda.snag again.snag --fail-on @limits --json | jq -c '.limits'

# Calls on other threads of a team are in no execution: that nothing is taken out of them is said.
snag analyze 'synth:100*step(compute@1ms team[work@400us] solve@400us |);ranks=2;threads=3;slow=work/20/3/1.2' --foi step -o team.snag --quiet >/dev/null; snag what-if team.snag --without region=work | grep threads; snag what-if team.snag --without 'path=team > work' --json | jq -c .calls_elsewhere; snag what-if team.snag --without anomalies --json | jq -c .calls_elsewhere

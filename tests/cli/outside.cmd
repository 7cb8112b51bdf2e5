#needs jq
# Between two steps rank 0 does something once, for 5 ms, of which it would have waited 1. That is in no step: the other rank waits for it. That rank 0 waits less itself is no anomaly.
echo 'synth:60*step(a@1ms 1:b@1ms |) 0:out@5ms 60*step(a@1ms 1:b@1ms |);ranks=2;jitter=0.02' >program
snag analyze "$(cat program)" --foi step -o outside.snag --quiet | sed -n '/^without/p; /^inc/,/^the other/p'
snag list outside.snag --executions --json | jq -c 'select(.verdict == "anomaly") | [.id, .cost_ns]'
snag what-if outside.snag --without incident=1 | sed -n 2p
snag what-if outside.snag --without anomalies | sed -n 2p
# The truth: the run without it.
snag info "$(sed 's/ 0:out@5ms//' program)" | sed -n 2p; snag info "$(cat program)" | sed -n 2p
# It comes back in every 50th step.
snag analyze 'synth:10*all(49*step(a@1ms 1:b@1ms |) 0:out@5ms step(a@1ms 1:b@1ms 1:c@20us |));ranks=2;jitter=0.02' --foi step -o turns.snag --quiet | sed -n '/^without/p; /^inc/,/^the other/p'
snag what-if turns.snag --without incident=1 | sed -n 2p
# A slow rank that costs less than the anomalies is said behind them, if that is a hundredth of the run.
snag analyze 'synth:60*step(a@1ms |) 0:step(a@90ms |) 1:step(a@1ms |) 60*step(a@1ms |);ranks=2;jitter=0.02;slow=a/1/1.3/1' --foi step -o slow.snag --quiet | sed -n '3,4p'
# Who lost nothing is the strangest itself, whomever it waited for: nobody is to blame.
snag analyze 'synth:main(200*step(a@1ms |) 0:step(a@970us | x@100ns) 1:step(a@1ms |) 2:step(a@1ms |) 3:step(a@1020us |) 100*step(a@1ms |));ranks=4;jitter=0.02' --foi step -o once.snag --quiet | sed -n '/^without/p'
snag list once.snag --incidents --json --verdict anomaly | jq -c '[.lost_ns, .head, .rank, .caused_by]'
snag list once.snag --verdict anomaly --executions --json | jq -c '[.id, .why]'; snag list once.snag --incidents --json --verdict anomaly | jq -c .why

# What comes to all ranks at once is no rank's; what costs is not known where nobody is known to wait.
snag analyze 'synth:60*step(a@1ms |) step(a@9ms |) 60*step(a@1ms |);ranks=4;jitter=0.02' --foi step -o alike.snag --quiet | sed -n '/^without/p; /^inc/,/^the other/p'
snag list alike.snag --incidents --json | jq -c '[.alike, .ranks]' | sed -n 1p
snag analyze 'synth:200*step(a@1ms);ranks=3;jitter=0.02;slow=a/90/9/1' --foi step -o apart.snag --quiet | sed -n '/^what/p; /^ *1 /p'

# Two components of a coupled program: what one does, and the other does not, is not so many times as long.
snag analyze 'synth:100*step(0:a@1ms 1:a@1ms 2:b@3ms 3:b@3ms |);ranks=4;jitter=0.02' --foi step -o coupled.snag --quiet >/dev/null
snag ranks coupled.snag

# Two ranks wait for a lock, of which no record says who has it, while the third edits for 40 ms.
snag analyze 'synth:main(0:step(a@1ms) 1:3*step(a@1ms) 200*step(0:MPI_Win_lock@1ms 1:MPI_Win_lock@1ms 2:edit@1ms |));ranks=3;jitter=0.02;slow=edit/91/40/2;slow=MPI_Win_lock/91/42/0;slow=MPI_Win_lock/91/42/1' --foi step -o lock.snag --quiet | sed -n '/^what/p; /^inc/,/^the other/p'

# What is searched from its start takes longer and longer: that is said, beside its anomalies and whoever is slow.
snag analyze 'synth:300*step(lookup@1ms >1 <1 |);ranks=4;jitter=0.05;grow=lookup/0.01/2' --foi step -o grows.snag --quiet | sed -n '2,5p'
snag list grows.snag | sed -n '2,4p' | grep longer.and
snag report grows.snag -o grows.html --quiet >/dev/null; grep -c 'take longer and longer on rank 2' grows.html

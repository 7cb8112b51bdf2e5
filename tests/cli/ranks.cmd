#needs jq
# Rank 5 is slow in every step, the others wait for it.
snag analyze 'synth:100*step(compute@1ms(a@200us) >1 <1);ranks=8;jitter=0.02;slow=compute/1/1.3/5' --foi step -o slow.snag --quiet >/dev/null
snag ranks slow.snag --top 3
snag ranks slow.snag --json | jq -c '.foi, (.places[] | [.place, .rank, .verdict, .waits_for, (.paths | length)])'
snag ranks slow.snag --json | jq -c '[.slowdown > 1.2, .slowdown < 1.3, .places[5].cost_ns > 25e6, .places[4].cost_ns]'
snag ranks slow.snag --json | jq -c '.places[5] | [.slowdown > 1.2, .own_ns > .wait_ns, .executions, (.paths[0] | [.path, .kind, .factor > 1.28, .excess_ns > 25e6, .share == 1, .since_ns, .is_sure])]'

# More to do is not slow. Threads are compared as ranks are; few are not compared.
snag analyze 'synth:100*step(compute@1ms(10*a@50us) 3:extra@1us(2*a@50us) |);ranks=8;jitter=0.02' --foi step -o more.snag --quiet >/dev/null
snag ranks more.snag --top 1
snag ranks more.snag --by thread --all --verify | sed 1d | wc -l
snag ranks more.snag --by program
snag analyze 'synth:100*step;ranks=5;jitter=0.1' --foi step -o usual.snag --quiet >/dev/null
snag ranks usual.snag --foi step --quiet --verbose --threads 2 | sed -n 1p
snag ranks --help | sed -n 1p
snag ranks usual.snag --foi nobody
snag ranks usual.snag --by colour
snag ranks nowhere

# Names as long as names are shown.
for c in a b c; do eval "$c=$(printf "$c%.0s" {1..200})"; done; snag analyze "synth:100*step($a@1ms($a@1ms) $b@1ms($b@1ms) $c@1ms($c@1ms) |);ranks=8;jitter=0.02;slow=$a/1/1.3/5;slow=$b/1/1.3/5;slow=$c/1/1.3/5" --foi step -o long.snag --quiet >/dev/null; snag ranks long.snag --top 1 | grep -o '[abc]\{20,\} > [abc]\{20,\} +[0-9]* %\|costs the run' | cut -c 1-5,100-

# How slow a rank is does not depend on which function is asked about: a leaf, or who calls it.
for foi in a compute step; do snag analyze 'synth:100*step(compute@1ms(a@200us b@100us) >1 <1);ranks=8;jitter=0.02;slow=a/1/1.2/3' --foi $foi -o leaf.snag --force --quiet >/dev/null; snag ranks leaf.snag --json | jq -c '.places[] | select(.verdict == "slow") | [.place, (.paths[] | [.path, (.factor * 100 | round), (.excess_ns / 1e5 | round)])]'; done

# Where begins and ends are estimates, who may be as fast as the others is not called slow; how slow one is has a bound.
for off in 20us 100us; do snag analyze "synth:100*step(compute@1ms(a@200us) >1 <1);ranks=8;jitter=0.02;slow=compute/1/1.3/5;off=compute/$off" --foi step -o off.snag --force --quiet >/dev/null; snag ranks off.snag --top 1; snag ranks off.snag --json | jq -c '.places[5] | [.verdict, .cost_ns != null, (.cost_most_ns // 0) - (.cost_least_ns // 0) > 2e6, (.paths[0] | [.is_sure, .excess_ns > .off_ns])]'; done

# A thread of autograd that is always late is work of its rank. It costs what the run is longer by: the others do not wait.
mkdir back; cd back; for r in 0 1 2 3 4 5; do (printf '{"distributedInfo":{"rank":%d,"world_size":6},"traceEvents":[{"ph":"M","name":"thread_name","pid":9,"tid":7,"args":{"name":"pt_autograd_0"}}' $r; for i in {1..40}; do t=$((i * 1000)); a=$((r == 3 ? 400 : 100)); printf ',{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","ts":%d,"dur":%d,"pid":9,"tid":9},{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":%d,"dur":%d,"pid":9,"tid":9},{"ph":"X","cat":"cpu_op","name":"autograd::engine::evaluate_function: MmBackward0","ts":%d,"dur":%d,"pid":9,"tid":7}' $i $t $((520 + a)) $((t + 5)) $((400 + i % 3)) $((t + 420)) $a; done; echo ']}') >back$r.json; done; cd ..; snag analyze back --foi ProfilerStep -o back.snag --quiet >/dev/null; snag ranks back.snag --top 2; snag ranks back.snag --json | jq -c '.places[3].paths[0] | [.kernel, .kernel_on, (.kernel_factor * 10 | round)]'

# Who waits for threads of its own rank is not said to wait for others.
snag analyze 'synth:80*step(par[work@1ms] a@200us);ranks=6;threads=3;jitter=0.02;slow=work/1/1.4/3.2' --foi step -o own.snag --quiet >/dev/null; snag ranks own.snag --top 3; snag ranks own.snag --json | jq -c '[.places[] | .waits_for]'

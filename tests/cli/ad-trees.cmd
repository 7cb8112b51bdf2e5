#needs jq
# Every 41st compute on rank 2 is nine times as long, every 29th c on every rank thirty times.
echo 'synth:main(90*step(compute@1ms(a 3*b) >1 <1 c@200us));ranks=4;jitter=0.2;seed=4;slow=c/29/30;slow=compute/41/9/2' >program
snag ad "$(cat program)" --foi step --step 0.02 --quiet
snag ad "$(cat program)" --foi step --foi '/^[ab]$/' --json --quiet | jq -c '.foi[]'
snag ad "$(cat program)" --foi step --json --quiet --tree-sigmas 8 --tree-features duration,exclusive,calls | jq -c '.foi[] | [.anomalies, .unjudged]'
snag ad "$(cat program)" --foi step --json --quiet --tree-window 1 --step 0 | jq -c '.foi[] | [.foi, .anomalies]'

# A rank that begins late makes the first executions of all others long: that hides none of the later ones.
snag ad 'replay:synth:0:init@1s 1000*step(a@10ms |);ranks=8;jitter=0.02;slow=a/300/10/1' --foi step --quiet | grep ^step

# By what another run has taught; the same verdicts as after the run.
snag analyze 'synth:main(90*step(compute@1ms(a 3*b) >1 <1 c@200us));ranks=4;jitter=0.2;seed=3;slow=c/31/30' --foi step -o monday.snag --quiet >monday
snag model save monday.snag step.model
snag ad "$(cat program)" --model step.model --foi c --json --quiet | jq -c '.foi[] | [.foi, .judged_by, .executions, .anomalies]'
snag score "$(cat program)" --model step.model -o tuesday.snag --json --quiet | jq -c '[.foi, .trees, .anomalies]'
snag ad "$(cat program)" --model step.model --store tuesday.store --quiet >/dev/null; snag query tuesday.store 'SELECT count(*) > 10, sum(p IS NULL), max(p) < 0.01 FROM anomalies WHERE execution IS NOT NULL'

# Where clocks contradict each other, who waited for whom is known after the run only; else it is in each step.
for skew in 0ms 1ms; do snag ad "$(cat program);skew=$skew" --model step.model --step 0.02 --store skew.$skew --quiet | grep ^step; done
for skew in 0ms 1ms; do snag query skew.$skew "SELECT count(*) > 10, sum(record LIKE '%is not known, because the clocks of ranks contradict each other%') > 10 FROM anomalies WHERE execution IS NOT NULL"; done

# What goes wrong.
snag ad "$(cat program)" --foi nobody --quiet
snag ad "$(cat program)" --foi '/(/'
snag ad "$(cat program)" --model nowhere
snag ad "$(cat program)" --foi step --tree-features duration,colour
snag ad "$(cat program)" --foi step --tree-sigmas 0
snag ad "$(cat program)" --foi step --tree-window 0
snag ad synth:other --model step.model --quiet

# Whom a rank waits for in each execution is no cause of those that take longer by themselves: work behind a barrier to which rank 0 always comes late, and behind its message.
for t in '0:a@2ms | w@1ms' '0:p(a@2ms >1) 1:c(<1 w@1ms)'; do rm -rf always.store; snag ad "replay:synth:200*step($t);ranks=2;jitter=0.005;slow=w/60/1.9/1" --foi step --step 0.05 --store always.store --quiet >always.txt; snag provdb top always.store --incidents --format csv | cut -d, -f4,6 | sort | uniq -c; done

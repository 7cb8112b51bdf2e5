#needs jq
# Five runs before; now one function takes 10 % longer, and another is called from elsewhere.
for i in 1 2 3 4 5; do snag analyze "synth:50*round(step(a@1ms b@500us(f@100us) build@300us) 3*step(a@1ms b@500us(f@100us)));ranks=4;jitter=0.02;seed=$i" --foi step -o base$i.snag --quiet >/dev/null; done
snag analyze 'synth:50*round(step(a@1.1ms(f@100us) b@500us build@300us) 3*step(a@1.1ms(f@100us) b@500us));ranks=4;jitter=0.02;seed=9' --foi step -o new.snag --quiet >/dev/null
snag compare --base base1.snag --base base2.snag --base base3.snag --base base4.snag -b base5.snag new.snag --fail-on 5%
snag compare --base base1.snag --base base2.snag -b base3.snag new.snag --json --all | jq -c '.verdict, .runs, .within_one_run, .limits, (.change > 0.05), (.interval[0] < .change and .change < .interval[1]), (.paths[] | [.path, .verdict, .from])'
snag compare base1.snag new.snag --json | jq '[([.paths[].change_ns] | add), (.duration_ns.mean | .[1] - .[0])] | (.[0] - .[1] | fabs) < 10'
snag compare base1.snag new.snag --format json --verify --foi step | jq -c 'keys, (.paths[0] | keys), (.kinds[0] | keys), (.ranks[0] | keys)'

# With one run on each side it is said so; what is less than 5 % is nothing there.
snag compare base1.snag base2.snag --top 2 --fail-on 5%
snag compare base1.snag base2.snag base3.snag base4.snag --top 1 --least 3% | sed -n 1,3p

# The gate: status 4 when it is slower beyond a limit, and never else.
snag compare base1.snag new.snag --fail-on 4% --quiet --verbose --threads 2 >/dev/null
snag compare base1.snag new.snag --fail-on 50% >/dev/null
snag compare base1.snag new.snag --fail-on 'step > a:50us' --fail-on 'a:20%' --fail-on 1000% --format junit | sed 's/timestamp="[-0-9T:]*"/timestamp="WHEN"/'
snag compare base1.snag new.snag --fail-on 'nothing:1ms'
snag compare base1.snag new.snag --fail-on much
snag compare base1.snag new.snag --fail-on 5% --format markdown --top 3

# Two kinds of execution that change in opposite ways, by as much.
snag analyze 'synth:100*round(step(a@1ms io@500us) step(a@1ms));jitter=0.02' --foi step -o kinds1.snag --quiet >/dev/null
snag analyze 'synth:100*round(step(a@1.3ms io@500us) step(a@700us));jitter=0.02;seed=2' --foi step -o kinds2.snag --quiet >/dev/null
snag compare kinds1.snag kinds2.snag | sed -n 1p
snag compare kinds1.snag kinds2.snag --json | jq -c '.verdict, (.kinds[] | [.kind, .verdict, .path, .path_ns > 0, .executions])'

# A kind that one side lacks did not change: it is new, or gone.
snag compare 'synth:50*round(step(a io sort) step(a io) step(a));jitter=0.02' 'synth:50*round(step(a io) step(a sort) step(a));jitter=0.02;seed=2' --foi step --quiet | sed -n '/^executions/,/^$/p'
snag compare 'synth:50*round(step(a io sort) step(a io) step(a));jitter=0.02' 'synth:50*round(step(a io) step(a sort) step(a));jitter=0.02;seed=2' --foi step --quiet --json | jq -c '.kinds[] | select(.change == null) | [.kind, .verdict, .interval, .path, .path_ns, (.time_ns | map(. != null))]'

# As many ranks that are not the same ones; and of several runs those with fewest and most.
for n in 5 7; do jq -nc --argjson n $n '[range(8) | {ph: "X", pid: ., tid: 1, ts: 0, dur: 20000, name: "main"}] + [([range(5)] + [$n])[] as $r | range(20) | {ph: "X", pid: $r, tid: 1, ts: (. * 1000), dur: (500 + $r), name: "io"}]' >io$n.json; done
snag compare io5.json io7.json --foi io --quiet | grep 'rank'; snag compare io5.json io7.json --foi io --json --quiet | jq -c '.not_comparable, .ranks'
for r in 4 6; do snag analyze "synth:50*step(a@1ms);ranks=$r;jitter=0.02;seed=$r" --foi step -o ranks$r.snag --quiet >/dev/null; done; snag analyze 'synth:50*step(a@1ms);ranks=4;jitter=0.02;seed=9' --foi step -o again4.snag --quiet >/dev/null
snag compare -b ranks6.snag -b ranks4.snag again4.snag | grep comparable

# Functions that have another name, and runs that are no two runs of one program.
snag analyze 'synth:100*phase(a@1ms(x@100us) >1 <1);ranks=2;jitter=0.02' --foi phase -o phase.snag --quiet >/dev/null
snag analyze 'synth:100*stage(a@1ms(x@100us) >1 <1);ranks=3;jitter=0.02' --foi stage -o stage.snag --quiet >/dev/null
snag compare phase.snag stage.snag
snag compare phase.snag stage.snag --rename phase=stage | sed -n 1,4p
snag compare phase.snag stage.snag --rename phase
jq -n '[range(60) | (. * 1000) as $t | {ph: "X", pid: 1, tid: 1, ts: $t, dur: 500, name: "void S::step(int) [{s.cpp} {10,1}-{20,1}]"}, {ph: "X", pid: 1, tid: 1, ts: ($t + 1), dur: 300, name: "void S::old(int) [{s.cpp} {1,1}-{9,1}]"}]' >lines1.json
sed 's/{10,1}-{20,1}/{12,1}-{22,1}/; s/old/fresh/; s/void S::step/S::step/' lines1.json >lines2.json
for i in 1 2; do snag analyze lines$i.json --foi step -o lines$i.snag --quiet >/dev/null; done
snag compare lines1.snag lines2.snag --rename S::old=S::fresh | tail -n 2
snag compare base1.snag kinds1.snag --foi nobody
snag compare base1.snag ./base1.snag
snag compare base1.snag
snag compare base1.snag nowhere
touch trace.otf2; snag compare base1.snag trace.otf2
snag compare base1.snag new.snag --least 5
snag compare --help | sed -n 1,2p

# So many anomalies are too many.
snag model save base1.snag base.model >/dev/null
snag score 'synth:200*step(a@3ms b@500us(f@100us));jitter=0.02' --model base.model -o odd.snag --quiet --fail-on 1% | grep limit
snag score 'synth:200*step(a@1ms b@500us(f@100us));jitter=0.02' --model base.model -o even.snag --quiet --fail-on 100% >/dev/null

# What the traces say of their runs: another compiler, and of several runs before what they have alike.
for n in 1 2 3; do snag export base1.snag --what calls --format chrome | jq -c --arg c "GCC $((12 + n / 3))" --arg m "A $n" '.otherData = {Compiler: $c, "MPI Library": $m}' >c$n.json; done
snag compare c1.json c3.json --foi step | sed -n '/comparable/p'
snag compare -b c1.json -b c2.json c3.json --foi step --json | jq -c '.not_comparable, .metadata'
snag compare -b c1.json -b c3.json c2.json --foi step --json | jq -c '.not_comparable, .metadata'

# Where begins and ends are estimates, a change of no more than these may be off is none.
for i in 1 2; do snag analyze "synth:100*step(a@1.$((3 * i - 3))ms b@2ms);jitter=0.02;seed=$i;off=step/90us" --foi step -o off$i.snag --quiet >/dev/null; done
snag compare off1.snag off2.snag | grep 'step:\|estimates'; snag compare off1.snag off2.snag --json | jq -c '.verdict, (.off_ns == 360000), (.paths[] | [.path, .verdict, (.off_ns == 360000)])'
snag analyze "synth:100*step(a@1.3ms b@2ms);jitter=0.02;seed=2;off=step/20us" --foi step -o off3.snag --quiet >/dev/null
snag compare off1.snag off3.snag --least 1% --fail-on 5% | sed -n 1p
snag compare off1.snag off3.snag --least 1% --fail-on 5% >/dev/null
snag compare off1.snag off3.snag --least 1% --fail-on 1% >/dev/null

# Of one run on each side what changed most comes first, whatever is new beside it.
snag compare 'synth:60*step(a@1ms b@1ms);jitter=0.1' 'synth:60*step(a@1500us b@1ms n@25us);jitter=0.1;seed=2' --foi step 2>/dev/null | sed -n '1p;/^path/,/^$/p'

# A function that ran is not gone because others take longer now: what is listed has its times in all runs.
snag compare 'synth:100*step(solve@5ms flush@1us)' 'synth:100*step(solve@12ms flush@1us)' --foi step --quiet | sed -n '/^in the whole/,$p'

# Of a few executions nothing is known: the limit is neither kept nor passed.
for n in 2 8; do snag analyze "synth:3*step(compute@1ms solve@${n}ms io@500us |);ranks=1;jitter=0.02;seed=$n" --foi step -o few$n.snag --quiet >/dev/null; done
snag compare few2.snag few8.snag --fail-on 5% | sed -n '/^limit/p'
snag compare few2.snag few8.snag --fail-on 5% --json | jq -c .limits
snag compare few2.snag few8.snag --fail-on 5% --format junit | grep -E '<skipped'

# Two call paths end with one name, and both take 150 us longer: a limit is of each.
for n in 1 2; do snag analyze "synth:100*step(a@1ms(f@$((150 * n))us) b@1ms(f@$((150 * n))us));seed=$n;jitter=0.02" --foi step -o each$n.snag --quiet >/dev/null; done
snag compare each1.snag each2.snag --fail-on f:200us --fail-on f:100us --fail-on 'a > f:100us' | sed -n '/^limit/p'

# A name that no run has is said to be none.
snag compare few2.snag few8.snag --rename slove=solve | sed -n 1,2p
snag compare few2.snag few8.snag --rename solve=slove --rename solve=solve | sed -n 1,2p
snag compare few2.snag few8.snag --rename solve=io | sed -n 1p

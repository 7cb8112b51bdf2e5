#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
snag retrain t.snag --author me | sed 's/in [0-9.]* .\?s;/in no time;/'

# Which to ask about: the strangest that has no label.
snag next t.snag --top 2
snag label t.snag '#1-7=abnormal' '#0-1=normal' --author me
snag next t.snag --top 2 --json | jq -c '[.id, .label]'
snag next t.snag --foi step --learner reasons --features residual --seed 2 --top 1 --quiet --threads 1 --verbose

# What is learnt, kept and undone.
snag retrain t.snag --author me | sed 's/in [0-9.]* .\?s;/in no time;/'
snag retrain t.snag --history --json | jq -c 'del(.at)'
snag retrain t.snag --json --foi step --learner reasons --features residual --seed 2 --author me --quiet --threads 1 --verbose | jq -c keys_unsorted
snag list t.snag --verdict anomaly --json | jq -c '[.id, .verdict, .label]'
snag retrain t.snag --undo | sed 's/in [0-9.]* .\?s;/in no time;/'
snag retrain t.snag --undo
snag retrain t.snag --undo
snag retrain t.snag --history | awk '{ print $1, $3, $4, $5, $6, $7, $8, $9 }'

# A label moves all scores a little, but the verdicts of those alone that it speaks of: y is rarer than tiny is slow.
snag analyze 'synth:99*step(compute@9ms tiny@30us) step(compute@9ms tiny@30us y) 99*step(compute@9ms tiny@30us);ranks=4;jitter=0.02;slow=tiny/40/13/1' --foi step -o rare.snag --quiet >/dev/null
snag query rare.snag 'SELECT rank, idx, verdict FROM execution ORDER BY score DESC LIMIT 5'
snag label rare.snag '#0-5=normal' --author me && snag retrain rare.snag | sed 's/in [0-9.]* .\?s;/in no time;/'
snag model save rare.snag rare.model --quiet >/dev/null
for n in 0.5 10; do snag score 'synth:99*step(compute@9ms tiny@30us) step(compute@9ms tiny@30us y) 99*step(compute@9ms tiny@30us);ranks=4;jitter=0.02;slow=tiny/40/13/1' --model rare.model --false-alarms $n -o again.snag --force --json --quiet 2>/dev/null | jq -c .anomalies; done

# The reason fits the verdict that labels gave, in the run and by the model.
snag label rare.snag '#1-119=abnormal' '#2-99=normal' --author me && snag retrain rare.snag --quiet >/dev/null
for e in '#1-39' '#1-119'; do snag show rare.snag $e | sed -n 1,2p | cut -c1-180; done
snag model save rare.snag rare.model --quiet >/dev/null
snag score 'synth:99*step(compute@9ms tiny@30us) step(compute@9ms tiny@30us y) 99*step(compute@9ms tiny@30us);ranks=4;jitter=0.02;slow=tiny/40/13/1' --model rare.model -o again.snag --force --quiet >/dev/null
for e in '#1-99' '#1-39'; do snag show again.snag $e | sed -n 1,2p | cut -c1-180; done

# A run goes on as it was made, and as it was retrained last.
snag analyze t --foi step --features stack2vec --detector ocsvm -o o.snag >/dev/null
snag label o.snag '#1-7=abnormal' '#0-1=normal' --author me
snag project o.snag --json | jq -r .features
snag retrain o.snag --json | jq -r '[.learner, .features] | join(" ")'
snag retrain o.snag --json --features subtrees | jq -r '[.learner, .features] | join(" ")'
snag retrain o.snag --json | jq -r '[.learner, .features] | join(" ")'
snag retrain o.snag --json --learner reasons | jq -r '[.learner, .features] | join(" ")'
snag retrain o.snag --json | jq -r '[.learner, .features] | join(" ")'
snag project o.snag --json | jq -r .features
snag retrain o.snag --json --learner ocsvm | jq -r '[.learner, .features] | join(" ")'

# Learning played with known labels.
snag export t.snag | awk -F, 'NR == 1 { print "id,label" } NR > 1 { print $1 "," ($1 == "#1-7" || $1 == "#2-21" ? "abnormal" : "normal") }' >all.csv
snag evaluate t.snag --labels all.csv --simulate 20 --batch 10
snag evaluate t.snag --labels all.csv --simulate 20 --batch 10 --learner reasons --features residual --seed 3 --json | jq -c '[keys_unsorted, (.curve | length), (.curve[0] | keys_unsorted)]'

# A threshold that a person set stays: without labels no verdict changes.
snag analyze 'synth:400*step(solve@1ms(a 3*b) >1 <1);ranks=2;jitter=0.1;slow=b/40/3' -o set.snag --detector ocsvm --threshold 0.3 --quiet >/dev/null
snag retrain set.snag | sed -n '1s/in [0-9.]* .\?s;/in no time;/p'
snag retrain set.snag --features time --json | jq -c '.anomalies > 1'

# A model of one run judges another of the same program.
snag analyze 'synth:200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1' --foi step -o one.snag --quiet >/dev/null
snag label one.snag '#0-5=normal' '#1-7=normal' --author me
snag model save one.snag one.model --foi step --learner reasons --seed 1 --quiet --verbose --threads 1 2>/dev/null
snag model info one.model | sed 's/made .*/made .../'
snag model info one.model --json | sed 's/"made": "[^"]*"/"made": "..."/'
snag score 'synth:200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;seed=2;slow=c/150/30' --model one.model --output two.snag --top 3 | cut -c1-60
snag score 'synth:9*step(compute@1ms(a new) c@200us)' --model one.model -o three.snag --threshold 3 --seed 2 --all --force --threads 1 --quiet --verbose --json 2>/dev/null | cut -c1-120
snag show two.snag '#1-149' | sed -n 1,2p | cut -c1-80
snag list two.snag --top 2 --json | cut -c1-80

# What is not a model, or not for this trace.
snag score 'synth:9*other' --model one.model -o four.snag
snag score 'synth:9*step' -o four.snag
snag score 'synth:9*step' --model nothing.model -o four.snag
echo hello >text && snag model info text
head -c 300 one.model >cut && snag model info cut
snag model
snag model save one.snag
snag model throw one.snag away
snag analyze 'synth:50*step(a b)' --foi step --features time --detector knn -o knn.snag --quiet >/dev/null
snag model save knn.snag knn.model
snag model save two.snag two.model
ls

# Labels outlive another analysis into the same run.
snag analyze 'synth:100*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1' --foi step -o one.snag --force --top 1 | tail -2
snag label one.snag --json | sed 's/"at": "[^"]*"/"at": "..."/'

# What holds in the run holds in the model, but for what was said of single executions.
snag analyze 'synth:400*step(solve@1ms);jitter=0.1;slow=solve/31/3' --foi step -o held.snag --quiet >/dev/null
snag label held.snag '#0-30=normal' '#0-61=normal' --author me
snag model save held.snag held.model
snag retrain held.snag | sed -n 1p | sed 's/ in .*;/;/'
snag model save held.snag held.model
snag score 'synth:400*step(solve@1ms);jitter=0.1;slow=solve/31/3' --model held.model -o after.snag | grep 'anomalies$' | sed 's/.*; //'
snag list held.snag --all --verdict anomaly | grep -c '  anomaly  '
snag retrain held.snag --undo | sed -n 1p
snag model save held.snag held.model --json
snag score 'synth:400*step(solve@1ms);jitter=0.1;slow=solve/31/3' --model held.model -o undone.snag | grep 'anomalies$' | sed 's/.*; //'
snag list held.snag --all --verdict anomaly | grep -c '  anomaly  '
snag model save held.snag held.model --learner reasons
snag score synth:step --model held.snag

# How few are judged does not matter, but how few the model knows.
snag analyze 'synth:40*step(solve@1ms);ranks=4;jitter=0.02' --foi step -o plain.snag --quiet >/dev/null && snag model save plain.snag plain.model --quiet >/dev/null
for n in '' '--false-alarms 1'; do snag score 'synth:5*step(solve@1ms);jitter=0.02;slow=solve/3/9' --model plain.model -o short.snag --force --json --quiet $n 2>/dev/null | jq -c '[.trees, .anomalies]'; done
snag analyze 'synth:5*step(solve@1ms);jitter=0.02' --foi step -o five.snag --quiet >/dev/null && snag model save five.snag five.model --quiet >/dev/null
snag score 'synth:20*step(solve@1ms);jitter=0.02;slow=solve/3/9' --model five.model -o short.snag --force --json --quiet --false-alarms 1 2>/dev/null | jq -c '[.trees, .anomalies]'
snag show short.snag '#0-2' | sed -n 2p

# Another one does not take the place of the first, which may have labels by now.
snag analyze 'synth:50*step(a b)' --foi step | tail -1
snag analyze 'synth:50*step(a b)' --foi step | tail -1
snag score 'synth:50*step(solve@1ms)' --model held.model | tail -1
snag analyze 'synth:50*step(a b)' --foi step --force | tail -1

# What was typical in any of several runs, or of those in a history that are still there.
for i in 1 2 3; do snag analyze "synth:200*step(compute@$((800 + 200 * i))us(a 3*b) c@200us);ranks=2;jitter=0.02;seed=$i" --foi step -o night$i.snag --quiet >/dev/null; done
snag model save night1.snag night2.snag night3.snag nights.model
snag model info nights.model | grep -v made | sed "s|$PWD/||g"
for m in night1 nights; do [ -e $m.model ] || snag model save $m.snag $m.model >/dev/null; snag score 'synth:200*step(compute@1250us(a 3*b) c@200us);ranks=2;jitter=0.02;seed=4' --model $m.model -o today.snag --force --json 2>/dev/null | jq -c '[.trees, .anomalies > 100, .anomalies == 0]'; done
snag history add nights.db night1.snag night2.snag night3.snag --tag kind=nightly >/dev/null
rm -r night2.snag
snag model save nights.db nights.model --tag kind=nightly --last 2 --json
snag model save nights.db nights.model --tag kind=other
snag model save night1.snag night3.snag nights.model --learner reasons
snag model save night1.snag one.snag nothing.snag nights.model
ln -s night1.snag again.snag; snag model save night1.snag night3.snag again.snag ./night3.snag nights.model

# A night's run that replaced another one is learnt from once.
for i in 5 6; do snag analyze "synth:200*step(compute@1ms(a 3*b) c@200us);ranks=2;jitter=0.02;seed=$i" --foi step -o today.snag --force --quiet >/dev/null; snag history add same.db today.snag; done
snag model save same.db same.model --json
snag analyze 'synth:9*other' --foi other -o today.snag --force --quiet >/dev/null; snag model save same.db same.model

# Where FILE was forgotten the last input is left alone; a model is replaced.
printf 'not a model\n' >notes; : >empty
snag model save night1.snag nights.db; snag model save night1.snag night3.snag nights.db; snag model save night1.snag notes; snag model save night1.snag night3.snag; snag history list nights.db --json | jq -s length
snag model save night1.snag same.model --json | jq .trees; snag model save night1.snag empty --json | jq .trees

# What the model has never seen is in the tree, and in the time of its callers.
snag analyze 'synth:100*step(a@1ms(b) |);ranks=4;jitter=0.02' --foi step -o seen.snag --quiet >/dev/null; snag model save seen.snag seen.model >/dev/null
snag score 'synth:9*step(a@1ms(b new@4ms(newer@1ms)) |);ranks=4;jitter=0.02' --model seen.model -o unseen.snag --quiet >/dev/null; snag show unseen.snag '#1-3' | sed -n '/^the tree/,/^$/p'

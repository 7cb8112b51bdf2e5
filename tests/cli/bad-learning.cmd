#needs jq
# One execution, two, forty that are all alike: every detector, features, learner.
printf 'for f in time subtrees stack2vec residual; do for d in residual lof knn ocsvm iforest; do\n echo $f $d $(snag analyze "$1" --foi step -o x.snag --force --quiet --features $f --detector $d --json 2>&1 | sed "/^{/!d" | jq -c "[.trees, .anomalies]")\ndone; done\n' >every.sh
snag analyze 'synth:main(step(a b))' --foi step -o x.snag --detector lof
snag analyze 'synth:main(step(a b))' --foi step -o x.snag --detector knn
snag analyze 'synth:main(step(a b))' --foi step -o x.snag --detector iforest
bash every.sh 'synth:main(step(a b))' | grep -v ' [lki][a-z]*$'
bash every.sh 'synth:2*step(a b)' | sort | uniq -c | awk '$4 != "[2,0]"'
bash every.sh 'synth:40*step(a@1ms b@1ms)' | awk '$3 != "[40,0]"'
printf 'snag analyze "$1" --foi step -o y.snag --force --quiet >/dev/null; snag label y.snag "#0-0=$2" --quiet >/dev/null\nfor l in reasons ocsvm; do for f in time subtrees stack2vec residual; do echo $l $f $(snag retrain y.snag --learner $l --features $f --quiet --json 2>&1 | sed "/^{/s/.*/learnt/" | sed -n 1p); done; done\n' >learn.sh
bash learn.sh 'synth:main(step(a b))' abnormal
bash learn.sh 'synth:main(step(a b))' normal
bash learn.sh 'synth:2*step(a b)' abnormal
bash learn.sh 'synth:40*step(a@1ms b@1ms)' abnormal

# More neighbours than there are others: all of them.
snag analyze 'synth:12*step(a b@1ms);slow=b/5/9' --foi step -o k11.snag --quiet --features time --detector knn --neighbours 11 --json | jq -c .candidates[0].score
snag analyze 'synth:12*step(a b@1ms);slow=b/5/9' --foi step -o k99.snag --quiet --features time --detector knn --neighbours 99 --json | jq -c .candidates[0].score
snag analyze 'synth:12*step(a b@1ms);slow=b/5/9' --foi step -o k99.snag --force --quiet --features time --detector lof --neighbours 1000000000 --json | jq -c '[.trees, .anomalies]'

# Labels that contradict each other: opposite ones of executions that are alike, and of one.
snag analyze 'synth:40*step(a@1ms b@1ms)' --foi step -o t.snag --quiet >/dev/null
snag label t.snag '#0-3=abnormal' '#0-4=normal' --quiet
snag retrain t.snag --learner reasons --quiet --json | jq -c '[.abnormal, .normal]'
snag retrain t.snag --quiet --learner ocsvm --json | jq -c '[.abnormal, .normal]'
snag list t.snag --all --json | jq -c 'select(.label) | [.id, .verdict, .label]'
snag label t.snag '#0-3=abnormal' '#0-3=normal' --quiet
snag label t.snag --json | jq -c '[.id, .label]'

# Nothing is left to learn from when all are abnormal.
snag list t.snag --all --json | jq -r '.id + ",abnormal"' | sed '1i id,label' >all.csv
snag label t.snag --from all.csv --quiet && snag retrain t.snag --learner reasons --quiet --json | jq -c '[.abnormal, .normal]'
snag retrain t.snag --learner ocsvm --quiet
snag retrain t.snag --learner ocsvm --features stack2vec --quiet

# Labels of another run: of executions that this one does not have, or has not yet been asked for.
printf 'id,label\n#0-39,normal\n#7-0,abnormal\n' >other.csv
snag label t.snag --from other.csv
snag evaluate t.snag --labels other.csv
snag evaluate t.snag --labels other.csv --simulate 5
printf 'id,label\n#0-39,normal\n#0-3,abnormal\n' >some.csv
snag evaluate t.snag --labels some.csv --simulate 5
snag evaluate t.snag --labels all.csv --simulate 5
snag evaluate t.snag --labels all.csv --simulate 5 --json
sed '2s/abnormal/normal/' all.csv >one.csv
snag evaluate t.snag --labels one.csv --simulate 1000 --batch 1000 --json | jq -c '.curve[-1].labels'
snag evaluate t.snag --labels one.csv --simulate 10 --learner ocsvm --features time

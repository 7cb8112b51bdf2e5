#needs jq
# A solve that takes five times as long in execution 50 of 101 on rank 0.
printf 'snag analyze "synth:101*step(solve@1ms io@100us(a 2*b));slow=solve/51/5;jitter=0.1" --foi step --quiet "$@"\n' >analyze.sh
bash analyze.sh -o o.snag --features stack2vec --detector ocsvm --top 1 | sed -n '4s/[0-9.]*, taken/X, taken/p'
snag query o.snag 'SELECT settings FROM foi' --json | jq -r .settings | jq -c '[keys_unsorted, .dimensions, .epochs, .learning_rate, .negatives, .gamma > 0]'

# Said on the command line, and kept.
snag analyze "synth:101*step(solve@1ms io@100us(a 2*b));slow=solve/51/5;jitter=0.1" --foi step --quiet -o s.snag --features stack2vec --detector ocsvm --dimensions 32 --epochs 5 --learning-rate 0.05 --negatives 3.5 --gamma 0.5 --top 1 | sed -n 4p
snag query s.snag 'SELECT settings FROM foi' --format csv
bash analyze.sh -o s.snag --force --detector ocsvm --gamma 0.5 --json | jq .gamma
bash analyze.sh -o s.snag --force --detector residual --gamma 0.5 --json | jq .gamma
SNAG_DIMENSIONS=16 bash analyze.sh -o e.snag --json >/dev/null && snag query e.snag "SELECT settings ->> '\$.dimensions' AS dimensions FROM foi" --format csv

# What goes on with the run takes its settings, but for what is said.
snag label o.snag '#0-50=abnormal' --author me
snag retrain o.snag --learner ocsvm --author me >/dev/null
snag retrain o.snag --learner ocsvm --author me --dimensions 16 --epochs 4 --learning-rate 0.03 --negatives 2 --gamma 0.25 >/dev/null
snag query o.snag 'SELECT settings FROM retrain ORDER BY id' --json | jq -c '.settings | fromjson | [.dimensions, .epochs, .learning_rate, .negatives]'
snag query o.snag "SELECT r.settings ->> '\$.gamma' = f.settings ->> '\$.gamma' AS same, r.settings ->> '\$.gamma' = 0.25 AS given FROM retrain r, foi f" --format csv
snag project o.snag --method pca --features stack2vec --dimensions 8 --epochs 2 --learning-rate 0.1 --negatives 1 --json | jq -c '[.features, .executions]'

# Trained once per settings; only commands that change the run keep what they train.
snag query o.snag 'SELECT settings, bytes > 0, length(data) > 0 FROM embedding ORDER BY rowid' --format csv
snag retrain o.snag --undo --json | jq .retrain
snag query e.snag 'SELECT count(*) AS n FROM embedding' --format csv
snag project e.snag --method pca --features stack2vec --json >first.json
snag query e.snag 'SELECT count(*) AS n FROM embedding' --format csv
snag project e.snag --method pca --features stack2vec --json | cmp - first.json
snag export o.snag | awk -F, 'NR == 1 { print "id,label" } NR > 1 { print $1 "," ($1 == "#0-50" ? "abnormal" : "normal") }' >all.csv
snag evaluate o.snag --labels all.csv --simulate 10 --learner ocsvm --dimensions 16 --epochs 4 --learning-rate 0.03 --negatives 2 --gamma 0.25 --json | jq -c '[.features, (.curve | length)]'

snag model save o.snag o.model --learner reasons --dimensions 16 --epochs 4 --learning-rate 0.03 --negatives 2 --gamma 0.25

# What makes no sense.
bash analyze.sh -o x.snag --dimensions 0
bash analyze.sh -o x.snag --dimensions 5000
bash analyze.sh -o x.snag --epochs 20000
bash analyze.sh -o x.snag --learning-rate -1
bash analyze.sh -o x.snag --learning-rate 2
bash analyze.sh -o x.snag --negatives 0
bash analyze.sh -o x.snag --negatives 5000
bash analyze.sh -o x.snag --gamma wide
bash analyze.sh -o x.snag --gamma 0
ls -d x.snag

# C / n, and what a machine that knows all labels can do.
snag analyze "synth:101*step(solve@1ms io@100us(a 2*b));slow=solve/51/5;jitter=0.1" --foi step --quiet -o n.snag --detector ocsvm --features time --nu 0.1 --json | jq '.anomalies'
snag query n.snag "SELECT settings ->> '\$.nu' AS nu FROM foi" --format csv
snag label n.snag '#0-50=abnormal' --author me --quiet; snag retrain n.snag --nu 0.05 --json --author me | jq -c '[.nu, .gamma > 0, .by[0].labels]'
snag model save n.snag n.model --learner ocsvm --nu 0.3 --json | jq .abnormal
bash analyze.sh -o n.snag --force --detector ocsvm --nu 1.5
snag evaluate n.snag --labels all.csv --supervised --features time
awk -F, 'NR > 1 && NR % 5 == 0 { $2 = "abnormal" } { print $1 "," $2 }' all.csv >fifth.csv; snag evaluate n.snag --labels fifth.csv --supervised --features time --json | jq -c '[.features, .folds, .abnormal + .normal, .roc_auc < 0.9]'
snag evaluate n.snag --labels fifth.csv --simulate 10 --learner ocsvm --nu 0.2 --json | jq '.curve | length'

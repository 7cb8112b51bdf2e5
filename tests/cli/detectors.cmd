#needs jq
# A solve that takes five times as long in execution 50 of 101 on rank 0.
printf 'snag analyze "synth:101*step(solve@1ms io@100us);slow=solve/51/5" --foi step --quiet "$@"\n' >analyze.sh
bash analyze.sh -o r.snag --detector residual --top 3
bash analyze.sh -o l.snag --detector lof --features time --top 1
bash analyze.sh -o k.snag --detector knn --features subtrees --neighbours 5 --top 1
bash analyze.sh -o d.snag --detector=knn --features=residual -k 5 --seed 7 --top 1
snag query l.snag 'SELECT features, detector, threshold IS NOT NULL AS has_threshold FROM foi'
snag query k.snag 'SELECT features, detector, threshold IS NOT NULL AS has_threshold FROM foi'

# What was said is kept in the run.
snag query d.snag 'SELECT settings FROM foi' --json | jq -r .settings | jq -S -c 'del(.version)'

# A threshold of one's own.
bash analyze.sh -o t.snag --threshold 0 --top 1 | sed -n 2p
bash analyze.sh -o t.snag --force --threshold 1e9 --top 1 | sed -n 2p
bash analyze.sh -o t.snag --force --threshold high
bash analyze.sh -o t.snag --force --threshold nan

# Seed and threads change nothing here.
bash analyze.sh -o s1.snag --seed 1 --threads 1 | sed '/written/d' >1
bash analyze.sh -o s2.snag --seed 1 --threads 8 | sed '/written/d' >2
cmp 1 2 && diff -r s1.snag/calls s2.snag/calls && echo same

# A learnt embedding: the same on any number of threads, another one for another seed.
bash analyze.sh -o e1.snag --detector knn --features stack2vec --threads 1 --top 1 | sed '/written/d' >1
bash analyze.sh -o e8.snag --detector knn --features stack2vec --threads 8 --top 1 | sed '/written/d' >2
bash analyze.sh -o e9.snag --detector knn --features stack2vec --seed 9 --top 1 | sed '/written/d' >3
cmp 1 2 && echo same; cmp -s 1 3 || echo another
snag list e1.snag --top 1 --json | jq -r .id

# Every option of snag analyze, once, by its name; verbose says how long stages took.
snag analyze 'synth:30*step(a b)' --foi step --output all.snag --force --detector lof --features residual --neighbours 3 --threshold 2 --seed 3 --top 1 --all --threads 2 --json --quiet | jq -c '[.foi, .trees, .vertices, .max_depth, (.candidates | length)]'
snag analyze 'synth:30*step(a b)' --foi step --output verbose.snag --verbose 2>&1 >/dev/null | grep -c 'ms'

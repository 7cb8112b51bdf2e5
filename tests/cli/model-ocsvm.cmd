#needs jq
# The one-class SVM of a run and the embedding it needs, in a file.
printf '200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1' >program
snag analyze "synth:$(cat program)" --foi step --features stack2vec --detector ocsvm --dimensions 32 -o one.snag --quiet >/dev/null
snag model save one.snag one.model --foi step --json
snag model info one.model | sed 's/made .*/made .../; s/vectors .* of/vectors       N of/; s/gamma .*/gamma X/'
snag model info one.model --json | jq -c 'keys_unsorted'

# The trace it was made from gets the scores it had, another one scores on the same scale.
snag score "synth:$(cat program)" --model one.model -o same.snag --json | jq -c '[.unseen, .gamma > 0]'
snag export one.snag | cut -d, -f1,10 | tail -n +2 >a
snag export same.snag | cut -d, -f1,10 | tail -n +2 >b
paste -d, a b | awk -F, '{ d = $2 - $4; if (d < 0) d = -d; if ($1 != $3 || d > 1e-6) n++ } END { print NR, "executions,", n + 0, "differ" }'
snag query same.snag 'SELECT features, detector, settings FROM foi' --json | jq -c '[.features, .detector, (.settings | fromjson | .dimensions)]'
snag score "synth:$(cat program);seed=2;slow=c/150/30" --model one.model -o slow.snag --top 3 | sed -n '2,3p;5p;7,10p' | cut -c1-60

# What the embedding does not know is left out, and said.
snag score 'synth:9*step(compute@1ms(a 3*b new(a)) c@200us)' --model one.model -o new.snag --top 1 | sed -n '3,6p'
snag score 'synth:9*step(compute@1ms(a 3*b new(a)) c@200us)' --model one.model -o new.snag --force --json | jq -c .unseen

# Labels shape it: what is normal is not outside.
snag label slow.snag '#0-149=normal' --author me
snag retrain slow.snag --learner ocsvm --quiet >/dev/null
snag model save slow.snag slow.model
snag score "synth:$(cat program);seed=2;slow=c/150/30" --model slow.model -o again.snag --quiet >/dev/null
snag query slow.snag 'SELECT verdict FROM execution WHERE rank = 0 AND idx = 149' --format csv
snag query again.snag 'SELECT verdict FROM execution WHERE rank = 0 AND idx = 149' --format csv

# On residual features there is no embedding to keep.
snag analyze "synth:$(cat program)" --foi step --detector ocsvm -o res.snag --quiet >/dev/null
snag model save res.snag res.model --gamma 0.3 | sed 's/ execu.*//'
snag model info res.model --json | jq -c '[.detector, .features, .subtrees, .gamma]'
snag score "synth:$(cat program)" --model res.model -o res2.snag --quiet --json | jq -c '.unseen | [.calls, .subtrees]'

# What cannot be kept.
snag analyze "synth:$(cat program)" --foi step --detector lof -o lof.snag --quiet >/dev/null
snag model save lof.snag lof.model
snag model save one.snag reasons.model --learner reasons
snag analyze "synth:$(cat program)" --foi step --detector ocsvm --features time -o time.snag --quiet >/dev/null
snag model save time.snag time.model

# Not for this trace; damaged; newer.
snag score 'synth:9*other' --model one.model -o four.snag
head -c 3000 one.model >cut && snag score 'synth:9*step' --model cut -o four.snag
cp one.model newer && printf '\11' | dd of=newer bs=1 seek=8 conv=notrunc status=none && snag score 'synth:9*step' --model newer -o four.snag
ls -d four.snag

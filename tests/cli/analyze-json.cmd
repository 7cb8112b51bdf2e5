#needs jq
mkdir t && sample_archive t
snag analyze t --foi step -o t.snag --json --top 2 >out.json
jq -c keys_unsorted out.json
jq -c 'del(.candidates)' out.json
jq -c '.candidates[] | keys_unsorted' out.json
jq -c '.candidates[] | [.id, .enter_ns, .duration_ns, .vertices, .messages, .verdict, .label]' out.json

# One object for each function of interest.
snag analyze t --foi step --foi walk -o two.snag --json --top 1 | jq -c '[.foi, .trees, .vertices, .messages, .unique_subtrees, .max_depth, .candidates[0].id]'

# How many may be called anomalies although nothing is wrong; a model has its own, or what is said.
echo 'synth:300*step(compute@1ms(a 3*b));ranks=4;jitter=0.1;slow=compute/60/1.7;seed=2' >usual; echo 'synth:300*step(compute@1ms(a 3*b));ranks=4;jitter=0.1;slow=compute/60/1.9;seed=3' >new
for n in 0.00001 1 10; do snag analyze "$(cat usual)" --foi step --false-alarms $n -o $n.snag --json | jq -c '[.anomalies, .candidates[0].false_alarm_probability < 1e-4]'; done
snag model save 1.snag usual.model --quiet; for n in 0.00001 1 10; do snag score "$(cat new)" --model usual.model --false-alarms $n -o scored-$n.snag --json | jq -c .anomalies; done
snag score "$(cat new)" --model usual.model -o scored.snag --json | jq -c .anomalies
for n in 0.5 1; do snag analyze 'synth:240*step(a@1ms);ranks=4;jitter=0.3;slow=a/17/2/1;seed=2' --foi step --false-alarms $n -o every17.snag --force --json 2>/dev/null | jq -c .anomalies; done # a pattern is found by chance in one run of a thousand
snag analyze "$(cat usual)" --false-alarms 0

mkdir t && sample_archive t
snag analyze t/traces.otf2 --foi step --top 5
ls
snag analyze t --foi step
snag analyze t --foi step --force --all | wc -l
snag analyze t -o suggested.snag -n 1

# Two functions, by a part of the name and by a regular expression.
snag analyze t --foi solve --foi '/^Atoms/' -o two.snag --top 2
snag list two.snag --foi solve -n 1
snag list two.snag --foi sort -n 1
snag show two.snag '#0-1'
snag show two.snag 'solve#0-1' | sed -n 1p
snag show two.snag '#0-1' --foi Atoms | sed -n 1p

# Functions that are not there, or too many.
snag analyze t --foi nothing -o x.snag
snag analyze t --foi stpe -o x.snag
snag analyze t --foi '/(/' -o x.snag
snag analyze t --foi /a/ -o two.snag
snag analyze nowhere.otf2 -o x.snag
snag analyze t --foi step -o missing/x.snag
ls

# A trace of its own length is no run to replace.
snag analyze t --foi step -o t --force

# An empty trace.
printf '[]' | snag analyze - -o x.snag

# Nearest to an anomaly is the strangest execution, not what stands first among incidents.
snag analyze 'synth:40*step(a@1ms b@1ms |);jitter=0.3;ranks=4' --foi step -o near.snag | tail -1
snag list near.snag --executions --top 1 | sed -n '2s/normal.*/normal/p'
snag list near.snag --all | sed -n '/^incident/{n;p}' | cut -c1-60

# Of few executions nothing is typical, so what they lost is not known, unless a model of others says what is.
snag analyze 'synth:6*step(a@1ms b@2ms);jitter=0.1;slow=b/3/5' --foi step -o few.snag
snag list few.snag --all
snag show few.snag '#0-2' | sed -n 1,5p
snag report few.snag -o few.html --quiet >/dev/null; sed 's/<[^>]*>//g' few.html | grep -o 'The longest come first:\|median [^;]*; lost not known'
grep -o 'below, those of [^<]*' few.html; sed -n 's/.*id="answers">\(.*\)<\/script>.*/\1/p' few.html | jq -c '.["/fois/1"]'
cp -r few.snag taught.snag; snag label taught.snag '#0-2=abnormal' --quiet >/dev/null; snag retrain taught.snag --quiet >/dev/null; snag report taught.snag -o - | sed 's/<[^>]*>/ /g' | grep -o '^ *1 .* labels made it an anomaly\|what they lost is not known; the strangest: .*'
snag analyze 'synth:6*step(a@1ms b@2ms);jitter=0.1;slow=b/3/5' --foi step -o few.snag --force --json 2>/dev/null | jq -c '[.is_few, .lost_ns, .lost_by_rank[0].lost_ns]'
snag analyze 'synth:step(a@1ms b@2ms)' --foi step -o few.snag --force | tail -5
snag analyze 'synth:300*step(a@1ms b@2ms);jitter=0.1' --foi step -o many.snag --quiet >/dev/null
snag model save many.snag many.model --quiet
snag score 'synth:6*step(a@1ms b@2ms);jitter=0.1;slow=b/3/5' --model many.model -o few.snag --force
snag score 'synth:6*step(a@1ms b@2ms);jitter=0.1;seed=5' --model many.model -o few.snag --force | sed -n 4,7p

# Where too few executions of what is suggested are there, what is called often enough is named.
snag analyze 'synth:9*step(a@5ms(4*x) b@5ms(4*y) 2*c@1ms(4*z));jitter=0.05' -o often.snag | sed -n 2,7p

#needs jq
# A run: one file, with all that matters as text. (What scripts draw: web/e2e/report_case.mjs.)
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag --quiet >/dev/null
snag report t.snag -o report.html | sed 's/([0-9.]* KiB)/(SIZE)/'
sed -n '/<main>/,/<script/p' report.html | sed '/<script/d; s/<[^>]*>/ /g; s/  */ /g; s/&#62;/>/g; s/20[0-9-]*T[0-9:]*Z/WHEN/; s/ [^ ]*\/t: / TRACE: /; s/ \/[^ ]*\/t $/ TRACE/' | grep -v '^ *$'
grep -o 'data-view="[a-z]*" data-of="[^"]*"' report.html
sed -n 's/.*id="answers">\(.*\)<\/script>.*/\1/p' report.html | jq -c 'keys_unsorted, .["/run"], .["/regions"][0], (.["/fois/1/typical"].nodes[0] | keys)'
# Of what is drawn, whether somebody is to blame for it: the page asks these.
sed -n 's/.*id="answers">\(.*\)<\/script>.*/\1/p' report.html | jq -c 'to_entries[] | select(.value | type == "object" and has("cause_end")) | .value | [.id, .verdict, .lost_ns, .open_ns, .incident, .cause_end, (.cause[0] | keys_unsorted)]'
snag report t.snag -o - --foi step --top 1 --verify --threads 1 --quiet | grep -c '<h4>Incident'

# What labels made normal ends no list, whatever it lost: anomalies stand first.
snag analyze 'synth:300*step(a@1ms);ranks=3;jitter=0.6;slow=a/25/5/1' --foi step -o l.snag --quiet >/dev/null
snag label l.snag '#1-149=normal' '#2-109=normal' --quiet && snag retrain l.snag --quiet | sed -n '/#[12]-1[04]9 /p'
snag report l.snag -o - | grep -o '<h4>Incident [0-9]*\|and [0-9]* more$'; snag report l.snag -o - | sed 's/<[^>]*>/ /g' | grep -c ' anomaly .* longer than'

# Where it goes when nothing is said; nothing is written over by chance.
snag report t.snag --json | jq -c '.report, (.bytes > 5000 and .bytes < 2000000)'
snag report t.snag
snag report ./t.snag/ --output t.html --verbose --json 2>/dev/null | jq -r .report

# What goes wrong leaves no file.
snag report nowhere -o bad.html
snag report t.snag -o nowhere/bad.html
snag report t.snag -o t
snag report t.snag --foi nothing -o bad.html
snag report
snag report t.snag t.snag -o bad.html
snag report t.snag --least 3% -o bad.html
snag report t.snag --path step -o bad.html
snag report t.snag t.snag --path step -o bad.html
SNAG_LAST=3 SNAG_TAG=a=b snag report t.snag -o env.html --json | jq -r .report
touch t.otf2; snag report t.otf2 -o bad.html
ls bad.html

# What changed: the tables of snag compare, and the new run.
for i in 1 2 3; do snag analyze "synth:100*step(a@1ms b@500us);ranks=4;jitter=0.02;seed=$i" --foi step -o b$i.snag --quiet >/dev/null; done
snag analyze 'synth:100*step(a2@1.2ms b@500us);ranks=4;jitter=0.02;seed=9' --foi step -o n.snag --quiet >/dev/null
snag report b1.snag n.snag -o c.html --rename a=a2 --json | jq -c '.bytes < 2000000'
grep -o 'data-view="[a-z]*" data-of="[^"]*"' c.html
sed -n 's/.*id="answers">\(.*\)<\/script>.*/\1/p' c.html | jq -c '.["/comparison/tree"] | .kinds, (.nodes[] | [.name, .parent, .verdict, (.calls | map(. + 0))])'
snag report b1.snag n.snag -o - --rename a=a2 --least 2% | sed -n '/<main>/,$p' | sed 's/<[^>]*>/ /g; s/&#62;/>/g' | tr -s ' ' | sed -n 1,12p
snag report -b b1.snag --base b2.snag n.snag --rename a=a2 -o - | grep -o '<h[12]>[^<]*'

# A history, and a trace, which is analysed for it.
for i in 1 2 3; do snag history add h.db b$i.snag --tag build=$i >/dev/null; done
snag report h.db -o - --tag build=3 | grep -c '<figure data-view'
snag report h.db -o h.html | sed 's/([0-9.]* KiB)/(SIZE)/'
grep -o 'data-view="[a-z]*" data-of="[^"]*"' h.html
sed -n 's/.*id="answers">\(.*\)<\/script>.*/\1/p' h.html | jq -c '.["/history"] | (.runs[] | keys), .series[].path'
snag report h.db -o - --last 2 --path 'step > a' --seed 1 | grep -o -e '<h[23]>[^<]*' -e 'step: [^<]*runs' -e 'step &#62; [ab]</td>'
snag report 'synth:60*step(a@1ms b@500us);ranks=2;jitter=0.1' --foi step -o - | grep -o '<h[12]>[^<]*'
snag report --help | sed -n 1,2p

# Of incidents without an anomaly those that cost the run time, also behind one that lost more and cost nothing.
snag analyze 'synth:300*step(a@1ms >1 <1 b@1ms >1 <1);ranks=6;jitter=0.8;seed=6' --foi step -o chance.snag --quiet >/dev/null
snag list chance.snag --incidents --json --verdict normal | jq -c 'select(.lost_ns > 12000000) | [.id, .cost_ns > 0]'; snag report chance.snag -o - | grep -o '<h4>Incident [0-9]*'

#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
snag label t.snag '#1-7=abnormal' '#2-21=abnormal' --author me
snag label t.snag | awk '{ print $1, $2, $3 }'
snag label t.snag --json | jq -c 'del(.at)'
printf 'id,label\n#2-21,clear\n#0-1,normal\n' >labels.csv
snag label t.snag --from labels.csv --author you --json
cat labels.csv | snag label t.snag --from - --foi step --author you --quiet --threads 1 --verbose
snag query t.snag 'SELECT rank, idx, label, author FROM labelled ORDER BY rank, idx'

# Labels are seen everywhere.
snag list t.snag --all --json | jq -c 'select(.label) | [.id, .label]'
snag show t.snag '#1-7' | sed -n 1p
snag show t.snag '#0-1' --json | jq -c .label
snag export t.snag --rank 1 | grep '^#1-7,' | cut -d, -f1,11,12
for label in abnormal normal none; do snag list t.snag --label $label --all --json | jq -s -c --arg of $label '[$of, length, (map(.label) | unique)]'; done; snag list t.snag --all --json | wc -l
snag list t.snag --label normal | awk '{ print $1 }'; snag list t.snag --label abnormal --verdict normal --json | jq -c .id; snag list t.snag --incidents --label abnormal --json | jq -s 'length'
snag list t.snag --label odd; snag list t.snag --label none --per-call

# All or none.
snag label t.snag '#0-2=abnormal' '#0-3=odd'
snag label t.snag '#0-2=abnormal' '#0-30=normal'
snag label t.snag '#0-2'
snag label t.snag 'solve#0-2=normal'
snag label t.snag --from nowhere.csv
printf 'id,label\n#0-2,normal\n#0-3,odd\n' | snag label t.snag --from -
snag label t.snag --json | jq -s length

# Of several functions, one is named: by the execution, or by --foi.
snag analyze t --foi step --foi solve -o two.snag --quiet >/dev/null
snag label two.snag '#0-2=abnormal'
snag label two.snag 'solve#0-2=abnormal' 'step#0-2=normal' --author me
snag label two.snag '#0-3=abnormal' --foi solve --author me
snag label two.snag | awk '{ print $1, $2, $3 }'

#needs jq
mkdir t && sample_archive t damaged
snag info t | sed -n '/^count/,/^$/p'
snag info t >/dev/null
snag info t --json >info.json
jq -c '[.is_damaged, .quality, .calls]' info.json
snag analyze t --foi step -o t.snag --quiet >/dev/null
snag query t.snag 'SELECT kind, location, count, is_damage FROM quality ORDER BY location, kind'
snag list t.snag --top 1 >/dev/null

# A call that was not left does not end the ones after it.
snag query t.snag "SELECT rank, count(*) AS n, min(duration_ns), max(duration_ns) FROM execution GROUP BY rank"

# Without the events of rank 1.
rm t/traces/4294967296.evt
snag info t | sed -n '/^rank/,/^$/p;/^count/,/^$/p'
snag info t >/dev/null

# Half of them.
head -c 3000 t/traces/0.evt >half && mv half t/traces/0.evt
snag info t | sed -n '/^rank/,/^$/p;/^count/,/^$/p'

# No archive.
head -c 40 t/traces.otf2 >cut.otf2
snag info cut.otf2
printf '{"traceEvents":' >cut.json
snag info cut.json >/dev/null
snag info nowhere.otf2
printf 'hello' >hello.txt
snag info hello.txt
snag info .
: >empty.json
snag info empty.json

# A run that is damaged is made anew from its trace; one whose labels cannot be read is not written over.
snag analyze 'synth:50*step(a b)' --foi step -o d.snag --quiet >/dev/null
printf garbage | dd of=d.snag/calls/index bs=1 seek=40 conv=notrunc 2>/dev/null; snag list d.snag
snag analyze 'synth:50*step(a b)' --foi step -o d.snag --force --quiet >/dev/null; snag list d.snag | tail -1
printf garbagegarbagegarbage | dd of=d.snag/run.db conv=notrunc 2>/dev/null; snag analyze 'synth:50*step(a b)' --foi step -o d.snag --force --quiet

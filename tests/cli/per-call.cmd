# Calls of all functions, each against the others of its function.
snag analyze 'synth:200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/40/30/1' --foi step --per-call -o t.snag --top 3 | sed -n '/strange calls/,/^$/p;/^rank/,$p' | cut -c1-90
snag list t.snag --per-call --all | wc -l
snag list t.snag --per-call --rank 0
snag list t.snag --per-call --top 1 --json
snag analyze 'synth:200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/40/30/1' --foi step --per-call --call-detector sstd --inclusive -o u.snag --quiet >/dev/null
snag query u.snag 'SELECT r.name, count(*) FROM strange_call AS s JOIN region AS r ON r.id = s.region GROUP BY r.name'
snag analyze synth:step --per-call --call-detector none
snag analyze 'synth:200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/40/30/1' --foi step --per-call --least 6ms -o v.snag --quiet | grep -E 'strange calls|strange, too'
echo '{"algorithm": "hbos", "hbos_thres": 0.5, "hbos_max_bins": 20}' >algo.json; snag analyze 'synth:200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;slow=c/40/30/1' --foi step --per-call --algo-file algo.json --short none -o w.snag --quiet | grep -E 'strange calls|strange, too'
snag analyze synth:step --per-call --algo-file nowhere

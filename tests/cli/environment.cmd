#needs jq
SNAG_FOI=step snag analyze 'synth:9*step(a) 9*other' -o r.snag --quiet --top 1 | sed -n 2p
SNAG_FOI=step snag analyze 'synth:9*step(a) 9*other' -o o.snag --quiet --top 1 --foi other | sed -n 2p
SNAG_TOP=2 snag list r.snag --executions | wc -l
SNAG_TOP=2 snag list r.snag --executions --top 3 | wc -l
SNAG_TOP= snag list r.snag --executions | wc -l
SNAG_THREADS=1 snag info synth:a | sed -n 1p
SNAG_TOP=many snag list r.snag
SNAG_DETECTOR=magic snag list r.snag --top 1 | sed -n 1p
SNAG_JSON=1 snag list r.snag --top 1 | sed -n 1p

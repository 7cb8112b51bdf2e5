#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
snag list t.snag --top 4
snag list t.snag | wc -l
snag list t.snag --all | wc -l
snag list t.snag --rank 2 --top 2
snag list t.snag --verdict anomaly
snag list t.snag --verdict normal --rank 0 -a | wc -l
snag list t.snag --foi ste --top 1 --quiet --threads 1 --verbose
snag list t.snag --foi other
snag list t.snag --rank 9
snag list t.snag --rank 9 --json

# As JSON: one object a line, with the documented keys.
snag list t.snag --top 2 --json | jq -c keys_unsorted
snag list t.snag --top 2 --json | jq -c '[.id, .foi, .rank, .thread, .index, .enter_ns, .duration_ns, .vertices, .messages, .verdict, .label]'
snag list t.snag --all --json | jq -c .score | sort -rg | cmp - <(snag list t.snag --all --json | jq -c .score) && echo sorted

# Checksums.
snag list t.snag --verify --top 1 >/dev/null && echo good
printf x | dd of=t.snag/calls/enter_ns.u64 bs=1 seek=100 conv=notrunc 2>/dev/null
snag list t.snag --verify --top 1
snag list t.snag --top 1 >/dev/null && echo not looked at

# What is no run.
snag list nowhere.snag
mkdir empty.snag && snag list empty.snag
snag list t/traces.otf2

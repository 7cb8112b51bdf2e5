#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag >/dev/null
snag export t.snag | cut -d, -f1-9,11 | sed -n 1,3p
snag export t.snag | wc -l
snag export t.snag --rank 1 --verdict anomaly --foi step --format csv | cut -d, -f1-9,11
snag export t.snag --what executions --format json --rank 2 | sed -n 1p | jq -c keys_unsorted
snag export t.snag --json | jq -s length
snag export t.snag --what executions --format chrome | jq -c '[.traceEvents[] | .ph] | group_by(.) | map([.[0], length])'
snag export t.snag --what executions --format chrome | jq -c '.traceEvents[-1] | del(.args.score) | .ts += 0'

# Calls, as CSV.
snag export t.snag --what calls | sed -n 1,12p
snag export t.snag --what calls --rank 2 | wc -l
snag export t.snag -w calls -r 1 | cut -d, -f1,2 | sort | uniq -c | sed 's/^ *//'

# As JSON and as a Chrome trace, which we read, too.
snag export t.snag --what calls --format json | sed -n 1,2p
snag export t.snag --what calls --format json | jq -s -c 'length'
snag export t.snag --what calls --format chrome --output calls.json --quiet --verify --threads 1
jq -c '[.traceEvents[] | .ph] | group_by(.) | map([.[0], length])' calls.json
snag export t.snag --what calls --format chrome --rank 1 | jq -c '[.traceEvents[] | select(.ph != "M")] | group_by(.ph) | map([.[0].ph, length, (map(.pid) | unique)])'
snag info calls.json --json | jq -c '[.locations, .calls, .sends, .recvs, .quality]'
snag info t --json | jq -c '[.locations, .calls, .sends, .recvs, .quality]'
snag analyze calls.json --foi step -o again.snag --quiet >/dev/null
snag export again.snag --what calls | sed 's/Atoms::sort,/Atoms::sort(),/' | cmp - <(snag export t.snag --what calls) && echo same

# Where it goes.
snag export t.snag -o - | wc -l
snag export t.snag -o nowhere/x.csv
snag export t.snag >/dev/full
snag export t.snag --what messages
snag export t.snag --verbose >/dev/null

# The executions that are anomalies, by another name; what only a store has.
snag export t.snag --what anomalies | cmp - <(snag export t.snag --verdict anomaly) && echo same
snag export t.snag --what normalexecs

# Parquet: a directory for all tables, a file, or wherever standard output goes.
snag export t.snag --format parquet -o tables/ && ls tables && head -c 4 tables/calls.parquet && tail -c 4 tables/messages.parquet && echo
mkdir one && snag export t.snag --format parquet --what anomalies -o one --foi step && ls one
snag export t.snag --format parquet --what calls --rank 1 | tail -c 4; echo
snag export t.snag --format parquet -o t.snag/run.db/
snag export t.snag --format parquet >/dev/full
# Processes that write together have files of their own, which are not left among those of others; one is as without.
snag export t.snag --together --format parquet -o alone/ && diff -r alone tables && echo same
snag export t.snag --together
touch tables/calls-1.parquet && snag export t.snag --format parquet -o tables/

# Functions whose names a spreadsheet would take for formulas, and labels of their executions.
echo '[{"ph":"X","pid":0,"tid":0,"ts":1,"dur":5,"name":"=1+1"},{"ph":"X","pid":0,"tid":0,"ts":7,"dur":5,"name":"=1+1"}]' >formula.json
snag analyze formula.json --foi =1+1 -o formula.snag -q >/dev/null
snag export formula.snag --what calls --format csv
snag export formula.snag --what executions --format csv | cut -d, -f1,2 | tee ids
{ echo id,label; tail -n +2 ids | cut -d, -f1 | sed 's/$/,normal/'; } >labels.csv
snag label formula.snag --from labels.csv

#needs jq
mkdir t && sample_archive t
snag info t/traces.otf2 --json >info.json
jq -c keys_unsorted info.json
jq -c '.regions[0] | keys_unsorted' info.json
jq -c '.location_table[0] | keys_unsorted' info.json
jq -c '.suggestions[0] | keys_unsorted' info.json
jq -c '.clocks' info.json
jq -c '[.trace, .source, .locations, .ranks, .records, .calls, .messages, .sends, .recvs, .collectives]' info.json
jq -c '.location_table[] | [.rank, .thread, .name, .id, .calls, .sends, .recvs, .collectives]' info.json
jq -c '.regions[] | [.name, .short_name, .kind, .calls, .outermost, .inclusive_ns, .exclusive_ns, .min_ns, .max_ns]' info.json
jq '([.regions[].exclusive_ns] | add) == ([.location_table[].roots_ns] | add)' info.json

# Names that are no UTF-8, or have quotes.
mkdir -p odd && printf '[{"ph":"X","pid":0,"tid":0,"ts":1,"dur":2,"name":"say \\"hi\\", \\u00e9\\n"}]' >odd.json
snag info odd.json --json | jq -c '.regions[].name'
printf 'synth:a' | xargs snag info --json | jq -c '[.calls, .is_damaged, .quality]'

#needs jq
mkdir t && sample_archive t
snag analyze t --foi step -o t.snag --json --top 2 >out.json
jq -c keys_unsorted out.json
jq -c 'del(.candidates)' out.json
jq -c '.candidates[] | keys_unsorted' out.json
jq -c '.candidates[] | [.id, .enter_ns, .duration_ns, .vertices, .messages, .verdict, .label]' out.json

# One object for each function of interest.
snag analyze t --foi step --foi walk -o two.snag --json --top 1 | jq -c '[.foi, .trees, .vertices, .messages, .unique_subtrees, .max_depth, .candidates[0].id]'

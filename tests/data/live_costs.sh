#!/usr/bin/env bash
# What executions of a real trace cost, said while it is replayed, against what is said after the run: exact costs
# are the same, bounds hold, and most are known.
#
#   live_costs.sh SNAG SOURCE WORK ARCHIVE FUNCTION LEAST STEP...
#
# LEAST: so many are to be known exactly both ways; 0: messages are in an impossible order, so none is.
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace "$4"
function=$5 least=$6
shift 6
"$SNAG" analyze "$archive" --foi "$function" -o "$run/r.snag" --quiet >/dev/null || [ $? -eq 3 ]
"$SNAG" model save "$run/r.snag" "$run/f.model" --quiet >/dev/null
"$SNAG" query "$run/r.snag" 'SELECT rank, thread, idx, cost_ns, lost_ns FROM execution
    WHERE cost_ns IS NOT NULL AND NOT cost_is_bound' --format csv | sed 1d >"$run/after"

for step; do
    rm -rf "$run/store"
    "$SNAG" ad "replay:$archive" --model "$run/f.model" --step "$step" --store "$run/store" --quiet >/dev/null ||
        [ $? -eq 3 ]
    "$SNAG" query "$run/store" 'SELECT rid, tid, execution, cost_ns, cost_is_bound FROM anomalies
        WHERE execution IS NOT NULL AND cost_ns IS NOT NULL' --format csv | sed 1d >"$run/live"
    awk -F, 'FNR == NR { cost[$1, $2, $3] = $4; lost[$1, $2, $3] = $5; next }
        ($1, $2, $3) in cost {
            after = cost[$1, $2, $3]
            near = 0.1 * after > 0.01 * lost[$1, $2, $3] ? 0.1 * after : 0.01 * lost[$1, $2, $3]
            if ($5) low += $4 < after - 1000
            else { n++; off += $4 > after + near || $4 < after - near }
        }
        !(($1, $2, $3) in cost) && $4 > 0 { alone++ }
        END { print n + 0, off + 0, low + 0, alone + 0 }' "$run/after" "$run/live" >"$run/found"
    read -r n off low alone <"$run/found"
    echo "steps of $step s: $n known exactly both ways"
    check "steps of $step s: costs that differ by more than a tenth" "$off" 0
    check "steps of $step s: bounds below the cost" "$low" 0
    if [ "$least" -gt 0 ]; then
        check_true "steps of $step s: enough are known" "$n >= $least"
    else
        check "steps of $step s: costs that are not known after the run" "$alone" 0
    fi
done
exit $failed

#!/usr/bin/env bash
# details.sh SNAG SOURCE WORK -- counters and arguments of calls as they are in a run, against otf2-print and jq.
set -euo pipefail
SNAG=$1 SOURCE=$2 WORK=$3
# shellcheck source=find.sh
. "$SOURCE/tests/data/find.sh"

# Values of all readings of a run, in the order of the file.
readings() {
    od -An -v -t d8 -w24 "$1/calls/readings.rec" | awk '{ print $2 }'
}

# PAPI's counters in front of each enter and leave.
find_trace scorep-ping-pong-papi
"$SNAG" analyze "$archive" -o "$run/papi.snag" --quiet >/dev/null
for location in 0 1; do
    otf2-print "$archive" 2>/dev/null | awk -v l=$location '$1 == "METRIC" && $2 == l' | grep -o 'UINT64; [0-9]*' | cut -c9-
done >"$run/printed"
check "readings" "$(wc -l <"$run/printed")" 252
check "what PAPI read" "$(readings "$run/papi.snag" | md5sum)" "$(md5sum <"$run/printed")"
"$SNAG" info "$archive" --json >"$run/info.json"
check "counters" "$(jq -c '[.counters[].name], (.counters | map([.mode, .span, .unit]) | unique)' "$run/info.json")" \
    '["PAPI_TOT_CYC","PAPI_L2_TCM","PAPI_BR_MSP"]
[["accumulated","start","#"]]'

# A reading of each of 29 sensors now and then, and parameters.
find_trace scorep-mi300
"$SNAG" analyze "$archive" -o "$run/mi300.snag" --quiet >/dev/null
otf2-print "$archive" >"$run/printed" 2>/dev/null
check "readings of sensors" "$(readings "$run/mi300.snag" | wc -l)" "$(grep -c '^METRIC' "$run/printed")"
check "arguments" "$(od -An -v -t u8 -w16 "$run/mi300.snag/calls/arguments.rec" | awk '{ print $2 }' | grep -cFx -e 1718134583 -e 2492857623)" \
    "$(grep -c '^PARAMETER_UINT64' "$run/printed")"

# Arguments of calls: all numbers, texts and truths of "args", but for records that are no calls of a thread.
find_trace kineto-dlrm
files=("$directory"/*/*.json)
"$SNAG" analyze "${files[@]}" -o "$run/job.snag" --quiet >/dev/null
values() {
    jq -r '.traceEvents[] | select(.ph == "X" and .cat != "Trace") | .args // {} | to_entries[] |
        select(.value | type | . == "number" or . == "string" or . == "boolean") | '"$1" "${files[@]}"
}
check "arguments of calls" "$(($(stat -c %s "$run/job.snag/calls/arguments.rec") / 16))" "$(values .key | wc -l)"
# a name's number is at byte 4, what is at byte 6 says that it is a whole number
name=$("$SNAG" info "${files[@]}" --json | jq '.arguments | index("Sequence number")')
check "sequence numbers" "$(od -An -v -t u2 -w16 "$run/job.snag/calls/arguments.rec" |
    awk -v n="$name" '$3 == n && $4 == 1 { print $5 + 65536 * $6 }' | sort -n | md5sum)" \
    "$(values 'select(.key == "Sequence number").value' | sort -n | md5sum)"
exit $failed

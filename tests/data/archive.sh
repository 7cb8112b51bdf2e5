#!/usr/bin/env bash
# What snag counts in a real archive is what otf2-print counts, time is neither lost nor made,
# and no message is shown arriving before it was sent without a word on it.
#
#   archive.sh SNAG SOURCE WORK NAME [FILE]      NAME as in FILE.tar.zst
set -eu
SNAG=$1 SOURCE=$2 WORK=$3 name=$4
. "$(dirname "$0")/find.sh"
find_trace "$name" "${5:-$name}"

status=0
"$SNAG" info "$archive" --json --quiet >"$run/info.json" || status=$?
is_damaged=$(jq .is_damaged "$run/info.json")
check "exit status" $status $([ "$is_damaged" = true ] && echo 3 || echo 0)

# Per location: calls, sends, receives; in all: regions used.
otf2-print "$archive" 2>/dev/null | awk -v regions="$run/regions" '
$1 == "ENTER" {
    calls[$2]++
    sub(/^[^"]*"/, "")
    sub(/" <[0-9]+>$/, "")
    used[$0]
}
$1 == "MPI_SEND" || $1 == "MPI_ISEND" { sends[$2]++ }
$1 == "MPI_RECV" || $1 == "MPI_IRECV" { recvs[$2]++ }
$1 == "MPI_COLLECTIVE_END" { collectives[$2]++ }
END {
    for (l in calls) at[l]
    for (l in sends) at[l]
    for (l in recvs) at[l]
    for (l in at) print l, calls[l] + 0, sends[l] + 0, recvs[l] + 0, collectives[l] + 0
    print length(used) >regions
}' | sort >"$run/want"
jq -r '.location_table[] | select(.calls + .sends + .recvs > 0)
       | "\(.id) \(.calls) \(.sends) \(.recvs) \(.collectives)"' "$run/info.json" | sort >"$run/got"
diff "$run/want" "$run/got" || failed=1
check "regions used" "$(jq '.regions | length' "$run/info.json")" "$(cat "$run/regions")"
check "locations" "$(jq .locations "$run/info.json")" \
    "$(otf2-print -G "$archive" 2>/dev/null | grep -c '^LOCATION  ')"
check "calls of all regions" "$(jq '[.regions[].calls] | add' "$run/info.json")" \
    "$(jq .calls "$run/info.json")"
check "exclusive times of all regions" "$(jq '[.regions[].exclusive_ns] | add' "$run/info.json")" \
    "$(jq '[.location_table[].roots_ns] | add' "$run/info.json")"

# The same for each location, from the calls themselves.
"$SNAG" analyze "$archive" -o "$run/run.snag" --quiet >/dev/null || [ $? -eq 3 ]
"$SNAG" export "$run/run.snag" --what calls --format csv | awk -F, '
NR > 1 {
    l = $1 "," $2
    exclusive[l] += $NF
    if ($4 == -1)
        roots[l] += $(NF - 1)
}
END { for (l in roots) printf "%s %.0f %.0f\n", l, roots[l], exclusive[l] }' | sort >"$run/times"
awk '$2 != $3 { print "location " $1 ": roots take " $2 " ns, the calls " $3 " ns"; bad = 1 }
     END { exit bad }' "$run/times" || failed=1
jq -r '.location_table[] | select(.calls > 0) | "\(.rank),\(.thread) \(.roots_ns)"' \
    "$run/info.json" | sort | diff - <(cut -d' ' -f1,2 "$run/times") || failed=1

# Arrows: from a send to its receive.
"$SNAG" export "$run/run.snag" --what calls --format chrome |
    sed -n 's/^{"ph":"\([sf]\)".*"ts":\([0-9]*\)\.\([0-9]*\),"id":\([0-9]*\),.*/\1 \2\3 \4/p' |
    awk '$1 == "s" { sent[$3] = $2 + 0 }
         $1 == "f" { arrived[$3] = $2 + 0 }
         END {
             for (m in arrived) { n++; if (!(m in sent)) lost++; else if (arrived[m] < sent[m]) early++ }
             print n + 0, lost + 0, early + 0
         }' >"$run/arrows"
read -r n lost early <"$run/arrows"
check "messages without a send" "$lost" 0
check "messages that arrive before they are sent" "$early" \
    "$(jq '.quality.recv_before_send // 0' "$run/info.json")"

if [ "$name" = lammps-eam-eztrace-inj ]; then
    offset() { jq ".location_table[] | select(.rank == $1) | .clock_offset_ns / 1e6" "$run/info.json"; }
    check "offset of rank 0" "$(offset 0)" 0
    check_true "offset of rank 1" "($(offset 1) + 31.78) ^ 2 < 0.02 ^ 2"
    check_true "offset of rank 2" "($(offset 2) + 27.79) ^ 2 < 0.02 ^ 2"
    check_true "offset of rank 3" "($(offset 3) + 31.23) ^ 2 < 0.02 ^ 2"
    check "ranks whose clock was shifted" "$(jq .quality.clock_shifted "$run/info.json")" 3
    check "contradictions left" "$(jq .clocks.wrong "$run/info.json")" 0
fi
echo "$name: $(jq -c '[.calls, .sends, .recvs]' "$run/info.json") calls, sends, receives;" \
    "$n arrows, $early backwards"
exit $failed

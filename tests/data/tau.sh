#!/usr/bin/env bash
# Real traces of TAU: every event, message and counter is counted as bpls counts the rows, and
# the calls that were made slow are found, with few others.
#
#   tau.sh SNAG SOURCE WORK TOOLS
set -eu
SNAG=$1 SOURCE=$2 WORK=$3 TOOLS=$4
. "$(dirname "$0")/find.sh"
[ -x "$TOOLS/tau_write" ] || skip "this build is without ADIOS2"

unpack() { # unpack NAME: to $WORK/NAME
    local data=${SNAG_DATA:-$SOURCE/../shared/data} part
    [ -r "$data/$1.tar.zst" ] || skip "$1.tar.zst is not here (set SNAG_DATA to where it is)"
    [ -d "$WORK/$1" ] && return
    mkdir -p "$WORK"
    part=$(mktemp -d "$WORK/part-XXXXXX")
    zstd -dc "$data/$1.tar.zst" | tar -x -C "$part"
    mv -T "$part" "$WORK/$1" 2>/dev/null || rm -rf "$part" # another test was first
}
unpack tau-heat-transfer.bp
unpack tau-lammps-1M.bp4
heat=$(find "$WORK/tau-heat-transfer.bp" -name tau-metrics.bp)
lammps=$(find "$WORK/tau-lammps-1M.bp4" -name '*-0.bp')
truth=$(find "$WORK/tau-lammps-1M.bp4" -name truth1M.txt)

# rows FILE VARIABLE: the sum of a count over all steps, by bpls or as it was when there is none.
bpls=$(command -v bpls || command -v bpls.serial || true)
rows() {
    if [ -n "$bpls" ]; then
        "$bpls" -d "$1" "$2" -n 1 | grep -o ' [0-9]*$' | awk '{ n += $1 } END { print n }'
    else
        echo "$3"
    fi
}
for trace in "$heat 1716 32 354 13" "$lammps 1000268 152544 89126 40"; do
    read -r file events messages counters steps <<<"$trace"
    "$SNAG" info "$file" --json --quiet >"$run/info.json" && status=0 || status=$?
    check "status" $status 0
    "$TOOLS/read_stream" "$file" counters=1 >"$run/stream"
    check "steps" "$(grep -o '^[0-9]* steps' "$run/stream")" "$steps steps"
    check "calls" "$(jq '2 * .calls' "$run/info.json")" "$(rows "$file" timer_event_count "$events")"
    check "messages" "$(jq '.sends + .recvs' "$run/info.json")" "$(rows "$file" comm_count "$messages")"
    check "all rows" "$(jq .records "$run/info.json")" $((events + messages + counters))
    check "counters" "$(grep -o '[0-9]* counters' "$run/stream")" \
        "$(rows "$file" counter_event_count "$counters") counters"
    check "enters and leaves" "$(grep -o '[0-9]* enters, [0-9]* leaves' "$run/stream")" \
        "$((events / 2)) enters, $((events / 2)) leaves"
done
check "programs, ranks, threads" "$("$SNAG" info "$heat" --json |
    jq -c '[.location_table[] | "\(.rank).\(.thread)"] | join(" ")')" \
    '"0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 5.0 5.1"'
check "analyze" "$("$SNAG" analyze "$heat" --foi adios_open -o "$run/heat.snag" --json --quiet |
    jq -c '[.fois[]?.trees, .trees] | map(numbers)')" '[40]'

# Each call that was made slow, by when it was entered: truth names the time before others were
# moved, so that it is within the call and not at its beginning.
for detector in tails sstd hbos copod; do
    "$TOOLS/stream_verdicts" "$lammps" detector=$detector >"$run/verdicts" 2>/dev/null
    read -r precision recall <<<"$(awk '
        FNR == NR { at[FNR] = $2; n = FNR; next }
        {
            begin = $(NF - 3); end = begin + $(NF - 2) / 1000; is_right = 0
            for (i = 1; i <= n; i++)
                if (at[i] >= begin && at[i] <= end) { is_right = 1; found[i] }
            right += is_right; said++
        }
        END { for (i in found) n_found++; printf "%.4f %.4f", right / said, n_found / n }' \
        "$truth" "$run/verdicts")"
    echo "$detector: precision $precision, recall $recall of $(wc -l <"$truth") slow calls"
    [[ $detector == hbos || $detector == copod ]] && continue # what their rules say, right or not
    check_true "$detector, precision" "$precision >= 0.99"
    check_true "$detector, recall" "$recall == 1"
done
exit $failed

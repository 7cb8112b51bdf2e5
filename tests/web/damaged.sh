#!/usr/bin/env bash
# A run whose columns are damaged, served: each request gets a response in time, an error where
# the calls are needed; the server lives, and ends when it is told to.
#
#   damaged.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
api=/api/v1
paths=(/run /regions /fois/1/columns "/fois/1/candidates?limit=9" /fois/1/executions/{0,7,599}
    /fois/1/executions/{0,7}/{tree,subtrees} /fois/1/typical "/fois/1/next?n=5" /fois/1/retrains /fois/1/lost /fois/1/incidents
    /fois/1/ranks "/fois/1/ranks?by=thread" "/fois/1/ranks?by=program"
    /fois/1/projection "/timeline?width=100" "/timeline?width=4000&begin=0&end=2000000" /messages /messages/matrix "/query?sql=SELECT%20*%20FROM%20region" /collectives /calls/0/9/collective
    "/window.json?begin=0&end=3000000" /calls/0/{0,9,1000} "/search?q=s" "/search/next?region=1" /measure
    /labels /labels.csv /executions.csv)
n_errors=0

# ask WHAT: everything, of a run with that damage
ask() {
    local path answers=() refusals=() i
    serving=(serve "$work/damaged.snag")
    rm -f "$work/said"
    "$SNAG" "${serving[@]}" --port 0 >"$work/said" 2>"$work/errors" &
    server=$!
    for ((i = 0; i < 600; i++)); do
        url=$(head -n 1 "$work/said" 2>/dev/null)
        [ -n "$url" ] && break
        kill -0 $server 2>/dev/null || break
        sleep 0.02
    done
    if [ -z "$url" ]; then # it is refused
        wait $server
        check "$1: exit status" $? 1
        check "$1: lines on stderr" "$(wc -l <"$work/errors")" 1
        server=
        n_errors=$((n_errors + 1))
        return
    fi
    port=${url#*://*:}
    base=http://127.0.0.1:${port%%/*}
    i=0
    for path in "${paths[@]}"; do
        answers+=(-o "$work/answer$((i++))" "$base$api$path")
    done
    curl -sS -g -m 60 -w '%{http_code}\n' "${answers[@]}" >"$work/statuses"
    i=0
    while read -r status; do
        case $status in
        2*|404|400) ;;
        5*) refusals+=("$work/answer$i") ;;
        *) echo "$1: GET ${paths[i]}: status '$status'"; failed=1 ;;
        esac
        i=$((i + 1))
    done <"$work/statuses"
    check "$1: answers" $i ${#paths[@]}
    [ ${#refusals[@]} -eq 0 ] || check "$1: what errors say" \
        "$(jq -r '.detail | type' "${refusals[@]}" | sort | uniq -c | tr -s ' ')" " ${#refusals[@]} string"
    n_errors=$((n_errors + ${#refusals[@]}))
    post $api/fois/1/labels '{"labels":[{"tree":7,"label":"abnormal"}]}' -m 20
    post $api/fois/1/retrain '{}' -m 20
    kill -0 $server 2>/dev/null || { echo "$1: the server is gone"; cat "$work/errors"; failed=1; }
    kill -TERM $server
    for ((i = 0; i < 200; i++)); do
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
    [ $i -lt 200 ] || { echo "$1: SIGTERM is ignored"; failed=1; kill -9 $server; }
    wait $server 2>/dev/null
    server=
}

damage() { # FILE OFFSET BYTES...
    printf "$3" | dd of="$work/damaged.snag/calls/$1" bs=1 seek="$2" conv=notrunc status=none
}

for column in region.u32 subtree_len.u32 by_depth.u32 depth.u16 enter_ns.u64 inclusive_ns.u64; do
    bytes=$(stat -c %s "$run/calls/$column")
    for how in zeros one last cut; do
        rm -rf "$work/damaged.snag"
        cp -r "$run" "$work/damaged.snag"
        case $how in
        zeros) head -c "$bytes" /dev/zero >"$work/damaged.snag/calls/$column" ;;
        one) damage $column 40 '\xff\xff\xff\x7f' ;;
        last) damage $column $((bytes - 2)) '\xff' ;;
        cut) truncate -s $((bytes / 2)) "$work/damaged.snag/calls/$column" ;;
        esac
        ask "$column, $how"
    done
done
[ $n_errors -gt 20 ] || { echo "only $n_errors errors: the damage is not seen"; failed=1; }
exit $failed

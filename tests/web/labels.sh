#!/usr/bin/env bash
# Ten clients label at once while others read and one retrains: no label is lost.
#
#   labels.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
start
n=${LABELS:-12}

client() { # NUMBER: labels n executions, one by one, each of its own
    local k tree
    for ((k = 0; k < n; k++)); do
        tree=$(($1 * n + k))
        curl -sS -m 120 -o /dev/null -w '%{http_code}\n' -H 'Content-Type: application/json' \
            -d "{\"labels\":[{\"tree\":$tree,\"label\":\"normal\"}],\"author\":\"client $1\"}" \
            "$base/api/v1/fois/1/labels"
    done
}
pids=()
for ((c = 0; c < 10; c++)); do
    client $c >"$work/client$c" &
    pids+=($!)
done
for ((k = 0; k < 5; k++)); do
    post /api/v1/fois/1/retrain '{}'
    check "retrain" "$status" 200
    get /api/v1/fois/1/candidates
    check "candidates" "$status" 200
done
wait "${pids[@]}"
check "answers" "$(cat "$work"/client* | sort | uniq -c | tr -s ' ')" " $((10 * n)) 200"
check "labels" "$("$SNAG" query "$run" 'SELECT count(*), count(DISTINCT idx), count(DISTINCT author) FROM labelled' \
    --format csv | tail -n 1)" "$((10 * n)),$((10 * n)),10"

# What the server patched, step by step, is what one that reads everything anew says.
standing() { # -> $sums
    sums=
    for path in 'columns?names=score,verdict,label,duration_ns' 'candidates?limit=300'; do
        get "/api/v1/fois/1/$path"
        check "$path" "$status" 200
        sums+=$(cksum <"$body")\ 
    done
}
agree() { # WHAT
    standing
    [ "$sums" != "$last" ] || { echo "$1: nothing changed"; failed=1; }
    last=$sums
    stop
    start
    standing
    check "$1: as if read anew" "$last" "$sums"
}
last=
agree "after all labels"
post /api/v1/fois/1/labels '{"labels":[{"tree":97,"label":"abnormal"},{"tree":3,"label":"clear"}]}'
agree "after two more"
post /api/v1/fois/1/retrain '{}'
agree "after a retrain"
post /api/v1/fois/1/retrain/undo '{}'
agree "after an undo"
"$SNAG" label "$run" '#0-97=clear' >/dev/null
agree "after a label from the shell"
stop
exit $failed

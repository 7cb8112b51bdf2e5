#!/usr/bin/env bash
# snag serve with runs to compare, and with a history: every route answers as src/serve/openapi.json
# describes it, and says what snag compare and snag history say; what cannot be compared is refused as
# by them.
#
#   comparison.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
cd "$work" || exit 1
api=/api/v1

# program SEED SOLVE [MORE]
program() {
    echo "synth:100*round(step@20us(pack@100us solve@$2 check@50us${3:-}) 2*step@20us(pack@100us solve@$2${3:-}));ranks=2;jitter=0.03;seed=$1"
}

for i in 1 2 3 4 5 6; do
    "$SNAG" analyze "$(program $i 400us)" --foi step -o b$i.snag --quiet >/dev/null || exit 1
done
for i in 7 8; do
    "$SNAG" analyze "$(program $i 500us ' sum@60us')" --foi step -o n$i.snag --quiet >/dev/null || exit 1
done

# try PATTERN PATH: GET it, 200, valid, an ETag by which it is 304.
try() {
    local etag
    get "$api$2"
    check "$2" "$status" 200
    valid get "$1"
    etag=$(header etag)
    get "$api$2" -H "If-None-Match: $etag"
    check "$2 again" "$status" 304
    get "$api$2"
}

problem() {
    get "$2"
    check "$2" "$status" "$3"
    check "type of $2" "$(header content-type)" application/problem+json
    check "detail of $2" "$(jq -r .detail "$body")" "$1"
}

# same WHAT A B: two files are the same JSON.
same() {
    cmp -s <(jq -S . "$2") <(jq -S . "$3") || { echo "$1 differ"; diff <(jq -S . "$2") <(jq -S . "$3") | head; failed=1; }
}

# One run on each side.
serving=(serve b1.snag n7.snag)
start
try /comparison /comparison
"$SNAG" compare b1.snag n7.snag --all --json | jq 'del(.limits)' >said.json
same "the comparison and snag compare" said.json "$body"
check "the headline" "$(jq -r .headline "$body")" "$("$SNAG" compare b1.snag n7.snag | sed -n '1s/^step: //p')"
check "notes" "$(jq -r '.notes[]' "$body")" "$("$SNAG" compare b1.snag n7.snag | sed -n 's/^note: //p')"
try /comparison/tree /comparison/tree
tree='[.nodes[] | [.path, .verdict, .time_ns, .calls]] | sort'
check "paths of the tree" "$(jq -c "$tree" "$body")" "$(jq -c '[.paths[] | [.path, .verdict, .time_ns, .calls]] | sort' said.json)"
check "callers come first" "$(jq '[.nodes | to_entries[] | select(.key > 0) | .value.parent < .key] | all' "$body")" true
# An execution of each kind takes as long as its paths together; kinds are as many as they are.
jq '[.kinds[] | [.kind, .executions, (.time_ns | map(add))]]' "$body" >tree_kinds.json
check "kinds of the tree" \
    "$(jq -s '[.[0], [.[1].kinds[] | [.kind, .executions, .time_ns]]] | transpose
        | map(.[0][0] == .[1][0] and .[0][1] == .[1][1]
            and ([.[0][2], .[1][2]] | transpose | map((.[0] - .[1]) | fabs < 10) | all)) | all' tree_kinds.json said.json)" true
check "two kinds" "$(jq length tree_kinds.json)" 2
try /comparison/runs /comparison/runs
check "runs" "$(jq -c '.runs | map([.side, .run, .page])' "$body")" \
    '[["before","b1.snag","runs/0/"],["after","n7.snag","runs/1/"]]'
try /run /run
check "what is shown" "$(jq -r .shows "$body")" comparison

# Their own pages: all that a run has.
get /runs/1/
check "the page of a run" "$status" 200
check "its type" "$(header content-type)" "text/html; charset=utf-8"
get /runs/1$api/run
valid get /run
check "the run" "$(jq -r '.shows, .name' "$body" | paste -sd' ')" "run n7.snag"
get "/runs/0$api/fois/1/path?path=step%20%3E%20check"
valid get '/fois/{foi}/path'
check "executions with check, before" "$(head -c 400 "$body" | grep -ao '"n":[0-9]*' | head -n 1)" '"n":200'
get "/runs/0$api/fois/1/path?path=step%20%3E%20sum"
check "executions with sum, before" "$(head -c 400 "$body" | grep -ao '"n":[0-9]*' | head -n 1)" '"n":0'
get "/runs/1$api/fois/1/path?path=step%20%3E%20sum"
check "executions with sum, after" "$(head -c 400 "$body" | grep -ao '"n":[0-9]*' | head -n 1)" '"n":600'
problem "'path' is missing, such as 'step > solve'" "/runs/1$api/fois/1/path" 400
post /runs/1$api/fois/1/labels '{"labels":[{"tree":3,"label":"abnormal"}]}'
check "a label of a run" "$status" 200
check "is kept in that run" "$("$SNAG" label n7.snag --json | wc -l) $("$SNAG" label b1.snag --json | wc -l)" "1 0"
get /runs/1/healthz
check "healthz of a run" "$(cat "$body")" ok
get /healthz
check healthz "$(cat "$body")" ok
get /metrics
check metrics "$status" 200
problem "there is nothing at this address: the page is at /, and docs/serve.md lists the others" /runs/2/ 404
problem "there is nothing at this address: the page is at /, and docs/serve.md lists the others" /runs/1 404
problem "there is nothing at this address: the page is at /, and docs/serve.md lists the others" /runs/01x/ 404
problem "there is nothing at this address: the page is at /, and docs/serve.md lists the others" /runs/1/runs/0/ 404
for path in /runs/ /runs//api/v1/run /runs/9999/ /runs/-1/ /runs/0x1/ '/runs/1/../0/x' '/runs/%31/api/v2' /runs/1/api/v1/; do
    get "$path" --path-as-is
    check "$path" "$((status >= 400 && status < 500))" 1
done
get $api/comparison
check "the comparison after nonsense" "$status" 200
problem "this is a comparison: its runs are below /runs/" $api/labels 404
problem "this is a comparison: its runs are below /runs/" $api/history 404
stop

# Several before; more than have pages of their own.
serving=(serve --base b1.snag --base b2.snag --base b3.snag --base b4.snag --base b5.snag n7.snag --rename check=sum --least 2% --verify --foi step)
start
try /comparison /comparison
"$SNAG" compare --base b1.snag --base b2.snag --base b3.snag --base b4.snag --base b5.snag n7.snag \
    --rename check=sum --least 2% --all --json | jq 'del(.limits)' >said.json
same "several runs and snag compare" said.json "$body"
try /comparison/runs /comparison/runs
check "pages of the last ones" "$(jq -c '[.runs[].page]' "$body")" \
    '[null,"runs/0/","runs/1/","runs/2/","runs/3/","runs/4/"]'
check "what has another name" "$(jq -c .renames "$body")" '[["check","sum"]]'
stop

# A history. (n8 is the last one in it: snag compare leaves it out of the last seven.)
for i in b1 b2 b3 b4 b5 n7 n8; do
    "$SNAG" history add h.db $i.snag --tag commit=$i --quiet >/dev/null || exit 1
done
serving=(serve h.db)
start
try /run /run
check "what is shown" "$(jq -r .shows "$body")" history
try /history /history
"$SNAG" history show h.db --json >said.json
same "the trend and snag history" said.json "$body"
try /history '/history?foi=step&path=step%20%3E%20solve&last=3'
"$SNAG" history show h.db --foi step --path 'step > solve' --last 3 --json >said.json
same "a path of the last runs" said.json "$body"
try /history/functions /history/functions
check functions "$(jq -c . "$body")" '[{"foi":"step","runs":7}]'
try '/history/runs/{number}/comparison' '/history/runs/7/comparison?last=6'
"$SNAG" compare --base h.db --last 7 n8.snag --all --json | jq 'del(.limits)' >said.json
same "the last run against those before" said.json "$body"
try '/history/runs/{number}/comparison' /history/runs/6/comparison
check "the first that is slower" "$(jq -r '.verdict, .runs[0]' "$body" | paste -sd' ')" "slower 5"
try '/history/runs/{number}/comparison/tree' '/history/runs/6/comparison/tree?last=2&foi=step'
problem "there is no run before number 1 to compare it with" $api/history/runs/1/comparison 404
problem "the history has no run 99 with 'step'" $api/history/runs/99/comparison/tree 404
problem "the history has no such runs" "$api/history?foi=nothing" 404
problem "this is a history, not a run" $api/regions 404
get "$api/history?last=0"
check "last=0" "$status" 400
"$SNAG" history add h.db b6.snag --quiet >/dev/null
get $api/history
check "a run that was added meanwhile" "$(jq '.runs | length' "$body")" 8
get /healthz
check healthz "$(cat "$body")" ok
mv h.db away.db
get /healthz
check "healthz without the history" "$status" 503
mv away.db h.db
stop

# Of two functions of interest one has to be named.
"$SNAG" analyze "$(program 9 400us)" --foi pack -o other.snag --quiet >/dev/null
"$SNAG" history add h.db other.snag --quiet >/dev/null
serving=(serve h.db)
start
try /history/functions /history/functions
check functions "$(jq -c '[.[] | [.foi, .runs]] | sort' "$body")" '[["pack",1],["step",8]]'
get $api/history
check "which function" "$status" 400
problem "the history has several functions of interest: foi says which is meant" $api/history/runs/3/comparison 400
get "$api/history?foi=pack"
check "one of them" "$(jq '.runs | length' "$body")" 1
stop

# What is not to be compared is refused as by snag compare, before anything is served.
refused() {
    local compare serve compare_status=0 serve_status=0
    compare=$("$SNAG" compare "$@" 2>&1 >/dev/null) || compare_status=$?
    serve=$(timeout 20 "$SNAG" serve "$@" --port 0 2>&1) || serve_status=$?
    check "$*" "$serve_status $serve" "$compare_status $compare"
    [ $serve_status = "$expected" ] || { echo "$*: exit status $serve_status"; failed=1; }
}
expected=2
refused b1.snag b1.snag
refused b1.snag n7.snag --rename nonsense
expected=1
refused b1.snag other.snag
refused b1.snag missing.snag
refused --base missing.db n7.snag
"$SNAG" history prune h.db --keep 1 >/dev/null
"$SNAG" history prune h.db --number "$("$SNAG" history list h.db --json | jq .number)" >/dev/null
refused --base h.db n7.snag
check "an empty history" "$(timeout 20 "$SNAG" serve h.db 2>&1; echo $?)" "snag: h.db: the history has no runs
1"
exit $failed

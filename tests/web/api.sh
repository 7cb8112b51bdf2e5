#!/usr/bin/env bash
# Every route of snag serve answers, and as src/serve/openapi.json describes it. What they answer is
# the matter of src/serve/api_*_test.c.
#
#   api.sh SNAG VALIDATE NONSENSE
trace='synth:300*step(solve@1ms(sort@0.1ms) send |);jitter=0.1;slow=solve/97/5'
. "$(dirname "$0")/server.sh"
start
api=/api/v1

# try PATTERN PATH: GET it, 200, valid, an ETag by which it is 304.
n_tried=0
try() {
    local etag
    get "$api$2"
    check "$2" "$status" 200
    valid get "$1"
    n_tried=$((n_tried + 1))
    etag=$(header etag)
    [ -n "$etag" ] || { echo "$2: no ETag"; failed=1; }
    get "$api$2" -H "If-None-Match: $etag"
    check "$2 again" "$status" 304
    get "$api$2" -I
    check "HEAD $2" "$status" 200
}

try /run /run
check "executions" "$(jq '.fois[0].trees' "$body" 2>/dev/null; get $api/run; jq '.fois[0].trees' "$body")" 300
try /regions /regions
try '/fois/{foi}/columns' '/fois/1/columns?names=enter_ns,exit_ns,duration_ns,score,rank,thread,index,location,vertices,messages,verdict,part,label'
try '/fois/{foi}/candidates' '/fois/1/candidates'
try '/fois/{foi}/candidates' '/fois/1/candidates?offset=10&limit=5&rank=0&verdict=normal&label=none&order=score'
try '/fois/{foi}/candidates' '/fois/1/candidates?order=next&limit=3'
try '/fois/{foi}/executions/{tree}' /fois/1/executions/97
try '/fois/{foi}/executions/{tree}/tree' /fois/1/executions/97/tree
get $api/fois/1/executions/97/tree
check "calls of the tree" "$(jq '[.nodes[].calls] | add' "$body")" "$("$SNAG" show "$run" '#0-97' --json | jq .vertices)"
try '/fois/{foi}/executions/{tree}/subtrees' /fois/1/executions/97/subtrees
try '/fois/{foi}/typical' /fois/1/typical
try '/fois/{foi}/typical/there' '/fois/1/typical/there?locations=0'
try '/fois/{foi}/path' '/fois/1/path?path=step%20%3E%20solve'
try '/fois/{foi}/ranks' /fois/1/ranks
for of in of=lost of=cost of=waiting 'of=region&region=1&width=7'; do
    try '/fois/{foi}/map' "/fois/1/map?$of"
done
for filter in '' 'rank=0&begin=5&end=90000000' 'node=nowhere' 'function=solve&kind=work' 'verdict=anomaly&label=none'; do
    try '/fois/{foi}/passing' "/fois/1/passing?$filter"
    try '/fois/{foi}/measure' "/fois/1/measure?$filter"
    for of in candidates causes incidents groups map; do
        try "/fois/{foi}/$of" "/fois/1/$of?$filter"
    done
done
try '/fois/{foi}/choices' /fois/1/choices
get "$api/fois/1/choices"
check "functions" "$(jq -c '[.functions[].name]' "$body")" '["solve","sort"]'
try '/fois/{foi}/next' '/fois/1/next?n=3'
try '/fois/{foi}/lost' /fois/1/lost
try '/fois/{foi}/retrains' /fois/1/retrains
try '/fois/{foi}/learning' /fois/1/learning

try '/fois/{foi}/model' /fois/1/model

try '/fois/{foi}/incidents' '/fois/1/incidents?limit=3'
try '/fois/{foi}/incidents' '/fois/1/incidents?offset=1&limit=2&rank=0&verdict=anomaly&label=none'
try '/fois/{foi}/groups' '/fois/1/groups'
try '/fois/{foi}/causes' '/fois/1/causes'
try '/fois/{foi}/causes' '/fois/1/causes?offset=0&limit=1&rank=0&verdict=anomaly&label=none'
try '/fois/{foi}/incidents' '/fois/1/incidents?group=1'
try '/fois/{foi}/groups' '/fois/1/groups?offset=0&limit=1&rank=0&verdict=anomaly&label=none'
get "$api/fois/1/incidents?limit=1000"
n_incidents=$(jq .total "$body")
check "all incidents" "$(jq '.items | length' "$body")" "$n_incidents"
jq -c '.items[].id' "$body" >"$work/incidents"
for ((offset = 0; offset < n_incidents; offset += 3)); do
    get "$api/fois/1/incidents?offset=$offset&limit=3"
    check "incidents in all at $offset" "$(jq .total "$body")" "$n_incidents"
    jq -c '.items[].id' "$body" >>"$work/paged_incidents"
done
cmp "$work/incidents" "$work/paged_incidents" || failed=1
get "$api/fois/1/incidents?offset=$n_incidents"
check "incidents behind the last" "$(jq -c '[.total, .items]' "$body")" "[$n_incidents,[]]"
for verdict in anomaly normal; do
    get "$api/fois/1/incidents?limit=1000&verdict=$verdict"
    check "incidents by verdict" "$(jq -c '[.items[].verdict] | unique' "$body")" "[\"$verdict\"]"
    n_incidents=$((n_incidents - $(jq .total "$body")))
done
check "incidents of either verdict" "$n_incidents" 0
get "$api/fois/1/incidents?rank=1"
check "incidents on a rank that nobody is on" "$(jq -c . "$body")" '{"total":0,"items":[]}'
get "$api/fois/1/incidents?limit=1"
incident=$(jq -c '.items[0]' "$body")
head=$(jq .head_tree <<<"$incident")
check "the head is a member" "$(jq '. as $x | .member_trees[.members | index($x.head)] == .head_tree' <<<"$incident")" true
get "$api/fois/1/executions/$head"
check "the incident of an execution" "$(jq -c .incident "$body")" "$incident"
try /timeline '/timeline?width=200&depth=3'
try /timeline '/timeline?begin=1000&end=2000&locations=0'
try /messages '/messages?limit=7'
try /messages/matrix '/messages/matrix?rows=7'
try /query '/query?sql=SELECT%20*%20FROM%20region'
try /collectives '/collectives?limit=7'
try /dependencies '/dependencies?limit=7'
try /counters /counters
check "no counters" "$(get $api/counters; jq -c . "$body")" '{"items":[]}'
try '/calls/{location}/{row}' /calls/0/1
try '/calls/{location}/{row}/collective' /calls/0/4/collective
for tree in 0 97 299; do
    get /api/v1/fois/1/executions/$tree/tree
    root=$(jq -c '.nodes as $n | $n[0] | [.region, .exclusive_ns + 0, .inclusive_ns + 0,
        ([$n[] | select(.parent == 0).calls] | add)]' "$body")
    get "$api/calls/0/$(jq '.nodes[0].call' "$body")"
    check "the call of execution $tree" \
        "$(jq -c '[.region, .exclusive_ns, .leave_ns - .enter_ns, .n_children]' "$body")" "$root"
done
try /search '/search?q=SOL'
try /search/next '/search/next?region=1'
try /search/next '/search/next?region=1&order=longest&step=previous'
try /measure '/measure?begin=1000000&end=3000000'
try /labels /labels
try /labels.csv /labels.csv
try /executions.csv '/executions.csv?foi=1'
try /report.html /report.html
get "$api/report.html"
check "the report is of the run" "$(grep -c "<h1>" "$body")" 1
try /measure '/measure?by=rank'
try /measure '/measure?by=path&begin=1000000&end=3000000'
try '/fois/{foi}/incidents' '/fois/1/incidents?begin=0&end=1e12'
try '/fois/{foi}/groups' '/fois/1/groups?begin=0&end=1e12'
try '/fois/{foi}/candidates' '/fois/1/candidates?begin=0&end=1000000'
try /window.json '/window.json?begin=0&end=1000000'
try /openapi.json /openapi.json
get $api/openapi.json
cmp -s "$body" "$openapi" || { echo "/openapi.json is another file"; failed=1; }
check "candidates and list" "$(get "$api/fois/1/candidates?limit=300"; jq -c '.items[] | [.id, .score, .why]' "$body" | md5sum)" \
    "$("$SNAG" list "$run" --all --json | jq -c '[.id, .score, .why]' | md5sum)"

# What is not there, or asked for in a wrong way.
problem() {
    get "$api$2"
    check "$2" "$status" "$3"
    check "type of $2" "$(header content-type)" application/problem+json
    valid get "$1"
}
problem '/fois/{foi}/columns' '/fois/1/columns?names=nothing' 404
problem '/fois/{foi}/columns' '/fois/1/columns?names=tsne.x' 404
problem '/fois/{foi}/columns' '/fois/2/columns' 404
problem '/fois/{foi}/map' '/fois/1/map?of=region' 400
problem '/fois/{foi}/map' '/fois/1/map?of=region&region=99' 400
problem '/fois/{foi}/map' '/fois/1/map?of=all' 400
problem '/fois/{foi}/candidates' '/fois/1/candidates?limit=100000' 400
problem '/fois/{foi}/candidates' '/fois/1/candidates?label=maybe' 400
problem '/fois/{foi}/incidents' '/fois/1/incidents?verdict=maybe' 400
problem '/fois/{foi}/incidents' '/fois/1/incidents?limit=0' 400
problem '/fois/{foi}/executions/{tree}' /fois/1/executions/300 404
problem '/fois/{foi}/executions/{tree}/subtrees' /fois/1/executions/300/subtrees 404
problem '/fois/{foi}/projection' /fois/1/projection 404
problem /timeline '/timeline?begin=5&end=5' 400
problem /timeline '/timeline?locations=9' 400
problem '/counters/{counter}' '/counters/0' 404
problem '/calls/{location}/{row}' /calls/0/99999999 404
problem '/calls/{location}/{row}' /calls/7/0 404
problem '/calls/{location}/{row}/collective' /calls/0/0/collective 404
problem /run /fois/x/columns 404

# Labels, learning, and taking it back.
try_post() {
    post "$api$2" "$3"
    check "POST $2" "$status" "${4:-200}"
    valid post "$1"
}
curl -sSN "$base$api/events" >"$work/events" & # until the server ends
listener=$!
until [ -s "$work/events" ] || ! kill -0 $listener 2>/dev/null; do sleep 0.05; done
get "$api/fois/1/columns?names=duration_ns,label"
columns_etag=$(header etag)
get "$api/fois/1/candidates"
etag=$(header etag)
try_post '/fois/{foi}/labels' /fois/1/labels '{"labels":[{"tree":97,"label":"abnormal"},{"tree":3,"label":"normal"}],"author":"me"}'
get "$api/fois/1/candidates" -H "If-None-Match: $etag"
check "candidates after a label" "$status" 200
get "$api/fois/1/columns?names=duration_ns,label" -H "If-None-Match: $columns_etag"
check "columns after a label" "$status" 200
check "labels among the columns" "$(tail -c 304 "$body" | od -An -tu1 -v | tr -s ' \n' '\n' | grep -c -e '^1$' -e '^255$')" 2
get "$api/fois/1/columns?names=duration_ns,label" -H "If-None-Match: $(header etag)"
check "and again" "$status" 304
try_post '/fois/{foi}/retrain' /fois/1/retrain '{"learner":"reasons"}'
try /labels /labels
check "the same in the shell" "$("$SNAG" label "$run" --json | wc -l)" 2
try '/fois/{foi}/retrains' /fois/1/retrains
try_post '/fois/{foi}/retrain/undo' /fois/1/retrain/undo '{}'
try_post '/fois/{foi}/retrain/undo' /fois/1/retrain/undo '{}' 404
acts() { get $api/run; jq -c '.fois[0] | [.labels.to_learn, .undo, .redo]' "$body"; }
check "acts" "$(acts)" '[2,{"kind":"labels","labels":2},{"kind":"retrain","labels":0}]'
try_post '/fois/{foi}/redo' /fois/1/redo '{"author":"me"}'
check "a retrain redone" "$(jq -c '[.kind, .labels, .retrain.abnormal, .retrain.normal]' "$body")" '["retrain",0,1,1]'
check "acts of a retrain" "$(acts)" '[0,{"kind":"retrain","labels":0},null]'
try_post '/fois/{foi}/redo' /fois/1/redo '{}' 404
try_post '/fois/{foi}/undo' /fois/1/undo '{}'
try_post '/fois/{foi}/undo' /fois/1/undo '{}'
check "labels undone" "$(jq -c . "$body")" '{"kind":"labels","labels":2,"retrain":null}'
check "acts of nothing" "$(acts)" '[0,null,{"kind":"labels","labels":2}]'
try_post '/fois/{foi}/undo' /fois/1/undo '{}' 404
try_post '/fois/{foi}/undo' /fois/7/undo '{}' 404
try_post '/fois/{foi}/redo' /fois/1/redo '{}'
try /run /run
check "labels redone" "$(get $api/labels; jq -c '[.[] | [.tree, .label, .author]]' "$body")" '[[3,"normal","me"],[97,"abnormal","me"]]'
try_post '/fois/{foi}/labels' /fois/1/labels '{"labels":[{"tree":3,"label":"clear"}]}'
try_post '/fois/{foi}/labels' /fois/1/labels '{"labels":[{"tree":3,"label":"normal"},{"tree":300,"label":"normal"}]}' 400
try_post '/fois/{foi}/retrain' /fois/1/retrain '{"learner":"none"}' 400
"$SNAG" label "$run" '#0-5=normal' >/dev/null
get $api/labels
check "a label from the shell" "$(jq -c '[.[].tree]' "$body")" '[5,97]'

# Incidents by the labels of their executions.
"$SNAG" label "$run" "$(jq -r .head <<<"$incident")=abnormal" >/dev/null
get "$api/fois/1/incidents?label=abnormal"
check "incidents with a label" "$(jq -c '.items[] | .id' "$body")" "$(jq .id <<<"$incident")"
get "$api/fois/1/incidents?label=abnormal&rank=1"
check "incidents with a label on another rank" "$(jq .total "$body")" 0
get "$api/fois/1/incidents?label=none&limit=1000"
check "incidents without a label" "$(jq -c '.items[].id' "$body")" "$(grep -vx "$(jq .id <<<"$incident")" "$work/incidents")"

# A projection that runs, is seen, cancelled, and one that ends.
try_post '/fois/{foi}/projection' /fois/1/projection '{"method":"tsne","iterations":100000}' 202
try_post '/fois/{foi}/projection' /fois/1/projection '{"method":"pca"}' 409
for ((i = 0; i < 600; i++)); do
    get $api/fois/1/projection
    [ "$status" = 200 ] && break
    sleep 0.05
done
check "the points of a running projection" "$status" 200
valid get '/fois/{foi}/projection'
try_post '/fois/{foi}/projection/cancel' /fois/1/projection/cancel '{}'
for ((i = 0; i < 600; i++)); do
    post $api/fois/1/projection '{"method":"pca"}'
    [ "$status" = 202 ] && break
    sleep 0.05
done
check "another one" "$status" 202
for ((i = 0; i < 600; i++)); do
    get "$api/fois/1/columns?names=pca.x,pca.y"
    [ "$status" = 200 ] && break
    sleep 0.05
done
check "its points" "$status" 200
valid get '/fois/{foi}/columns'
try_post '/fois/{foi}/projection' /fois/1/projection '{"method":"map"}' 400

# What was told of all this.
for event in labels retrain projection; do
    grep -q "^event: $event\$" "$work/events" || { echo "no event '$event'"; failed=1; }
done
sed -n 's/^data: //p' "$work/events" | jq -e . >/dev/null || { echo "data of events is not JSON"; failed=1; }

# Beside the API.
get /
check "the page" "$status" 200
check "its type" "$(header content-type)" "text/html; charset=utf-8"
get /metrics
grep -q '^snag_labels_total 3$' "$body" || { echo "no count of labels: $(cat "$body")"; failed=1; }
get /healthz
check "healthz" "$(cat "$body")" ok

# Every path of the description was asked for here; those of snag watch are in live.sh, those of
# comparisons and histories in comparison.sh.
for path in $(jq -r '.paths | keys[] | select(startswith("/live/") | not)' "$openapi"); do
    in=$0
    [[ $path =~ ^/(comparison|history) ]] && in=$(dirname "$0")/comparison.sh
    grep -qF -- "$path" "$in" || { echo "not tested: $path"; failed=1; }
done
stop

# Where linear algebra cannot be loaded, what needs it is refused, and the rest goes on.
mkdir "$work/broken"
echo 'no library' | tee "$work/broken/libopenblas.so.0" "$work/broken/libopenblasp.so.0" >/dev/null
export LD_LIBRARY_PATH=$work/broken
start
for method in tsne pca mds; do
    try_post '/fois/{foi}/projection' /fois/1/projection "{\"method\":\"$method\"}" 501
    check "why there is no $method" "$(jq -r '.detail | test("^libopenblas.so.0 and .* needed .*LD_LIBRARY_PATH$")' "$body")" true
done
get $api/run
check "the run without a projection" "$status" 200
stop
said=$("$SNAG" project "$run" 2>&1)
check "status of project without libraries" $? 1
grep -q '^snag: libopenblas.so.0 and liblapacke.so.3 are needed' <<<"$said" || { echo "project says: $said"; failed=1; }
exit $failed

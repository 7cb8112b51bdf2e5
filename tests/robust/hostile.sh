#!/usr/bin/env bash
# hostile.sh SNAG HOSTILE_ARCHIVE VALIDATE [KIND... | I/N] -- valid archives that no program would ever leave,
# each through all that snag does with one, pages and servers too: no command crashes, takes more than 4 GB,
# hangs (after SNAG_HOSTILE_S seconds), or calls damaged what analyze has made; and what a page is told is as
# it is described. I/N: every N-th kind.
set -u
snag=$(realpath "$1")
hostile=$(realpath "$2")
validate=$(realpath "$3")
openapi=$(realpath "$(dirname "$0")/../../src/serve/openapi.json")
shift 3
for tool in curl jq; do
    command -v $tool >/dev/null || { echo "$tool is not here"; exit 77; }
done
most_s=${SNAG_HOSTILE_S:-900}
. "$(dirname "$0")/../support/own_directory.sh"
server=
trap '[ -z "$server" ] || kill -9 $server; rm -rf "$dir"' EXIT

export ASAN_OPTIONS="exitcode=99:hard_rss_limit_mb=4096:detect_leaks=0:allocator_may_return_null=1:handle_sigill=1"
n=0
n_wrong=0
slowest_us=0

# Whether it is instrumented: then memory is bounded by its runtime, as its addresses are not.
nm "$snag" 2>/dev/null | grep -q __asan_init && is_asan=1 || is_asan=0

wrong() {
    printf '%s: %s\n' "$kind" "$*"
    head -c 1500 err
    n_wrong=$((n_wrong + 1))
}

# took SINCE WORDS... -- a command, or what a page was asked, is over.
took() {
    local us=$((${EPOCHREALTIME/./} - $1))
    n=$((n + 1))
    [ $us -le $slowest_us ] || slowest_us=$us slowest="$kind: ${*:2}"
}

limited() {
    [ $is_asan = 1 ] || ulimit -v 4194304
    exec "$@"
}

# judge STATUSES STATUS WORDS... -- what a command has ended with.
judge() {
    [[ " $1 " == *" $2 "* ]] && ! grep -qE 'damaged run|runtime error|AddressSanitizer|died of signal' err ||
        wrong "snag ${*:3}: status $2"
}

# try STATUSES WORDS... -- one command, which ends with one of these.
try() {
    local status begin=${EPOCHREALTIME/./}
    (limited timeout "$most_s" "$snag" "${@:2}") >out 2>err </dev/null
    status=$?
    took "$begin" "${@:2}"
    judge "$1" $status "${@:2}"
    return $status
}

# ------------------------------------------------------------------------------ pages and servers

# begin PATTERN WORDS... -- one that runs until it is told to end: $address is what it prints of this pattern.
begin() {
    address=
    : >said
    (limited "$snag" "${@:2}") >said 2>err </dev/null &
    server=$!
    until address=$(grep -m 1 -o -- "$1" said) && [ -n "$address" ]; do
        kill -0 $server 2>/dev/null || break
        sleep 0.05
    done
}

# end STATUSES WORDS... -- of begin
end() {
    local status=0 begin=${EPOCHREALTIME/./}
    kill -TERM $server 2>/dev/null
    wait $server || status=$?
    server=
    took "$begin" "${@:2}"
    judge "$1" $status "${@:2}"
}

# ask PATTERN [PATH] [CURL OPTION...] -- what is answered is right by its description; $body is it.
ask() {
    local path=${2:-$1} begin=${EPOCHREALTIME/./} status type method=get
    [[ " ${*:3} " != *" -d "* ]] || method=post
    read -r status type < <(curl -sS -g -m "$most_s" -o body -w '%{http_code} %{content_type}\n' \
        -H 'Content-Type: application/json' "${@:3}" "${address%/}/api/v1$path" 2>&1)
    took "$begin" "$path"
    [[ $status == [24]* ]] && "$validate" "$openapi" $method "$1" "$status" "$type" <body 2>invalid ||
        wrong "$path: $status $type $(cat invalid) $(head -c 300 body)"
}

# What a page asks of a run.
ask_page() {
    local i path tree
    begin 'http://[0-9.:]*/' serve r.snag --port 0
    for path in /run /regions /counters /labels /labels.csv /messages '/messages?limit=7' /collectives /dependencies \
        /timeline '/timeline?width=200&depth=3' '/timeline?width=2000&locations=0' '/search?q=S' '/search/next?region=1' \
        '/search/next?region=1&order=longest' '/measure?begin=0&end=1000000' \
        "/measure?begin=0&end=$((1 << 62))" '/window.json?begin=0&end=1000000' /calls/0/0 /calls/0/1 /calls/1/1; do
        case $path in
        /calls/*) ask '/calls/{location}/{row}' "$path" ;;
        *) ask "${path%%\?*}" "$path" ;;
        esac
    done
    ask /executions.csv '/executions.csv?foi=1'
    ask '/fois/{foi}/columns' '/fois/1/columns?names=enter_ns,exit_ns,duration_ns,score,rank,thread,index,location,vertices,messages,verdict'
    ask '/fois/{foi}/candidates' '/fois/1/candidates?limit=300&order=score'
    tree=$(jq '.items[0].tree // 0' body 2>/dev/null)
    for i in "$tree" 0; do
        ask '/fois/{foi}/executions/{tree}' "/fois/1/executions/$i"
        ask '/fois/{foi}/executions/{tree}/tree' "/fois/1/executions/$i/tree"
        ask '/fois/{foi}/executions/{tree}/subtrees' "/fois/1/executions/$i/subtrees"
    done
    for path in path?path=step typical 'typical/there?locations=0' ranks map?of=lost map?of=cost map?of=waiting \
        'map?of=region&region=1' 'next?n=3' retrains lost incidents 'incidents?limit=300&verdict=anomaly'; do
        ask "/fois/{foi}/${path%%\?*}" "/fois/1/$path"
    done
    ask '/fois/{foi}/labels' /fois/1/labels -d "{\"labels\":[{\"tree\":$tree,\"label\":\"abnormal\"}]}"
    ask '/fois/{foi}/retrain' /fois/1/retrain -d '{"learner":"reasons"}'
    ask '/fois/{foi}/undo' /fois/1/undo -d '{}'
    ask '/fois/{foi}/projection' /fois/1/projection -d '{"method":"pca"}'
    ask '/fois/{foi}/projection' /fois/1/projection
    end 0 serve r.snag
}

# What the page of a program asks, of a store or while it runs.
ask_live() {
    local path
    ask /live/status
    for path in points heatmap ranks regions history counters records 'records?limit=300' 'records?order=entry' model; do
        ask "/live/${path%%\?*}" "/live/$path"
    done
    ask /live/records
    ask '/live/record/{id}' "/live/record/$(jq -r '.items[0].id // 1' body 2>/dev/null)"
}

# What is asked of a run, by commands and by a page.
ask_run() {
    local id
    try "0" list r.snag --executions --json
    id=$(sed -n 's/.*"id": "\([^"]*\)".*/\1/p' out | head -1)
    try "0" list r.snag
    try "0 1 2" show r.snag "$id"
    try "0 1 2" show r.snag "$id" --json
    try "0 1" ranks r.snag
    try "0 1" what-if r.snag --without anomalies
    try "0 1" what-if r.snag --without rank=0 --json
    try "0 1" report r.snag -o r.html
    try "0" export r.snag -o x.csv
    try "0" export r.snag --what calls -o x.csv
    try "0" export r.snag --what calls --format chrome -o x.json
    try "0" export r.snag --format parquet -o x/
    try "0" query r.snag 'SELECT * FROM region' --format csv
    try "0 1" next r.snag
    try "0 1 2" label r.snag "$id=abnormal"
    try "0 1" retrain r.snag
    try "0 1 2" project r.snag
    try "0 1" model save r.snag m.model
    try "0 1" model info m.model
    try "0 1 3" score t --model m.model -o scored.snag
    cp -r r.snag again.snag
    try "0 1" compare r.snag again.snag
    try "0 1" history add h.db r.snag
    try "0 1" history show h.db
    ask_page
}

kinds=${*:-0/1}
[[ $kinds != */* ]] || kinds=$("$hostile" | awk "NR % ${kinds#*/} == ${kinds%/*}")
for kind in $kinds; do
    rm -rf ./* && mkdir t && "$hostile" "$kind" t 2>made || { cat made; exit 1; }
    try "0 1 3" info t
    if try "0 1 3" analyze t -o r.snag || [ $? = 3 ]; then
        ask_run
    fi
    try "0 1 3" analyze t --per-call -o p.snag
    try "0 1 3" ad replay:t --step 0.001 --store st
    try "0 1 3" ad replay:t --model-key path
    try "0 1 3" ad t --foi step
    if [ -d st ]; then
        try "0" provdb top st
        try "0" query st 'SELECT count(*) FROM func_stats'
        try "0" export st --what anomalies -o x.csv
        begin 'http://[0-9.:]*/' serve st --port 0
        ask_live
        end 0 serve st
    fi
    begin 'tcp://[0-9.:]*' ps --listen 'tcp://127.0.0.1:*' --snapshot s.ps
    try "0 1 3" ad replay:t --step 0.001 --ps "$address"
    end 0 ps
    try "0 1 3" watch t --speed 0 --once --port 0 --store none
    begin 'http://[0-9.:]*/' watch replay:t --step 0.001 --speed 0 --foi step --port 0 --store w
    while ask /live/status && [ "$(jq -r .state body)" = running ] && kill -0 $server; do sleep 0.1; done
    ask_live
    end "0 1 3" watch replay:t
done
echo "$n commands and questions, $n_wrong wrong; the slowest took $((slowest_us / 1000000)) s: $slowest"
[ $n_wrong = 0 ]

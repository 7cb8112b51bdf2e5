# Sourced by the tests of snag serve: SNAG, VALIDATE, NONSENSE are programs. The run is of $trace
# and $foi if they are set before, with the options of the array `analysis`.
#
#   start [OPTION...]  serves $run, a small run made here, on a free port -> $url, $port, $server;
#                      or what the array `serving` says
#   stop               ends it; its exit status must be 0 and nothing may stand on its stderr
#   get PATH [CURL OPTION...] -> $status, $type (of the content), $body (a file), $headers (a file)
#   post PATH BODY [CURL OPTION...], the same
#   valid METHOD PATTERN: what came last is as the description says
set -u
SNAG=$1 VALIDATE=$2 NONSENSE=$3
openapi=$(dirname "${BASH_SOURCE[0]}")/../../src/serve/openapi.json

for tool in curl jq; do
    command -v $tool >/dev/null || { echo "$tool is not here"; exit 77; }
done
for name in ${!SNAG_*}; do
    unset "$name"
done

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -9 $server 2>/dev/null; rm -rf "$work"' EXIT
body=$work/body headers=$work/headers run=$work/run.snag
failed=0

: "${trace:=synth:300*step(solve@1ms(sort@0.1ms) send);jitter=0.1;slow=solve/97/5}" "${foi:=step}"
"$SNAG" analyze "$trace" --foi "$foi" ${analysis[@]+"${analysis[@]}"} -o "$run" --quiet >/dev/null || exit 1

serving=(serve "$run")
start() {
    rm -f "$work/said"
    "$SNAG" "${serving[@]}" --port 0 "$@" >"$work/said" 2>"$work/errors" &
    server=$!
    while :; do
        url=$(head -n 1 "$work/said" 2>/dev/null)
        [ -n "$url" ] && break
        kill -0 $server 2>/dev/null || { cat "$work/errors"; echo "the server does not start"; exit 1; }
        sleep 0.05
    done
    port=${url#*://*:}
    port=${port%%/*}
    base=http://127.0.0.1:$port
}

stop() {
    local status=0
    kill -TERM $server
    wait $server || status=$?
    server=
    check "exit status after SIGTERM" $status 0
    check "what stands on stderr" "$(cat "$work/errors")" ""
}

check() {
    if [ "$2" != "$3" ]; then
        echo "$1: '$2', but should be '$3'"
        failed=1
    fi
}

get() {
    local path=$1
    shift
    read -r status type < <(curl -sS -m 60 -g -o "$body" -D "$headers" -w '%{http_code} %{content_type}\n' "$@" "$base$path")
}

post() {
    local path=$1 data=$2
    shift 2
    get "$path" -H 'Content-Type: application/json' --data-binary "$data" "$@"
}

header() {
    sed -n "s/^$1: *\(.*\)\r\$/\1/Ip" "$headers" | head -n 1
}

valid() {
    "$VALIDATE" "$openapi" "$1" "$2" "$status" "$type" <"$body" ||
        { echo "$1 $2: $status is not as described"; failed=1; }
}

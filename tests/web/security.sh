#!/usr/bin/env bash
# Who is kept out of snag serve, and what its responses forbid.
#
#   security.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
start --print-tunnel
check "the tunnel" "$(sed -n 2p "$work/said")" "ssh -N -L $port:127.0.0.1:$port $(hostname)"
api=/api/v1

expect() { # STATUS PATH CURL-OPTIONS...
    local want=$1
    shift
    get "$@"
    check "$*" "$status" "$want"
}
expect 200 $api/run -H "Host: localhost:1"
expect 421 $api/run -H "Host: evil.example:$port"
expect 400 $api/run -H "Host:"
expect 403 $api/run -H "Origin: http://evil.example"
expect 200 $api/run -H "Origin: $base"
json='Content-Type: application/json'
expect 403 $api/fois/1/labels -H "$json" -H "Origin: http://localhost:$port" -d '{"labels":[]}'
expect 403 $api/fois/1/labels -H "$json" -H "Origin: null" -d '{"labels":[]}'
expect 200 $api/fois/1/labels -H "$json" -H "Origin: $base" -d '{"labels":[]}'
expect 415 $api/fois/1/labels -H 'Content-Type: text/plain' -d '{"labels":[]}'
expect 415 $api/fois/1/labels -d '{"labels":[]}'
expect 400 $api/fois/1/labels -H "$json" -d '{"labels":'
expect 400 $api/fois/1/labels -H "$json" -d '[]'
expect 405 $api/fois/1/labels
check "what is allowed" "$(header allow)" POST
expect 405 $api/run -X POST -H "$json" -d '{}'
expect 405 $api/run -X DELETE
head -c 9000000 /dev/zero | tr '\0' ' ' >"$work/large"
expect 413 $api/fois/1/labels -H "$json" --data-binary "@$work/large"
expect 413 $api/fois/1/labels -H "$json" -H 'Transfer-Encoding: chunked' --data-binary "@$work/large"
for path in /../run.db /run.db /%2e%2e/run.db /..%2frun.db //etc/passwd /api/v1/../../run.db \
    /index.html/../../run.db /calls/index; do
    expect 404 "$path" --path-as-is
done
expect 200 /
check "the page may do" "$(header content-security-policy | tr ';' '\n' | sed -n 's/^ *script-src //p')" "'self'"
check "sniffing" "$(header x-content-type-options)" nosniff
check "sharing" "$(header access-control-allow-origin)" ""

# GET changes nothing: the content of the database is as before.
before=$("$SNAG" query "$run" 'SELECT count(*), max(id) FROM label')
for path in /fois/1/labels /fois/1/retrain /fois/1/projection/cancel /fois/1/retrain/undo; do
    expect 405 $api$path
done
check "labels" "$("$SNAG" query "$run" 'SELECT count(*), max(id) FROM label')" "$before"
stop

# Beyond loopback a token is asked for. 0.0.0.0 is reached through loopback here.
start --listen 0.0.0.0
token=${url##*token=}
check "the length of the token" ${#token} 32
expect 401 $api/run
expect 401 /
expect 401 "$api/run?token=${token%?}x"
expect 200 "$api/run" -H "Authorization: Bearer $token"
expect 200 /healthz
expect 200 "/?token=$token"
cookie=$(header set-cookie)
case $cookie in
snag_token_$port="$token"*HttpOnly*SameSite=Strict*) ;;
*) echo "the cookie is '$cookie'"; failed=1 ;;
esac
expect 200 $api/run -H "Cookie: ${cookie%%;*}"
expect 421 "$api/run?token=$token" -H "Host: evil.example"
stop
"$SNAG" serve "$run" --listen localhost >"$work/said" 2>&1
check "a name is no address" $? 2
exit $failed

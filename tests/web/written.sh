#!/usr/bin/env bash
# Requests as bytes: what HTTP does not allow is refused, and every route answers every method as
# it should.
#
#   written.sh SNAG VALIDATE NONSENSE SAMPLE_STORE SOAK WRITTEN
. "$(dirname "$0")/server.sh"
start
"$6" "$port" || failed=1

# HEAD says what GET says, without the body; other methods are told which there are.
api=/api/v1
for pattern in $(jq -r '.paths | keys[]' "$openapi"); do
    path=$api$(sed 's/{[a-z]*}/1/g' <<<"$pattern")
    case $pattern in
    /events) continue ;; # has no end
    *projection*) ;;     # comes and goes
    *)
        get "$path"
        want="$status $(header content-type) $(header etag)"
        get "$path" -I
        check "HEAD $path" "$status $(header content-type) $(header etag)" "$want"
        ;;
    esac
    for method in OPTIONS PUT DELETE PATCH TRACE; do
        get "$path" -X $method
        check "$method $path" "$status" 405
        case $(header allow) in *GET* | *POST*) ;; *) echo "$method $path: Allow is missing"; failed=1 ;; esac
    done
done
get $api/events -I
check "HEAD of the events" "$status $(header content-type)" "200 text/event-stream"

# Parts are not served, and nobody is told that they are.
get $api/run
whole=$(cksum <"$body")
check "parts are promised" "$(header accept-ranges)" none
get $api/run -H 'Range: bytes=0-9'
check "a part" "$status $(cksum <"$body")" "200 $whole"
get $api/run -H 'Range: bytes=0-9' -H "If-Range: $(header etag)"
check "a part of what has not changed" "$status $(cksum <"$body")" "200 $whole"

# Whatever is refused says so as the rest does.
get "$api/run?a=%00"
check "a refusal" "$status $(header content-type) $(header x-content-type-options)" "400 application/problem+json nosniff"
check "what it says" "$(jq -r '.status, .title' "$body" | tr '\n' ' ')" "400 Bad Request "
post $api/fois/1/retrain "{\"learner\":\"$(printf '%5000s')\"}"
check "settings that are too large" "$status" 413
stop
exit $failed

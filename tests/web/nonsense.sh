#!/usr/bin/env bash
# Requests that nobody should send, and connections that say nothing: no status of 500 or above,
# no crash, and what is right is still answered.
#
#   nonsense.sh SNAG VALIDATE NONSENSE
. "$(dirname "$0")/server.sh"
start
"$NONSENSE" "$openapi" "$port" "${REQUESTS:-1200}" 1 || failed=1
get /metrics
check "alive" "$status" 200
"$NONSENSE" "$openapi" "$port" idle "${IDLE:-10000}" || failed=1
get /api/v1/run
check "the run" "$status" 200
check "executions" "$(jq '.fois[0].trees' "$body")" 300
kill -TERM $server
wait $server || { echo "exit status $? after SIGTERM"; failed=1; }
server=
if grep -qvE "^snag: warning: serve: " "$work/errors"; then
    cat "$work/errors"
    failed=1
fi
exit $failed

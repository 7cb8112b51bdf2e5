#!/usr/bin/env bash
# Results do not depend on the number of threads: same columns, byte by byte, same executions,
# scores and reasons.
#
#   threads.sh SNAG SOURCE WORK NAME
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace "$4"

for n in 1 2 8; do
    "$SNAG" analyze "$archive" --threads $n -o "$run/$n.snag" --quiet >/dev/null
    "$SNAG" list "$run/$n.snag" --all --json >"$run/$n.list"
    "$SNAG" query "$run/$n.snag" "SELECT * FROM region" --format csv >"$run/$n.regions"
done
[ "$(wc -l <"$run/1.list")" -gt 100 ] || check "executions" "$(wc -l <"$run/1.list")" "more than 100"
for n in 2 8; do
    diff -r "$run/1.snag/calls" "$run/$n.snag/calls" || failed=1
    cmp "$run/1.list" "$run/$n.list" || failed=1
    cmp "$run/1.regions" "$run/$n.regions" || failed=1
done
du -sk "$run/1.snag/calls"
exit $failed

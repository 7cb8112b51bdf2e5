#!/usr/bin/env bash
# docs/papers.md names a test for each item: those are there.
#
#   papers.sh SOURCE BUILD
set -eu
source=$1 build=$2
there=$(ctest --test-dir "$build" -N | sed -n 's|^ *Test *#[0-9]*: ||p' | sed 's/ .*//')
failed=0 n=0
while IFS= read -r row; do
    tests=$(sed 's/ *|$//; s/.*| *//' <<<"$row")
    for name in $tests; do
        n=$((n + 1))
        grep -qx "\(asan/\|tsan/\)\?$name" <<<"$there" || {
            echo "no test '$name': $row"
            failed=1
        }
    done
    [ -n "$tests" ] || {
        echo "no test: $row"
        failed=1
    }
done < <(grep '^| ' "$source/docs/papers.md" | grep -v '^| section\|^| item | in snag\|^|---')
[ $n -gt 60 ] || {
    echo "only $n tests are named"
    failed=1
}
exit $failed

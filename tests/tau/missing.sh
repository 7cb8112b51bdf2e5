#!/usr/bin/env bash
# Where no ADIOS2 is, snag says of TAU's files what to install, in one line.
#
#   missing.sh SNAG TOOLS
set -eu
SNAG=$1 TOOLS=$2
[ ! -x "$TOOLS/tau_write" ] || {
    echo "skipped: ADIOS2 is here"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
mkdir tau-metrics-app-0.bp
echo x >tau-metrics-app-0.bp/md.idx

# says COMMAND...: it fails with that line.
says() {
    local status=0
    "$SNAG" "$@" >out 2>err || status=$?
    if [ $status -ne 1 ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ] ||
        ! grep -q '^snag: .*ADIOS2, which it takes, cannot be loaded: .*Install it .*libadios2-serial-c-2' err; then
        echo "snag $*: status $status"
        cat out err
        failed=1
    fi
}
says info tau-metrics-app-0.bp
says analyze . -o run.snag
says ad tau:.
says ad tau-metrics-app-0.bp
exit $failed

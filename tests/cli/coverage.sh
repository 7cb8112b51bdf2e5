#!/usr/bin/env bash
# Every option of every command is used by a test here, as --name, for that command.
#
#   coverage.sh SNAG
set -eu
snag=$1
cd "$(dirname "$0")"
failed=0 n=0

for command in $("$snag" help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
    for option in $("$snag" help "$command" | sed -n 's/^  [-a-z, ]\{4\}--\([a-z-]*\).*/\1/p' | sort -u); do
        n=$((n + 1))
        if ! grep -hE "snag $command( |\$)" ./*.cmd | grep -qE -- "--$option([ =]|\$)"; then
            echo "no test of snag $command --$option"
            failed=1
        fi
    done
done
echo "$n options"
[ $n -gt 30 ]
exit $failed

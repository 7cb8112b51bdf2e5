#!/usr/bin/env bash
# Several processes make the run that one makes, byte by byte: columns and all rows of run.db.
#
#   together.sh SNAG SOURCE WORK NAME
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
find_trace "$4"
. "$SOURCE/tests/mpi/launchers.sh"

without_dates() {
    sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/DATE/' "$1"
}

make() {
    local directory=$1 status=0
    shift
    rm -rf $directory
    mkdir $directory
    (cd $directory && "$@" "$archive" -v --output run >out 2>err) || status=$?
    echo $status >>$directory/out
    without_dates $directory/run/run.db >$directory/db
}

make alone "$SNAG" analyze
for kind in "${launchers[@]}"; do
    for n in 2 3 8; do
        make many launch $kind $n "$SNAG" analyze --together
        expect_shared many/err $n || fail "$kind $n: not analysed together: $(cat many/err)"
        cmp alone/out many/out || fail "$kind $n: prints something else"
        cmp alone/db many/db || fail "$kind $n: another run.db"
        diff -r alone/run/calls many/run/calls || fail "$kind $n: other columns"
    done
done
rm -rf "$run"
du -sk alone/run/calls
exit $failed

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

# The same of what reads all executions again: comparison, and judging by the model of a run.
cp -r alone/run again.snag
"$SNAG" model save alone/run its.model >model.out
compare() {
    "$@" "$PWD/alone/run" "$PWD/again.snag" --all --format json -v
}
score() {
    make judged-$1 "${@:2}" --model "$PWD/its.model"
}
compare "$SNAG" compare >compared 2>err
score alone "$SNAG" score
for kind in "${launchers[@]}"; do
    for n in 2 3 8; do
        compare launch $kind $n "$SNAG" compare --together >compared-many 2>err || fail "$kind $n: $(cat err)"
        expect_shared err $n || fail "$kind $n: not compared together: $(cat err)"
        cmp compared compared-many || fail "$kind $n: compares to something else"
    done
    score many launch $kind 3 "$SNAG" score --together
    expect_shared judged-many/err 3 || fail "$kind: not judged together: $(cat judged-many/err)"
    cmp judged-alone/out judged-many/out || fail "$kind: score prints something else"
    cmp judged-alone/db judged-many/db || fail "$kind: score makes another run.db"
done
rm -rf "$run"
du -sk alone/run/calls
exit $failed

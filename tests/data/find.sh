# Sourced by the tests on larger traces, which are not part of the repository:
#
#   SNAG, SOURCE and WORK are set: the program, the source directory, a directory to unpack into
#   find_trace NAME [FILE] -> $archive: its .otf2, $directory: where it and its labels are
#
# NAME.tar.zst is looked for in $SNAG_DATA, else in ../shared/data beside the sources. Without it,
# or without a tool that reads it, the test is skipped.

skip() {
    echo "skipped: $*"
    exit 77
}

for tool in zstd tar jq otf2-print; do
    command -v $tool >/dev/null || skip "$tool is not here"
done

find_trace() {
    local file=${2:-$1}.tar.zst data=${SNAG_DATA:-$SOURCE/../shared/data} part
    [ -r "$data/$file" ] || skip "its trace is not here, SNAG_DATA may say where it is"$'\n'"$file"
    directory=$WORK/$1
    if [ ! -d "$directory" ]; then
        mkdir -p "$WORK"
        part=$(mktemp -d "$WORK/part-XXXXXX")
        zstd -dc "$data/$file" | tar -x -C "$part"
        mv -T "$part/$1" "$directory" 2>/dev/null || [ -d "$directory" ] # another test was first
        rm -rf "$part"
    fi
    archive=$(find "$directory" -name '*.otf2')
}

# A directory of its own for the runs of this test, removed in the end.
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT

failed=0

# check WHAT GOT WANT: they are equal.
check() {
    if [ "$2" != "$3" ]; then
        echo "$1: $2, but should be $3"
        failed=1
    fi
}

# check_true WHAT EXPRESSION: the arithmetic holds (awk, for fractions).
check_true() {
    if ! awk "BEGIN { exit !($2) }"; then
        echo "$1: not so: $2"
        failed=1
    fi
}

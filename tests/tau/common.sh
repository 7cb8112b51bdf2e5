# Sourced by the tests of what TAU writes. SNAG, TOOLS and, where it is used, DATA are set: the
# program, the directory of tau_write, read_stream and stream_verdicts, a trace's directory.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
export SNAG_PATIENCE=20

[ -x "$TOOLS/tau_write" ] || {
    echo "skipped: this build is without ADIOS2"
    exit 77
}
command -v jq >/dev/null || {
    echo "skipped: jq is not here"
    exit 77
}

# check WHAT GOT WANT: they are equal.
check() {
    if [ "$2" != "$3" ]; then
        echo "$1: $2, but should be $3"
        failed=1
    fi
}

# status COMMAND...: its exit status; what it says goes to $work/out and $work/err.
status() {
    local status=0
    "$@" >"$work/out" 2>"$work/err" || status=$?
    echo $status
}

# counts TRACE: what snag info counts there, without what differs by format.
counts() {
    "$SNAG" info "$1" --json --quiet --all | jq -c '[.calls, .sends, .recvs, .locations,
        .quality, (.regions | map([.name, .calls, .inclusive_ns, .exclusive_ns]) | sort),
        (.location_table | map([.rank, .thread, .calls, .sends, .recvs, .roots_ns]))]'
}

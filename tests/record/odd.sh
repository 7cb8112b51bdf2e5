#!/usr/bin/env bash
# Programs that do what the tracer might not expect (odd.c): with it they do the same, to the
# letter, and with the same exit status; and what is recorded and what is said to be lost are all
# their calls, where those can be counted.
#
#   odd.sh SNAG SOURCES
snag=$1 sources=$2
. "$(dirname "$0")/../support/own_directory.sh"
trap 'chmod -R u+rwx "$dir"; rm -rf "$dir"' EXIT
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
cc -std=gnu11 -D_GNU_SOURCE -w -O1 -finstrument-functions -o odd "$sources/odd.c" -pthread -ldl
cc -std=gnu11 -w -O1 -finstrument-functions -DIN_LIBRARY -shared -fPIC -o odd.so "$sources/odd.c"

fail() {
    echo "$*"
    cat err
    exit 1
}

# run STATUS HOW [CALLS] -- CALLS: how many there are
run() {
    local want=$1 how=$2 status=0
    chmod -R u+rwx trace 2>/dev/null
    rm -rf trace here own errors
    ./odd $how >alone 2>/dev/null || status=$?
    [ $status = $want ] || fail "$how: alone it ends with $status"
    rm -rf here own errors
    status=0
    ODD_TRACE=$dir/trace timeout 100 "$snag" record -o trace --functions ./odd $how >out 2>err </dev/null || status=$?
    [ $status = $want ] || fail "$how: recorded it ends with $status, not $want"
    cmp -s alone out || fail "$how: recorded it does something else: $(diff alone out)"
    [ -n "${3:-}" ] || return 0
    "$snag" info --json trace >info 2>/dev/null || [ $? = 3 ] || fail "$how: the trace cannot be read"
    n=$(jq '([.regions[] | select(.name | startswith("BUFFER_FLUSH") | not).calls] | add // 0) + (.quality.lost_call // 0)' info)
    [ "$n" = "$3" ] || fail "$how: $n calls are recorded or said to be lost, not $3"
}

said() {
    grep -q -- "$1" err || fail "$how: it does not say '$1'"
}

each=40001 # calls of calls(MANY)
run 6 fork $((2 * each + 1))
run 6 clone $((3 * each + 1))
run 6 vfork $((2 * each + 1 + 11))
run 6 exec $((each + 1))
said '1 more process'
run 6 threads $((60 * 50 * 22 + 1))
run 6 cancel
run 6 stacks $((20 * (each + 10) + 1))
run 6 jumps
said 'calls were lost: they were made in signal handlers'
run 6 overflow
run 6 closed $((3 * each + 1))
run 6 directory $((2 * each + 1))
run 6 removed
said "lost .* calls: No such file or directory"
said "there is no trace: 'trace' was removed while the program ran"
if [ "$(id -u)" = 0 ]; then
    run 6 user $((2 * each + 1))
    said 'calls were lost: Permission denied; .* of events are kept'
fi
run 6 files $((each + 102))
said 'nothing was recorded: Too many open files; 40,103 calls were lost'
grep -q 'next:' err && fail "files: what is offered does not work"
run 6 short $((each + 1))
said 'calls were lost: File too large; .* of events are kept'
run 6 memory $((2 * each + 102))
run 6 sandbox $((each + 102))
said 'nothing was recorded: Operation not permitted'
run 6 library $((5 * each + 1))

# all that the program does is done where nothing can be written, or /proc is not there
mkdir fixed
chmod 555 fixed
without='mount -t tmpfs -o ro none fixed && umount -l /proc 2>/dev/null; exec "$@"'
if unshare -rm sh -c 'mount -t tmpfs -o ro none /mnt' 2>/dev/null; then
    status=0
    unshare -rm sh -c "$without" sh "$snag" record -o fixed/trace --functions ./odd fork >out 2>err || status=$?
    [ $status = 6 ] || fail "where nothing can be written: status $status"
    said 'nothing is recorded'
    said "there is no trace: cannot make 'fixed/trace': Read-only file system"
    status=0
    unshare -rm sh -c 'umount -l /proc; exec "$@"' sh "$snag" record -o no-proc --functions ./odd fork >out 2>err || status=$?
    [ $status = 6 ] || fail "without /proc: status $status"
    said 'recorded in'
fi
echo "odd programs: they do the same"

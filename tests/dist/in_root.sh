# Sourced: programs in a root directory of their own, with /proc and /dev and the network of this machine.
#
#   skip REASON         the test ends, and says so
#   wait_for PATTERN FILE
#   in_root ROOT COMMAND...   as a user who has no home, and an environment that has nothing but PATH and what
#                       $in_root_environment says. As root it is user 12345, without root one's own in a namespace.
#   in_root_end PID     ends one that was started with &, and all that it started
skip() {
    echo "skipped: $*"
    exit 77
}

wait_for() {
    for _ in $(seq 600); do
        grep -q "$1" "$2" 2>/dev/null && return
        sleep 0.1
    done
    echo "'$1' does not come:"
    cat "$2"
    exit 1
}

namespaces=(unshare --mount --pid --fork --kill-child --propagation private)
who=--userspec=12345:12345
if [ "$(id -u)" -ne 0 ]; then
    namespaces+=(--map-root-user)
    who=
fi
"${namespaces[@]}" true 2>/dev/null || skip 'namespaces are not allowed here'

# in_root_as --userspec=USER:GROUP ROOT COMMAND...
in_root_as() {
    in_root_environment=${in_root_environment:-} "${namespaces[@]}" bash -c '
        set -e
        who=$1 root=$2
        shift 2
        mkdir -p "$root/proc" "$root/dev"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        # not exec: the first process has to wait for those whose parents are gone
        env -i PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 $in_root_environment "$(command -v chroot)" ${who:+"$who"} "$root" "$@"
        exit $?' in_root "$@"
}

# What was started with & is a shell, whose child is unshare, which heeds no other signal, and takes all in there with it.
in_root_end() {
    kill -KILL $(ps -o pid= --ppid "$1") 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

in_root() { in_root_as "$who" "$@"; }

# Sourced, with in_root.sh: root directories of Debian's suites, made by debootstrap, for tests that need root.
#
#   $roots                       where they are: SNAG_ROOTS, or in the cache of the user. Remove them when they are no longer
#                                wanted. DEBIAN_MIRROR is where packages come from, if that is not debootstrap's own choice.
#   fresh_root SUITE DIRECTORY   a minimal system of the suite, anew, that reaches its packages; status 1: cannot be had
#   as_root ROOT COMMAND...      in_root, as root
#   with_mpi ROOT                installs a compiler, and MPI: openmpi, and mpich
#   record_with ROOT MPI SNAG    a program of two ranks, built there, under the tracer; SNAG is its path in there
#   say TEXT...
#   quietly COMMAND...           what it says is shown only if it fails
. "$(dirname "${BASH_SOURCE[0]}")/in_root.sh"
roots=${SNAG_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/snag/roots}
[ "$(id -u)" -eq 0 ] || skip 'that needs root'
command -v debootstrap >/dev/null || skip 'debootstrap is not installed'
mkdir -p "$roots"

say() { printf '== %s\n' "$*"; }

quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ $status -eq 0 ] || tail -n 30 "$log"
    rm -f "$log"
    return $status
}

as_root() {
    local environment="HOME=/root DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    in_root_environment="$environment ${in_root_environment:-}" in_root_as --userspec=0:0 "$@"
}

fresh_root() {
    local suite=$1 root=$2 base=$roots/$1.tar
    if [ ! -e "$base" ]; then
        rm -rf --one-file-system "$root"
        mkdir -p "$root"
        quietly debootstrap --variant=minbase "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} || return 1
        tar -C "$root" -cf "$base.part" . && mv "$base.part" "$base"
    fi
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    tar -C "$root" -xf "$base"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # who has no home; without any name Open MPI 4 crashes
    echo 'nobody-here:x:12345:12345::/nonexistent:/bin/sh' >>"$root/etc/passwd"
    printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$root/etc/hosts" # MPICH asks for this machine's address
}

with_mpi() {
    quietly as_root "$1" bash -ec 'apt-get -qq update
        apt-get -qq -y --no-install-recommends install gcc libc6-dev libdw1 libopenmpi-dev openmpi-bin libmpich-dev mpich'
}

record_with() {
    # Open MPI 5 wants to be told of a home, though none is there
    local root=$1 mpi=$2 snag=$3 launch="mpirun.$2" out=$1/tmp/record.$2 with='env HOME=/nonexistent'
    [ "$mpi" = openmpi ] && launch+=' --oversubscribe'
    cp "$(dirname "${BASH_SOURCE[0]}")/two_ranks.c" "$root/tmp/two_ranks.c"
    in_root "$root" $with "mpicc.$mpi" -g -o "/tmp/two_ranks.$mpi" /tmp/two_ranks.c || return 1
    rm -rf "$root/tmp/trace.$mpi" "$root/tmp/$mpi.snag" "$root/tmp/$mpi-2.snag"
    in_root "$root" $with "$snag" record -o "/tmp/trace.$mpi" -- $launch -n 2 "/tmp/two_ranks.$mpi" >"$out" 2>&1 || {
        cat "$out"
        return 1
    }
    in_root "$root" "$snag" analyze "/tmp/trace.$mpi" --foi turn -o "/tmp/$mpi.snag" >"$out" 2>&1 || {
        cat "$out"
        return 1
    }
    grep -q 'turn: 400 executions' "$out" || {
        cat "$out"
        return 1
    }
    # that system's MPI in snag itself
    in_root "$root" $with $launch -n 2 "$snag" analyze --together "/tmp/trace.$mpi" --foi turn -o "/tmp/$mpi-2.snag" >"$out" 2>&1 &&
        grep -q 'turn: 400 executions' "$out" || {
        say "$(basename "$root"), $mpi: --together does not work"
        cat "$out"
        return 1
    }
}

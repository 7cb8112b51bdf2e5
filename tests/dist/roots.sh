#!/usr/bin/env bash
# The archive in other systems: Debian 11, 12 and 13, each made by debootstrap, with its own compiler and its own MPI. As
# root; takes some minutes the first time.
#
#   tests/dist/roots.sh [ARCHIVE [SUITE...]]
#
# ARCHIVE is what `./setup.sh dist` makes. The root directories stay where SNAG_ROOTS says, or in the cache of the user:
# remove them when they are no longer wanted. DEBIAN_MIRROR is where packages come from, if that is not debootstrap's own
# choice. Says of each what was done; a suite that cannot be had is named and left out.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/in_root.sh"
archive=$(readlink -f "${1:-$(ls "$here"/../../build/dist/snag-*.tar.xz)}")
shift || true
suites=("$@")
[ $# -gt 0 ] || suites=(bullseye bookworm trixie)
roots=${SNAG_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/snag/roots}
name=$(basename "$archive" .tar.xz)
version=${name#snag-}
version=${version%%-*}
[ "$(id -u)" -eq 0 ] || skip 'that needs root'
command -v debootstrap >/dev/null || skip 'debootstrap is not installed'

say() { printf '== %s\n' "$*"; }

# quietly COMMAND...: what it says is shown only if it fails.
quietly() {
    local log status=0
    log=$(mktemp)
    "$@" >"$log" 2>&1 || status=$?
    [ $status -eq 0 ] || tail -n 30 "$log"
    rm -f "$log"
    return $status
}

# A root with a compiler and with MPI: openmpi, and mpich.
make_root() {
    local suite=$1 root=$roots/$1
    [ -e "$root/.complete" ] && return
    mkdir -p "$root"
    quietly debootstrap --variant=minbase "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} || return 1
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    quietly in_root_as --userspec=0:0 "$root" bash -c 'export DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin
        apt-get -qq update
        apt-get -qq -y --no-install-recommends install gcc libc6-dev libdw1 libopenmpi-dev openmpi-bin libmpich-dev mpich' ||
        return 1
    # who has no home; without any name Open MPI 4 crashes
    echo 'nobody-here:x:12345:12345::/nonexistent:/bin/sh' >>"$root/etc/passwd"
    touch "$root/.complete"
}

# record_with ROOT MPI: a program of two ranks, built there, under the tracer.
record_with() {
    # Open MPI 5 wants to be told of a home, though none is there
    local root=$1 mpi=$2 snag=/opt/snag/bin/snag launch="mpirun.$2" out=$1/tmp/record.$2 with='env HOME=/nonexistent'
    [ "$mpi" = openmpi ] && launch+=' --oversubscribe'
    in_root "$root" $with "mpicc.$mpi" -g -o "/tmp/two_ranks.$mpi" /tmp/two_ranks.c || return 1
    rm -rf "$root/tmp/trace.$mpi" "$root/tmp/$mpi.snag"
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

startup() { # mean of 20, in ms
    local root=$1 before after
    before=$(date +%s%N)
    in_root "$root" bash -c 'for i in $(seq 20); do /opt/snag/bin/snag --version >/dev/null; done'
    after=$(date +%s%N)
    echo "$(((after - before) / 20000000)) ms"
}

failed=0
for suite in "${suites[@]}"; do
    root=$roots/$suite
    make_root "$suite" || {
        say "$suite cannot be had here"
        failed=1
        continue
    }
    rm -rf "$root/opt/snag" "$root"/tmp/*
    tar -xJf "$archive" -C "$root/opt"
    mv "$root/opt/$name" "$root/opt/snag"
    cp "$here/two_ranks.c" "$root/tmp/two_ranks.c"
    printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$root/etc/hosts" # MPICH asks for this machine's address
    if bash "$here/basics.sh" "$root" /opt/snag/bin/snag "$version"; then
        say "$suite: version, analyze, query, project, ps, serve; start $(startup "$root")"
    else
        say "$suite: FAILED"
        failed=1
    fi
    for mpi in openmpi mpich; do
        if record_with "$root" $mpi; then
            say "$suite: record and --together with $mpi"
        else
            say "$suite: FAILED with $mpi"
            failed=1
        fi
    done
done
exit $failed

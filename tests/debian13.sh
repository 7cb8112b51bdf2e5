#!/usr/bin/env bash
# Builds and tests in Debian 13, which has ADIOS2, whatever this system is (a newer compiler and
# newer libraries come with it). As root, with debootstrap; takes some minutes the first time.
#
#   tests/debian13.sh [ctest's options]
#
# The root directory stays, with the build in it, where SNAG_DEBIAN13 says, or in the cache of
# the user: remove it when it is no longer wanted. DEBIAN_MIRROR is where packages come from, if
# that is not debootstrap's own choice. Everything is mounted in a namespace of its own, which is
# gone when this ends, however it ends. Exit status 77: it cannot be done here, and why.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=${SNAG_DEBIAN13:-${XDG_CACHE_HOME:-$HOME/.cache}/snag/debian13}
data=${SNAG_DATA:-$source/../shared/data}

say() { printf '== %s\n' "$*" >&2; }
skip() {
    say "no Debian 13: $*"
    exit 77
}

# What setup.sh wants there, but for browsers and MPI, whose tests run elsewhere; and what a
# minimal system lacks.
unwanted=' chromium-headless-shell nodejs npm libopenmpi-dev openmpi-bin libmpich-dev mpich gfortran python3-mpi4py '
more='ca-certificates procps zstd'

# here COMMAND: in the root, with the sources at /src, read-only, and the data at /data.
here() {
    unshare --mount --pid --fork --kill-child --propagation private bash -c '
        set -e
        root=$1 source=$2 data=$3
        mkdir -p "$root/src" "$root/data" "$root/build"
        mount --bind "$source" "$root/src"
        mount -o remount,bind,ro "$root/src"
        if [ -d "$data" ]; then
            mount --bind "$data" "$root/data"
            mount -o remount,bind,ro "$root/data"
        fi
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        # libotf2 asks for the host id: without that a name server is asked, who may not be there
        printf "127.0.0.1 localhost %s\n" "$(uname -n)" >"$root/etc/hosts"
        # not exec: the first process has to wait for those whose parents are gone
        chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb SNAG_DATA=/data \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            DEBIAN_FRONTEND=noninteractive bash -c "$4"
        exit $?' debian13 "$root" "$source" "$data" "$1"
}

# quietly WHAT COMMAND...: what it says is shown only if it fails.
quietly() {
    local what=$1 log
    shift
    log=$(mktemp)
    say "$what"
    if ! "$@" >"$log" 2>&1; then
        tail -n 50 "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

[ "$(id -u)" -eq 0 ] || skip 'that needs root'
unshare --mount --pid --fork true 2>/dev/null || skip 'namespaces are not allowed'
if [ ! -e "$root/.complete" ]; then
    command -v debootstrap >/dev/null || skip 'debootstrap is not installed'
    rm -rf "$root"
    mkdir -p "$root"
    quietly "making $root" debootstrap --variant=minbase --include=ca-certificates trixie \
        "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} || skip 'debootstrap failed'
    touch "$root/.complete"
fi

wanted=$more
for package in $(here '/src/setup.sh packages'); do
    [[ $unwanted == *" $package "* ]] || wanted+=" $package"
done
if [ "$wanted" != "$(cat "$root/.packages" 2>/dev/null)" ]; then
    quietly 'installing packages' here "apt-get -qq update &&
        apt-get -qq -y --no-install-recommends install $wanted" || skip 'no packages'
    echo "$wanted" >"$root/.packages"
fi

quietly 'configuring' here 'cmake -G Ninja -S /src -B /build -DCMAKE_BUILD_TYPE=Release \
    -DSNAG_PAGE=OFF -DSNAG_ENABLE_ADIOS2=ON'
quietly 'building' here 'cmake --build /build'
say 'testing'
here "ctest --test-dir /build --output-on-failure -LE '^long$' -j $((3 * $(nproc))) $(printf '%q ' "$@")"

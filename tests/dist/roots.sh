#!/usr/bin/env bash
# The archive in other systems: Debian 11, 12 and 13, each made by debootstrap, with its own compiler and its own MPI. As
# root; takes some minutes the first time.
#
#   tests/dist/roots.sh [ARCHIVE [SUITE...]]
#
# ARCHIVE is what `./setup.sh dist` makes. The root directories stay, see base_root.sh. Says of each what was done; a suite
# that cannot be had is named and left out.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/base_root.sh"
archive=$(readlink -f "${1:-$(ls "$here"/../../build/dist/snag-*.tar.xz)}")
shift || true
suites=("$@")
[ $# -gt 0 ] || suites=(bullseye bookworm trixie)
name=$(basename "$archive" .tar.xz)
version=${name#snag-}
version=${version%%-*}

# A root with a compiler and with MPI.
make_root() {
    local root=$roots/$1
    [ -e "$root/.complete" ] && return
    fresh_root "$1" "$root" && with_mpi "$root" && touch "$root/.complete"
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
    if bash "$here/basics.sh" "$root" /opt/snag/bin/snag "$version"; then
        say "$suite: version, analyze, query, project, ps, serve; start $(startup "$root")"
    else
        say "$suite: FAILED"
        failed=1
    fi
    for mpi in openmpi mpich; do
        if record_with "$root" $mpi /opt/snag/bin/snag; then
            say "$suite: record and --together with $mpi"
        else
            say "$suite: FAILED with $mpi"
            failed=1
        fi
    done
done
exit $failed

#!/usr/bin/env bash
# The packages for Debian: built here, then installed, tried, upgraded and purged in bare Debian 12 and 13. As root, on a
# Debian that has what debian/control asks for; half an hour on two processors, a third of it to build.
#
#   tests/dist/debs.sh [SUITE...]
#
# Builds twice, with Debian's hardening flags and with the page: this version, and the same sources called 0.0.9. Lintian must find
# no error and no warning. In each suite: 0.0.9 makes a run and goes; this version does all of basics.sh, serves the page, records
# a program of each MPI; an upgrade from 0.0.9 reads its run, and python3-snag does; after a purge no file is left, and none that is
# called snag. The packages stay in SNAG_ROOTS/debs; SNAG_PAGE=DIRECTORY is passed on to the build (debian/rules).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/base_root.sh"
suites=("$@")
[ $# -gt 0 ] || suites=(bookworm trixie)
debs=$roots/debs
version=$(sed -n 's/^project(snag VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
old=0.0.9
packages=(snag libsnag1 libsnag-dev snag-tracer python3-snag)
for command in dpkg-buildpackage lintian curl; do
    command -v $command >/dev/null || skip "$command is not installed"
done
(cd "$source" && dpkg-checkbuilddeps) || skip 'not all of what debian/control asks for is installed'

# build_debs VERSION: the tree as it is, called by that version.
build_debs() {
    local tree=$debs/$1/snag
    rm -rf "${debs:?}/$1"
    mkdir -p "$tree"
    git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -c | tar -C "$tree" -x
    sed -i "1s/($version)/($1)/" "$tree/debian/changelog"
    sed -i "s/^\( *project(snag[a-z_]* VERSION \)$version/\\1$1/" "$tree/CMakeLists.txt" "$tree/examples/CMakeLists.txt"
    (cd "$tree" && quietly dpkg-buildpackage -b -us -uc)
}

# files ROOT: all that a purge should bring back to what it was.
files() {
    (cd "$1" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./var/log -o -path ./var/cache -o -path ./var/lib/dpkg \
        -o -path ./var/lib/apt -o -path ./debs \) -prune -o -print | sort)
}

install_debs() {
    local root=$1 version=$2 list=() package
    for package in "${packages[@]}"; do
        list+=("$(cd "$root" && ls debs/"$version"/"${package}"_"$version"_*.deb | sed 's|^|/|')")
    done
    quietly as_root "$root" apt-get -qq -y --no-install-recommends install "${list[@]}"
}

purge_debs() {
    quietly as_root "$1" dpkg --purge "${packages[@]}" || return 1
    ! files "$1" | grep -F snag
}

fail() {
    say "$*"
    return 1
}

# What an older version said of its run, and what is said now.
told() { in_root "$1" snag list /tmp/old.snag --json && in_root "$1" python3 -c 'import snag; print(len(snag.open("/tmp/old.snag").executions))'; }

try_suite() {
    local root=$roots/debs-$1 before mpi
    fresh_root "$1" "$root" && with_mpi "$root" || { say "$1 cannot be had here"; return 1; }
    quietly as_root "$root" apt-get -qq -y --no-install-recommends install libpq5
    mkdir -p "$root/debs"
    cp -r "$debs/$old" "$debs/$version" "$root/debs/"
    rm -rf "$root"/debs/*/snag
    chmod 1777 "$root/tmp"

    install_debs "$root" $old || return 1
    [ "$(in_root "$root" snag --version | head -n 1)" = "snag $old" ] || fail "$1: not $old" || return 1
    in_root "$root" snag analyze 'synth:300*step(solve@1ms send);slow=solve/97/5' --foi step -o /tmp/old.snag >/dev/null || return 1
    told "$root" >"$root/tmp/old.told" && [ -s "$root/tmp/old.told" ] || return 1
    purge_debs "$root" || fail "$1: files stay after a purge of $old" || return 1
    files "$root" >"$root/tmp/before"

    install_debs "$root" $old && install_debs "$root" "$version" || return 1
    [ "$(in_root "$root" snag --version | head -n 1)" = "snag $version" ] || fail "$1: no upgrade" || return 1
    told "$root" >"$root/tmp/new.told" && cmp "$root/tmp/old.told" "$root/tmp/new.told" || fail "$1: the run of $old reads differently" ||
        return 1
    bash "$here/basics.sh" "$root" /usr/bin/snag "$version" || return 1
    ! grep -q 'built without its page' "$root/tmp/page.html" || fail "$1: no page is served" || return 1
    for mpi in openmpi mpich; do
        record_with "$root" $mpi /usr/bin/snag || fail "$1: FAILED with $mpi" || return 1
    done
    purge_debs "$root" || fail "$1: files stay after a purge" || return 1
    files "$root" >"$root/tmp/after"
    diff "$root/tmp/before" "$root/tmp/after" || fail "$1: files stay after a purge" || return 1
    say "$1: installed, run, recorded with openmpi and mpich, served, upgraded from $old, purged: nothing is left"
}

for one in $old "$version"; do
    say "building $one in $debs/$one"
    build_debs $one || exit 1
done
say "$(cd "$debs/$version" && du -k --apparent-size *.deb | awk '{ printf "%s%s (%d kB)", (NR > 1 ? ", " : ""), $2, $1 }')"
lintian --fail-on error,warning "$debs/$version"/*.changes || { say 'lintian finds something'; exit 1; }
say 'lintian: no error, no warning'
failed=0
for suite in "${suites[@]}"; do
    try_suite "$suite" || { say "$suite: FAILED"; failed=1; }
done
exit $failed

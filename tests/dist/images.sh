#!/usr/bin/env bash
# Images of containers, where no registry of images and no Apptainer is: packaging/Containerfile, built by buildah, and what
# packaging/snag.def says, done in a root directory. debian:12-slim is for both a minimal Debian 12 that debootstrap makes. As
# root; some minutes on two processors.
#
#   tests/dist/images.sh [ARCHIVE]
#
# ARCHIVE is what `./setup.sh dist` makes. In both, all of basics.sh is tried. SNAG_ROOTS and DEBIAN_MIRROR are as in roots.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
. "$here/base_root.sh"
archive=$(readlink -f "${1:-$(ls "$source"/build/dist/snag-*.tar.xz)}")
version=$(sed -n 's/^project(snag VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
command -v buildah >/dev/null || skip 'buildah is not installed'
root=$roots/apptainer
fresh_root bookworm "$root" || skip 'Debian 12 cannot be had here'

# section NAME: what snag.def has there.
section() { awk -v name="%$1" '/^%/ { is_in = $1 == name; next } is_in' "$source/packaging/snag.def"; }

# What `apptainer build` does: files, then %post as root, by a shell that ends with the first failure.
try_apptainer() {
    local file into
    while read -r file into; do
        [ -n "$file" ] || continue
        [ "$file" = "build/dist/$(basename "$archive")" ] || { say "snag.def wants $file"; return 1; }
        cp "$archive" "$root$into"
    done < <(section files)
    section post >"$root/tmp/post"
    quietly as_root "$root" /bin/sh -e /tmp/post || return 1
    section runscript >"$root/tmp/runscript"
    [ "$(in_root "$root" /bin/sh /tmp/runscript --version)" = "snag $version" ] || return 1
    bash "$here/basics.sh" "$root" /usr/local/bin/snag "$version"
}

ours() { buildah --root "$roots/images" --runroot "$roots/images.run" "$@"; }

# Sources are those that git has, as a clone has them.
try_containerfile() {
    local tree=$roots/images.source container status=0
    rm -rf "$tree"
    mkdir "$tree"
    git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -c | tar -C "$tree" -x
    mkdir "$tree/build" # which must not go with it
    echo 'of another directory' >"$tree/build/CMakeCache.txt"
    container=$(ours from scratch) && ours add -q "$container" "$roots/bookworm.tar" / >/dev/null &&
        ours commit -q --rm "$container" docker.io/library/debian:12-slim >/dev/null || return 1
    (cd "$tree" && quietly ours build --isolation chroot --pull-never -f packaging/Containerfile -t "snag:$version" .) || return 1
    container=$(ours from --pull-never "snag:$version") || return 1
    ours run --isolation chroot "$container" -- snag --version >/dev/null &&
        bash "$here/basics.sh" "$(ours mount "$container")" /usr/local/bin/snag "$version" || status=1
    ours rm "$container" >/dev/null || status=1
    return $status
}

failed=0
for what in apptainer containerfile; do
    if "try_$what"; then
        say "$what: version, analyze, query, project, ps, serve"
    else
        say "$what: FAILED"
        failed=1
    fi
done
rm -rf "$roots/images.source"
exit $failed

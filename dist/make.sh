#!/usr/bin/env bash
# Makes the one file that runs on any Linux, of a build that is there:
#
#   make.sh OUT CMAKE BUILD_DIRECTORY STARTER NAME LIBRARY...
#
#   OUT        where NAME.tar.xz is put
#   STARTER    what becomes bin/snag: starter.c, linked statically
#   NAME       of the archive and of the directory in it
#   LIBRARY    what snag loads when it is needed; what it is linked with is found by ldd
#
# The same sources on the same system make the same bytes. SOURCE_DATE_EPOCH is the time that all files get, if it is
# not that of the last commit; XZ_LEVEL is how hard xz tries.
set -euo pipefail
out=$1 cmake=$2 build=$3 starter=$4 name=$5
shift 5
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
umask 022
unset LD_LIBRARY_PATH LD_PRELOAD
export LC_ALL=C

fail() {
    echo "dist: $*" >&2
    exit 1
}
command -v dpkg-query >/dev/null || fail 'needs a Debian system, whose packages say under which licence each library is'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
"$cmake" --install "$build" --prefix "$root" --strip >/dev/null
mkdir -p "$root/libexec" "$root/lib/snag/libc"
mv "$root/bin/snag" "$root/libexec/snag"
cp "$starter" "$root/bin/snag"
strip "$root/bin/snag"
# For who compiles with libsnag: of no use elsewhere.
rm -rf "$root/include" "$root/lib/pkgconfig" "$root/lib/cmake" "$root"/lib/libsnag.so*

# ---------------------------------------------------------------------------------- the libraries

# What the loader finds for a file, as "NAME PATH".
closure() { ldd "$1" | sed -n 's/^\t\([^ /]*\) => \(\/[^ ]*\) .*/\1 \2/p; s/^\t\(\/[^ ]*\/\(ld-linux[^ /]*\)\) (.*/\2 \1/p'; }

libraries=$({
    closure "$root/libexec/snag"
    for library; do
        echo "$(objdump -p "$library" | sed -n 's/^ *SONAME *//p') $library"
        closure "$library"
    done
} | sort -u -k1,1)
# Whose each is, of Debian's packages: ldd says /lib for what a package may have put into /usr/lib, or the other way
# round, and by a link that belongs to none.
declare -A real_of owner_of package_of
while read -r soname path; do
    real_of[$path]=$(readlink -f "$path")
done <<<"$libraries"
while IFS=: read -r package rest; do
    owner_of[${rest##* }]=$package
done < <(dpkg-query -S "${real_of[@]}" "${real_of[@]#/usr}" "${!real_of[@]}" 2>/dev/null || true)
while read -r soname path; do
    real=${real_of[$path]}
    package=${owner_of[$real]:-${owner_of[${real#/usr}]:-${owner_of[$path]:-}}}
    [ -n "$package" ] || fail "$path is of no package"
    package_of[$package]=1
    where=$root/lib/snag
    [ "$package" != libc6 ] || where+=/libc
    cp -L "$path" "$where/$soname"
done <<<"$libraries"
libc=$(awk '$1 == "libc.so.6" { print $2 }' <<<"$libraries")
# An MPI of the system may want more of the C library; that of the system does not go with ours.
for part in libanl.so.1 libdl.so.2 libmvec.so.1 librt.so.1 libutil.so.1; do
    cp -L "$(dirname "$libc")/$part" "$root/lib/snag/libc/$part"
done
[ -x "$root/lib/snag/libc/ld-linux-x86-64.so.2" ] || fail 'no loader was found'
chmod 644 "$root"/lib/snag/*.so* "$root"/lib/snag/libc/*
chmod 755 "$root/lib/snag/libc/ld-linux-x86-64.so.2"

# ----------------------------------------------------------------------------------- the licences

# What is inside without being a library of its own.
for package in libotf2-trace-dev libiberty-dev libxxhash-dev; do
    dpkg-query -W "$package" >/dev/null 2>&1 && package_of[$package]=1
done
licences=$root/share/doc/snag/licences
mkdir -p "$licences"
cp "$source/LICENSE" "$root/share/doc/snag/LICENSE"
for package in "${!package_of[@]}"; do
    cp -L "/usr/share/doc/$package/copyright" "$licences/$package"
    dpkg-query -W -f '${source:Package} ${source:Version}\n' "$package"
done | sort -u >"$work/sources"
{
    echo "What is in lib/snag comes from these source packages of Debian, unchanged; so does what is linked statically:"
    echo
    cat "$work/sources"
    echo
    echo "Their licences, and those of the parts of the page, are in licences/."
} >"$root/share/doc/snag/SOURCES"
# The texts that these refer to, and those of what the page is made of.
for text in $(grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$licences" | sort -u); do
    [ -f "$text" ] && cp -L "$text" "$licences/$(basename "$text").txt"
done
page=$build/web
for part in $(jq -r '.packages | to_entries[] | select(.key != "" and (.value.dev // false | not)).key' \
    "$source/web/package-lock.json"); do
    text=$(find "$page/$part" -maxdepth 1 -iname 'licen[sc]e*' | sort | head -n 1)
    [ -n "$text" ] || fail "$part, a part of the page, says no licence"
    name_of=${part#node_modules/}
    cp "$text" "$licences/page-${name_of//\//-}"
done

# ------------------------------------------------------------------------------------ the archive

time=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || stat -c %Y "$source/CMakeLists.txt")}
mkdir -p "$out"
tar --create --directory "$work" --sort=name --format=gnu --mtime="@$time" --owner=0 --group=0 --numeric-owner "$name" |
    xz -T1 "-${XZ_LEVEL:-6}" >"$out/.$name.tar.xz"
mv "$out/.$name.tar.xz" "$out/$name.tar.xz"
echo "$out/$name.tar.xz: $(($(stat -c %s "$out/$name.tar.xz") >> 10)) KiB, unpacked $(du -sk "$root" | cut -f 1) KiB"

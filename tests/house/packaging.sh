#!/usr/bin/env bash
# What debian/ and packaging/ name is there: every file that they put into a package is installed, every installed file
# is in one package, options are options of CMake, what is needed to build is what setup.sh installs for that, and the
# version is the same everywhere.
#
#   packaging.sh SOURCE_DIRECTORY CMAKE BUILD_DIRECTORY
set -eu
cd "$1"
cmake=$2 build=$3
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
status=0
say() { echo "$*"; status=1; }

version=$(sed -n 's/^project(snag VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# version_in FILE SED: what it prints of the file is the version, at least once.
version_in() {
    local found
    found=$(sed -n "$2" "$1" | sort -u)
    [ "$found" = "$version" ] || say "$1 has version '$found', CMakeLists.txt $version"
}
number='\([0-9][0-9.]*[0-9]\)'
version_in examples/CMakeLists.txt "s/^ *project(snag_examples VERSION $number.*/\\1/p"
version_in debian/changelog "1s/^snag ($number).*/\\1/p"
version_in packaging/snag.spec "s/^Version: *$number\$/\\1/p"
version_in packaging/snag.spec "s/.*> - $number-[0-9]*\$/\\1/p"
version_in packaging/spack/snag/package.py "s/^    version(\"$number\".*/\\1/p"
version_in packaging/snag.def "s/.*image.version $number/\\1/p"
version_in packaging/snag.def "s/.*snag-$number-linux.*/\\1/p"
version_in packaging/Containerfile "s/.*image.version=\"$number\".*/\\1/p"
for file in packaging/easybuild/*.eb; do
    version_in "$file" "s/^version = '$number'/\\1/p"
    [[ $file == */snag-$version-* ]] || say "$file is not called by its version"
done
for file in packaging/modules/*; do
    [ "${file##*/}" = "$version" ] || say "$file is not called by its version"
    version_in "$file" "s/.*snag-$number-linux.*/\\1/p"
done
for page in README.md dist/README.md; do
    version_in $page "s/.*snag-$number-linux.*/\\1/p"
done

for option in $(grep -ohE 'SNAG_[A-Z0-9_]+' debian/rules packaging/snag.spec packaging/spack/snag/package.py packaging/easybuild/*.eb |
    sort -u); do
    grep -qE "^(option|set)\($option .*" cmake/*.cmake || say "$option, which a package is built with, is no option of CMake"
done
for package in $(./setup.sh packages program mpich | tr ' ' '\n' | grep -e '-dev$' -e '^ninja'); do
    grep -qE "^( |Build-Depends:).* $package\b" debian/control || grep -qE "^ +$package( |,|\$)" debian/control ||
        say "$package, which setup.sh installs to build, is not in Build-Depends of debian/control"
done
for list in debian/*.install debian/*.docs; do
    package=$(basename "${list%.*}")
    grep -qx "Package: $package" debian/control || say "$list is of no package of debian/control"
done
for pattern in $(cat debian/*.docs); do
    compgen -G "$pattern" >/dev/null || say "debian/*.docs name $pattern, which is not there"
done

# Files as "LIB/libsnag.so.1": where libraries, and the package for Python, go differs.
"$cmake" --install "$build" --prefix "$stage" >/dev/null
lib=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
files=$(cd "$stage" && find . ! -type d | sed "s|^\./||; s|^$lib/|LIB/|")
files+=$'\n'$(cd python && find snag -name '*.py' -o -name py.typed | sed 's|^|PYTHON/|')
for mpi in open-mpi mpich; do
    grep -q "libsnag-$mpi.so" <<<"$files" ||
        { [ $status = 0 ] || exit 1; echo "skipped: this build is without $mpi, whose libraries are in the packages"; exit 77; }
done
# Lines "PACKAGE PATTERN".
debian=$(for list in debian/*.install; do
    sed "s|^|$(basename "${list%.install}") |" "$list"
done | awk '{ print $1, $2 }' |
    sed 's|usr/lib/python3/dist-packages/|PYTHON/|; s|usr/lib/\*/|LIB/|; s| usr/| |')
rpm=$(awk '/^%files/ { name = $0; sub(/^%files */, "", name); sub(/^-n /, "", name); if (name == "") name = "main"; next }
    /^%changelog/ { exit } name != "" && /^%\{_|^%\{python3/ { print name, $1 }' packaging/snag.spec |
    sed 's|%{_bindir}|bin|; s|%{_libdir}|LIB|; s|%{_includedir}|include|; s|%{_datadir}|share|; s|%{_mandir}|share/man|; s|%{python3_sitelib}|PYTHON|')
# partition WHAT LINES: each pattern has files, each file has one package.
partition() {
    local what=$1 package pattern file owners
    while read -r package pattern; do
        local has=
        while read -r file; do
            # shellcheck disable=SC2053
            if [[ $file == $pattern || $file == $pattern/* ]]; then has=1; break; fi
        done <<<"$files"
        [ -n "$has" ] || say "$what: $package has $pattern, which is not installed"
    done <<<"$2"
    while read -r file; do
        owners=
        while read -r package pattern; do
            # shellcheck disable=SC2053
            if [[ $file == $pattern || $file == $pattern/* ]] && [[ " $owners " != *" $package "* ]]; then
                owners+=" $package"
            fi
        done <<<"$2"
        set -- "$what" "$2" $owners
        [ $# -eq 3 ] || say "$what: $file is in $(($# - 2)) packages:${owners:- none}"
    done <<<"$files"
}
partition debian "$debian"
partition snag.spec "$rpm"
exit $status

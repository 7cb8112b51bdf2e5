#!/usr/bin/env bash
# packaging/snag.spec, built by Debian's rpmbuild as far as that goes: no dependency is looked for (--nodeps), and what Fedora's
# macros for CMake and Python do is said here. What is in each package is compared with Debian's.
#
#   tests/dist/rpms.sh DIRECTORY_OF_DEBS   (of tests/dist/debs.sh)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
debs=$(readlink -f "$1")
command -v rpmbuild >/dev/null || { echo 'skipped: rpmbuild is not installed'; exit 77; }
version=$(sed -n 's/^project(snag VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git -C "$source" ls-files -z --cached --others --exclude-standard |
    tar -C "$source" --null -T - --transform "s|^|snag-$version/|" -czf "$work/snag-$version.tar.gz"
rpmbuild -bb --nodeps --define "_topdir $work" --define "_sourcedir $work" --define 'debug_package %{nil}' \
    --define 'cmake cmake -S . -B build -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib64' \
    --define 'cmake_build cmake --build build' --define 'cmake_install DESTDIR=%{buildroot} cmake --install build' \
    --define '_libdir /usr/lib64' --define 'python3_sitelib /usr/lib/python3/site-packages' \
    "$source/packaging/snag.spec" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }

# of_rpm FILE, of_deb FILE: what is installed, with one name for each directory; without documentation, which lies where each
# distribution has it.
of_rpm() { rpm -qlp "$1" 2>/dev/null | sed 's|^/usr/lib64/|LIB/|; s|^/usr/lib/python3/site-packages/|PYTHON/|; s|^/usr/||'; }
of_deb() { dpkg-deb -c "$1" | awk '$1 !~ /^d/ { print $6 }' | sed 's|^\./usr/lib/x86_64-linux-gnu/|LIB/|; s|^\./usr/lib/python3/dist-packages/|PYTHON/|; s|^\./usr/||
    s|zsh/vendor-completions|zsh/site-functions|'; }
plain() { grep -vE '^(share/(doc|licenses|lintian)/|lib/\.build-id)' | grep '\.[^/]*$\|/_snag$\|/snag$' | sed 's/\.gz$//' | sort; }

# Directories are listed by rpm as well: a name that others are below is none of a file.
files_alone() { awk '{ line[NR] = $0 } END { for (i = 1; i <= NR; i++) if (index(line[i + 1], line[i] "/") != 1) print line[i] }'; }

status=0
for pair in snag:snag libs:libsnag1 devel:libsnag-dev tracer:snag-tracer python3-snag:python3-snag; do
    rpm=${pair%:*} deb=${pair#*:}
    case $rpm in libs | devel | tracer) rpm=snag-$rpm ;; esac
    of_rpm "$work"/RPMS/*/"$rpm-$version"-*.rpm | plain | files_alone >"$work/rpm.list"
    of_deb "$debs/${deb}_${version}"_*.deb | plain | files_alone >"$work/deb.list"
    if [ -s "$work/rpm.list" ] && diff "$work/rpm.list" "$work/deb.list"; then
        echo "$rpm: the same $(wc -l <"$work/rpm.list") files as Debian's $deb"
    else
        echo "$rpm: other files than Debian's $deb"
        status=1
    fi
done
exit $status

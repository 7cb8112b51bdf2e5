#!/usr/bin/env bash
# The archive that runs on any Linux, in a root that has nothing but /proc and /dev; in one whose C library is musl, if that
# is installed here; then in one that has a glibc and a program, which is recorded.
#
#   empty_root.sh PROGRAM CMAKE BUILD_DIRECTORY STARTER NAME LIBRARY...   (as dist/make.sh has them)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/in_root.sh"
. "$here/../support/own_directory.sh"
command -v curl >/dev/null || skip 'curl is not installed'
command -v dpkg-query >/dev/null || skip 'not a Debian system'
program=$1
shift
name=$4 source=$(cd "$here/../.." && pwd)
version=${name#snag-}
version=${version%%-*}

fail() {
    echo "$*"
    exit 1
}

XZ_LEVEL=0 bash "$here/../../dist/make.sh" "$PWD" "$@"
mkdir -p root/tmp root/opt
chmod 755 . root root/opt
chmod 1777 root/tmp
tar -xJf "$name.tar.xz" -C root/opt
mv "root/opt/$name" root/opt/snag
cd root
for file in libexec/snag lib/libsnag-tracer-serial.so.0 lib/snag/libzmq.so.5 share/man/man1/snag.1 \
    share/bash-completion/completions/snag share/doc/snag/licences/libc6 share/doc/snag/licences/GPL-3.txt; do
    [ -s "opt/snag/$file" ] || fail "$file is not in the archive"
done
for file in opt/snag/libexec/snag opt/snag/lib/lib*.so*; do
    ! grep -qF "$source/" "$file" || fail "$file knows where it was built"
    ! readelf -d "$file" | grep -E 'RPATH|RUNPATH' || fail "$file has libraries looked for where it was built"
done
cd ..

snag=/opt/snag/bin/snag
bash "$here/basics.sh" root $snag "$version" || fail 'in an empty root'
# Libraries of the user that would not do in place of ours.
mkdir -p root/tmp/bad
for file in libc.so.6 libz.so.1 libsqlite3.so.0; do echo no library >root/tmp/bad/$file; done
in_root_environment=LD_LIBRARY_PATH=/tmp/bad in_root root $snag --version | grep -q . || fail 'LD_LIBRARY_PATH breaks it'

# musl, whose loader also has the name of glibc's, as a system that is to run programs of glibc may have it.
musl=/lib/ld-musl-x86_64.so.1
if [ -e $musl ]; then
    mkdir -p root/lib root/lib64
    cp -L $musl root/lib/
    cp -L $musl root/lib/libc.so
    cp -L $musl root/lib64/ld-linux-x86-64.so.2
    bash "$here/basics.sh" root $snag "$version" || fail 'beside musl'
    in_root_environment=LD_LIBRARY_PATH=/lib in_root root $snag --version | grep -qxF "snag $version" || fail 'libraries of musl break it'
    if command -v musl-gcc >/dev/null; then
        printf '#include <unistd.h>\nint main(int n, char **v) { return n > 1 ? execv(v[1], v + 1) : 0; }\n' >starts.c
        musl-gcc -o root/opt/of_musl starts.c
        in_root root /opt/of_musl $snag --version | grep -qxF "snag $version" || fail 'a program of musl cannot start it'
        ! in_root root $snag record -o /tmp/of-musl -- /opt/of_musl 2>record.out || fail 'a program of musl is recorded'
        grep -q 'linked with the C library musl' record.out || fail "$(cat record.out)"
    fi
    rm -r root/lib root/lib64
else
    echo 'not tried beside musl, which is not installed'
fi

# A glibc, and two programs.
for file in "$program" "$(command -v env)" /lib/x86_64-linux-gnu/libgcc_s.so.1; do
    for library in $(ldd "$file" | grep -oE '/[^ ]+ \(' | tr -d '(') $([ "${file##*.}" = 1 ] && echo "$file"); do
        mkdir -p "root$(dirname "$library")"
        cp -L "$library" "root$library"
    done
done
for library in libpthread.so.0 libdl.so.2 librt.so.1 libm.so.6; do # which have no file of their own somewhere
    cp -L "/lib/x86_64-linux-gnu/$library" root/lib/x86_64-linux-gnu/
done
mkdir -p root/usr/bin
cp "$program" root/opt/program
cp "$(command -v env)" root/usr/bin/env
in_root root $snag record -o /tmp/trace -- /opt/program 0 >record.out 2>&1 || fail "$(cat record.out)"
grep -qF "recorded in '/tmp/trace': 124 events of 1 rank, 2 threads" record.out || fail "$(cat record.out)"
in_root root $snag analyze /tmp/trace --foi step -o /tmp/trace.snag >analyze.out 2>&1 || fail "$(cat analyze.out)"
grep -q 'step: 20 executions' analyze.out || fail "$(cat analyze.out)"
# What it starts has its user's environment, and the tracer's.
in_root_environment='MINE=1 LD_LIBRARY_PATH=/tmp/none' in_root root $snag record -o /tmp/of-env -- env >env.out 2>env.err || true
grep -qx MINE=1 env.out && grep -qx LD_LIBRARY_PATH=/tmp/none env.out || fail "$(cat env.out env.err)"
! grep -F /opt/snag env.out | grep -v '^\(LD_PRELOAD\|SNAG_TRACER[A-Z_]*\)=' || fail 'it hands on where it lies'
before=$(date +%s%N)
for _ in $(seq 20); do "root$snag" --version >/dev/null; done
echo "start: $((($(date +%s%N) - before) / 20000)) us, mean of 20"

#!/usr/bin/env bash
# A tracer is loaded into programs of other machines, by their C library and beside their libraries: it asks for no
# function that a glibc of 2018 has not, and for no library but those of every system and the MPI that it is for.
#
#   old_libc.sh TRACER...
set -eu
newest=2.28 # of August 2018
status=0
wrong() {
    echo "$*"
    status=1
}

for tracer; do
    name=$(basename "$tracer")
    allowed='libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libgcc_s.so.1'
    case $name in
    libsnag-tracer.so*) allowed+=' libmpi.so.40' ;;
    libsnag-tracer-mpich-abi.so*) allowed+=' libmpi.so.12' ;;
    libsnag-tracer-mpich.so*) allowed+=' libmpich.so.12 libmpi.so.12' ;;
    esac
    symbols=$(objdump -T "$tracer" | sed -n 's/.*\*UND\*.*(\?GLIBC_\([0-9.]*\))\? *\([^ ]*\)$/\1 \2/p')
    [ "$(wc -l <<<"$symbols")" -gt 50 ] || wrong "$name: its symbols cannot be read"
    while read -r version symbol; do
        [ "$(printf '%s\n' "$version" $newest | sort -V | tail -n 1)" = $newest ] ||
            wrong "$name: $symbol is of glibc $version: see tracer/old_libc.c"
    done <<<"$symbols"
    needed=$(readelf -d "$tracer" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
    [ -n "$needed" ] || wrong "$name: its libraries cannot be read"
    for library in $needed; do
        [[ " $allowed " == *" $library "* ]] ||
            wrong "$name needs $library, which programs may have in another version, or not at all"
    done
done
exit $status

#!/usr/bin/env bash
# Threads that call MPI at once, under a tracer that ThreadSanitizer watches: nothing is reported,
# and the trace is whole. Builds that tracer, which takes a minute: run by hand, with Open MPI (MPICH's
# libucx crashes under ThreadSanitizer, with and without us).
#
#   races.sh SNAG SOURCE_DIRECTORY
set -eu
snag=$(realpath "$1") source=$(realpath "$2")
. "$(dirname "$0")/../support/own_directory.sh"
export OMPI_MCA_mpi_yield_when_idle=1

cmake -S "$source/examples" -B build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS='-fsanitize=thread -Wno-error=tsan' >out 2>&1 || { cat out; exit 1; }
cmake --build build -j2 --target snag-tracer >out 2>&1 || { cat out; exit 1; }
mpicc.openmpi -g -O1 -fsanitize=thread -o threads "$source/tests/record/mpi/threads.c" -pthread
export TSAN_OPTIONS="log_path=$dir/report exitcode=0 suppressions=$source/tests/record/races.supp ignore_noninstrumented_modules=1"
for way in stacks mpi live; do
    live=()
    [ $way != live ] || live=(SNAG_TRACER_LIVE="$dir/socket")
    SNAG_TRACER_DIR=$dir/$way SNAG_TRACER_STRUCTURE=${way/live/stacks} timeout 300 mpirun.openmpi -n 2 \
        setarch -R env "${live[@]}" LD_PRELOAD="$(realpath build/tracer/libsnag-tracer.so)" ./threads >out 2>&1 </dev/null ||
        { cat out; exit 1; }
    if compgen -G 'report*' >/dev/null; then
        cat report*
        exit 1
    fi
    "$snag" info $way --json >info
    ! grep -q multiple out || [ "$(jq -c '[.sends, .recvs, .is_damaged]' info)" = '[1600,1600,false]' ] ||
        { echo "$way: not all messages are there"; exit 1; }
done
echo "no races: stacks, MPI alone, live"

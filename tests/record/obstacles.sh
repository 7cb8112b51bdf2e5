#!/usr/bin/env bash
# Programs into which no library can be loaded are not run in vain: snag record says so.
#
#   obstacles.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"

# refused WHAT COMMAND...
refused() {
    local status=0
    "$snag" record -o trace -- "${@:2}" >out 2>err || status=$?
    [ $status -eq 1 ] && [ ! -s out ] && [ ! -e trace ] || fail "${*:2}: status $status, or it was run"
    said "$1"
}

printf 'int puts(const char *);\nint main(void) { return puts("run") < 0; }\n' >program.c
gcc -static -o static program.c || { echo "no static libc is installed"; exit 77; }
refused "'./static' is linked statically" ./static
refused "'./static' is linked statically" mpirun.${mpis[0]} -n 2 ./static 7
"$snag" record --tracer serial -o trace ./static >out 2>err && fail "nothing was recorded, and that is good"
[ "$(cat out)" = run ] || fail "--tracer does not have it run"
said 'nothing was recorded'

# One of musl would not start with the tracer, and its loader runs what it is asked to list the libraries of.
printf 'int creat(const char *, int);\nint main(void) { return creat("ran", 0600) < 0; }\n' >creates.c
musl_gcc=(musl-gcc)
command -v musl-gcc >/dev/null || musl_gcc=(gcc -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1)
"${musl_gcc[@]}" -o musl creates.c
refused "'./musl' is linked with the C library musl" ./musl
refused "'./musl' is linked with the C library musl" mpirun.${mpis[0]} -n 2 ./musl 7
[ ! -e ran ] || fail "a program of musl was run, to be looked at"

gcc -o other program.c
if chown 65534 other 2>/dev/null && chmod u+s other; then
    refused "'./other' runs with other rights than yours" ./other
fi

# an MPI that its launcher does not tell, and a launcher behind another command
mpicc.${mpis[0]} -o ends "$sources/ends.c"
"$snag" record -o said -- env A=1 mpirun.${mpis[0]} -n 1 ./ends exit >out 2>err || true
said 'recorded in'
for mpi in "${mpis[@]}"; do
    mpicc.$mpi -o alone "$sources/ends.c"
    "$snag" record -o alone.$mpi ./alone exit >out 2>err || true
    said 'of 1 rank'

    # a directory that is gone when the program ends is the reason, whatever was recorded
    "$snag" record --tracer $mpi -o gone -- sh -c "mpirun.$mpi -n 2 ./alone mpi_abort; rm -rf gone" >out 2>err &&
        fail "$mpi: without a trace the status is 0"
    said "there is no trace: 'gone' was removed while the program ran"
    "$snag" record --tracer $mpi -o gone -- sh -c "mpirun.$mpi -n 2 ./alone mpi_abort; mv gone went.$mpi" >out 2>err ||
        fail "$mpi: what was moved is not found"
    said "'gone' was moved to '$dir/went.$mpi' while the program ran"
    [ "$(calls went.$mpi MPI_Barrier)" = 200 ] || fail "$mpi: what was moved is not whole"
done
echo "what cannot be recorded is not run"

#!/usr/bin/env bash
# Programs whose library of MPI is called libmpi.so.12, as MPICH calls it and Intel's and others are, or by a compiler, as
# Cray's are: there is none here, so one is made that has nothing in it but that it needs this machine's MPICH.
#
#   abi.sh SNAG TRACERS
snag=$1 tracers=$(realpath "$2")
. "$(dirname "$0")/mpi/lib.sh"
[[ " ${mpis[*]} " == *' mpich '* ]] || { echo 'skipped: no MPICH'; exit 77; }

mkdir -p prefix/lib prefix/bin
echo >nothing.c
mpicc.mpich -shared -fPIC -Wl,--no-as-needed -Wl,-soname,libmpi.so.12 -o prefix/lib/libmpi.so.12 nothing.c
cat >program.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 20; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
mpicc.mpich -o program program.c -Wl,--no-as-needed prefix/lib/libmpi.so.12 -Wl,-rpath,"$PWD/prefix/lib"

record 0 by_name mpich 2 ./program
[ "$(calls by_name MPI_Barrier)" = 40 ] || fail 'not all calls were recorded'

# By its launcher, which has such a library beside it, where the program is a script.
cp "$(readlink -f "$(command -v mpirun.mpich)")" prefix/bin/mpiexec.hydra
cp "$(dirname "$(readlink -f "$(command -v mpirun.mpich)")")/hydra_pmi_proxy" prefix/bin/
printf '#!/bin/sh\nexec ./program\n' >script
chmod +x script
LD_LIBRARY_PATH=$PWD/prefix/lib "$snag" record -o by_launcher -- prefix/bin/mpiexec.hydra -n 2 ./script >out 2>err </dev/null ||
    fail "snag record ends with $?"
[ "$(calls by_launcher MPI_Barrier)" = 40 ] || fail 'not all calls were recorded'

# Names of Cray's, where the program alone knows the directory. A shell stands between.
for name in libmpi_cray.so.12 libmpi_gnu_123.so.12 libmpich_gnu_51.so.3; do
    mkdir -p cray/lib
    mpicc.mpich -shared -fPIC -Wl,--no-as-needed -Wl,-soname,$name -o cray/lib/$name nothing.c
    mpicc.mpich -o cray/program program.c -Wl,--no-as-needed cray/lib/$name -Wl,-rpath,"$PWD/cray/lib"
    # not by the name that this machine's library has
    ldd cray/program | grep -q "^[[:space:]]$name => $PWD/cray/lib/" || fail "the program is not linked with $name"
    record 0 cray_$name mpich 2 cray/program
    [ "$(calls cray_$name MPI_Barrier)" = 40 ] || fail "$name: not all calls were recorded"
done
"$snag" record -o none --tracer mpich-named -- /bin/true 2>err && fail 'a program without MPI is recorded with mpich-named'
grep -q "'/bin/true' is linked with no library of MPI" err || fail "$(cat err)"

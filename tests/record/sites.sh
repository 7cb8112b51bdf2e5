#!/usr/bin/env bash
# Calls of MPI are told apart by where the program makes them, in C and in Fortran, with debug
# information and without; other tools see MPI's own names.
#
#   sites.sh SNAG DIRECTORY-OF-THE-TRACERS
snag=$1 tracers=$2
. "$(dirname "$0")/mpi/lib.sh"
for tool in jq otf2-print; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done

# line TEXT FILE -- where it stands
line() {
    grep -n -m 1 "$1" "$sources/$2" | cut -d : -f 1
}

# sites TRACE FUNCTION -- "NAME CALLS" of each place, in order of calls
sites() {
    "$snag" info "$1" --json | jq -r --arg f "$2" '.regions[] | select(.plain == $f) | "\(.name) \(.calls)"' | sort -k 2n
}

# expect WHAT GOT
expect() {
    [ "$1" = "$2" ] || fail "$mpi: not '$1' but '$2'"
}

for mpi in "${mpis[@]}"; do
    first="MPI_Wait@sites.c:$(line 'first wait' sites.c)" second="MPI_Wait@sites.c:$(line 'second wait' sites.c)"
    mpicc.$mpi -O2 -g -o sites "$sources/sites.c"
    record 0 lines.$mpi $mpi 2 ./sites
    expect "$second 100
$first 200" "$(sites lines.$mpi MPI_Wait)"
    expect "MPI_Allreduce@sites.c:$(line MPI_Allreduce sites.c) 60" "$(sites lines.$mpi MPI_Allreduce)"
    # the jump leaves no trace but the return address of the function around it
    expect "MPI_Barrier 60" "$(sites lines.$mpi MPI_Barrier | sed 's/@sites.c:[0-9]*//')"
    expect "MPI_Init 2" "$(sites lines.$mpi MPI_Init)"

    # others know the functions by MPI's names, and have the place besides
    otf2-print -G lines.$mpi/traces.otf2 >definitions
    expect 2 "$(grep -c 'Name: "MPI_Wait".*File: ".*sites.c"' definitions)"
    ! grep 'Name: "MPI_[A-Za-z_]*@' definitions || fail "$mpi: names have places"
    expect 400 "$(otf2-print lines.$mpi/traces.otf2 | grep -c 'ENTER .*Region: "MPI_Isend\|ENTER .*Region: "MPI_Wait"\|ENTER .*"MPI_Send"' |
        awk '{ print $1 - 200 }')"

    # a reader may take them for one, and the tracer leave the places out
    expect "MPI_Wait 300" "$(SNAG_NO_CALL_SITES=1 sites lines.$mpi MPI_Wait)"
    timeout 100 "$snag" record --no-call-sites -o plain.$mpi -- mpirun.$mpi -n 2 ./sites >out 2>err || fail "$mpi: it fails"
    expect "MPI_Wait 300" "$(sites plain.$mpi MPI_Wait)"

    # neither stacks nor hooks are needed
    timeout 100 "$snag" record --mpi -o alone.$mpi -- mpirun.$mpi -n 2 ./sites >out 2>err || fail "$mpi: it fails"
    expect "$second 100
$first 200" "$(sites alone.$mpi MPI_Wait)"

    # in what a person reads
    "$snag" analyze lines.$mpi -o run.$mpi --foi exchange --quiet >/dev/null 2>err || [ $? -eq 3 ] || fail "$mpi: analyze fails"
    "$snag" show run.$mpi "$("$snag" list run.$mpi --all --json | jq -r 'select(.id).id' | head -n 1)" >shown 2>err || fail "$mpi: show fails"
    grep -q "$first" shown && grep -q "$second" shown || { cat shown; fail "$mpi: one of the waits is not in the tree"; }

    # without debug information, places in the function, or in the file of one without names
    mpicc.$mpi -O2 -o sites "$sources/sites.c"
    record 0 offsets.$mpi $mpi 2 ./sites
    expect "exchange 100 exchange 200" "$(sites offsets.$mpi MPI_Wait | sed 's/MPI_Wait@//; s/+0x[0-9a-f]*//' | xargs)"
    strip sites
    record 0 stripped.$mpi $mpi 2 ./sites
    expect "sites 100 sites 200" "$(sites stripped.$mpi MPI_Wait | sed 's/MPI_Wait@//; s/+0x[0-9a-f]*//' | xargs)"

    command -v mpifort.$mpi >/dev/null || { echo "$mpi: no Fortran"; continue; }
    mpifort.$mpi -O2 -g -o sites "$sources/sites.f90"
    record 0 fortran.$mpi $mpi 2 ./sites
    expect "MPI_Send@sites.f90:$(line 'second send' sites.f90) 100
MPI_Send@sites.f90:$(line 'first send' sites.f90) 200" "$(sites fortran.$mpi MPI_Send)"
done
echo "${mpis[*]}: calls are told apart by where they are made"

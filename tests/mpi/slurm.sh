#!/usr/bin/env bash
# Several nodes under Slurm: srun starts the processes of one analysis, or mpirun does within what Slurm
# has allocated; the run is that of one process, byte for byte.
#
#   slurm.sh SNAG
set -eu
SNAG=$(realpath "$1")
. "$(dirname "$0")/slurm_nodes.sh"

words=('synth:150*step(compute@1ms(a 3*b) >1 <1 |);ranks=9;jitter=0.2;slow=compute/15/10/2' --foi step -o run -v)
mkdir one
(cd one && "$SNAG" analyze "${words[@]}" >out 2>err)

without_dates() {
    sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/DATE/' "$1"
}

# same WHAT N COMMAND...
same() {
    local what=$1 n=$2
    shift 2
    rm -rf many
    mkdir many
    (cd many && on node1 timeout -s KILL 120 "$@" "$SNAG" analyze --together "${words[@]}" >out 2>err) || fail "$what: $(cat many/err)"
    cmp one/out many/out || fail "$what: prints something else"
    diff -r one/run/calls many/run/calls || fail "$what: other columns"
    cmp <(without_dates one/run/run.db) <(without_dates many/run/run.db) || fail "$what: another run.db"
    expect_shared many/err $n || fail "$what: not analysed together: $(cat many/err)"
    [ "$(sed -n 's/.*process [0-9]* of [0-9]* (\(node[0-9]\)): executions .*/\1/p' many/err | sort -u | wc -l)" = 3 ] ||
        fail "$what: not on three nodes: $(cat many/err)"
    echo "$what: the same"
}

for kind in "${launchers[@]}"; do
    if [ $kind = mpich ]; then
        same "srun --mpi=pmi2, MPICH" 3 srun --mpi=pmi2 -N 3 -n 3
        same "srun --mpi=pmi2, MPICH, 7" 7 srun --mpi=pmi2 -N 3 -n 7
        same "mpirun of MPICH in an allocation" 4 salloc -Q -N 3 -n 4 $(launcher_of mpich) -n 4
    else
        same "mpirun of Open MPI in an allocation" 4 salloc -Q -N 3 -n 4 $(launcher_of open-mpi) -n 4
    fi
done
[ $failed = 0 ] || grep -h error log/*
finish

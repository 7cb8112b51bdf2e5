#!/usr/bin/env bash
# A job of Slurm that scancel ends leaves the traces of all its ranks, on two nodes.
#
#   scancel.sh SNAG DIRECTORY-OF-THE-TRACERS
set -eu
SNAG=$(realpath "$1") tracers=$(realpath "$2")
sources=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
command -v jq >/dev/null || { echo "skipped: jq is not installed"; exit 77; }
[ -e "$tracers/libsnag-tracer-mpich.so" ] && command -v mpicc.mpich >/dev/null || { echo "skipped: no MPICH"; exit 77; }
. "$sources/../mpi/slurm_nodes.sh"
mpicc.mpich -std=gnu11 -D_GNU_SOURCE -O1 -finstrument-functions -DWITH_MPI -o signalled "$sources/signalled.c"
ranks=4

counted() { # the second number of each rank: calls that have returned
    [ -s counts ] && od -A n -t u8 -v counts | awk -v ranks=$ranks 'NR <= ranks { print $2 }'
}

# cancelled HOW... -- a job that is cancelled so
cancelled() {
    local job made kept
    rm -rf trace counts
    job=$(on node1 sbatch --parsable -N 2 -n $ranks -o job.out -e job.err --wrap \
        "'$SNAG' record -o trace --functions -- srun --mpi=pmi2 -n $ranks ./signalled counts 50000 100")
    until [ -n "$(counted)" ] && ! counted | grep -qx 0; do
        [ -n "$(on node1 squeue -h -j $job)" ] || { fail "$*: the job has ended: $(cat job.out job.err)"; return; }
        sleep 0.1
    done
    on node1 scancel "$@" $job
    while [ -n "$(on node1 squeue -h -j $job)" ]; do sleep 0.1; done
    until "$SNAG" info --json trace >info 2>info.err; do # if snag record could not any more
        grep -q 'still records' info.err || { fail "$*: the trace: $(cat info.err)"; return; }
        sleep 0.1
    done
    made=($(counted))
    kept=($(jq '.location_table | sort_by(.rank)[].records' info))
    [ ${#kept[@]} = $ranks ] || fail "$*: ${#kept[@]} ranks of $ranks"
    for i in $(seq 0 $((ranks - 1))); do
        [ "${kept[i]:-0}" -ge $((2 * made[i])) ] || fail "$*: rank $i has ${kept[i]:-no} records, and made ${made[i]} calls"
    done
    echo "scancel $*: all of $ranks ranks, ${made[*]} calls"
}

cancelled
cancelled --signal=KILL --full
cancelled --signal=INT
finish

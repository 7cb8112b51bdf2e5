#!/usr/bin/env bash
# Several nodes under Slurm: srun starts the processes of one analysis, or mpirun does within what Slurm
# has allocated; the run is that of one process, byte for byte.
#
#   slurm.sh SNAG
#
# slurmctld, a slurmd for each node, and munge are the test's own.
set -eu
for tool in slurmctld slurmd srun salloc munged; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs to be root"; exit 77; }
SNAG=$(realpath "$1")
. "$(dirname "$0")/cluster.sh"
unset ${!SLURM_*} ${!SBATCH_*} ${!SALLOC_*} OMPI_MCA_plm_rsh_agent

mkdir -m 700 munge
mkdir -m 755 run state log spool-node1 spool-node2 spool-node3
mkdir -m 1777 tmp-node1 tmp-node2 tmp-node3
head -c 128 /dev/urandom >munge/key
chmod 600 munge/key
munged -F -S "$work/run/munge.socket" --key-file="$work/munge/key" --pid-file="$work/munge/pid" \
    --seed-file="$work/munge/seed" --log-file="$work/munge/log" >log/munged 2>&1 &
cat >slurm.conf <<END
ClusterName=snag
SlurmctldHost=node1(10.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/run/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TmpFS=$work/tmp-%n
SlurmdLogFile=$work/log/slurmd-%n
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
SlurmdParameters=config_overrides
NodeName=node1 NodeAddr=10.0.0.1 CPUs=4 RealMemory=100
NodeName=node2 NodeAddr=10.0.0.2 CPUs=4 RealMemory=100
NodeName=node3 NodeAddr=10.0.0.3 CPUs=4 RealMemory=100
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
END
export SLURM_CONF=$work/slurm.conf
until [ -S run/munge.socket ]; do sleep 0.05; done
on node1 slurmctld -D >log/slurmctld 2>&1 &
for node in "${nodes[@]}"; do
    on $node slurmd -D -N $node >log/$node 2>&1 &
done
for i in $(seq 600); do
    [ "$(on node1 sinfo -h -N -t idle 2>/dev/null | wc -l)" -eq 3 ] && break
    sleep 0.1
done
[ "$(on node1 sinfo -h -N -t idle | wc -l)" -eq 3 ] || { fail "the nodes did not come up: $(tail -n 3 log/*)"; exit 1; }

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

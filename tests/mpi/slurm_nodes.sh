# Sourced by tests that need Slurm, first of all, with SNAG=PROGRAM: node1, node2 and node3 of cluster.sh,
# idle, with 4 processors each. slurmctld, a slurmd for each node, and munge are the test's own.
for tool in slurmctld slurmd srun salloc munged; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs to be root"; exit 77; }
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
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

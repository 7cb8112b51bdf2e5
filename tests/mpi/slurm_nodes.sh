# Sourced by tests that need Slurm, first of all, with SNAG=PROGRAM: node1, node2 and node3 of cluster.sh,
# idle, with 4 processors each. slurmctld, a slurmd for each node, and munge are the test's own.
for tool in slurmctld slurmd srun salloc munged; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs to be root"; exit 77; }
. "$(dirname "${BASH_SOURCE[0]}")/../support/slurm.sh"
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
unset ${!SLURM_*} ${!SBATCH_*} ${!SALLOC_*} OMPI_MCA_plm_rsh_agent

slurm_begin node1 node2 node3
{
    slurm_common
    cat <<END
SlurmctldHost=node1(10.0.0.1)
NodeName=node1 NodeAddr=10.0.0.1 CPUs=4 RealMemory=100
NodeName=node2 NodeAddr=10.0.0.2 CPUs=4 RealMemory=100
NodeName=node3 NodeAddr=10.0.0.3 CPUs=4 RealMemory=100
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
END
} >slurm.conf
export SLURM_CONF=$work/slurm.conf
on node1 slurmctld -D >log/slurmctld 2>&1 &
for node in "${nodes[@]}"; do
    on $node slurmd -D -N $node >log/$node 2>&1 &
done
slurm_wait 3 on node1

# What tests that start programs share; to be sourced: an empty directory to be in, $dir, which goes
# when the test ends, nothing of ours in the environment, and an MPI that starts what root asks for,
# in more processes than there are processors, on machines that let no process read another's memory.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset ${!SNAG_*}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1
export HWLOC_COMPONENTS=-opencl,-gl # a third of what starting a process takes, to find none

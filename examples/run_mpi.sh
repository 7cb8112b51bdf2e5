#!/bin/bash
# run_mpi.sh N COMMAND... -- start N ranks, also as root and with more ranks than cores.
#
# Ranks are not bound to cores: two programs bound to the same ones, as two of them started here
# at once would be, starve each other while other cores idle. Ranks that wait let others run.
# Messages are copied twice rather than read from the sender's memory, which containers forbid.
#
# With TRACER=path/of/libsnag-tracer.so they are traced. MPIEXEC names another mpirun.
set -eu

ranks=$1
shift
mpiexec=${MPIEXEC:-mpirun}
flags=()
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
if "$mpiexec" --version 2>/dev/null | grep -qiE 'open ?mpi|openrte|prte'; then
    flags=(--oversubscribe --bind-to none)
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
fi
# env is what is started, so that the tracer is loaded into the program only
exec "$mpiexec" -n "$ranks" "${flags[@]}" \
    env ${TRACER:+LD_PRELOAD="$(realpath "$TRACER")"} "$@"

#!/usr/bin/env bash
# TaskProlog= of slurm.conf: SNAG_SOCKET of a rank is where the detector of its node listens, if there
# is one: srun snag record --live "$SNAG_SOCKET" ... What this prints, Slurm puts into the environment.
env=${SNAG_SLURM_ENV:-/etc/snag/slurm.env}
set -a
[ ! -r "$env" ] || . "$env"
set +a
socket=$("$(dirname "$(readlink -f "$0")")/snag-node.sh" socket)
[ ! -S "$socket" ] || echo "export SNAG_SOCKET=$socket"
exit 0

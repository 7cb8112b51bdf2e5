#!/usr/bin/env bash
# Prolog= of slurm.conf, with PrologFlags=Alloc: begins the detector of a node, and on the first one
# the parameter server, for jobs that ask for it with --constraint=snag (nodes have Features=snag).
# It never fails: a node must not be drained because nobody watches a job.
#
# /etc/snag/slurm.env says SNAG_SHARED, a directory that users may write to on all nodes, and what
# else snag-node.sh takes.
set -u
exec </dev/null
[[ ",${SLURM_JOB_CONSTRAINTS:-}," =~ [,\&\|]snag[,\&\|] ]] || exit 0
env=${SNAG_SLURM_ENV:-/etc/snag/slurm.env}
[ -r "$env" ] || exit 0
set -a
. "$env"
set +a
: "${SNAG_SHARED:?}"
here=$(dirname "$(readlink -f "$0")")
export SNAG_JOB_DIR=$SNAG_SHARED/$SLURM_JOB_ID
gid=${SLURM_JOB_GID:-$(id -g "$SLURM_JOB_UID")}

# A session of its own, so that it outlives this script; as the user, whose program it listens to.
pids=/run/snag
mkdir -p -m 755 "$pids"
setsid setpriv --reuid "$SLURM_JOB_UID" --regid "$gid" --init-groups \
    bash -c 'umask 077; mkdir -p "$SNAG_JOB_DIR" && exec "$0" run 2>>"$SNAG_JOB_DIR/nodes.log"' \
    "$here/snag-node.sh" >/dev/null 2>&1 &
pid=$!
echo "$pid" >"$pids/$SLURM_JOB_ID.${SLURMD_NODENAME:-node}"
# Slurm kills the session of a prolog that has ended, and what has not left it by then. And it starts the ranks: one
# that begins before the detector of its node listens is not watched, or by that of the node of the job's script.
socket=$("$here/snag-node.sh" socket)
for _ in {1..200}; do
    read -r _ _ _ _ group _ 2>/dev/null <"/proc/$pid/stat" || break
    [ "$group" != "$pid" ] || [ ! -S "$socket" ] || break
    sleep 0.05
done
exit 0

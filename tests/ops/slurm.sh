#!/usr/bin/env bash
# The documented job in a cluster of two nodes, which both are this machine: slurmctld, slurmd and
# munge of their own, on loopback, with all they write in a directory of the test.
#
#   slurm.sh SNAG SHARE_SLURM SOURCE_OF_MD [LOG]
#
# The program is one of MPICH, which Slurm starts by PMI-2: one of Open MPI now and then crashes in MPI_Init when
# it is started by PMIx (docs/architecture.md).
# LOG gets the job's log, for docs/slurm.md. The SLURM_ variables of a job that this test itself may
# run in are not for these.
set -u
snag=$1 share=$2 source=$3 kept=${4:-}
for tool in slurmctld slurmd sbatch munged jq setpriv mpicc.mpich; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "slurmd needs to be root"; exit 77; }
unset ${!SNAG_*} ${!SLURM_*} ${!SBATCH_*}
. "$(dirname "$0")/../support/slurm.sh"

work=$(mktemp -d)
chmod 755 "$work" # the jobs are another user's
md=$work/md
mpicc.mpich -w -O2 -D_GNU_SOURCE -finstrument-functions -rdynamic -o "$md" "$source"/*.c -lm || exit 1
[ -z "${TMPDIR:-}" ] || chmod a+x "$TMPDIR"
unset TMPDIR # it is not theirs
failed=0
daemons=()
stop() {
    local pid
    for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null; done
    rm -rf "$work"
}
trap stop EXIT
cd "$work"
fail() {
    echo "$*"
    failed=1
}
# is WHAT HAS WANTS
is() { [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'"; }

# Two ports that are free now for the nodes, one for the controller.
free_ports() {
    local port=$((20000 + $$ % 10000)) found=()
    while [ ${#found[@]} -lt 3 ]; do
        port=$((port + 1))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || found+=("$port")
    done
    echo "${found[@]}"
}
read -r ctl_port port1 port2 < <(free_ports)

mkdir -m 1777 tmp shared jobs
slurm_begin n1 n2
daemons+=($munged)

cat >slurm.env <<END
SNAG=$snag
SNAG_SHARED=$work/shared
SNAG_NODE_TMP=$work/tmp
SNAG_PS_HOST=127.0.0.1
END
# What the centre's slurm.conf would have, with where slurm.env is for once.
for script in prolog epilog task-prolog; do
    printf '#!/bin/sh\nSNAG_SLURM_ENV=%s exec %s/%s.sh\n' "$work/slurm.env" "$share" $script >$script
    chmod 755 $script
done
host=$(hostname)
{
    slurm_common
    cat <<END
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$ctl_port
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000
PrologFlags=Alloc
Prolog=$work/prolog
Epilog=$work/epilog
TaskProlog=$work/task-prolog
NodeName=n1 NodeAddr=127.0.0.1 NodeHostname=$host Port=$port1 CPUs=4 RealMemory=100 Feature=snag
NodeName=n2 NodeAddr=127.0.0.1 NodeHostname=$host Port=$port2 CPUs=4 RealMemory=100 Feature=snag
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=10 State=UP OverSubscribe=NO
END
} >slurm.conf
export SLURM_CONF=$work/slurm.conf
slurmctld -D >log/slurmctld 2>&1 &
daemons+=($!)
for node in n1 n2; do
    slurmd -D -N $node >log/$node 2>&1 &
    daemons+=($!)
done
slurm_wait 2

user=$(id -un 65534) group=$(id -gn 65534)
# submit NAME ARGS...: as an ordinary user, until it is over; sets $status and $id
submit() {
    local name=$1
    shift
    id=$(cd jobs && sbatch --parsable --uid="$user" --gid="$group" --chdir="$work/jobs" --output="$work/jobs/$name.log" "$@") || fail "$name was not taken"
    status=$(wait_for "$id")
}
# wait_for JOB: its exit status
wait_for() {
    local state
    for _ in $(seq 480); do
        state=$(scontrol show job "$1" | sed -n 's/^ *JobState=\([A-Z_]*\) .*/\1/p')
        case $state in
        PENDING | RUNNING | COMPLETING | CONFIGURING) sleep 0.5 ;;
        *) break ;;
        esac
    done
    scontrol show job "$1" | sed -n 's/.* ExitCode=\([0-9]*\):.*/\1/p'
}
# ask STORE SQL
ask() { "$snag" query "$1" "$2" --format csv | tail -n 1; }

export SHARED=$work/shared SNAG_SLURM=$share SNAG=$snag SNAG_NODE_TMP=$work/tmp SNAG_PS_HOST=127.0.0.1
export SNAG_SRUN_OPTIONS='--mpi=pmi2 --overlap'

echo "# the job script, on two nodes: each has a store, and both have told the server"
submit script -N 2 --ntasks-per-node=2 "$share/job.sh" "$md" --steps 100 --particles 500
is "the status" "$status" 0
[ -z "$kept" ] || cp jobs/script.log "$kept"
tail -n 1 jobs/script.log
for node in n1 n2; do
    totals=jobs/snag-$id/$node.json store=jobs/snag-$id/$node.store
    is "run id on $node" "$(ask "$store" "SELECT group_concat(DISTINCT run_id) FROM runs")" "$id"
    is "runs that ended on $node" "$(ask "$store" "SELECT count(*) > 0 AND count(*) = count(ended) FROM runs")" 1
    is "ranks on $node" "$(ask "$store" "SELECT count(DISTINCT rid) FROM metadata WHERE descr = 'Hostname'")" 2
    is "judged on $node" "$(jq -s 'map(.calls) | add > 1000' "$totals")" true
    is "taken by the server from $node" "$(jq -s 'map(select(.calls > 0)) | all(.[]; .server.is_complete)' "$totals")" true
done
is "steps" "$(ask "jobs/snag-$id/n1.store" "SELECT max(calls) FROM func_stats")" \
    "$(ask "jobs/snag-$id/n2.store" "SELECT max(calls) FROM func_stats")"
tail -n 1 "jobs/snag-$id/ps.log" | grep -q ' of 2 clients' || fail "the server: $(tail -n 1 "jobs/snag-$id/ps.log")"
is "what is left in the nodes' directory" "$(ls tmp)" ''

echo "# its exit status is the program's"
cat >jobs/fails.sh <<'END'
#!/bin/sh
[ "$SLURM_PROCID" != 1 ] || exit 7
END
chmod 755 jobs/fails.sh
submit fails -N 1 -n 2 "$share/job.sh" "$work/jobs/fails.sh"
is "the status" "$status" 7
submit killed -N 1 -n 1 "$share/job.sh" sh -c 'kill -9 $$'
is "the status of one that was killed" "$status" 137
SNAG=/nowhere/snag submit unwatched -N 1 -n 1 "$share/job.sh" true
is "the status without snag" "$status" 127 # of the program's step, which needs it, too

echo "# prolog and epilog: the job script says only where the program is to report"
cat >jobs/plain.sh <<'END'
#!/bin/sh
srun $SNAG_SRUN_OPTIONS sh -c 'exec "$0" record --live "$SNAG_SOCKET" -- "$@"' "$SNAG" "$@"
status=$?
for node in n1 n2; do # the next one has a detector of its own
    [ "$SLURM_JOB_NUM_NODES" = 1 ] || until [ -s "$SHARED/$SLURM_JOB_ID/$node.json" ]; do sleep 0.1; done
done
srun $SNAG_SRUN_OPTIONS sh -c 'exec "$0" record --live "$SNAG_SOCKET" -- "$@"' "$SNAG" "$@" >/dev/null # again
exit $((status + 5))
END
chmod 755 jobs/plain.sh
submit plain -C snag -N 2 --ntasks-per-node=2 "$work/jobs/plain.sh" "$md" --steps 50 --particles 500
is "the status" "$status" 5
for node in n1 n2; do # the epilog of a node may still run when the job is over
    for _ in $(seq 600); do
        [ ! -e "tmp/snag-$id-$node" ] && break
        sleep 0.1
    done
    store=shared/$id/$node.store
    is "run id on $node" "$(ask "$store" "SELECT group_concat(DISTINCT run_id) FROM runs")" "$id"
    is "runs with calls on $node" "$(ask "$store" "SELECT count(DISTINCT run) FROM func_stats_of_runs WHERE calls >= 100")" 2
done
is "who owns it" "$(stat -c %U "shared/$id/n1.store")" "$user"
submit unasked -N 1 -n 1 "$work/jobs/plain.sh" true
[ ! -e "shared/$id" ] || fail "a job that did not ask was watched"
exit $failed

# Sourced by tests that have a Slurm of their own, all of it in $work, which is where they are:
#   slurm_begin NODE...: directories of the nodes and munge, whose process is $munged
#   slurm_common: lines of slurm.conf that all of them have
#   slurm_wait N [COMMAND...]: until N nodes are idle, as COMMAND sinfo says; the slurmds are started before, the last one is
#       the last job of the shell. Ends the test if they do not come up; as skipped where that is for the want of cgroups
slurm_begin() {
    mkdir -m 700 munge
    mkdir -m 755 run state log "${@/#/spool-}"
    mkdir -m 1777 "${@/#/tmp-}"
    head -c 128 /dev/urandom >munge/key
    chmod 600 munge/key
    munged -F -S "$work/run/munge.socket" --key-file="$work/munge/key" --pid-file="$work/munge/pid" \
        --seed-file="$work/munge/seed" --log-file="$work/munge/log" >log/munged 2>&1 &
    munged=$!
    until [ -S run/munge.socket ]; do sleep 0.05; done
}

slurm_common() {
    cat <<END
ClusterName=snag
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
END
}

# slurmd looks for cgroups whatever its plugins are, and ends where a container has none, or none to write to.
slurm_wait() {
    local n=$1 slurmd=$! why
    shift
    for _ in $(seq 600); do
        [ "$("$@" sinfo -h -N -t idle 2>/dev/null | wc -l)" -ne "$n" ] || return 0
        kill -0 $slurmd 2>/dev/null || break
        sleep 0.1
    done
    why=$(grep -hiE '(error|fatal):.*cgroup' log/slurmd-* 2>/dev/null | head -n 1 | sed 's/^\[[^]]*\] *//')
    [ -z "$why" ] || { echo "skipped: slurmd does not run here without cgroups: $why"; exit 77; }
    echo 'the nodes did not come up:'
    tail -n 3 log/*
    exit 1
}

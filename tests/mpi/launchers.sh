# Sourced by the tests of processes that work together: $SNAG is the program.
#
#   launchers -> the words "open-mpi" and "mpich", those that are here and that snag was built with
#   launch WORD N COMMAND ... : run N processes; N may be 1
#   expect_shared LOG N: fails when not all of N processes analysed the run, by what -v says
#   fail TEXT, finish: the test has failed; it ends
#   is_long -> not empty with SNAG_LONG=1
#
# A test that finds none is skipped.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export LC_ALL=C TZ=UTC
is_long=${SNAG_LONG:-}
for name in ${!SNAG_*} COLUMNS; do
    unset "$name"
done

export SNAG_ASSIST=1 # as if they were on several nodes

launcher_of() {
    local kind=$1 name
    for name in mpirun.openmpi mpirun.mpich mpirun; do
        command -v $name >/dev/null || continue
        case $kind,$($name --version 2>/dev/null) in
        open-mpi,*"Open MPI"* | mpich,*HYDRA*)
            echo $name
            return
            ;;
        esac
    done
}

launchers=()
for kind in open-mpi mpich; do
    [ -e "$(dirname "$SNAG")/mpi/libsnag-$kind.so" ] && [ -n "$(launcher_of $kind)" ] && launchers+=($kind)
done
if [ ${#launchers[@]} -eq 0 ]; then
    echo "skipped: no MPI here that snag was built with"
    exit 77
fi

# MPICH's launcher (4.0) dies of SIGPIPE, and what was printed is lost, where a process ends before it was told of all:
# `mpirun -n 1 echo` does so now and then on a busy machine. So there the program lasts for a tenth of a second.
launch() {
    local kind=$1 n=$2 word words=()
    shift 2
    for word; do
        [ $kind != mpich ] || [ "$word" != "$SNAG" ] || word=$work/lasting
        words+=("$word")
    done
    $(launcher_of $kind) -n $n "${words[@]}"
}

work=$(mktemp -d /tmp/snag-mpi-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
printf '#!/bin/sh\n"%s" "$@"\nstatus=$?\nsleep 0.1\nexit $status\n' "$SNAG" >lasting
chmod +x lasting

# What libraries of MPI leave unfreed is a lot, in plug-ins that are unloaded by then, which no
# suppression can name, and telling where it is from takes minutes: leaks are the business of unit tests.
# The rest of what a sanitizer says goes to files, which finish reads.
export ASAN_OPTIONS=log_path=$work/sanitizer:detect_leaks=0:handle_sigill=1

# expect_shared LOG N: of each function of interest every process has said what it made, and no
# process made all.
expect_shared() {
    awk -v n="$2" '
    match($0, /process [0-9]+ of [0-9]+ \(.*\): executions [0-9]+/) {
        split(substr($0, RSTART, RLENGTH), word, " ")
        if (word[4] != n || word[2] != n_said % n) is_wrong = 1
        if (++n_said % n == 1 || n == 1) n_makers = 0
        n_makers += substr($0, RSTART, RLENGTH) !~ / 0$/
        if (n_said % n == 0 && n_makers < 2) is_wrong = 1
    }
    END { exit is_wrong || n_said == 0 || n_said % n != 0 }' "$1"
}

failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

finish() {
    local report
    for report in sanitizer.*; do
        [ -e "$report" ] || continue
        cat "$report"
        fail "$report"
    done
    exit $failed
}

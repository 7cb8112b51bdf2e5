# What the tests of programs of MPI share: each MPI that is installed, under Debian's names for
# its compilers and launchers. To be sourced after snag, tracers and a directory are known:
#
#   snag=... tracers=DIRECTORY
set -eu
sources=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$sources/../../support/own_directory.sh"
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_osc=pt2pt

fail() {
    echo "$*"
    cat out err 2>/dev/null || true
    exit 1
}

mpis=()
[ ! -e "$tracers/libsnag-tracer.so" ] || ! command -v mpicc.openmpi >/dev/null || mpis+=(openmpi)
[ ! -e "$tracers/libsnag-tracer-mpich.so" ] || ! command -v mpicc.mpich >/dev/null || mpis+=(mpich)
[ ${#mpis[@]} -gt 0 ] || { echo "no MPI is installed"; exit 77; }

# record STATUS TRACE MPI RANKS PROGRAM... -- what it prints goes to out and err.
record() {
    local want=$1 trace=$2 launcher=mpirun.$3 status=0
    timeout 100 "$snag" record -o "$trace" -- "$launcher" -n "$4" "${@:5}" >out 2>err </dev/null || status=$?
    [ "$want" = any ] || [ $status -eq "$want" ] || fail "$*: status $status, not $want"
}

said() {
    grep -qF -- "$1" err || fail "it does not say '$1'"
}

# calls TRACE FUNCTION -- how many there are, from wherever; nothing if there is none
calls() {
    "$snag" info "$1" --json | jq -r --arg f "$2" '[.regions[] | select(.plain == $f).calls] | add // empty'
}

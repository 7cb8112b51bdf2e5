#!/usr/bin/env bash
# Event files of real archives, of several writers and of several chunks, cut off and damaged: see
# robust/cuts_test.c. SNAG_CUTS is how often each, or 4.
#
#   cuts.sh SNAG SOURCE WORK ROBUST_TEST
set -eu
SNAG=$1 SOURCE=$2 WORK=$3 robust_test=$4
. "$(dirname "$0")/find.sh"
export SNAG_PROGRAM=$SNAG SNAG_CUTS=${SNAG_CUTS:-4}

directories=()
add() {
    find_trace "$@"
    directories+=("$(dirname "$archive")")
}
add lammps-eam lammps-paper
for name in lammps-eam-eztrace-inj lammps-eam-fn2-inj lulesh-fn8 lammpsh_s1 md_s1 quirk-skew-noclose \
    scorep-bt-mz scorep-mi300 scorep-ping-pong scorep-ping-pong-papi; do
    add "$name"
done
"$robust_test" cuts "${directories[@]}"

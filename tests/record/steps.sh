#!/usr/bin/env bash
# The steps of md, which it prints, found without its functions.
#
#   steps.sh SNAG MD
set -eu
SNAG=$1 md=$2 failed=0
mpirun=${MPIEXEC:-mpirun}
for tool in "$mpirun" jq; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
. "$(dirname "$0")/../support/same_steps.sh"
. "$(dirname "$0")/../support/own_directory.sh"

# steps_of RANKS STEPS OPTION...
steps_of() {
    rm -rf trace
    "$SNAG" record -o trace -- "$mpirun" -n "$1" "$md" --steps "$2" --particles 300 "${@:3}" >out 2>said ||
        { echo "snag record ends with $?"; cat said; exit 1; }
    expect "steps that md prints" "$(grep -o '^[0-9]* steps' out)" "$2 steps"
    same_steps trace "$2" "$1" step
}
steps_of 2 303
steps_of 4 251 --rebuild 20 --reduce 5
steps_of 2 200 --rebuild 5 --reduce 1 --write 50
exit $failed

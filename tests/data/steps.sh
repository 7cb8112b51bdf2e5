#!/usr/bin/env bash
# Steps of real programs, found without their functions.
#
#   steps.sh SNAG SOURCE WORK ARCHIVE STEPS RANKS FUNCTION
set -eu
SNAG=$1 SOURCE=$2 WORK=$3
. "$(dirname "$0")/find.sh"
. "$(dirname "$0")/../support/same_steps.sh"
find_trace "$4"
cd "$run"
same_steps "$archive" "$5" "$6" "$7"
exit $failed

#!/usr/bin/env bash
# The package for Python, from its sources: what it says of a sentence and of a real trace is what the command says.
# Without numpy or pandas what is for them is skipped, which the end of its output says.
#
#   package.sh SNAG LIBRARY SOURCE WORK
set -eu
SNAG=$(realpath "$1") library=$(realpath "$2") SOURCE=$(realpath "$3") WORK=$4
. "$(dirname "$0")/find_python.sh"

python=$(find_python pandas || find_python numpy || find_python ctypes) || {
    echo "skipped: no Python 3.8 or later with ctypes"
    exit 77
}
traces=
if (. "$SOURCE/tests/data/find.sh" && find_trace lammps-eam-fn2-inj) >/dev/null 2>&1; then
    archive=$(. "$SOURCE/tests/data/find.sh" && find_trace lammps-eam-fn2-inj && echo "$archive")
    traces="lammps PairEAM::compute $archive"
else
    echo "the trace lammps-eam-fn2-inj is not here: compared on a sentence alone"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SNAG_LIBRARY=$library SNAG_COMMAND=$SNAG SNAG_TEST_TRACES=$traces
export PYTHONPATH=$SOURCE/python PYTHONDONTWRITEBYTECODE=1
"$python" -W error::ResourceWarning "$SOURCE/tests/python/package_test.py" "$work" -v

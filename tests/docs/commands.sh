#!/usr/bin/env bash
# The commands of the pages are run, and their options are those of the program: commands.py says which.
#
#   commands.sh SNAG LIBRARY SOURCE WORK
set -eu
SNAG=$(realpath "$1") library=$(realpath "$2") SOURCE=$(realpath "$3") WORK=$4
. "$SOURCE/tests/support/find_python.sh"
python=$(find_python pandas || find_python ctypes) || {
    echo "skipped: no Python 3.8 or later with ctypes"
    exit 77
}
trace=$(. "$SOURCE/tests/data/find.sh" && find_trace lammps-eam lammps-paper >/dev/null && echo "$archive") || {
    echo "the archive lammps-paper is not here: the tutorial is run with a program in one line alone"
    trace=
}
[ -z "$trace" ] || trace=$(realpath "$trace")
. "$SOURCE/tests/support/own_directory.sh"
export SNAG_LIBRARY=$library SNAG_COMMAND=$SNAG PYTHONPATH=$SOURCE/python PYTHONDONTWRITEBYTECODE=1 TMPDIR=$dir
"$python" "$SOURCE/tests/docs/commands.py" "$SNAG" "$SOURCE" ${trace:+"$trace"}

#!/usr/bin/env bash
# The package for Python, from its sources: what it says of a sentence and of a real trace is what the command says.
# Without numpy or pandas what is for them is skipped, which the end of its output says.
#
#   package.sh SNAG LIBRARY SOURCE WORK READERS
#
#   READERS  where the test data/parquet has installed DuckDB, if it has
set -eu
SNAG=$(realpath "$1") library=$(realpath "$2") SOURCE=$(realpath "$3") WORK=$4 readers=$5
. "$(dirname "$0")/../support/find_python.sh"

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
duckdb=$(ls "$readers"/node_modules/@duckdb/*/libduckdb.so 2>/dev/null | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SNAG_LIBRARY=$library SNAG_COMMAND=$SNAG SNAG_TEST_TRACES=$traces
export PYTHONPATH=$SOURCE/python PYTHONDONTWRITEBYTECODE=1
"$python" -W error::ResourceWarning "$SOURCE/tests/python/package_test.py" "$work" -v
[ -n "$duckdb" ] || {
    echo "not taken by DuckDB: the test data/parquet has not installed it"
    exit 0
}
SNAG_TEST_DUCKDB=$duckdb SNAG_TEST_RUNS=$(ls -d "$work/synth.snag" "$work/lammps.snag" 2>/dev/null || true) \
    "$python" "$SOURCE/tests/python/duckdb_test.py" -v

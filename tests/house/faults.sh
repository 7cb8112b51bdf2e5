#!/usr/bin/env bash
# The faults that are put into the sources by hand can still be put in, and tests that there are find them.
#
#   faults.sh SOURCE_DIRECTORY [BUILD]
set -eu
command -v python3 >/dev/null || {
    echo "python3 is not here"
    exit 77
}
exec python3 "$1/tests/faults/run.py" --check "${2:-$1/build}"

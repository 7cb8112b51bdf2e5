#!/usr/bin/env bash
# Each notebook of docs/notebooks runs from its first cell to its last, and what its texts say is so: notebook_test.py.
#
#   notebook.sh SNAG LIBRARY SOURCE
set -eu
SNAG=$(realpath "$1") library=$(realpath "$2") SOURCE=$(realpath "$3")
. "$SOURCE/tests/support/find_python.sh"
python=$(find_python nbclient,nbformat,ipykernel,pandas) || {
    echo "skipped: no Python with nbclient, ipykernel and pandas"
    exit 77
}
. "$SOURCE/tests/support/own_directory.sh"
export SNAG_LIBRARY=$library SNAG_COMMAND=$SNAG PYTHONPATH=$SOURCE/python PYTHONDONTWRITEBYTECODE=1
export PYDEVD_DISABLE_FILE_VALIDATION=1 HOME=$dir JUPYTER_RUNTIME_DIR=$dir/runtime IPYTHONDIR=$dir/ipython JUPYTER_DATA_DIR=$dir/data TMPDIR=$dir
"$python" "$SOURCE/tests/python/notebook_test.py" "$SOURCE/docs/notebooks"

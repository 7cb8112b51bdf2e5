#!/usr/bin/env bash
# Each notebook of docs/notebooks runs from its first cell to its last, and draws; none is kept with what it printed.
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
cat >run.py <<'END'
import json, os, sys
import nbformat
from nbclient import NotebookClient

# The kernel is this interpreter, whatever is called python3.
os.makedirs("data/kernels/python3")
with open("data/kernels/python3/kernel.json", "w") as file:
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    json.dump({"argv": argv, "display_name": "Python 3", "language": "python"}, file)
for path in sys.argv[1:]:
    notebook = nbformat.read(path, 4)
    assert not any(cell.get("outputs") for cell in notebook.cells), path + " is kept with what it printed"
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [data for cell in notebook.cells for out in cell.get("outputs", []) for data in [out.get("data", {})]]
    assert sum("<svg" in "".join(data.get("text/html", "")) or "image/svg+xml" in data for data in shown) == 3, path
    last = "".join(shown[-1]["text/plain"])
    print(os.path.basename(path), len(notebook.cells), "cells; the last one says", last)
END
"$python" run.py "$SOURCE"/docs/notebooks/*.ipynb

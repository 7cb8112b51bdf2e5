#!/usr/bin/env python3
"""Notebooks run from their first cell to their last, draw, and what their texts say is so.

    notebook_test.py FOLDER

FOLDER is that of the notebooks; kernels are found below the directory that it is run in. None
is kept with what it printed. CLAIMS has, of each notebook, how many drawings it shows, and what
has to hold in its kernel when all has run: the numbers of its texts.
"""

import json
import os
import sys

import nbformat
from nbclient import NotebookClient

CLAIMS = {
    "first_look": (
        3,
        [
            "len(run) == 300 and len(run.anomalies) == 6",
            "int(incidents.is_anomaly.sum()) == 2",
            "run.incidents.column('n_ranks').value(0) == 3",
            "abs(run.executions.to_pandas().duration_ns.median() / 1e6 - 4) < 0.5",
            "10 < worst.duration_ns / 1e6 < 16 and 'd +' in worst.why",
            "len(worst.tree) == 7",
            "5 < run.what_if('incident=1')['saved_ns'] / 1e6 < 10",
            "abs(calls[calls.region == 'd'].inclusive_ns.median() / 2e6 - 1) < 0.05",
            "9 < calls[calls.region == 'd'].inclusive_ns.max() / 1e6 < 12",
        ],
    ),
    "labels": (
        1,
        [
            "len(before) == 14 and sorted(set(before.longer)) == ['output', 'solve']",
            "(before.longer == 'output').sum() == 10",
            "n_changed == 10",
            "sorted(after.longer) == 4 * ['solve']",
            "sorted(next_day.longer) == 3 * ['output'] + 4 * ['solve']",
            "change['verdict'] == 'slower' and change['paths'][0]['path'] == 'step > solve'",
            "paths.interval_ns[0][0] < 100e3 < paths.interval_ns[0][1]",
            "paths[paths.path == 'step > output'].verdict.tolist() != ['slower']",
        ],
    ),
    "training_job": (
        2,
        [
            "int(incidents.is_anomaly.sum()) == 1 and incidents.n_ranks[0] == 4",
            "late.rank == 1 and late.index == 40 and 'DataLoader' in incidents.cause[0]",
            "slow['place'] == 'rank 2' and slow['paths'][0]['kernel'] == 'sgemm'",
            "abs(slow['paths'][0]['kernel_factor'] - 1.2) < 0.02",
            "[x['waits_for'] for x in ranks['places']] == ['rank 2', 'rank 2', None, 'rank 2']",
            "all(abs(gained[x] / really[x] - 1) < 0.05 for x in really)",
        ],
    ),
}


def drawings(notebook):
    """How many of what the cells have shown are SVG."""
    shown = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]
    htmls = ["".join(data.get("text/html", "")) for data in shown]
    return sum("<svg" in html for html in htmls) + sum("image/svg+xml" in x for x in shown)


def main():
    # The kernel is this interpreter, whatever is called python3.
    os.makedirs("data/kernels/python3", exist_ok=True)
    with open("data/kernels/python3/kernel.json", "w") as file:
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        json.dump({"argv": argv, "display_name": "Python 3", "language": "python"}, file)
    names = sorted(name[:-6] for name in os.listdir(sys.argv[1]) if name.endswith(".ipynb"))
    if names != sorted(CLAIMS):
        print("notebooks are %s, claims are of %s" % (names, sorted(CLAIMS)))
        return 1
    n_failed = 0
    for name in names:
        notebook = nbformat.read(os.path.join(sys.argv[1], name + ".ipynb"), 4)
        if any(cell.get("outputs") for cell in notebook.cells):
            print(name, "is kept with what it printed")
            n_failed += 1
        n_drawings, claims = CLAIMS[name]
        for claim in claims:
            code = "print('holds' if (%s) else 'does not hold')" % claim
            notebook.cells.append(nbformat.v4.new_code_cell(code))
        kernel = {"kernel_name": "python3", "timeout": 300, "startup_timeout": 300}
        NotebookClient(notebook, **kernel).execute()
        for claim, cell in zip(claims, notebook.cells[-len(claims) :]):
            # A line may come in two pieces.
            if "".join(out.get("text", "") for out in cell.outputs) != "holds\n":
                print("%s: it is not so that %s" % (name, claim))
                n_failed += 1
        if drawings(notebook) != n_drawings:
            print("%s: %d drawings, not %d" % (name, drawings(notebook), n_drawings))
            n_failed += 1
        n_cells = len(notebook.cells) - len(claims)
        print("%s: %d cells, %d claims" % (name, n_cells, len(claims)))
    return n_failed > 0


if __name__ == "__main__":
    sys.exit(main())

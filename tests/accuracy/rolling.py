#!/usr/bin/env python3
"""How well executions are judged while the program runs, as the tables of docs/accuracy.md.

    tests/accuracy/rolling.py build/release/tests/live_executions DATA

DATA as for tables.py. Every variant is one pass through the trace in steps of 0.1 s; executions that
were not judged, the first 30, count as not strange. Nothing here fails: it measures.
"""
import csv
import io
import sys
import tempfile

sys.dont_write_bytecode = True  # the sources stay as they are
from tables import FORESTS, Absent, Bench, table
from injected_causes import run

FEATURES = ["duration", "exclusive", "calls", "duration,calls", "duration,messages,exit",
            "duration,exclusive,calls,messages,depth"]
SIGMAS = [3, 4, 6, 10]


def average_precision(scored):
    """Of (score, is abnormal); what is equal is taken together, as in detect/auc.h."""
    scored = sorted(scored, reverse=True)
    n_abnormal = sum(is_abnormal for _, is_abnormal in scored)
    area, n_right, i = 0.0, 0, 0
    while i < len(scored):
        k = i
        while k < len(scored) and scored[k][0] == scored[i][0]:
            k += 1
        right = sum(is_abnormal for _, is_abnormal in scored[i:k])
        n_right += right
        area += right * n_right / k
        i = k
    return area / n_abnormal


def executions(program, trace, foi, *options):
    text = run(program, "--step", "0.1", *options, str(trace), foi).decode()
    return {row["id"]: row for row in csv.DictReader(io.StringIO(text))}


def measured(found, abnormal, sigmas):
    flagged = [x for x, row in found.items()
               if row["verdict"] != "none" and float(row["score"]) > sigmas]
    right = sum(x in abnormal for x in flagged)
    return f"{len(flagged)}: {right / max(len(flagged), 1):.2f} / {right / len(abnormal):.2f}"


def main():
    program, data = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(None, data, scratch)
        for name, foi in FORESTS.items():
            try:
                where = bench.trace(name)
            except Absent:
                print(f"{name} is not there", file=sys.stderr)
                continue
            labels = csv.DictReader(open(where / "labels.csv"))
            abnormal = {row["id"] for row in labels if row["label"] == "abnormal"}
            rows = []
            for features in FEATURES:
                for how in [[], ["--plain"]]:
                    found = executions(program, next(where.glob("**/*.otf2")), foi, "--features",
                                       features, *how)
                    pr_auc = average_precision([(float(row["score"]), x in abnormal)
                                                for x, row in found.items()])
                    rows.append([features, "plain" if how else "winsorised", f"{pr_auc:.3f}"] +
                                [measured(found, abnormal, k) for k in SIGMAS])
            print(f"\n{name}, {foi}: {len(found):,} executions, {len(abnormal)} of them abnormal. "
                  "Anomalies: how many, precision / recall, beyond so many deviations:\n")
            table(["features", "values", "PR-AUC"] + [str(k) for k in SIGMAS], rows)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How well are abnormal requests to services found, each a flat tree of its spans?

    tests/accuracy/flat_requests.py SNAG NORMAL ABNORMAL [SEEDS]

NORMAL and ABNORMAL: train_ticket/test_normal and test_abnormal of TraceAnomaly (github.com/NetManAIOps/TraceAnomaly),
unpacked; a line of them is "trace:v0,...,v889", milliseconds for each call path, 0 where it was not called. For each
seed 3,920 normal and 80 abnormal requests are drawn and mixed, and analysed as a trace: a root `request`, a child
for each path that was called, one after the other. (Times of these sets include those of what is called below,
which a flat tree cannot say: the sums count it twice.) The same are then judged by the model of 4,000 other
normal requests. Prints areas under the precision-recall curve, precision and recall of the verdicts.
"""
import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

N_NORMAL, N_ABNORMAL, N_MODEL = 3920, 80, 4000


def write_trace(path, lines):
    """One request after another, a millisecond apart."""
    at_us = 0
    with open(path, "w") as out:
        out.write('{"traceEvents":[')
        for i, line in enumerate(lines):
            spans = [(k, 1000 * float(x)) for k, x in enumerate(line.split(":", 1)[1].split(",")) if float(x) > 0]
            calls = [("request", at_us, 2 + sum(us for _, us in spans))]
            begin_us = at_us + 1
            for k, us in spans:
                calls.append((f"path{k}", begin_us, us))
                begin_us += us
            at_us += calls[0][2] + 1000
            for k, (name, ts, us) in enumerate(calls):
                out.write("," if i + k else "")
                out.write(f'\n{{"ph":"X","name":"{name}","ts":{ts:.3f},"dur":{us:.3f},"pid":1,"tid":1}}')
        out.write("]}\n")


def run(*args):
    return subprocess.run(args, check=True, capture_output=True).stdout.decode()


def judged(snag, path, truth):
    """PR-AUC, precision and recall of a run."""
    area = json.loads(run(snag, "evaluate", path, "--labels", truth, "--json"))["pr_auc"]
    with open(truth) as rows:
        abnormal = {x["id"] for x in csv.DictReader(rows) if x["label"] == "abnormal"}
    found = {x["id"] for x in map(json.loads, run(snag, "list", path, "--json", "--all").splitlines())
             if x["verdict"] == "anomaly"}
    hits = len(found & abnormal)
    return area, hits / max(len(found), 1), hits / len(abnormal)


def main():
    snag, normal, abnormal = sys.argv[1:4]
    n_seeds = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    normal, abnormal = (pathlib.Path(x).read_text().split() for x in (normal, abnormal))
    rows = []
    for seed in range(1, n_seeds + 1):
        draw = random.Random(seed)
        drawn = draw.sample(normal, N_NORMAL + N_MODEL)
        mixed = [(x, "normal") for x in drawn[:N_NORMAL]] + \
            [(x, "abnormal") for x in draw.sample(abnormal, N_ABNORMAL)]
        draw.shuffle(mixed)
        with tempfile.TemporaryDirectory() as scratch:
            trace, clean, truth, out, usual, model, scored = (
                f"{scratch}/{x}" for x in ("t.json", "clean.json", "t.csv", "r.snag", "c.snag", "m.model", "s.snag"))
            write_trace(trace, [x for x, _ in mixed])
            write_trace(clean, drawn[N_NORMAL:])
            with open(truth, "w") as file:
                file.write("id,label\n" + "".join(f"#0-{i},{label}\n" for i, (_, label) in enumerate(mixed)))
            run(snag, "analyze", trace, "--foi", "request", "-o", out, "--quiet")
            run(snag, "analyze", clean, "--foi", "request", "-o", usual, "--quiet")
            run(snag, "model", "save", usual, model)
            run(snag, "score", trace, "--model", model, "-o", scored, "--quiet")
            rows.append(judged(snag, out, truth) + judged(snag, scored, truth))
        print(f"seed {seed}: " + "  ".join(f"{x:.3f}" for x in rows[-1]), flush=True)
    print("median: " + "  ".join(f"{statistics.median(x):.3f}" for x in zip(*rows)))
    print("        (PR-AUC, precision, recall: by itself; by a model of other requests)")


main()

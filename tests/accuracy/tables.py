#!/usr/bin/env python3
"""Measures what docs/accuracy.md says and writes its tables anew.

    tests/accuracy/tables.py build/release/snag DATA [PAGE]

DATA holds the traces, unpacked or as .tar.zst. The tables go between the lines "<!-- table NAME -->"
and "<!-- end -->" of PAGE, or to the standard output without one. What is not there is left as it
is, and said. Takes about two minutes. Nothing here fails: it measures.
"""
import csv
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True  # the sources stay as they are
import injected_causes
from injected_causes import query, run, unpacked
from page_table import replaced, table

FEATURES = ["time", "subtrees", "stack2vec", "residual"]
DETECTORS = ["lof", "knn", "ocsvm", "iforest"]
LABELS = [0, 10, 20, 50, 100, 200]
LEARNERS = [("reasons", "residual")] + [("ocsvm", features) for features in FEATURES]
BATCHES = [1, 5, 10]
BATCH_LABELS = [0, 10, 20, 30, 40, 50]
FORESTS = {"md_s1": "MD_NEWTON", "lammpsh_s1": "compute"}
PACKED = {"lammps-eam": "lammps-paper"}  # archives that are not called as what is in them
PAPER = ["#0-40", "#1-40", "#0-0", "#1-0", "#0-161", "#1-161", "#0-201", "#1-201"]
CLUSTER = PAPER[2:]


class Absent(Exception):
    pass


class Bench:
    """The program, the data, and a directory to work in."""

    def __init__(self, snag, data, scratch):
        self.snag, self.data, self.scratch = snag, pathlib.Path(data), pathlib.Path(scratch)
        self.path = str(self.scratch / "run.snag")

    def trace(self, name):
        if (self.data / name).is_dir():
            return self.data / name
        if not (self.scratch / name).is_dir():
            if unpacked(self.data, PACKED.get(name, name), self.scratch) is None:
                raise Absent(name)
        return self.scratch / name

    def analyze(self, trace, foi, *options):
        trace = next(pathlib.Path(trace).glob("**/*.otf2"))
        run(self.snag, "analyze", str(trace), "--foi", foi, "-o", self.path, "--force", "--quiet",
            *options)

    def evaluate(self, labels, *options):
        return json.loads(run(self.snag, "evaluate", self.path, "--labels", str(labels), "--json",
                              "--quiet", *options))

    def ids(self):
        """Executions, the strangest first: id -> (place from 1, is an anomaly)."""
        lines = run(self.snag, "list", self.path, "--all", "--json").decode().splitlines()
        found = [json.loads(line) for line in lines]
        return {x["id"]: (i + 1, x["verdict"] == "anomaly") for i, x in enumerate(found)}

    def after_label(self, label):
        """The same after one label, which is then cleared."""
        run(self.snag, "label", self.path, label, "--quiet")
        run(self.snag, "retrain", self.path, "--quiet")
        found = self.ids()
        run(self.snag, "label", self.path, label.split("=")[0] + "=clear", "--quiet")
        return found


def pair(e):
    return f"{e['roc_auc']:.3f} / {e['pr_auc']:.3f}"


def without_labels(bench):
    for name, foi in FORESTS.items():
        where = bench.trace(name)
        labels = where / "labels.csv"
        bench.analyze(where, foi)
        default = bench.evaluate(labels)
        n = default["abnormal"] + default["normal"]
        print(f"\n{name}, {foi}: {n:,} executions, {default['abnormal']} of them abnormal. Default "
              f"(residual): **{pair(default)}**, {default['flagged']} called anomalies, "
              f"{100 * default['precision']:.0f} % of them rightly, "
              f"{100 * default['recall']:.0f} % of the abnormal ones found.\n")
        rows = []
        for features in FEATURES:
            row = [features]
            for detector in DETECTORS:
                bench.analyze(where, foi, "--features", features, "--detector", detector)
                row.append(pair(bench.evaluate(labels)))
            rows.append(row)
        table(["ROC-AUC / PR-AUC"] + DETECTORS, rows)


def with_labels(bench):
    for name, foi in FORESTS.items():
        where = bench.trace(name)
        bench.analyze(where, foi)
        rows = []
        for learner, features in LEARNERS:
            curve = bench.evaluate(where / "labels.csv", "--simulate", str(LABELS[-1]), "--batch",
                                   "10", "--learner", learner, "--features", features)["curve"]
            at = {point["labels"]: point for point in curve}
            rest = [at[n]["unlabelled_pr_auc"] for n in LABELS]
            rows.append([learner, features, "all"] + [f"{at[n]['pr_auc']:.3f}" for n in LABELS])
            rows.append(["", "", "never asked about"] +
                        ["none left" if x is None else f"{x:.3f}" for x in rest])
        print(f"\n{name}, PR-AUC after so many labels:\n")
        table(["learner", "features", "executions"] + [str(n) for n in LABELS], rows)


def batches(bench):
    rows = []
    for name, foi in FORESTS.items():
        where = bench.trace(name)
        bench.analyze(where, foi)
        for batch in BATCHES:
            curve = bench.evaluate(where / "labels.csv", "--simulate", str(BATCH_LABELS[-1]),
                                   "--batch", str(batch))["curve"]
            at = {point["labels"]: point["pr_auc"] for point in curve}
            rows.append([name, str(batch), "reasons"] + [f"{at[n]:.3f}" for n in BATCH_LABELS])
    table(["forest", "batch", "learner"] + [str(n) for n in BATCH_LABELS], rows)


QUIET = "synth:1000*step(a@1ms b(c@1ms d@2ms >1 <1));ranks=4;jitter={};seed={}"
RING = "synth:60*step(solve@1ms(pack@50us kernel@600us) >1 <1);ranks=1000;jitter={};seed={}"


def verdicts(bench):
    """Runs in which nothing is wrong, and the labelled ones."""

    def anomalies(program, *options):
        out = run(bench.snag, "analyze", program, "--foi", "step", "-o", bench.path, "--force", "--quiet",
                  "--json", "--top", "1", *options)
        found = json.loads(out)
        return found["anomalies"], found["trees"]

    rows = []
    for what, program, jitters, seeds in (("4 ranks", QUIET, (0.02, 0.05, 0.1, 0.2, 0.3), 10),
                                          ("1,000 ranks in a ring", RING, (0.02, 0.1, 0.3), 3)):
        for jitter in jitters:
            found = [anomalies(program.format(jitter, seed)) for seed in range(1, seeds + 1)]
            called = [n for n, _ in found]
            rows.append([what, str(jitter), f"{seeds} of {found[0][1]:,}", str(sum(called)),
                         f"{sum(n == 0 for n in called)} of {seeds}"])
    print("Nothing is wrong:\n")
    table(["program", "jitter", "runs", "anomalies in all", "runs without any"], rows)
    rows = []
    for name, foi in FORESTS.items():
        where = bench.trace(name)
        bench.analyze(where, foi)
        e = bench.evaluate(where / "labels.csv")
        rows.append([name, str(e["flagged"]), f"{e['precision']:.2f}", f"{e['recall']:.2f}"])
    print("\nSomething is:\n")
    table(["forest", "anomalies", "precision", "recall"], rows)


def incidents_of(snag, path, *options):
    text = run(snag, "list", path, "--incidents", "--json", "--all", *options).decode()
    return [json.loads(line) for line in text.splitlines()]


def spans_of(snag, path):
    """(begin, end) of each execution."""
    executions = query(snag, path, "SELECT enter_ns, duration_ns FROM execution")
    return [(int(x["enter_ns"]), int(x["enter_ns"]) + int(x["duration_ns"])) for x in executions]


def incidents(bench):
    """Waves of delay with a known origin, and real stops."""
    rows = []
    for ranks in (100, 1000):
        for slow in ("kernel/30/40", "kernel/20/10"):
            origin = ranks // 2
            program = (RING.format(0.02, 1).replace("ranks=1000", f"ranks={ranks}") +
                       f";slow={slow}/{origin}")
            run(bench.snag, "analyze", program, "--foi", "step", "-o", bench.path, "--force", "--quiet")
            found = incidents_of(bench.snag, bench.path, "--verdict", "anomaly")
            every = int(slow.split("/")[1])
            heads = {f"#{origin}-{i}" for i in range(every - 1, 60, every)}
            right = sum(x["head"] in heads for x in found)
            rows.append([f"{ranks:,}", slow, str(len(heads)), str(len(found)), str(right),
                         str(max(len(x["members"]) for x in found))])
    print("Waves:\n")
    table(["ranks", "slow", "disturbances", "incidents", "their head is the origin", "executions in the largest"],
          rows)
    rows = []
    for name, archive in injected_causes.TRACES.items():
        where = bench.trace(name)
        run(bench.snag, "analyze", str(where / archive), "--foi", "PairEAM::compute", "-o", bench.path,
            "--force", "--quiet")
        found = incidents_of(bench.snag, bench.path)
        stops = list(injected_causes.stops_of(bench.snag, bench.path, where / "truth_trace.csv"))
        spans = spans_of(bench.snag, bench.path)
        felt = [(r, a, b) for r, a, b in stops if any(begin < b and end > a for begin, end in spans)]
        places, named = [], 0
        for rank, a, b in felt:
            place = next((i for i, x in enumerate(found) if x["begin_ns"] < b and x["end_ns"] > a), None)
            if place is not None:
                places.append(place + 1)
                named += found[place]["rank"] == rank
        rows.append([name, str(len(stops)), str(len(felt)), str(len(places)), str(named),
                     ", ".join(str(p) for p in sorted(set(places)))])
    print("\nReal stops:\n")
    table(["trace", "stops", "during an execution", "in an incident", "their rank is named", "places"], rows)


def average_precision(scored):
    """Of (score, is positive); ties are one step."""
    found = seen = total = 0
    by_score = {}
    for score, positive in scored:
        by_score.setdefault(score, []).append(positive)
    for score in sorted(by_score, reverse=True):
        found += sum(by_score[score])
        seen += len(by_score[score])
        total += sum(by_score[score]) * found / seen
    return total / found


def hits_of(snag, path, truth):
    """(duration, score, is hit on its own rank, on any) of each execution of a run, by injections written down in truth."""
    hits = list(injected_causes.stops_of(snag, path, truth, ("stop", "hog")))
    for x in query(snag, path, "SELECT rank, enter_ns, duration_ns, score FROM execution"):
        begin, duration = int(x["enter_ns"]), int(x["duration_ns"])
        ranks = {r for r, a, b in hits if begin < b and begin + duration > a}
        yield duration, float(x["score"]), int(x["rank"]) in ranks, bool(ranks)


def injected(bench, name, foi):
    """The same of a trace, analysed for it."""
    where = bench.trace(name)
    bench.analyze(where, foi)
    return hits_of(bench.snag, bench.path, where / "truth_trace.csv")


def interference(bench):
    rows = []
    for name in injected_causes.TRACES:
        found = list(injected(bench, name, "PairEAM::compute"))
        for where, hit in (("on their own rank", 2), ("on any rank", 3)):
            n_hit = sum(x[hit] for x in found)
            row = [name, f"{len(found):,}", f"{n_hit} {where}"]
            for column in (0, 1):
                scored = [(x[column], x[hit]) for x in found]
                top = sorted(scored, key=lambda x: -x[0])[: len(scored) // 20]
                row.append(f"{average_precision(scored):.3f}")
                row.append(f"{sum(is_hit for _, is_hit in top)}")
            rows.append(row)
    table(["trace", "executions", "hit", "duration: average precision", "in its top 5 %",
           "default: average precision", "in its top 5 %"], rows)


def paper(bench):
    bench.analyze(bench.trace("lammps-eam"), "PairEAM::compute")
    before = bench.ids()
    print(f"Places among {len(before)} executions, without labels:\n")
    table(["execution"] + PAPER, [["place"] + [str(before[x][0]) for x in PAPER]])
    print("\nOne of the cluster labelled abnormal:\n")
    rows = []
    for one in CLUSTER:
        after = bench.after_label(one + "=abnormal")
        rows.append([one] + ["-" if x == one else str(after[x][0]) for x in CLUSTER])
    table(["labelled"] + CLUSTER, rows)
    print("\nThe first execution of a rank labelled normal:\n")
    rows = []
    for one, other in (("#0-0", "#1-0"), ("#1-0", "#0-0")):
        after = bench.after_label(one + "=normal")
        say = ["an anomaly" if x[other][1] else "none" for x in (before, after)]
        rows.append([one, other, f"{before[other][0]}, {say[0]}", f"{after[other][0]}, {say[1]}"])
    table(["labelled", "the other rank's first", "place before", "place after"], rows)


def causes(bench):
    keys = ["overlapped", "member", "time", "end", "cycle", "others"]
    rows = []
    for name, archive in injected_causes.TRACES.items():
        where = bench.trace(name)
        for fois in injected_causes.FOIS:
            n, count = injected_causes.measure(bench.snag, where / archive,
                                               where / "truth_trace.csv", bench.path, fois, False)
            rows.append([name, fois, str(n)] + [str(count[key]) for key in keys])
    table(["trace", "asked of", "stops"] + keys, rows)


TABLES = {"verdicts": verdicts, "incidents": incidents, "without_labels": without_labels, "with_labels": with_labels, "batches": batches, "paper": paper,
          "interference": interference, "causes": causes}


def measured(bench, name):
    """What a table prints, or None where its data is not there."""
    kept, sys.stdout = sys.stdout, open(bench.scratch / "out", "w+")
    try:
        TABLES[name](bench)
        sys.stdout.seek(0)
        return sys.stdout.read().strip("\n")
    except Absent as absent:
        print(f"{name}: left as it was, {absent} is not there", file=sys.stderr)
        return None
    finally:
        sys.stdout.close()
        sys.stdout = kept


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    page = pathlib.Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(sys.argv[1], sys.argv[2], scratch)
        for name in TABLES:
            print(f"measuring {name}", file=sys.stderr)
            text = measured(bench, name)
            if text is not None and page is None:
                print(f"\n<!-- table {name} -->\n{text}\n<!-- end -->")
            elif text is not None:
                page = replaced(page, name, text)
    if page is not None:
        pathlib.Path(sys.argv[3]).write_text(page)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The detectors of single calls on the same data, as a table of docs/accuracy.md.

    tests/accuracy/call_detectors.py build/release/snag DATA |
        tests/accuracy/page_table.py call-detectors docs/accuracy.md

Every detector judges, with what is usual for it, as snag ad does, in steps of 1 s. Counted are
all records, as Chimbuko counts them, and then those that the final models do not take back:

    made up      programs of which a known number of calls were made longer, or shorter. Right are
                 records of such a function that took at least half of what the factor makes, or at
                 most twice that
    stops        ranks that were stopped for a while at known times: right are records that lie
                 in one for half of it, found are the stops that such a record is of
    executions   of which a person said that they are abnormal: found are those that a record lies
                 in, false are normal ones with a record
    lulesh-fn8   nobody made any call slow: records, and how many are shorter than usual

DATA as for tables.py. Takes some minutes. Nothing here fails: it measures.
"""
import csv
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True  # the sources stay as they are
from injected_causes import query, run, stops_of
from page_table import table
from tables import FORESTS, Absent, Bench

DETECTORS = ["tails", "sstd", "hbos", "copod"]
SOLVER = "50000*step(a@30us(4*b@10us) c@50us(9*d@5us) e(2*f@7us) g@20us);jitter=0.2"
RING = "2000*step(c@1ms >1 <1);ranks=4;jitter=0.05"
PROGRAMS = [  # what it is called, the program, and (function, every, factor, usual us)
    ("slow calls", SOLVER, [("d", 2000, 20, 5), ("a", 2000, 30, 30), ("b", 2000, 50, 10),
                            ("c", 2000, 20, 50), ("f", 2000, 30, 7), ("g", 2000, 50, 20)]),
    ("slow calls, others wait", RING, [("c", 500, 30, 1000)]),
    ("short calls", RING, [("c", 500, 0.1, 1000)]),
    ("none", SOLVER, []),
]
STOPS = "lammps-eam-fn2-inj"


class Judged:
    """A source, as a detector judged it."""

    which = "1"  # of the records

    def __init__(self, snag, source, detector):
        with tempfile.TemporaryDirectory() as scratch:
            store = str(pathlib.Path(scratch) / "store")
            run(snag, "ad", source, "--call-detector", detector, "--store", store, "--quiet")
            lines = run(snag, "provdb", "filter", store, self.which).decode().splitlines()
            self.records = [json.loads(line) for line in lines]
            rows = query(snag, store, "SELECT func, calls FROM func_stats")
            self.calls = {row["func"]: int(row["calls"]) for row in rows}


def made_up(snag, program, slowed, detector):
    slow = "".join(f";slow={f}/{every}/{factor}" for f, every, factor, _ in slowed)
    judged = Judged(snag, f"synth:{program}{slow}", detector)
    injected = sum(judged.calls[f] // every for f, every, _, _ in slowed)
    right = 0
    for x in judged.records:
        for f, _, factor, usual in slowed:
            share = x["runtime_exclusive"] / (factor * usual)
            right += x["func"] == f and (share >= 0.5 if factor > 1 else share <= 2)
    return [f"{right:,} of {injected:,}" if slowed else "-", f"{len(judged.records) - right:,}"]


def overlap(x, begin, end):
    return min(x["exit"], end) - max(x["entry"], begin)


def stops(bench, detector):
    where = bench.trace(STOPS)
    bench.analyze(where, "PairEAM::compute")
    truth = list(stops_of(bench.snag, bench.path, where / "truth_trace.csv"))
    trace = str(next(pathlib.Path(where).glob("**/*.otf2")))
    records = Judged(bench.snag, trace, detector).records
    n_found, right = 0, set()
    for rank, begin_ns, end_ns in truth:
        begin, end = begin_ns / 1e3, end_ns / 1e3
        of_it = {i for i, x in enumerate(records)
                 if x["rid"] == rank and overlap(x, begin, end) >= (end - begin) / 2}
        n_found += bool(of_it)
        right |= of_it
    return [f"{n_found} of {len(truth)}", f"{len(records) - len(right):,}"]


def executions(bench, name, detector):
    where = bench.trace(name)
    trace = str(next(pathlib.Path(where).glob("**/*.otf2")))
    labels = {row["id"]: row["label"] for row in csv.DictReader(open(where / "labels.csv"))}
    bench.analyze(where, FORESTS[name])
    rows = query(bench.snag, bench.path,
                 "SELECT rank, thread, idx, enter_ns, duration_ns FROM execution")
    hit = {"normal": 0, "abnormal": 0}
    records = {}
    for x in Judged(bench.snag, trace, detector).records:
        records.setdefault((x["rid"], x["tid"]), []).append(x)
    for row in rows:
        rank, thread, begin = int(row["rank"]), int(row["thread"]), int(row["enter_ns"]) / 1e3
        end = begin + int(row["duration_ns"]) / 1e3
        label = labels[f"#{rank}-{row['idx']}"]
        hit[label] += any(begin - 1 <= x["entry"] and x["exit"] <= end + 1
                          for x in records.get((rank, thread), []))
    n = sum(label == "abnormal" for label in labels.values())
    return [f"{hit['abnormal']} of {n}", f"{hit['normal']:,} of {len(labels) - n:,}"]


def undisturbed(bench, detector):
    trace = str(next(pathlib.Path(bench.trace("lulesh-fn8")).glob("**/*.otf2")))
    records = Judged(bench.snag, trace, detector).records
    return ["-", f"{len(records):,}, {sum(x['outlier_severity'] == 0 for x in records):,} short"]


def main():
    snag, data = sys.argv[1:]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(snag, data, scratch)
        measures = [(f"made up: {what}", lambda d, p=program, s=slowed: made_up(snag, p, s, d))
                    for what, program, slowed in PROGRAMS]
        measures.append((f"stops: {STOPS}", lambda d: stops(bench, d)))
        measures += [(f"executions: {name}", lambda d, n=name: executions(bench, n, d))
                     for name in FORESTS]
        measures.append(("lulesh-fn8", lambda d: undisturbed(bench, d)))
        for said, Judged.which in [("as said: found; false", "1"), ("in the end", "is_pruned = 0")]:
            rows.append([f"*{said}*"] + [""] * len(DETECTORS))
            for what, measure in measures:
                try:
                    rows.append([what] + ["; ".join(measure(d)) for d in DETECTORS])
                except Absent:
                    print(f"{what} is not there", file=sys.stderr)
    table([""] + DETECTORS, rows)


if __name__ == "__main__":
    main()

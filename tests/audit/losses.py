#!/usr/bin/python3
"""Whether the stated losses are those that were put in: one slow call, or fifty small ones of a
path, own time or waiting, by many factors and jitters; and that a quiet run loses nothing.

    losses.py SNAG [--factors 1.1,5] [--jitters 0.01,0.1]

The truth is what an execution took more than the middle of its like in the same program without
the slow calls. A stated loss may be off by ROOM of it, or by two widths of the jitter.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict

IS_LONG = bool(os.environ.get("SNAG_LONG"))
FACTORS = (1.1, 1.2, 1.5, 1.8, 2.5, 5, 30) if IS_LONG else (1.2, 1.8, 30)
JITTERS = (0.01, 0.05, 0.1, 0.3) if IS_LONG else (0.05, 0.3)
ROOM = 0.05
WIDTHS = 2
QUIET = 0.001  # of their time quiet runs may lose in all
SMALL = range(96 * 50 + 1, 97 * 50 + 1)  # the calls in one execution of 180: the next are of number 194
# What is slow, and in which program of one call or 50 small ones of a path.
PROGRAMS = {
    "one call": ("600*step(solve@1ms io@200us);ranks=2", "solve/97/{f}"),
    "one of several": ("600*step(a@1ms phase(solve@1ms 2*b@500us));ranks=2", "solve/97/{f}/1"),
    "small ones": ("180*step(a@1ms 50*put@20us);ranks=2", ";slow=".join(f"put/{n}/{{f}}/1" for n in SMALL)),
    "small ones alone": ("180*step(50*put@20us);ranks=2", ";slow=".join(f"put/{n}/{{f}}" for n in SMALL)),
    "waiting": ("400*step(solve@1ms >1 <1 |);ranks=4", "solve/97/{f}/2"),
    "waiting for messages": ("400*step(solve@1ms >1 <1);ranks=4", "solve/97/{f}/2"),
    "beside a slow rank": ("400*step(solve@2ms >1 <1 |);ranks=6;slow=solve/1/1.5/2", "solve/97/{f}/4"),
    "first of few": ("40*step(solve@1ms io@1ms);ranks=2", "solve/39/{f}"),
}


def executions(snag, program, work):
    """[execution as listed] of a program."""
    path = tempfile.mkdtemp(dir=work) + "/run.snag"
    run = lambda *args: subprocess.run([snag, *args, "--quiet"], check=True, capture_output=True, text=True).stdout
    run("analyze", program, "--foi", "step", "-o", path)
    found = [json.loads(line) for line in run("list", path, "--executions", "--all", "--json").splitlines()]
    shutil.rmtree(os.path.dirname(path))
    return found


class Losses:
    def __init__(self, snag, work):
        self.snag, self.work, self.found = snag, work, []
        self.n_anomalies = self.n_pairs = self.n_runs = self.lost = self.took = 0
        self.worst = defaultdict(float)

    def bad(self, program, *what):
        self.found.append(f"{program}: " + " ".join(str(w) for w in what))

    def quiet(self, program):
        """{rank: (middle, width of the log) of its durations} of a run in which nothing is slow."""
        xs = executions(self.snag, program, self.work)
        lost, took = sum(x["lost_ns"] for x in xs), sum(x["duration_ns"] for x in xs)
        self.n_runs += 1
        self.lost, self.took = self.lost + lost, self.took + took
        self.worst["a quiet run lost"] = max(self.worst["a quiet run lost"], lost / took)
        by_rank = defaultdict(list)
        for x in xs:
            by_rank[x["rank"]].append(x["duration_ns"])
        return {r: (statistics.median(d), statistics.pstdev(map(math.log, d))) for r, d in by_rank.items()}

    def check(self, program, usual, jitter, name):
        xs = executions(self.snag, program, self.work)
        self.n_runs += 1
        for x in xs:
            truth = x["duration_ns"] - usual[x["rank"]][0]
            if x["verdict"] != "anomaly" or truth <= 0:
                continue
            self.n_anomalies += 1
            room = max(ROOM * truth, WIDTHS * usual[x["rank"]][1] * usual[x["rank"]][0])
            off = abs(x["lost_ns"] - truth)
            self.worst["off"] = max(self.worst["off"], off / truth)
            if off > room:
                self.bad(program, x["id"], "lost", x["lost_ns"], "truth", round(truth), "room", round(room))
        by_rank = defaultdict(list)
        for x in xs:
            if x["index"] > 0:  # the first executions are compared with each other
                by_rank[x["rank"]].append((x["duration_ns"], x["lost_ns"], x["id"]))
        for same in by_rank.values():
            same.sort()
            for (d, lost, id_), (d2, lost2, id2) in zip(same, same[1:]):
                self.n_pairs += 1
                if d2 > d and lost2 < lost:
                    self.bad(program, id2, "took", d2, "and lost", lost2, "|", id_, "took", d, "and lost", lost)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("snag")
    numbers = lambda text: [float(t) for t in text.split(",")]
    parser.add_argument("--factors", type=numbers, default=FACTORS)
    parser.add_argument("--jitters", type=numbers, default=JITTERS)
    args = parser.parse_args()
    work = tempfile.mkdtemp()
    losses = Losses(os.path.abspath(args.snag), work)
    try:
        for name, (program, slow) in PROGRAMS.items():
            for jitter in args.jitters:
                base = f"synth:{program};jitter={jitter};seed=3"
                usual = losses.quiet(base)
                for f in args.factors:
                    text = slow.format(f=f)
                    losses.check(f"{base};slow={text}", usual, jitter, name)
    finally:
        shutil.rmtree(work)
    if losses.lost > QUIET * losses.took:
        losses.bad("quiet runs", f"lost {losses.lost / losses.took:.3%} in all")
    for line in losses.found[:40]:
        print(line)
    worst = ", ".join(f"{k} at most {v:.2%}" for k, v in losses.worst.items())
    print(f"{losses.n_runs} runs, {losses.n_anomalies} anomalies, {losses.n_pairs} pairs; {worst}; "
          f"quiet runs lost {losses.lost / losses.took:.3%} in all; {len(losses.found)} wrong")
    return 1 if losses.found else 0


if __name__ == "__main__":
    sys.exit(main())

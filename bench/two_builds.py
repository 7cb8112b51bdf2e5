#!/usr/bin/env python3
"""Processor time of what two builds do live, in turns.

    two_builds.py OLD NEW PAIRS TRACE...

OLD and NEW are programs `snag`. Each trace is replayed at full speed, with the page and a store
(`snag watch TRACE --once --speed 0 --store DIR`), PAIRS times by either build: the two of a pair one
right after the other, each of them first in every other pair. Said are the medians of user and
system seconds together, and of their ratios, new to old, with the smallest and the largest.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile


def seconds(snag, trace):
    """User and system seconds of one replay, of all its processes and threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([snag, "watch", trace, "--once", "--speed", "0", "--store", os.path.join(directory, "store"),
                        "--quiet"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    old, new, pairs, traces = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    print("| trace | old | new | new / old | least | most |\n|---|---|---|---|---|---|")
    for trace in traces:
        took = []
        for i in range(pairs):
            pair = {snag: seconds(snag, trace) for snag in ((old, new) if i % 2 == 0 else (new, old))}
            took.append((pair[old], pair[new]))
        ratios = sorted(b / a for a, b in took)
        name = os.path.basename(os.path.normpath(trace))
        print(f"| {name} | {statistics.median(a for a, _ in took):.3f} s | {statistics.median(b for _, b in took):.3f} s "
              f"| {statistics.median(ratios):.2f} | {ratios[0]:.2f} | {ratios[-1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()

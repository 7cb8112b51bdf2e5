#!/usr/bin/env python3
"""Stops that snag record --watch finds while the program runs, with --foi and without, of those that programs log.

    tests/truth/watched.py BUILD OUT [--only REGEX] [--stacks] [--runs N] [--seconds S]

Each run of a program sleeps eight times for 80 ms, at random, in a function that works. It is recorded twice at the
same time, once with the function of interest named; then the trace of the run without is replayed with it named, so
that both judge the same. Found is a stop whose execution is in the store. With --stacks programs are recorded as they
are; where a function begins is an estimate then, so the execution before counts as well, and nothing is replayed, as
estimates of a trace are better.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # the sources stay as they are
import lab

STOPS, STOP_MS, STEP_MS = 8, 80, 3.8
FIRST = 40  # step: the first 30 executions are not judged


def programs(only):
    return [n for n, p in lab.PROGRAMS.items() if p.kind in ("mpi", "serial") and n != "farm" and re.search(only, n)]


def start(snag, out, name, number, named, args):
    """A run that is going on, and its directory."""
    program, rng = lab.PROGRAMS[name], random.Random(f"{name} {number}")
    ranks, steps = program.ranks[0], int(args.seconds * 1000 / STEP_MS)
    rank = ranks - 1
    run = lab.Run(name, "sleep", ranks, "quiet", "stacks" if args.stacks else "hooks", 1)
    directory = out / "watched" / f"{name}-{number}-{'foi' if named else 'none'}"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    what = ";".join(f"sleep rank={rank} thread=0 in={program.work[0]} ms={STOP_MS} from={s} to={s + 1}"
                    for s in sorted(rng.sample(range(FIRST, steps - 20), STOPS)))
    env = lab.environment(run, out, directory, what) | {"TRUTH_STEPS": str(steps)}
    command = lab.command_of(run, snag.parent, out, directory)
    at = command.index("--")
    command[at:at] = ["--watch", "--once", "--store", str(directory / "store")] + (["--foi", program.foi] if named else [])
    with open(directory / "said", "w", encoding="utf-8") as said:
        return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said), directory


def strange(snag, store):
    """The executions in a store."""
    said = subprocess.run([snag, "provdb", "filter", store, "1"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {r["execution"]["id"] for r in map(json.loads, said.splitlines()) if r.get("execution")}


def stops(directory):
    """Those that the program logged: (rank, step)."""
    return {(int(log.name.split(".")[1]), int(line.split()[2])) for log in directory.glob("log.*")
            for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("D ")}


def found(logged, executions, near):
    """How many of the stops are among them, or up to so many executions after one of them."""
    return sum(any(f"#{rank}-{step - k}" in executions for k in range(near + 1)) for rank, step in logged)


def replayed(snag, directory, foi):
    store = directory / "replayed"
    subprocess.run([snag, "ad", f"replay:{directory}/trace/traces.otf2", "--foi", foi, "--step", "0.1", "--store", store],
                   check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return strange(snag, store)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="^(halo|heat|reduction|pipeline|serial)$")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=12)
    args = parser.parse_args()
    snag, out = args.build.resolve() / "snag", args.out.resolve()
    lab.build(out)
    print("| program | runs | stops | found, named | found, not named | as many in | same trace, named | the same set in |")
    print("|---|---|---|---|---|---|---|---|")
    for name in programs(args.only):
        row = dict.fromkeys(("runs", "stops", "foi", "none", "as_many", "same_trace", "same_set"), 0)
        for number in range(args.runs):
            going = [start(snag, out, name, number, named, args) for named in (True, False)]
            if any([process.wait() for process, _ in going]):
                print(f"{name} {number} failed: {going[0][1]}, {going[1][1]}", file=sys.stderr)
                continue
            foi, none = [strange(snag, d / "store") for _, d in going]
            logged = [stops(d) for _, d in going]
            again = None if args.stacks else replayed(snag, going[1][1], lab.PROGRAMS[name].foi)
            n_foi, n_none = found(logged[0], foi, args.stacks), found(logged[1], none, args.stacks)
            for key, n in (("runs", 1), ("stops", len(logged[1])), ("foi", n_foi), ("none", n_none),
                           ("as_many", n_none >= n_foi), ("same_trace", found(logged[1], again or (), 0)),
                           ("same_set", again == none)):
                row[key] += n
        print(f"| `{name}` | " + " | ".join(str(n) for n in row.values()) + " |", flush=True)


main()

#!/usr/bin/env python3
"""Stops that snag record --watch finds while the program runs, with --foi and without, of those that programs log.

    tests/truth/watched.py BUILD OUT [--only REGEX] [--stacks | --samples] [--runs N] [--seconds S]

Each run of a program sleeps eight times for 80 ms, at random, in a function that works. It is recorded twice at the
same time, once with the function of interest named; then the trace of the run without is replayed with it named, so
that both judge the same. Found is a stop whose execution is in the store. With --stacks programs are recorded as they
are, with --samples also with --sample, and one run after the other, as their work is computed then. Where a function
begins is an estimate in both, so the execution before counts as well; and nothing is replayed: while a program runs an
estimate lies behind what was sent by then, in the trace it need not.
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


def programs(args):
    kinds = ("mpi",) if args.functions == "stacks" else ("mpi", "serial")  # stacks are looked at where MPI is called
    return [n for n, p in lab.PROGRAMS.items() if p.kind in kinds and n != "farm" and re.search(args.only, n)]


def start(snag, out, name, number, named, args):
    """A run that is going on, and its directory."""
    program, rng = lab.PROGRAMS[name], random.Random(f"{name} {number}")
    ranks, steps = program.ranks[0], int(args.seconds * 1000 / STEP_MS)
    rank = ranks - 1
    run = lab.Run(name, "sleep", ranks, "quiet", args.functions, 1)
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


def is_right(directory, foi):
    """Whether it suggested itself what a person would ask about."""
    return f"looking at '{foi}': " in (directory / "said").read_text(encoding="utf-8")


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
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--stacks", dest="functions", action="store_const", const="stacks", default="hooks")
    how.add_argument("--samples", dest="functions", action="store_const", const="samples")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=12)
    args = parser.parse_args()
    snag, out = args.build.resolve() / "snag", args.out.resolve()
    lab.build(out, programs(args))
    is_estimate = args.functions != "hooks"
    print("| program | runs | stops | found, named | found, not named | as many in | the same function in"
          + ("" if is_estimate else " | same trace, named | the same set in") + " |")
    print("|---" * (7 if is_estimate else 9) + "|")
    for name in programs(args):
        row, foi = dict.fromkeys(("runs", "stops", "named", "none", "as_many", "same_function"), 0), lab.PROGRAMS[name].foi
        if not is_estimate:
            row |= {"same_trace": 0, "same_set": 0}
        for number in range(args.runs):
            going = []
            for is_named in (True, False):
                going.append(start(snag, out, name, number, is_named, args))
                if args.functions == "samples":
                    going[-1][0].wait()
            if any([process.wait() for process, _ in going]):
                print(f"{name} {number} failed: {going[0][1]}, {going[1][1]}", file=sys.stderr)
                continue
            named, none = [strange(snag, d / "store") for _, d in going]
            logged = [stops(d) for _, d in going]
            n_named, n_none = found(logged[0], named, is_estimate), found(logged[1], none, is_estimate)
            row["runs"] += 1
            row["stops"] += len(logged[1])
            row["named"] += n_named
            row["none"] += n_none
            row["as_many"] += n_none >= n_named
            row["same_function"] += is_right(going[1][1], foi)
            if not is_estimate:
                again = replayed(snag, going[1][1], foi)
                row["same_trace"] += found(logged[1], again, 0)
                row["same_set"] += again == none
        print(f"| `{name}` | " + " | ".join(str(n) for n in row.values()) + " |", flush=True)


main()

#!/usr/bin/env python3
"""What is found of a program's structure without its functions, against its functions.

    tests/accuracy/structure.py BUILD [RUNS [SECONDS]] | tests/accuracy/page_table.py structure docs/accuracy.md

Runs md with two ranks and stops them at known times, as examples/demo.sh does. Each run is recorded
with stacks, while a library of its own (hook_times.c) writes down what the program's hooks say. So one
run is seen in three ways: with stacks; with MPI alone, as SNAG_MPI_ONLY hides the rest; and with the
calls that the hooks were told of in place of those from the stacks, which is the truth.

Prints the executions of functions that call MPI, whatever is between: how many there are and are found
with the very calls of MPI that are in them; how far their begins and ends are off, and how often the
truth is within what the trace says is possible; the same for the loop's iterations and the steps. And
how the steps rank that a stop lies in, on its own rank; also where calls of MPI from everywhere are one
function (no sites). Those of other ranks at that time, which may wait
for it, have no label. Needs the packages python3-otf2, openmpi-bin and a build with the examples.
"""
import bisect
import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import otf2
from otf2.events import Enter, Leave

sys.dont_write_bytecode = True  # the sources stay as they are
from page_table import table

FOI = "step"
EXACT_NS = 1000  # times that the trace does not say to be estimates
WAYS = {"functions": ("functions", FOI, {}), "stacks": ("stacks", FOI, {}),
        "loop": ("stacks", "loop", {"SNAG_MPI_ONLY": "1"})}
WAYS |= {f"{way}, no sites": (archive, foi, env | {"SNAG_NO_CALL_SITES": "1"})
         for way, (archive, foi, env) in WAYS.items()}
Call = collections.namedtuple("Call", "name first last begin end within")  # first, last: calls of MPI in it


def run(*command, status=(0,), **env):
    done = subprocess.run([str(x) for x in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, **env), check=False)
    if done.returncode not in status:
        sys.exit(f"{command}: {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def disturbed(build, here, work, seconds, seed):
    """md under stops: the trace, the hooks' files and the stops in work."""
    examples = build / "examples"
    env = dict(os.environ, SNAG_TRACER_DIR=str(work / "stacks"), SNAG_TRACER_RANKS=str(work / "ranks"),
               SNAG_TRACER_STRUCTURE="stacks", HOOK_TIMES=str(work / "hooks"),
               LD_PRELOAD_RANKS=f"{work / 'hook_times.so'}:{build / 'tracer/libsnag-tracer.so'}")
    with open(work / "log", "w", encoding="utf-8") as log:
        md = subprocess.Popen(["bash", str(here / "../../examples/run_mpi.sh"), "2", "sh", "-c",
                               f'LD_PRELOAD=$LD_PRELOAD_RANKS exec "{examples / "md"}" --seconds {seconds + 2}'],
                              env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        run(examples / "disturb", "--ranks", work / "ranks", "--truth", work / "truth.csv", "--seconds", seconds,
            "--warmup", 1, "--count", 4 * seconds, "--kind", "stop", "--seed", seed)
        if md.wait() != 0:
            sys.exit((work / "log").read_text())


def hooks(build, work, rank):
    """[(time, name, is a begin)] in order."""
    names = {}
    for line in run("nm", build / "examples/md").splitlines():
        part = line.split()
        if len(part) == 3 and part[1] in "tT":
            names[int(part[0], 16)] = part[2]
    return [(time, names[where >> 1], where & 1 == 0)
            for time, where in struct.iter_unpack("=QQ", (work / f"hooks.{rank}").read_bytes())]


def with_hooks(build, work):
    """Writes an archive with the calls of the hooks in place of those from stacks."""
    with otf2.reader.open(str(work / "stacks/traces.otf2")) as trace:
        defs = trace.definitions
        with otf2.writer.open(str(work / "functions"), definitions=defs) as out:
            waiting, regions, last = {}, {}, {}
            template = next(x for x in defs.regions if x.name == FOI)

            def region(name):
                if name not in regions:
                    regions[name] = next((x for x in defs.regions if x.name == name), None) or \
                        defs.regions.create(name, name, "", template.region_role, template.paradigm)
                return regions[name]

            def put(writer, location, until):
                queue = waiting[location]
                while queue and queue[-1][0] <= until:
                    time, name, is_begin = queue.pop()
                    writer(Enter(time, region(name)) if is_begin else Leave(time, region(name)))

            for location, event in trace.events:
                if location not in waiting:
                    rank = int(location.group.name.split()[-1])
                    waiting[location] = hooks(build, work, rank)[::-1]
                    last[location] = out.event_writer_from_location(location)
                writer = last[location]
                put(writer, location, event.time)
                if not (isinstance(event, (Enter, Leave)) and is_ours(event.region)):
                    writer(event)
            for location, writer in last.items():
                put(writer, location, 1 << 63)


def is_ours(region):
    return not region.name.startswith("MPI_")


def calls(archive):
    """{location: [Call]} of functions with calls of MPI in them; the begin of the trace."""
    found, open_calls = collections.defaultdict(list), collections.defaultdict(list)
    n_mpi, inside = collections.Counter(), collections.Counter()
    with otf2.reader.open(str(archive)) as trace:
        earlier = {x.name: x for x in trace.definitions.attributes}

        def around(event):
            known = event.attributes or {}
            low, high = (known.get(earlier[x], 0) if x in earlier else 0 for x in ("snag.earlier", "snag.later"))
            return event.time, event.time - low, event.time + high

        for location, event in trace.events:
            name = location.group.name
            if not isinstance(event, (Enter, Leave)):
                continue
            is_begin = isinstance(event, Enter)
            if not is_ours(event.region):
                n_mpi[name] += is_begin and inside[name] == 0
                inside[name] += 1 if is_begin else -1
            elif is_begin:
                open_calls[name].append((event.region.name, n_mpi[name], around(event)))
            else:
                what, first, begin = open_calls[name].pop()
                if n_mpi[name] > first:
                    end = around(event)
                    found[name].append(Call(what, first, n_mpi[name], begin[0], end[0],
                                            (begin[1:], end[1:])))
        return found, trace.definitions.clock_properties.global_offset


def executions(snag, path):
    lines = run(snag, "list", path, "--all", "--json").splitlines()
    found = [json.loads(line) for line in lines]
    return {(x["rank"], x["index"]): x for x in found if "enter_ns" in x}


class Errors:
    """Of one kind of executions: how many there are, are found, and how far off their borders are."""

    def __init__(self):
        self.n_true = self.n_seen = self.n_same = self.n_possible = 0
        self.off = []

    def add(self, *off):
        self.off += off

    def row(self, name):
        off = sorted(abs(x) for x in self.off)
        median, most = (f"{off[int(q * (len(off) - 1))] / 1000:.1f}" if off else "" for q in (0.5, 0.99))
        possible = f"{100 * self.n_possible / len(off):.1f} %" if off and name != "loop" else ""
        return [name, f"{self.n_true:,}", f"{self.n_seen:,}", f"{self.n_same:,}", median, most, possible]


def compare_calls(true, seen, errors):
    for location, all_true in true.items():
        at = {(x.name, x.first): x for x in all_true}
        of = {(x.name, x.first): x for x in seen[location]}
        for x in all_true:
            errors[x.name].n_true += 1
        for key, x in of.items():
            e = errors[x.name]
            e.n_seen += 1
            if key not in at or at[key].last != x.last:
                continue
            e.n_same += 1
            for seen_ns, true_ns, (low, high) in ((x.begin, at[key].begin, x.within[0]),
                                                  (x.end, at[key].end, x.within[1])):
                e.add(seen_ns - true_ns)
                e.n_possible += low - EXACT_NS <= true_ns <= high + EXACT_NS


def compare_loop(steps, loop, errors):
    """An iteration is the same step if it begins after the one before has ended, and before its own has."""
    e = errors["loop"]
    e.n_true += len(steps)
    e.n_seen += len(loop)
    for key, x in loop.items():
        begin, end = x["enter_ns"], x["enter_ns"] + x["duration_ns"]
        _, before = steps.get((key[0], key[1] - 1), (0, 0))
        if key not in steps or not before <= begin <= steps[key][1]:
            continue
        e.n_same += 1
        e.add(begin - steps[key][0], end - steps[key][1])


def stopped(work, steps, origin):
    """Steps that half of a stop lies in, and those that others overlap."""
    of_rank = collections.defaultdict(list)
    for (rank, index), (begin, end) in sorted(steps.items()):
        of_rank[rank].append((begin, end, (rank, index)))
    hit, waiting = set(), set()
    for line in (work / "truth.csv").read_text().splitlines()[1:]:
        _, victim, begin, end = line.split(",")
        victim, begin, end = int(victim), int(begin) - origin, int(end) - origin
        for rank, all_steps in of_rank.items():
            i = max(0, bisect.bisect(all_steps, (begin,)) - 1)
            for low, high, key in all_steps[i:i + 50]:
                inside = min(high, end) - max(low, begin)
                if rank == victim and 2 * inside > end - begin:
                    hit.add(key)
                elif inside > 0:
                    waiting.add(key)
    return hit, waiting - hit


def measure(build, here, work, seconds, seed, errors):
    """Adds to errors; returns the number of steps, of those that a stop lies in, {way: PR-AUC}."""
    snag = build / "snag"
    disturbed(build, here, work, seconds, seed)
    with_hooks(build, work)
    true, origin = calls(work / "functions/traces.otf2")
    seen, seen_origin = calls(work / "stacks/traces.otf2")
    compare_calls(true, seen, errors)
    found = {}
    for way, (archive, foi, env) in WAYS.items():
        run(snag, "analyze", work / archive / "traces.otf2", "--foi", foi, "-o", work / f"{way}.snag", "--force", "--quiet",
            status=(0, 3), **env)
        found[way] = executions(snag, work / f"{way}.snag")
    steps = {key: (x["enter_ns"] + origin - seen_origin, x["enter_ns"] + x["duration_ns"] + origin - seen_origin)
             for key, x in found["functions"].items()}
    compare_loop(steps, found["loop"], errors)
    hit, waiting = stopped(work, steps, seen_origin)
    areas = {}
    for way, of_way in found.items():
        labels = work / f"{way}.csv"
        labels.write_text("id,label\n" + "".join(
            f"{x['id']},{'abnormal' if key in hit else 'normal'}\n"
            for key, x in of_way.items() if key not in waiting))
        areas[way] = json.loads(run(snag, "evaluate", work / f"{way}.snag", "--labels", labels, "--json", "--quiet"))
    return len(steps), len(hit), areas


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    build, here = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parent
    runs, seconds = (int(x) for x in (sys.argv[2:] + ["5", "8"][len(sys.argv) - 2:]))
    errors, ranked = collections.defaultdict(Errors), []
    for seed in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as directory:
            work = pathlib.Path(directory)
            run("cc", "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", work / "hook_times.so", here / "hook_times.c")
            ranked.append(measure(build, here, work, seconds, seed, errors))
    loop = errors.pop("loop")
    print("Executions that communicate, and borders in us:\n")
    table(["function", "executions", "found", "with the same calls of MPI", "median off", "99 %", "truth within what is said"],
          [errors[x].row(x) for x in sorted(errors)] + [loop.row("loop")])
    print("\nHow steps rank that a stop lies in (PR-AUC; the mean is in the last row):\n")
    rows = [[str(i + 1), f"{n:,}", str(hit)] + [f"{areas[way]['pr_auc']:.3f}" for way in WAYS]
            for i, (n, hit, areas) in enumerate(ranked)]
    rows.append(["all", "", str(sum(hit for _, hit, _ in ranked))] +
                [f"{sum(areas[way]['pr_auc'] for *_, areas in ranked) / len(ranked):.3f}" for way in WAYS])
    table(["run", "steps", "stopped"] + list(WAYS), rows)


if __name__ == "__main__":
    main()

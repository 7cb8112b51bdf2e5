#!/usr/bin/env python3
"""Groups of anomalies against the kinds that were injected.

    tests/accuracy/groups.py build/release/snag DATA [SEEDS [FIRST]] | tests/accuracy/page_table.py groups docs/accuracy.md

snag puts anomalies into groups that are strange in the same way (snag list --groups). Here they are held
against what was done to them: in the labelled forests of DATA the class of labels.csv, and in SEEDS programs
made at random (20, from seed FIRST, 1) what was injected: a function that takes longer, another one inside
it, calls that are made too often, are left out, or come in another order, each in 3 to 10 executions, on
2 to 8 ranks that exchange messages or not.

The adjusted Rand index (Hubert and Arabie, Journal of Classification 1985) is 1 where both divide the
executions alike, 0 for groups by chance. It is taken over the injected executions that are called anomalies;
one that is in no group is a group of its own. Nothing here fails: it measures.
"""
import collections
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the sources stay as they are
from injected_causes import unpacked
from page_table import table

FORESTS = {"md_s1": "MD_NEWTON", "lammpsh_s1": "compute"}


def ask(*args):
    done = subprocess.run([str(x) for x in args], stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{args}: exit status {done.returncode}")
    return done.stdout.decode()


def rand_index(kinds, groups):
    """Adjusted for chance."""
    pairs = lambda counts: sum(math.comb(n, 2) for n in counts.values())
    both = pairs(collections.Counter(zip(kinds, groups)))
    a, b = pairs(collections.Counter(kinds)), pairs(collections.Counter(groups))
    by_chance = a * b / math.comb(len(kinds), 2)
    most = (a + b) / 2
    return 1.0 if most == by_chance else (both - by_chance) / (most - by_chance)


def measure(snag, trace, foi, kind_of, work):
    """kind_of: id -> kind. Returns kinds, injected executions, anomalies among them, groups of these, the index."""
    path = work / "run.snag"
    ask(snag, "analyze", trace, "--foi", foi, "-o", path, "--force", "--quiet")
    anomalies = {x["id"] for x in map(json.loads, ask(snag, "list", path, "--all", "--verdict", "anomaly",
                                                       "--json").splitlines())}
    group_of = {}
    for line in ask(snag, "list", path, "--groups", "--json").splitlines():
        group = json.loads(line)
        group_of.update({member: group["id"] for member in group["members"]})
    found = [x for x in kind_of if x in anomalies]
    groups = [group_of.get(x, x) for x in found]
    index = rand_index([kind_of[x] for x in found], groups) if len(found) > 1 else math.nan
    return len(set(kind_of.values())), len(kind_of), len(found), len(set(groups)), index


def labelled(snag, data, work):
    rows = []
    for name, foi in FORESTS.items():
        where = unpacked(data, name, work)
        if where is None:
            print(f"{name} is not there", file=sys.stderr)
            continue
        with open(next(where.glob("**/labels.csv")), encoding="utf-8") as f:
            kind_of = {x["id"]: x["class"] for x in csv.DictReader(f) if x["label"] == "abnormal"}
        found = measure(snag, next(where.glob("**/*.otf2")), foi, kind_of, work)
        rows.append([name, *map(str, found[:4]), f"{found[4]:.3f}"])
    return rows


def program(seed):
    """(its sentence, id -> kind)"""
    rng = random.Random(seed)
    ranks, steps = rng.choice([2, 4, 8]), rng.randrange(300, 600)
    own = {f: rng.randrange(50, 1000) for f in "abcdef"}
    exchange = " >1 <1" if seed % 2 else ""
    slow, many = rng.uniform(3, 20), rng.randrange(3, 10)

    def step(kind):
        time = {f: own[f] * (slow if kind == f"slow {f}" else 1) for f in own}
        call = lambda f, inside="": f"{f}@{time[f]:.1f}us{inside}"
        inner = [call("c"), call("d")]
        calls = [call("a"), call("b", f"({' '.join(inner[::-1] if kind == 'order' else inner)})"), call("e")]
        calls += [] if kind == "left out" else [call("f")]
        calls += [f"{many}*extra"] if kind == "more" else []
        return f"step({' '.join(calls)}{exchange})"

    kinds = rng.sample(["slow a", "slow d", "more", "left out", "order"], rng.randrange(3, 6))
    where = rng.sample([(i, r) for i in range(5, steps - 5) for r in range(ranks)], 50)
    kind_at = {}
    for kind in kinds:
        for _ in range(rng.randrange(3, 11)):
            kind_at[where.pop()] = kind
    items, plain = [], 0
    for i in range(steps):
        if not any((i, r) in kind_at for r in range(ranks)):
            plain += 1
            continue
        items += [f"{plain}*{step(None)}"] if plain else []
        items += [f"{r}:{step(kind_at.get((i, r)))}" for r in range(ranks)]
        plain = 0
    items += [f"{plain}*{step(None)}"] if plain else []
    text = f"synth:main({' '.join(items)});ranks={ranks};jitter={rng.uniform(0.03, 0.15):.3f};seed={seed}"
    return text, {f"#{r}-{i}": kind for (i, r), kind in kind_at.items()}


def generated(snag, seeds, work):
    rows = []
    for says, remainder in (("without messages", 0), ("in a ring", 1)):
        found = [measure(snag, *(text, "step"), kind_of, work)
                 for text, kind_of in (program(seed) for seed in seeds if seed % 2 == remainder)]
        index = [x[4] for x in found]
        rows.append([f"{len(found)} programs, {says}", *(str(sum(x[i] for x in found)) for i in range(4)),
                     f"{statistics.median(index):.3f} (least {min(index):.3f})"])
    return rows


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    n, first = (int(x) for x in (sys.argv[3:] + ["20", "1"][len(sys.argv) - 3:]))
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        rows = labelled(sys.argv[1], pathlib.Path(sys.argv[2]), work)
        rows += generated(sys.argv[1], range(first, first + n), work)
    table(["forest", "kinds", "injected", "anomalies among them", "groups of these", "adjusted Rand index"], rows)


main()

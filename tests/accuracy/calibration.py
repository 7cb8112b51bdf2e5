#!/usr/bin/env python3
"""calibration.py SNAG [RUNS [SEED [PLOT.svg]]] -- how often chance alone is said to be unlikely, in runs in which nothing is wrong.

"Chance alone does this in one of N runs" is a claim about runs: of runs in which nothing is wrong, one in N
at most may have an execution of which that is said. So programs are made at random (synth:), 4 to 40,000
executions on 1 to 64 ranks, jitter .02 to .3, of three shapes, and in each run the least p of an execution is
looked at: the executions of the run times its false-alarm probability. Prints, per shape and size, the share
of runs with p <= x for x from 1 to .001, and whether that may be chance where the true share is x; then how
many runs of each shape lost more than .05 % of their time, how many of these have an anomaly, and the most that
one lost. The exit status is 0 if all shares may be chance, and so may be that of the runs of normal jitter that
lost more than .05 % where its true share is one in ten. Of few executions one that happens to be long is a large
part of a run, so how much a run lost at most has no limit; and in the heavier shapes some executions take many
times as long as others, and that is lost.
"""
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

LIMITS = [1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001]
SHAPES = ["normal", "exponential", "mixed"]
SIZES = [(4, 29), (30, 299), (300, 40000)]
LOST = 0.0005  # of the time of a run: more was not lost in a quiet one, but for
LOST_RUNS = 0.1  # so many of those of normal jitter
PROGRAMS = [
    "step(solve@1ms)",
    "step(a@300us b@500us(c@200us 3*d@50us))",
    "step(compute@1ms >1 <1)",
    "step(compute@1ms(kernel@400us) >1 <1 |)",
]


def program(rng, shape):
    """A quiet program: its sentence, and how many executions it has."""
    ranks = rng.choice([1, 1, 2, 4, 8, 16, 32, 64])
    body = rng.choice(PROGRAMS)
    if ranks == 1 and ">" in body:
        body = PROGRAMS[1]
    most = min(40000 // ranks, 40000)
    steps = max(1, round(math.exp(rng.uniform(math.log(max(1, 4 / ranks)), math.log(most)))))
    jitter = math.exp(rng.uniform(math.log(0.02), math.log(0.3)))
    text = f"synth:{steps}*{body};ranks={ranks};jitter={jitter:.3f};shape={shape};seed={rng.randrange(1, 10**6)}"
    return text, steps * ranks


def least_p(snag, text, place):
    """The least p of a run, 1 where no execution has one; and the anomalies."""
    run = os.path.join(place, "run.snag")
    subprocess.run([snag, "analyze", text, "--foi", "step", "-o", run, "--force", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(os.path.join(run, "run.db")) as db:
        n, p, anomalies = db.execute("SELECT count(*), min(false_alarm_probability), "
                                     "sum(verdict = 'anomaly') FROM execution").fetchone()
        lost, took = db.execute("SELECT sum(lost_ns), sum(duration_ns) FROM execution").fetchone()
    return n, min(1, n * (1 if p is None else p)), anomalies, lost / took


def may_be_chance(hits, runs, share):
    """Whether so many hits, or more, happen in one of a hundred tries where the true share is `share`."""
    if hits <= share * runs:
        return True
    log = 0.0
    below = 0.0
    for k in range(hits):
        log = math.lgamma(runs + 1) - math.lgamma(k + 1) - math.lgamma(runs - k + 1)
        below += math.exp(log + k * math.log(share) + (runs - k) * math.log1p(-share)) if share < 1 else 0
    return 1 - below >= 0.01 if share < 1 else True


def over(lost):
    """Of runs what they lost and how many anomalies they have, of those that lost more than a quiet one should."""
    return [run for run in lost if run[0] > LOST]


COLOURS = {"normal": "#0072b2", "exponential": "#e69f00", "mixed": "#009e73"}


def plot(found, path):
    """The share of runs with p <= x against x, both as logarithms; the diagonal is what may not be crossed."""
    side, margin, decades = 300, 50, 3

    def at(x, y):
        place = [margin + side * (1 + math.log10(max(v, 10 ** -decades)) / decades) for v in (x, y)]
        return f"{place[0]:.1f},{side + 2 * margin - place[1]:.1f}"

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side + 2 * margin + 60} {side + 2 * margin}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="#fff"/>',
             f'<polyline points="{at(10 ** -decades, 10 ** -decades)} {at(1, 1)}" stroke="#999" stroke-dasharray="4"/>',
             f'<text x="{margin}" y="{side + 2 * margin - 12}">p, from 0.001 to 1</text>',
             f'<text x="8" y="{margin - 20}">share of quiet runs with an execution at p or less, 0.001 to 1</text>']
    for k, shape in enumerate(SHAPES):
        all_p = sorted(p for (s, _), list_ in found.items() if s == shape for p in list_)
        steps = " ".join(f"{at(p, (i + 1) / len(all_p))}" for i, p in enumerate(all_p) if p >= 10 ** -decades)
        lines.append(f'<polyline points="{steps}" fill="none" stroke="{COLOURS[shape]}" stroke-width="2"/>')
        lines.append(f'<text x="{side + margin + 8}" y="{margin + 20 * k}" fill="{COLOURS[shape]}">{shape}</text>')
    with open(path, "w") as out:
        out.write("\n".join(lines + ["</svg>", ""]))


def main():
    snag = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    found = {}
    lost = {shape: [] for shape in SHAPES}
    worst = []
    with tempfile.TemporaryDirectory() as place:
        for i in range(runs):
            shape = SHAPES[i % len(SHAPES)]
            text, _ = program(rng, shape)
            n, p, anomalies, share = least_p(snag, text, place)
            size = next((s for s in SIZES if s[0] <= n <= s[1]), SIZES[0])
            found.setdefault((shape, size), []).append(p)
            worst.append((share, p, anomalies, n, text))
            lost[shape].append((share, anomalies))
    print(f"{'shape':12} {'executions':>14} {'runs':>5}  " + "  ".join(f"p<={x:<6g}" for x in LIMITS))
    is_right = True
    rows = {**found}
    for shape in SHAPES:
        rows[(shape, ("all", ""))] = [p for (s, _), list_ in found.items() if s == shape for p in list_]
    for (shape, size), list_ in sorted(rows.items(), key=lambda x: (x[0][0], str(x[0][1]))):
        cells = []
        for x in LIMITS:
            hits = sum(p <= x for p in list_)
            fits = may_be_chance(hits, len(list_), x)
            is_right &= fits
            cells.append(f"{hits / len(list_):7.4f}{' ' if fits else '!'}")
        name = "all" if size[0] == "all" else f"{size[0]} to {size[1]}"
        print(f"{shape:12} {name:>14} {len(list_):5}  " + "  ".join(cells))
    if len(sys.argv) > 4:
        plot(found, sys.argv[4])
    for shape in SHAPES:
        most = max((share for share, _ in lost[shape]), default=0)
        print(f"of shape {shape} {len(over(lost[shape]))} of {len(lost[shape])} runs lost more than {100 * LOST:g} % of "
              f"their time, {sum(n > 0 for _, n in over(lost[shape]))} of these with an anomaly; {100 * most:.3f} % at most")
    for share, p, anomalies, n, text in sorted(worst, key=lambda w: w[1])[:8]:
        print(f"  p {p:.2g}, {anomalies} anomalies of {n}, lost {100 * share:.4f} %: {text}")
    for share, p, anomalies, n, text in sorted(worst, reverse=True)[:4] + sorted(
            (w for w in worst if "shape=normal" in w[4]), reverse=True)[:4]:
        print(f"  lost {100 * share:.4f} %, p {p:.2g}: {text}")
    normal = lost["normal"]
    return 0 if is_right and may_be_chance(len(over(normal)), len(normal), LOST_RUNS) else 1


if __name__ == "__main__":
    sys.exit(main())

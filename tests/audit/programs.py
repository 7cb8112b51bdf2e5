"""Programs at random for `synth:`, which says a trace in one line (src/trace/synth/source_synth.c)."""
import random
import re


def body(rng, ranks, depth=0):
    """Items of a call, as words: calls, calls in calls, pairs of messages, barriers."""
    items = []
    for _ in range(rng.randint(1, 4 if depth == 0 else 2)):
        what = rng.random()
        if what < 0.55 or depth > 1:
            items.append(f"{rng.choice(CALLS)}@{rng.choice(TIMES)}")
        elif what < 0.75:
            times = f"{rng.randint(2, 4)}*" if rng.random() < 0.4 else ""
            items.append(f"{times}{rng.choice(OUTER)}@{rng.choice(TIMES)}({body(rng, ranks, depth + 1)})")
        elif ranks > 1 and what < 0.9:
            away = rng.randint(1, ranks - 1)
            items.append(f">{away} <{away}")
        elif ranks > 1:
            items.append("|")
    return " ".join(items) or f"{CALLS[0]}@1ms"


CALLS = ["compute", "solve", "pack", "apply", "io"]
OUTER = ["phase", "sweep", "level"]
TIMES = ["20us", "200us", "500us", "1ms", "2ms", "7ms"]
EXECUTIONS = [1, 2, 3, 5, 7, 9, 10, 12, 30, 60, 100, 150, 200, 300]


LONG_EVERY = 25  # programs


def program(number, seed):
    """The number-th program of a seed: what stands behind `synth:`, and the function to look at."""
    rng = random.Random(f"{seed} {number}")
    if number % LONG_EVERY == LONG_EVERY - 1:  # with more to be played than is, so that costs are bounds
        slow = ["solve/31/3/0", "solve/37/2.5/4", "solve/23/1.8/0", f"solve/29/{rng.choice(['2', '2.2'])}/4"]
        return f"synth:800*step(solve@1ms >4 <4);ranks=8;jitter=0.05;seed={number};slow={';slow='.join(slow)}", "step"
    ranks = rng.choice([1, 1, 2, 3, 4, 5, 6, 8, 16])
    n = rng.choice(EXECUTIONS) if rng.random() < 0.6 else rng.choice(EXECUTIONS[6:])
    n = max(1, min(n, 1600 // ranks))
    inside = body(rng, ranks)
    if ranks > 1 and rng.random() < 0.5:
        inside += rng.choice([" |", " >1 <1", " >1 <1 |"])
    text = f"{n}*step({inside})"
    if rng.random() < 0.15:  # steps of two kinds
        text = f"{max(n // 10, 1)}*round(9*step({inside}) step({inside} write@1ms))"
    text += f";ranks={ranks};jitter={rng.choice(['0.01', '0.02', '0.05', '0.1', '0.2', '0.3'])}"
    text += f";seed={rng.randint(1, 999)}"
    if rng.random() < 0.4:
        text += f";shape={rng.choice(['normal', 'exponential', 'mixed'])}"
    names = sorted(set(re.findall(r"([a-z]+)@", inside))) or ["step"]
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        factor = rng.choice(["1.1", "1.3", "1.5", "1.8", "2.5", "5", "10", "30", "0.2"])
        every = rng.choice([1, 7, 31, 50, 97, max(n // 2, 1), max(n - 1, 1)])
        slow = f"{rng.choice(names)}/{every}/{factor}"
        if rng.random() < 0.6 or every == 1:
            slow += f"/{rng.randrange(ranks)}"
        text += f";slow={slow}"
    return "synth:" + text, "step"

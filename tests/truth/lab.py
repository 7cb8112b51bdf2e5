#!/usr/bin/env python3
"""The laboratory of truth: programs that write down what went wrong, recorded and analysed by snag, and a scoreboard.

    tests/truth/lab.py BUILD OUT [--only REGEX] [--few] [--all-ranks] [--seed N] [--again] [--jobs N]

BUILD is a build of snag. OUT gets the programs (bin/), a directory for each run (its trace, the programs' logs,
what snag said), results.jsonl, scoreboard.md and failures.md. --only: runs whose names match, as
"halo/stop/4/quiet". --few: the part that is a test. --all-ranks: each program and disturbance with each number of
ranks. --again: traces that are there are analysed again, by another build, say. README.md says what the words mean.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import namedtuple

sys.dont_write_bytecode = True  # the sources stay as they are
import model
import score
import training

HERE = pathlib.Path(__file__).resolve().parent
CORES = len(os.sched_getaffinity(0))
STEPS = 240
NAP = 0.02  # s between two looks for processes that are about to begin

# source; how it is built and started; function of interest; functions that work, the first has most of it; the one
# that does so before it sends; numbers of ranks (threads of openmp); ranks that things go wrong on; threads of a rank;
# the function whose calls are more where a rank has more; the rank that has more to do by design
Program = namedtuple("Program", "source kind foi work sending ranks on threads pieces role", defaults=(1, "", None))


def any_rank(ranks):
    return range(ranks)


def workers(ranks):
    return range(1, ranks)


PROGRAMS = {
    "halo": Program("halo.c", "mpi", "step", ["compute", "pack"], "pack", [2, 3, 4, 8, 16], any_rank),
    "heat": Program("heat.f90", "mpi", "heat::step", ["row", "tables"], None, [2, 4, 6, 8, 16], any_rank, pieces="row"),
    "reduction": Program("reduction.cpp", "mpi", "Solver::iterate", ["apply", "precondition", "dot"], "dot", [2, 4, 8, 16],
                         any_rank),
    "farm": Program("farm.cpp", "mpi", "task", ["solve"], None, [3, 5, 8, 16], workers, role=0),
    "pipeline": Program("pipeline.c", "mpi", "stage", ["transform", "give"], "give", [2, 4, 8, 16], any_rank),
    "transpose": Program("transpose.c", "mpi", "time_step", ["transform_x", "transform_y"], None, [2, 4, 8, 16], any_rank),
    "ensemble": Program("ensemble.f90", "mpi", "ensemble::cycle_once", ["member"], None, [2, 4, 8, 16], any_rank, role=0),
    "overlap": Program("overlap.cpp", "mpi", "advance", ["cell", "neighbours"], None, [2, 4, 8, 16], any_rank, pieces="cell"),
    "openmp": Program("threaded.c", "omp", "step", ["sweep"], None, [2, 4], any_rank),
    "hybrid": Program("hybrid.c", "mpi", "step", ["sweep"], None, [2, 4, 8], any_rank, 2),
    "serial": Program("serial.c", "serial", "block", ["parse"], None, [1], any_rank),
    "training": Program("training.py", "kineto", "ProfilerStep", [], "late", [2, 4, 8], any_rank),
    "sharded": Program("training.py", "kineto", "ProfilerStep", [], None, [2, 4, 8], any_rank),
    "jacobi": Program("jacobi.py", "python", "sweep", ["relax", "copy_borders"], "copy_borders", [2, 4, 8], any_rank),
    "window": Program("window.c", "mpi", "step", ["compute", "fill"], None, [2, 4, 8, 16], any_rank),
    "poll": Program("poll.c", "mpi", "step", ["compute", "pack"], "pack", [2, 4, 8, 16], any_rank),
    "probe": Program("probe.c", "mpi", "step", ["compute", "pack"], "pack", [2, 4, 8, 16], any_rank),
    "prefix": Program("prefix.c", "mpi", "sweep", ["relax", "number"], "number", [2, 4, 8, 16], any_rank),
}

# What goes wrong. at: four times at random (events, each judged by itself); or all of it is one thing.
DISTURBANCES = {
    "none": None,
    "stop": "at", "sleep": "at", "faults": "at", "io": "at", "late": "at", "collective": "at",
    "always": "whole", "now_and_then": "whole", "phase": "whole", "imbalance": "whole",
}
EVENTS = 4
EVENT_MS = 25


class Run(namedtuple("Run", "program disturbance ranks noise functions seed")):
    @property
    def name(self):
        return f"{self.program}/{self.disturbance}/{self.ranks}/{self.noise}/{self.functions}"

    @property
    def random(self):
        return random.Random(f"{self.seed} {self.program} {self.disturbance} {self.ranks} {self.noise}")


def directory_of(run, out):
    return out / "runs" / run.name.replace("/", "-")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text:70}", end="", file=sys.stderr, flush=True)


def applies(name, disturbance):
    program = PROGRAMS[name]
    if disturbance == "late":
        return program.sending is not None
    if disturbance == "collective":
        return name in ("reduction", "training", "sharded")
    if disturbance == "imbalance":
        return bool(program.pieces)
    if disturbance == "always" and program.kind == "serial":
        return False  # there is nobody to compare it with
    return program.kind != "kineto" or disturbance != "faults"


def matrix(args):
    """Each program with each disturbance, quiet and noisy; the number of ranks, and whether functions are known by
    hooks or from stacks, goes round, so that all numbers meet all disturbances."""
    runs = []
    for p, (name, program) in enumerate(PROGRAMS.items()):
        if program.kind == "python" and not has_mpi4py():
            continue
        for d, disturbance in enumerate(DISTURBANCES):
            if not applies(name, disturbance):
                continue
            for n, noise in enumerate(["quiet", "noisy"]):
                if program.kind == "kineto" and noise == "noisy":
                    continue
                which = range(len(program.ranks)) if args.all_ranks or program.kind == "kineto" or disturbance == "none" else \
                    [(p + d + 2 * n) % len(program.ranks)]
                for i in which:
                    # a program without MPI has no functions but by hooks
                    stacks = program.kind == "mpi" and (p + d // 2 + n + (i if disturbance == "none" else 0)) % 2 == 1
                    runs.append(Run(name, disturbance, program.ranks[i], noise, "stacks" if stacks else "hooks", args.seed))
            if program.kind == "omp":
                runs.append(Run(name, disturbance, program.ranks[0], "quiet", "samples", args.seed))
    if args.few:
        few = [("halo", "sleep"), ("serial", "sleep")] + [("training", x) for x in ("none", "stop", "late", "always")] + \
            [("sharded", x) for x in ("none", "stop", "io")]
        runs = [x for x in runs if x.noise == "quiet" and x.ranks <= 4 and (x.program, x.disturbance) in few]
    return sorted((x for x in runs if re.search(args.only, x.name)), key=lambda x: x.noise == "noisy")


def has_mpi4py():
    return subprocess.run([PYTHON, "-c", "import mpi4py"], check=False, stderr=subprocess.DEVNULL).returncode == 0


PYTHON = "/usr/bin/python3"  # the distribution's, which its mpi4py is for


def build(out, names):
    """The programs of these names, with functions that say when they begin and end (hooks) and as they are (stacks)."""
    bin_dir = out / "bin"
    bin_dir.mkdir(parents=True, exist_ok=True)

    def do(*command):
        subprocess.run([str(x) for x in command], check=True, cwd=bin_dir)

    do("gcc", "-O2", "-Wall", "-fPIC", "-c", HERE / "truth.c", "-o", "truth.o")
    do("gcc", "-shared", "-o", "libtruth.so", "truth.o", "-lm")
    do("gcc", "-O2", "-Wall", HERE / "busy.c", "-o", "busy")
    do("gfortran", "-O2", "-c", HERE / "truth.f90", "-o", "truth_f.o")
    for name in names:
        program = PROGRAMS[name]
        suffix = pathlib.Path(program.source).suffix
        if suffix == ".py":
            continue
        compiler = {".c": "mpicc.openmpi", ".cpp": "mpicxx.openmpi", ".f90": "mpifort.openmpi"}[suffix] \
            if program.kind == "mpi" else "gcc"
        objects = ["truth_f.o", "truth.o"] if suffix == ".f90" else ["truth.o"]
        omp = ["-fopenmp"] if "omp" in (HERE / "programs" / program.source).read_text(encoding="utf-8") else []
        for functions, flags in (("hooks", ["-finstrument-functions"]), ("stacks", [])):
            do(compiler, "-O1", "-g", "-Wall", "-DOMPI_SKIP_MPICXX", *flags, *omp, HERE / "programs" / program.source, *objects, "-lm",
               "-o", f"{name}.{functions}")
    most = max(int(subprocess.run([bin_dir / "busy", "--calibrate"], check=True, stdout=subprocess.PIPE).stdout)
               for _ in range(3))
    (bin_dir / "loops_per_ms").write_text(f"{most}\n", encoding="utf-8")


def places(run):
    """Steps at random for what happens at them, apart from each other."""
    rng = run.random
    room = (STEPS - 40) // EVENTS
    return [20 + i * room + rng.randrange(room - 20) for i in range(EVENTS)]


def plan(run):
    """(what TRUTH_DISTURB says, rank)."""
    program, rng = PROGRAMS[run.program], run.random
    threads = run.ranks if program.kind == "omp" else program.threads
    rank = rng.choice(list(program.on(1 if program.kind == "omp" else run.ranks)))
    where = f"rank={rank} thread={rng.randrange(threads)}"
    main = program.work[0]
    other = rng.choice(program.work)
    at = {"sleep": f"sleep {where} in={other} ms={EVENT_MS}", "faults": f"faults {where} in={main} ms={EVENT_MS}",
          "io": f"io {where} in={other} ms={EVENT_MS} mb=1", "late": f"sleep {where} in={program.sending} ms={EVENT_MS}",
          "collective": f"collective {where} ms={EVENT_MS}"}
    if run.disturbance in at:
        # of what lasts, random events: each in one step
        return ";".join(f"{at[run.disturbance]} from={i} to={i + 1}" for i in places(run)), rank
    return {"none": "", "stop": "", "always": f"slower {where} in={main} factor=1.4",
            "now_and_then": f"work {where} in={main} ms=6 every=17 from=11",
            "phase": f"slower {where} in={main} factor=2 from=100 to=150",
            "imbalance": f"imbalance rank={rank} factor=1.6"}[run.disturbance], rank


def lanes(run):
    program = PROGRAMS[run.program]
    return run.ranks * program.threads


def stop_at_times(run, directory, rank, process):
    """SIGSTOP and SIGCONT from outside at random times of the steps; returns [(begin, end)], ns."""
    rng, stops = run.random, []
    is_mpi = PROGRAMS[run.program].kind != "omp"
    path = directory / f"pid.{rank if is_mpi else 0}"
    while not all((directory / f"pid.{r}").exists() for r in range(run.ranks if is_mpi else 1)):
        if process.poll() is not None:
            return []
        time.sleep(NAP)
    time.sleep(0.2)
    for _ in range(EVENTS):
        try:
            pid = int(path.read_text(encoding="utf-8") or "0")
            os.kill(pid, signal.SIGSTOP)
            begin = time.monotonic_ns()
            time.sleep(1.2 * EVENT_MS / 1000)
            os.kill(pid, signal.SIGCONT)
            stops.append((begin, time.monotonic_ns()))
        except (OSError, ValueError):
            break
        time.sleep(rng.uniform(0.1, 0.2))
    return stops


def command_of(run, build_dir, out, directory):
    program = PROGRAMS[run.program]
    start = [str(out / "bin" / f"{run.program}.{'hooks' if run.functions == 'hooks' else 'stacks'}")]
    if program.kind == "python":
        start = [PYTHON, str(HERE / "programs" / program.source)]
    if program.kind in ("mpi", "python"):
        start = ["mpirun.openmpi", "-n", str(run.ranks)] + start
    sampled = ["--sample", "200Hz"] if run.functions == "samples" else []
    return [str(build_dir / "snag"), "record"] + sampled + ["-o", str(directory / "trace"), "--"] + start


def environment(run, out, directory, what):
    program = PROGRAMS[run.program]
    threads = run.ranks if program.kind == "omp" else program.threads
    return {k: v for k, v in os.environ.items() if not k.startswith("SNAG_")} | {
        "TRUTH_DIR": str(directory), "TRUTH_DISTURB": what, "TRUTH_STEPS": str(STEPS),
        # README.md says why
        "TRUTH_WORK": "spin" if (run.noise == "noisy" or run.functions == "samples") and lanes(run) <= CORES else "wait",
        "TRUTH_LOOPS_PER_MS": (out / "bin/loops_per_ms").read_text(encoding="utf-8").strip(),
        "TRUTH_LIBRARY": str(out / "bin/libtruth.so"), "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "passive", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}


def record(run, build_dir, out):
    """Runs the program under snag record. Leaves trace, logs, stops.json and command in the run's directory."""
    directory = directory_of(run, out)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    if PROGRAMS[run.program].kind == "kineto":
        training_job(run, directory)
        return
    what, rank = plan(run)
    command, env = command_of(run, build_dir, out, directory), environment(run, out, directory, what)
    (directory / "command").write_text(
        " ".join(f"{k}='{v}'" for k, v in env.items() if os.environ.get(k) != v) + " " + " ".join(command) + "\n",
        encoding="utf-8")
    noise = [subprocess.Popen([out / "bin/busy", "20", str(i)]) for i in range(CORES if run.noise == "noisy" else 0)]
    stops = []
    try:
        with open(directory / "said", "w", encoding="utf-8") as said:
            process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
            if run.disturbance == "stop":
                stops = stop_at_times(run, directory, rank, process)
            status = process.wait(timeout=120)
    finally:
        for busy in noise:
            busy.kill()
            busy.wait()
    if status != 0:
        raise RuntimeError(f"{run.name}: {(directory / 'said').read_text(encoding='utf-8')[-600:]}")
    (directory / "stops.json").write_text(json.dumps({"rank": rank, "stops": stops}), encoding="utf-8")


TRAINING_STEPS = 60
# disturbance -> (part, us on top in it)
TRAINING = {"stop": ("autograd", 50000.0), "sleep": ("forward", 50000.0), "io": ("input", 50000.0), "late": ("late", 80000.0),
            "collective": ("transfer", 50000.0), "always": ("backward", 2400.0), "now_and_then": ("autograd", 40000.0),
            "phase": ("backward", 5000.0)}
# what is different of a sharded one, which has no thread of autograd
SHARDED = TRAINING | {"stop": ("backward", 50000.0), "now_and_then": ("input", 40000.0)}


def training_job(run, directory):
    """A job of PyTorch, and in truth.json what went wrong in it and cost, exactly."""
    rng = run.random
    rank = rng.randrange(run.ranks)
    kind, wrong = (training.Sharded, SHARDED) if run.program == "sharded" else (training.Job, TRAINING)
    part, more = wrong.get(run.disturbance, ("", 0.0))
    step_of = {"now_and_then": range(7, TRAINING_STEPS, 9), "phase": range(25, 40), "always": range(TRAINING_STEPS)}.get(
        run.disturbance) or sorted(rng.sample(range(5, TRAINING_STEPS - 3), EVENTS)) * (run.disturbance != "none")

    def extra(steps):
        def of(r, step, what, layer):
            on = 0 if part == "transfer" else rank  # a transfer is of all ranks
            once = layer == 1 or part in ("autograd", "input") or run.disturbance in ("always", "phase")
            return more if (r, what) == (on, part) and step in steps and once else 0.0
        return of

    job = kind(run.ranks, TRAINING_STEPS, run.seed, extra(set(step_of)))
    job.write(directory / "trace")
    whole = DISTURBANCES[run.disturbance] == "whole"
    events = []
    for steps in [set(step_of)] if whole else [{x} for x in step_of]:
        mine = [t for t in job.touched if t[1] in steps]
        other = kind(run.ranks, TRAINING_STEPS, run.seed, extra(set(step_of) - steps))
        events.append({"rank": None if part == "transfer" else rank, "thread": None, "function": training.NAMES[part],
                       "steps": sorted(steps), "longer_ns": 1e3 * sum(
                           b - a - d + c for i in steps for (a, b), (c, d) in [(job.step_times[rank][i], other.step_times[rank][i])]),
                       "pieces": [[t[3] * 1e3, t[4] * 1e3] for t in mine],
                       "excess_ns": sum(t[4] - t[3] for t in mine) * 1e3, "cost_ns": (job.end_us - other.end_us) * 1e3})
        events[-1] |= {"all_" + x: events[-1][x] for x in ("excess_ns", "cost_ns")}
    quiet = kind(run.ranks, TRAINING_STEPS, run.seed)
    typical = sorted(e - b for b, e in quiet.step_times[0])[TRAINING_STEPS // 2] * 1e3
    (directory / "truth.json").write_text(json.dumps({
        "whole": whole, "run_ns": job.end_us * 1e3, "typical_ns": typical, "events": events}), encoding="utf-8")


def longer(then, now, steps):
    """By how much steps were longer, from when steps began, in ns, as it was and as it would have been."""
    return sum(then[i + 1] - then[i] - now[i + 1] + now[i] for i in steps if i + 1 < min(len(then), len(now)))


def truth_of(run, directory):
    """What went wrong and cost, from the logs: as truth.json of training jobs."""
    if (directory / "truth.json").exists():
        return json.loads((directory / "truth.json").read_text(encoding="utf-8")), None
    logs = model.read(directory)
    stops = json.loads((directory / "stops.json").read_text(encoding="utf-8"))
    events = model.planned(logs) + [model.stopped(logs, stops["rank"], b, e) for b, e in stops["stops"]]
    whole = DISTURBANCES[run.disturbance] == "whole"
    groups = [model.joined(events)] if whole and events else [[x] for x in events]
    played, then = model.play(logs)
    begin, end = model.span(logs)
    found = []
    for group in groups:
        first = group[0]
        without, now = model.play(logs, group)
        also = [] if whole else [y for x in group for y in model.also_then(logs, x)]
        steps = sorted({s for x in group for s in x.steps})
        found.append({"rank": first.rank, "thread": first.thread, "function": first.function,
                      "steps": steps, "longer_ns": longer(then.get(first.rank, []), now.get(first.rank, []), steps),
                      "pieces": sorted(p for x in group for p in x.pieces),
                      "excess_ns": sum(model.excess(logs, x) for x in group),
                      "cost_ns": played - without, "all_excess_ns": sum(
                          model.excess(logs, x) for x in group + [y for y in also if y.rank == first.rank]),
                      "all_cost_ns": played - model.play(logs, group + also)[0]})
    return {"whole": whole, "run_ns": end - begin, "played_ns": played, "typical_ns": model.typical_step(logs),
            "events": found}, logs


def judge(run, build_dir, out):
    """Analyses a recorded run and scores what is said; a line of results.jsonl."""
    directory = directory_of(run, out)
    truth, logs = truth_of(run, directory)
    result = {"name": run.name} | run._asdict() | {"run_ms": truth["run_ns"] / 1e6, "truth": truth["events"]}
    program = PROGRAMS[run.program]
    result["default"] = score.compare(truth, logs, score.ask(build_dir / "snag", directory, "default", None, truth), program.role)
    if result["default"]["foi"] == program.foi:
        result["foi"] = result["default"]  # the same question
    else:
        result["foi"] = score.compare(truth, logs, score.ask(build_dir / "snag", directory, "foi", program.foi, truth),
                                      program.role)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--all-ranks", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=CORES)
    args = parser.parse_args()
    build_dir, out = args.build.resolve(), args.out.resolve()
    runs = matrix(args)
    out.mkdir(parents=True, exist_ok=True)
    if not args.again:
        build(out, sorted({run.program for run in runs}))
    failed = []
    for i, run in enumerate(runs):
        if args.again and (directory_of(run, out) / "complete").exists():
            continue
        progress(f"{i + 1} of {len(runs)}: recording {run.name}")
        try:
            record(run, build_dir, out)
            (directory_of(run, out) / "complete").touch()
        except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
            failed.append((run.name, str(error)))
    results = []
    (out / "results.jsonl").write_text("", encoding="utf-8")  # in the order of their ends, until all are there
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        waiting = {pool.submit(judge, run, build_dir, out): run for run in runs if run.name not in dict(failed)}
        for i, done in enumerate(concurrent.futures.as_completed(waiting)):
            run = waiting[done]
            progress(f"{i + 1} of {len(waiting)}: analysing {run.name}")
            try:
                results.append(done.result())
                with open(out / "results.jsonl", "a", encoding="utf-8") as file:
                    file.write(json.dumps(results[-1]) + "\n")
            except Exception as error:  # pylint: disable=broad-except  # a run that cannot be judged is one row
                failed.append((run.name, f"{type(error).__name__}: {error}"))
    order = {run.name: i for i, run in enumerate(runs)}
    results.sort(key=lambda x: order[x["name"]])
    (out / "results.jsonl").write_text("".join(json.dumps(x) + "\n" for x in results), encoding="utf-8")
    board = score.scoreboard(results)
    (out / "scoreboard.md").write_text(board, encoding="utf-8")
    (out / "failures.md").write_text(score.failures(results, out), encoding="utf-8")
    print(board)
    for name, error in failed:
        print(f"{name} gave no result: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

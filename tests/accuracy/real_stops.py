#!/usr/bin/env python3
"""Are executions that a rank was stopped in put before the others? LAMMPS, recorded here as it is.

    tests/accuracy/real_stops.py BUILD OUT [--ranks 2 4] [--runs 3] [--stops 24] [--noisy] [--again]

A copper crystal with the potential of the embedded atom (Debian's lammps and lammps-data), under snag record; single
ranks are stopped by SIGSTOP, 5 to 40 ms each, at random times that are written down in truth_trace.csv, of a seed that
is the number of the run. OUT keeps the traces; --again judges those that are there. Printed: for PairEAM::compute the
average precision of what is hit on its own rank, or on any, by plain duration and by the score of snag, as in the table
"Real interference" of docs/accuracy.md; and by the score of snag score with a model of the first quiet run with as many
ranks, which is not judged by itself. Named: of the stops that were for more than half inside executions, how many are in
an anomaly's incident that goes back to the rank that was stopped.
--noisy: with other work on all cores (tests/truth/busy.c). Nothing here fails: it measures.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import injected_causes
import tables

HERE = pathlib.Path(__file__).resolve().parent
FOI = "PairEAM::compute"
INPUT = """units metal
atom_style atomic
lattice fcc 3.615
region box block 0 {side} 0 {side} 0 {side}
create_box 1 box
create_atoms 1 box
pair_style eam
pair_coeff 1 1 {potential}
velocity all create 1600.0 376847 loop geom
neighbor 1.0 bin
neigh_modify every 1 delay 5 check yes
fix 1 all nve
timestep 0.005
thermo 100
run {steps}
"""
MPIRUN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
          "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMP_NUM_THREADS": "1"}


def children(pid):
    """The processes that a process has begun, and those that they have."""
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text(encoding="utf-8").split():
            yield int(child)
            yield from children(int(child))


def rank_of(pid):
    try:
        environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        if pathlib.Path(f"/proc/{pid}/exe").resolve().name != "lmp":
            return None
        return int(environment.split(b"OMPI_COMM_WORLD_RANK=")[1].split(b"\0")[0])
    except (OSError, IndexError):
        return None


def ranks_of(process, ranks):
    while process.poll() is None:
        try:
            found = {rank_of(pid): pid for pid in list(children(process.pid))}
        except (OSError, ValueError):
            found = {}
        found.pop(None, None)
        if len(found) == ranks:
            return found
        time.sleep(0.05)
    sys.exit("LAMMPS ended before it began")


def stop_some(pids, rng, stops):
    for _ in range(stops):
        time.sleep(rng.uniform(0.15, 0.45))
        rank = rng.randrange(len(pids))
        begin = time.monotonic_ns()
        try:
            os.kill(pids[rank], signal.SIGSTOP)
            try:
                time.sleep(rng.uniform(0.005, 0.04))
            finally:
                os.kill(pids[rank], signal.SIGCONT)
        except ProcessLookupError:
            return  # it has ended
        yield rank, begin, time.monotonic_ns()


def record(args, ranks, seed, where):
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    rng = random.Random(seed)
    (where / "in.eam").write_text(INPUT.format(side=9, steps=args.steps, potential=args.potential), encoding="utf-8")
    busy = [subprocess.Popen([args.out / "busy", "60", str(i)]) for i in range(os.cpu_count() if args.noisy else 0)]
    try:
        with open(where / "said", "w", encoding="utf-8") as said:
            process = subprocess.Popen([args.snag, "record", "-o", where / "trace", "--", "mpirun.openmpi", "-n", str(ranks),
                                        "lmp", "-in", "in.eam", "-log", "none"],
                                       cwd=where, env=os.environ | MPIRUN, stdout=said, stderr=said)
            pids = ranks_of(process, ranks)
            time.sleep(1)
            stops = list(stop_some(pids, rng, args.stops))
            status = process.wait()
    finally:
        for other in busy:
            other.kill()
            other.wait()
    if status != 0:
        sys.exit((where / "said").read_text(encoding="utf-8")[-800:])
    lines = ["kind,rank,start_trace_ns,end_trace_ns"] + [f"stop,{r},{b},{e}" for r, b, e in stops]
    (where / "truth_trace.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def by_model(args, where, model):
    """Average precision on the own rank, by what another run taught."""
    path = where / "scored.snag"
    shutil.rmtree(path, ignore_errors=True)
    injected_causes.run(args.snag, "score", where / "trace", "--model", model, "-o", path, "--force", "--quiet")
    scored = list(tables.hits_of(args.snag, path, where / "truth_trace.csv"))
    return tables.average_precision([(x[1], x[2]) for x in scored])


def named(args, path, truth):
    """Stops in executions, and of these those of which the first incident at that time goes back to their rank."""
    incidents = tables.incidents_of(args.snag, path, "--verdict", "anomaly")
    spans = tables.spans_of(args.snag, path)
    inside = right = 0
    for rank, begin, end in injected_causes.stops_of(args.snag, path, truth):
        if any(2 * (min(e, end) - max(b, begin)) > end - begin for b, e in spans):
            first = [x for x in incidents if x["begin_ns"] < end and x["end_ns"] > begin][:1]
            inside += 1
            right += bool(first) and first[0]["rank"] == rank
    return f"{right} of {inside}"


def judge(args, where):
    path = where / "run.snag"
    shutil.rmtree(path, ignore_errors=True)  # of another version of snag, maybe
    injected_causes.run(args.snag, "analyze", where / "trace", "--foi", FOI, "-o", path, "--force", "--quiet")
    truth = where / "truth_trace.csv"
    scored = list(tables.hits_of(args.snag, path, truth))
    n_stops = len(truth.read_text(encoding="utf-8").splitlines()) - 1
    row = [where.name, f"{len(scored):,}", str(n_stops)]
    for which in (2, 3):
        row.append(str(sum(x[which] for x in scored)))
        row += [f"{tables.average_precision([(x[by], x[which]) for x in scored]):.3f}" for by in (0, 1)]
    row.append(named(args, path, truth))
    first = args.out / f"quiet-{where.name.split('-')[1]}-0"
    if where != first and (first / "run.snag").exists():
        injected_causes.run(args.snag, "model", "save", first / "run.snag", first / "model", "--quiet")
        row.append(f"{by_model(args, where, first / 'model'):.3f}")
    else:
        row.append("")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--stops", type=int, default=24)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--potential", default="/usr/share/lammps/potentials/Cu_u3.eam")
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--again", action="store_true")
    args = parser.parse_args()
    args.snag, args.out = args.build.resolve() / "snag", args.out.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O2", HERE.parent / "truth/busy.c", "-o", args.out / "busy"], check=True)
    rows = []
    for ranks in args.ranks:
        for seed in range(args.runs):
            where = args.out / f"{'noisy' if args.noisy else 'quiet'}-{ranks}-{seed}"
            if not (args.again and (where / "truth_trace.csv").exists()):
                record(args, ranks, seed, where)
            rows.append(judge(args, where))
    tables.table(["run", "executions", "stops", "hit on their own rank", "duration", "default", "hit on any rank", "duration",
                  "default", "named", "own, by a model"], rows)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How many injected stops do cause chains name?

    tests/accuracy/injected_causes.py build/release/snag DATA [-v]

DATA holds lammps-eam-fn2-inj and lammps-eam-eztrace-inj, unpacked or as .tar.zst: LAMMPS runs in
which single ranks were stopped (SIGSTOP) at known times. For every stop, executions on the *other*
ranks that overlap it are asked for their chain (snag show): once all those of PairEAM::compute,
once all MPI calls that overlap at least a quarter of the stop, as the rank may also be waited for
outside PairEAM::compute.

    member    some chain leads to the stopped rank
    time      some chain leads to a call of the stopped rank that covers at least half of the stop
              and explains at least a quarter of the stop's length
    end       the same, and the chain ends there
    cycle     the same, but ends as two calls that wait for each other, one of them that call
    others    ranks that were not stopped, but meet the condition of "time" at these stops: with two
              ranks there are none, with four up to twice as many as stops

A stop that no execution on another rank overlaps cannot be named; nor can one that nobody waited
for. Nothing here fails: it measures.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

FOIS = {
    "PairEAM::compute": (["PairEAM::compute"], 0),
    "MPI calls": (["MPI_Send", "MPI_Wait", "MPI_Allreduce", "MPI_Sendrecv"], 0.25),
}
TRACES = {
    "lammps-eam-fn2-inj": "traces.otf2",
    "lammps-eam-eztrace-inj": "lmp_trace/eztrace_log.otf2",
}


def run(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(args)}: exit status {done.returncode}")
    return done.stdout


def query(snag, path, sql):
    text = run(snag, "query", path, sql, "--format", "csv").decode()
    return list(csv.DictReader(text.splitlines()))


def unpacked(data, name, scratch):
    if (data / name).is_dir():
        return data / name
    archive = data / f"{name}.tar.zst"
    if not archive.exists():
        return None
    subprocess.run(["tar", "-C", scratch, "--zstd", "-xf", archive], check=True)
    return scratch / name


def stops_of(snag, path, truth, kinds=("stop",)):
    """The stops, or other kinds of interference, as (rank, begin, end) in the run's time."""
    meta = {row["key"]: row["value"] for row in query(snag, path, "SELECT key, value FROM meta")}
    offset = {
        int(row["rank"]): int(row["clock_offset_ns"])
        for row in query(snag, path, "SELECT rank, clock_offset_ns FROM location")
    }
    shift = int(meta.get("shift_ns", 0)) - int(meta["origin_ticks"])
    for row in csv.DictReader(open(truth)):
        if row["kind"] in kinds:
            rank = int(row["rank"])
            yield (
                rank,
                int(row["start_trace_ns"]) + shift + offset[rank],
                int(row["end_trace_ns"]) + shift + offset[rank],
            )


def overlapping(snag, path, rank, begin, end, share):
    return query(
        snag,
        path,
        "SELECT name, rank, idx FROM execution JOIN foi ON foi.id = foi WHERE "
        f"rank <> {rank} AND enter_ns < {end} AND enter_ns + duration_ns > {begin} AND "
        f"min(enter_ns + duration_ns, {end}) - max(enter_ns, {begin}) >= {share * (end - begin)}",
    )


def covers(link, begin, end):
    overlap = min(link["end_ns"], end) - max(link["begin_ns"], begin)
    return overlap >= 0.5 * (end - begin) and link["explained_ns"] >= 0.25 * (end - begin)


def judge(chains, rank, begin, end):
    found = set()
    for chain, why in chains:
        partners = chain[1:]
        if any(link["rank"] == rank for link in partners):
            found.add("member")
        for i, link in enumerate(partners):
            if link["rank"] != rank or not covers(link, begin, end):
                continue
            found.add("time")
            if i + 1 == len(partners) and why != "cycle":
                found.add("end")
            if why == "cycle" and (i + 1 == len(partners) or chain[-1]["peer"] == rank):
                found.add("cycle")
    return found


def measure(snag, trace, truth, path, fois, verbose):
    names, share = FOIS[fois]
    options = [word for name in names for word in ("--foi", name)]
    run(snag, "analyze", str(trace), *options, "-o", path, "--force", "--json")
    ranks = [int(row["rank"]) for row in query(snag, path, "SELECT DISTINCT rank FROM location")]
    count = dict.fromkeys(["overlapped", "member", "time", "end", "cycle", "others"], 0)
    stops = list(stops_of(snag, path, truth))
    for rank, begin, end in stops:
        chains = []
        for x in overlapping(snag, path, rank, begin, end, share):
            name = f"{x['name']}#{x['rank']}-{x['idx']}"
            shown = json.loads(run(snag, "show", path, name, "--json"))
            chains.append((shown["cause"], shown["cause_end"]))
        found = judge(chains, rank, begin, end)
        others = [r for r in ranks if r != rank and "time" in judge(chains, r, begin, end)]
        count["overlapped"] += bool(chains)
        count["others"] += len(others)
        for name in found:
            count[name] += 1
        if verbose:
            print(
                f"  rank {rank} {begin / 1e6:9.1f} ms +{(end - begin) / 1e6:4.1f}:"
                f" {len(chains):3d} executions, {' '.join(sorted(found)) or '-'}; others {others}"
            )
    return len(stops), count


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    snag, data = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        for name, trace in TRACES.items():
            where = unpacked(data, name, pathlib.Path(scratch))
            if where is None:
                print(f"{name}: not there, left out")
                continue
            print(name)
            for fois in FOIS:
                n, count = measure(snag, where / trace, where / "truth_trace.csv",
                                   f"{scratch}/run.snag", fois, "-v" in sys.argv)
                print(f"  {fois}: {n} stops, " + ", ".join(f"{k} {v}" for k, v in count.items()))


if __name__ == "__main__":
    main()

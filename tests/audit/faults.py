#!/usr/bin/python3
"""Puts each fault of faults/list into a copy of the sources, builds snag, and says whether the auditor
finds it. By hand: it takes minutes.

    faults.py [--scratch DIR] [--only N,...] [--list]
"""
import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
# What is looked at first: waiting, costs that are bounds, costs that hide each other, noise.
TRACES = [
    "synth:300*step(solve@1ms io@200us >1 <1 |);ranks=5;jitter=0.1;slow=solve/97/4/2;slow=solve/31/1.6/1",
    "synth:300*step(compute@1ms(pack@200us 3*put@20us) >1 <1);ranks=4;jitter=0.05;slow=compute/50/3",
    "synth:300*step(solve@1ms >1 <1);ranks=6;jitter=0.05;slow=solve/50/3/1;slow=solve/51/4/4",
    "synth:300*step(solve@1ms >1 <1 pack@1ms >2 <2);ranks=5;jitter=0.05;slow=solve/50/4/1;slow=pack/50/3/3;"
    "slow=pack/41/5/2",
    "synth:800*step(solve@1ms >4 <4);ranks=8;jitter=0.05;seed=49;slow=solve/31/3/0;slow=solve/37/2.5/4;"
    "slow=solve/23/1.8/0;slow=solve/29/2.2/4",
]
N_PROGRAMS = 26


def faults():
    """[(what it breaks, file, [(old, new)])]"""
    with open(f"{HERE}/faults/list") as f:
        blocks = f.read().split("\n== ")[1:]
    found = []
    for block in blocks:
        what, path, *lines = block.rstrip("\n").split("\n")
        changes, old, new = [], [], []
        for line in lines + ["-"]:
            if line.startswith("-") and new:
                changes.append(("\n".join(old), "\n".join(new)))
                old, new = [], []
            (new if line.startswith("+") else old).append(line[1:])
        found.append((what, path, changes))
    return found


def build(scratch):
    done = subprocess.run(
        ["cmake", "--build", "build/release", "--target", "snag", "-j2"], cwd=scratch, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"does not build:\n{done.stdout[-3000:]}")


def audit(scratch):
    """The first contradiction that is found, or ''."""
    command = [sys.executable, f"{HERE}/audit.py", f"{scratch}/build/release/snag"]
    for rest in (["traces", *TRACES], ["synth", "--programs", str(N_PROGRAMS)]):
        done = subprocess.run([*command, *rest, "--most", "1"], capture_output=True, text=True)
        if done.returncode:
            return (done.stdout or done.stderr[-300:]).splitlines()[0]
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scratch", help="a directory that is kept and may be used again")
    parser.add_argument("--only", help="numbers, from 1")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    only = {int(n) for n in args.only.split(",")} if args.only else None
    jobs = [(n, *fault) for n, fault in enumerate(faults(), 1) if not only or n in only]
    if args.list:
        for n, what, path, _ in jobs:
            print(f"{n:2} {what} ({path})")
        return 0
    scratch = args.scratch or tempfile.mkdtemp()
    environment = {"CMAKE_C_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
    os.environ.update(environment | {"CCACHE_BASEDIR": scratch, "CCACHE_NOHASHDIR": "1"})
    os.makedirs(scratch, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, capture_output=True, text=True, check=True)
    for name in files.stdout.rstrip("\0").split("\0"):
        source, target = f"{SOURCE}/{name}", f"{scratch}/{name}"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            shutil.copy(source, target)  # with a new time, so that it is built anew
    subprocess.run(["cmake", "--preset", "release"], cwd=scratch, check=True, capture_output=True)
    build(scratch)
    said = audit(scratch)
    if said:
        sys.exit(f"without a fault: {said}")
    missed = []
    for n, what, path, changes in jobs:
        target = f"{scratch}/{path}"
        with open(target) as f:
            text = faulty = f.read()
        for old, new in changes:
            if old not in faulty:
                sys.exit(f"{n} {what}: {path} has no such line: {old}")
            faulty = faulty.replace(old, new, 1)
        with open(target, "w") as f:
            f.write(faulty)
        build(scratch)
        said = audit(scratch)
        with open(target, "w") as f:
            f.write(text)
        if not said:
            missed.append(n)
        print(f"{n:2} {'found' if said else 'MISSED'}: {what}\n     {said[:200]}", flush=True)
    print(f"{len(jobs) - len(missed)} of {len(jobs)} found")
    if not args.scratch:
        shutil.rmtree(scratch)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

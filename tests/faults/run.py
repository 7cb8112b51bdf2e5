#!/usr/bin/python3
"""Puts faults into a copy of the sources, one at a time, builds it, and says which are found. By hand: it takes
minutes.

    run.py tests [--only N,...] [--scratch DIR] [--list]   by the tests that `./setup.sh test` runs
    run.py audit ...                                       by the auditor (tests/audit)
    run.py --check BUILD    whether all of them can be put in, and name tests of BUILD, a release build

The faults are in the files `tests` and `audit` beside this. Each says what it breaks, the file, the lines (-) and what
stands in their place (+); those of `tests` also say in which build (release, asan, tsan) which test finds them:

    == asan trace/otf2_decode: one byte less than it reads is asked for
    src/trace/otf2/otf2_decode.c
    -    a line, or several, which are there once
    +    what stands in their place
"""
import argparse
import collections
import contextlib
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
HEADS = {"tests": r"(release|asan|tsan) (\S+): (.+)", "audit": r"()()(.+)"}
LEFT_OUT = {"long", "elsewhere"}  # labels of tests that `./setup.sh test` leaves out of a build
SAYS_WHY = [  # the first of these that a test prints
    r"runtime error: .*|ERROR: \w+Sanitizer.*|WARNING: ThreadSanitizer.*",
    r"\[  ERROR   \] --- (?!.*failure!).*|✖ .*",
    r"^[-+](?![-+]).*\S.*",
    r"\*{3}\w+ .*\n(.*\n.*)",
]

Fault = collections.namedtuple("Fault", "n preset test what path changes")


# ------------------------------------------------------------------------------------------- faults


def read_faults(kind):
    with open(f"{HERE}/{kind}") as f:
        blocks = f.read().split("\n== ")[1:]
    found = []
    for n, block in enumerate(blocks, 1):
        head, path, *lines = block.rstrip("\n").split("\n")
        said = re.fullmatch(HEADS[kind], head)
        if not said:
            sys.exit(f"{kind} {n}: not what a fault begins with: {head}")
        changes, old, new = [], [], []
        for line in lines + ["-"]:
            if line.startswith("-") and new:
                changes.append(("\n".join(old), "\n".join(new)))
                old, new = [], []
            (new if line.startswith("+") else old).append(line[1:])
        found.append(Fault(n, *said.groups(), path, changes))
    return found


def with_fault(text, fault):
    """A file with the fault; ValueError if it has not the lines once."""
    for old, new in fault.changes:
        if text.count(old) != 1:
            raise ValueError(f"{text.count(old)} times in {fault.path}: {old}")
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def put_in(fault, scratch):
    path = f"{scratch}/{fault.path}"
    with open(path) as f:
        text = f.read()
    try:
        with open(path, "w") as f:
            f.write(with_fault(text, fault))
        yield
    finally:
        with open(path, "w") as f:
            f.write(text)


# ------------------------------------------------------------------------------------------- the copy


def copy_sources(scratch):
    files = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, capture_output=True, text=True, check=True)
    for name in files.stdout.rstrip("\0").split("\0"):
        source, target = f"{SOURCE}/{name}", f"{scratch}/{name}"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            shutil.copy(source, target)  # with a new time, so that it is built anew


def configure(scratch, preset):
    subprocess.run(["cmake", "--preset", preset], cwd=scratch, check=True, capture_output=True)


def build(scratch, preset, targets):
    command = ["cmake", "--build", f"build/{preset}", "-j2"] + (["--target", *sorted(targets)] if targets else [])
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"does not build:\n{done.stdout[-3000:]}")


# ------------------------------------------------------------------------------------------- tests


def tests_of(directory):
    """{name: what CTest is told of it}; ctest itself says nothing of the command until the program is built."""
    found = collections.defaultdict(str)
    with open(f"{directory}/CTestTestfile.cmake") as f:
        for line in f:
            said = re.match(r"(add_test|set_tests_properties|subdirs)\(\W*([^\s\]\")]+)(.*)", line)
            if said and said[1] == "subdirs":
                found.update(tests_of(f"{directory}/{said[2]}"))
            elif said:
                found[said[2]] += said[3].split("_BACKTRACE_TRIPLES")[0]
    return found


def name_of(fault):
    """Tests of builds with a sanitizer say so."""
    return fault.test if fault.preset == "release" else f"{fault.preset}/{fault.test}"


def why_no_finder(fault, tests):
    if name_of(fault) not in tests:
        return "there is no such test"
    said = re.search(r'LABELS "?([\w;]+)', tests[name_of(fault)])
    labels = LEFT_OUT & set(said[1].split(";")) if said else None
    return f"`./setup.sh test` leaves it out of {fault.preset}: {', '.join(labels)}" if labels else ""


class Suite:
    """The tests that find faults, in the builds that they are of."""

    def __init__(self, scratch, faults):
        self.scratch, self.tests, self.made = scratch, {}, {}
        for preset in sorted({fault.preset for fault in faults}):
            configure(scratch, preset)
            self.tests[preset] = tests_of(f"{scratch}/build/{preset}")
            with open(f"{scratch}/build/{preset}/build.ninja") as f:
                self.made[preset] = set(re.findall(r"^build ([^ :|]+)", f.read(), re.MULTILINE))
        for fault in faults:
            why = why_no_finder(fault, self.tests[fault.preset])
            if why:
                sys.exit(f"{fault.n} {fault.what}: {fault.preset} {fault.test}: {why}")

    def targets(self, preset, name):
        """What is built for a test: the programs that it names; all where it names a directory."""
        inside = f"{self.scratch}/build/{preset}/"
        named = {path.strip("/") for path in re.findall(f'{re.escape(inside[:-1])}([^";]*)', self.tests[preset][name])}
        return named if named <= self.made[preset] else set()

    def run(self, preset, names):
        """What the tests say against it, or '' if they pass; one that is skipped finds nothing."""
        command = ["ctest", "--test-dir", f"build/{preset}", "--output-on-failure", "--no-tests=error"]
        command += ["-R", f"^({'|'.join(sorted(names))})$"]
        done = subprocess.run(command, cwd=self.scratch, capture_output=True, text=True, errors="replace")
        skipped = re.findall(r"(\S+) \.+\*{3}Skipped", done.stdout)
        if skipped:
            raise ValueError(f"skipped here: {' '.join(skipped)}")
        if done.returncode == 0:
            return ""
        said = [re.search(pattern, done.stdout, re.MULTILINE) for pattern in SAYS_WHY]
        return next((x[x.lastindex or 0] for x in said if x), done.stdout[-300:])

    def find(self, *faults):
        for preset in self.tests:
            names = {name_of(fault) for fault in faults if fault.preset == preset}
            targets = [self.targets(preset, name) for name in names]
            if any(fault.path.startswith("tracer/") for fault in faults):
                targets.append(set())  # what programs load is named by no test
            if names:
                build(self.scratch, preset, set().union(*targets) if all(targets) else set())
            said = self.run(preset, names) if names else ""
            if said:
                return said
        return ""


# ------------------------------------------------------------------------------------------- the auditor


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


class Auditor:
    def __init__(self, scratch, _faults):
        self.scratch = scratch
        configure(scratch, "release")

    def find(self, *_faults):
        """The first contradiction, or ''."""
        build(self.scratch, "release", ["snag"])
        for program, *rest in (("audit", "traces", *TRACES), ("audit", "synth", "--programs", str(N_PROGRAMS)),
                               ("live", "traces", *TRACES, "--foi", "step"), ("live", "synth", "--programs", "26")):
            command = [sys.executable, f"{SOURCE}/tests/audit/{program}.py", f"{self.scratch}/build/release/snag"]
            done = subprocess.run([*command, *rest, "--most", "1"], capture_output=True, text=True)
            if done.returncode:
                return (done.stdout or done.stderr[-300:]).splitlines()[0]
        return ""


# ------------------------------------------------------------------------------------------- the command


def try_all(kind, faults, scratch):
    """The numbers of those that are not found."""
    copy_sources(scratch)
    finder = (Suite if kind == "tests" else Auditor)(scratch, faults)
    try:
        said = finder.find(*faults)
    except ValueError as e:
        said = str(e)
    if said:
        sys.exit(f"without a fault: {said}")
    missed = []
    for fault in faults:
        try:
            with put_in(fault, scratch):
                said = finder.find(fault)
        except ValueError as e:
            sys.exit(f"{fault.n} {fault.what}: {e}")
        by = f", {fault.preset} {fault.test}" if fault.test else ""
        print(f"{fault.n:2} {'found' if said else 'MISSED'}{by}: {fault.what}\n     {' '.join(said.split())[:150]}", flush=True)
        if not said:
            missed.append(fault.n)
    return missed


def check_lists(directory):
    """What is wrong with the lists, as lines."""
    tests, wrong = tests_of(directory), []
    for kind in HEADS:
        for fault in read_faults(kind):
            try:
                with open(f"{SOURCE}/{fault.path}") as f:
                    with_fault(f.read(), fault)
            except (OSError, ValueError) as e:
                wrong.append(f"{kind} {fault.n} {fault.what}: {e}")
            if fault.preset == "release":
                why = why_no_finder(fault, tests)
            else:
                why = "" if fault.test in tests or not fault.test else "there is no such test"
            if why:
                wrong.append(f"{kind} {fault.n} {fault.what}: {fault.test}: {why}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=list(HEADS))
    parser.add_argument("--check", metavar="BUILD", help="put nothing in")
    parser.add_argument("--scratch", help="a directory that is kept and may be used again")
    parser.add_argument("--only", help="numbers, from 1")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.check:
        wrong = check_lists(args.check)
        print("\n".join(wrong) or f"{sum(len(read_faults(kind)) for kind in HEADS)} faults")
        return 1 if wrong else 0
    if not args.kind:
        parser.error("tests, audit, or --check BUILD")
    only = {int(n) for n in args.only.split(",")} if args.only else None
    faults = [fault for fault in read_faults(args.kind) if not only or fault.n in only]
    if args.list:
        for fault in faults:
            print(f"{fault.n:2} {fault.preset} {fault.test} {fault.what} ({fault.path})")
        return 0
    scratch = os.path.abspath(args.scratch or tempfile.mkdtemp())
    os.makedirs(scratch, exist_ok=True)
    if shutil.which("ccache"):
        os.environ.update(CMAKE_C_COMPILER_LAUNCHER="ccache", CCACHE_BASEDIR=scratch, CCACHE_NOHASHDIR="1")
    try:
        missed = try_all(args.kind, faults, scratch)
    finally:
        if not args.scratch:
            shutil.rmtree(scratch)
    print(f"{len(faults) - len(missed)} of {len(faults)} found" + (f", not {missed}" if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

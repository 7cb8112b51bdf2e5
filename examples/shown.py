#!/usr/bin/env python3
"""What README.md shows of the demo: written from a run of it, and compared in shape with one.

    shown.py write README LOG SNAG RUN     what demo.sh printed, and `snag show` of the first that was disturbed in code of its own
    shown.py check README demo|show LOG    LOG has lines of the same shape; of the demo, or of `snag show`

The shape of a line is what is left when numbers, times, names and paths are placeholders. Each shape of README.md has to be
one of LOG, or, where it depends on what the machine does meanwhile, of what score_test.sh expects, or be made of texts of
the programs of the demo; each shape of LOG has to be one of README.md or of MAY_BE.
"""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ["demo.sh", "disturb/disturb.c", "disturb/score.c", "md/md.c"]
MARK = "<!-- %s: written by ./setup.sh screenshots -->\n\n"
END = "\n<!-- end -->"
# What a run may print and the one in README.md has not: a machine that is busy, executions that nobody disturbed.
MAY_BE = {
    "demo": """
== this machine is busy: N of its N cores are idle. What else it does pauses the ranks, and is found as well:
it looks like what is done here, and disturbances may not be among the first. Better when it is idle.
The others are real as well: other work of this machine paused each rank for T in all, which
looks just like what was done here. Run it again when the machine is idle.
N ID T lost not disturbed
N KIND N N N -
""",
    "show": "",
}
OF_OWN = re.compile(r"(#\S+) +\S+ ms lost  while disturbed: .*\n[^:]*: step\s+> pair_forces(?:(?!cause:|without what)[\s\S])*$")
NAME = r"[A-Za-z_][\w:]*(?:@[\w.]+:\d+)?(?: \([\w.]+:\d+\))?"
TIME = r"[-+]?\d[\d,.]* (?:ns|us|ms|s|h)(?![a-z])"
UNLIKE = [  # what, and its placeholder, one after the other
    (r"\b\d+ on the disturbed rank, \d+ only on one that waited", "N on the disturbed rank, N only on one that waited"),
    (r"(?<=, )on rank \d+$", ""),  # that a rank which waited was found
    (r"  not found(, )?", ""),
    (r"\b1 anomaly\b", "N anomalies"),
    (r"\b1 different subtree\b", "N different subtrees"),
    (r"#\d+(?:\.\d+)?-\d+", "ID"),
    (TIME, "T"),
    (r"(?:[\w.]*/)[\w./-]+", "PATH"),
    (r"(?<![\w.])(?:stop|load)(?!s)(?= +\d|:| of rank)", "KIND"),
    (r"[-+]?\d[\d,.]*\d|[-+]?\d", "N"),
    (r" +", " "),
]


def shape(line):
    """A line with placeholders; what says no more than that something is there is one word."""
    bare = line.strip()
    if bare.startswith("$ "):
        return "command"
    if re.match(r"[├└│]", bare) or re.match(NAME + r"(?: × \d+)? {2,}" + TIME, bare):
        return "call path N"
    if re.match(r"[-+]?\d[\d.]* [mun]?s +" + TIME + r" +" + TIME, bare):
        return "more N"  # a call path, or the sums
    if re.match(r"#\d+-\d+ +[\d.]+ +[-+]", bare):
        return "anomaly at the same time"
    if re.match(r"\d[\d.]* (?:ms|us) longer than a typical", bare) and not line.startswith(" "):
        return "reason"
    for what, placeholder in UNLIKE:
        bare = re.sub(what, placeholder, bare)
    bare = re.sub(r"(?<=: one of N executions: ).*", "...", bare)
    return bare.rstrip(", ")


def shapes(text):
    """Of the lines; a reason below an incident, indented by six and broken by words, is none."""
    return [shape(line) for line in text.split("\n") if line.strip() and not line.startswith("      ") or "kind  rank" in line]


def shown(readme, part):
    """What README.md shows: the lines, without what makes them code."""
    begin = readme.index(MARK % part) + len(MARK % part)
    block = readme[begin : readme.index(END, begin)]
    return "\n".join(line[4:] for line in block.split("\n"))


def is_of_sources(line):
    """Whether score_test.sh expects such a line, or its longer texts are in the programs of the demo."""
    with open(os.path.join(HERE, "score_test.sh")) as file:
        if line in shapes(file.read()):
            return True
    text = ""
    for name in SOURCES:
        with open(os.path.join(HERE, name)) as file:
            text += re.sub(r'"\s*\\?\n\s*"', " ", file.read())
    text = re.sub(r"\s+", " ", text)
    fixed = [part.strip() for part in re.split(r"^== |\b(?:N|T|ID|PATH|KIND)\b", line)]
    fixed = [part for part in fixed if len(part) > 3]
    return bool(fixed) and all(part in text for part in fixed)


def wrong_lines(readme, part, log):
    """Shapes that only one of them has."""
    log = log.split("\nWhat to type next")[0]
    there, today = shapes(shown(readme, part)), shapes(log)
    may_be = shapes(MAY_BE[part]) + MAY_BE[part].strip().split("\n")
    wrong = ["only in README.md: " + line for line in there if line not in today and not is_of_sources(line)]
    return wrong + ["not in README.md: " + line for line in today if line not in there and line not in may_be and not is_of_sources(line)]


def replaced(readme, part, text):
    begin = readme.index(MARK % part) + len(MARK % part)
    end = readme.index(END, begin)
    lines = ["    " + line if line else "" for line in text.rstrip("\n").split("\n")]
    return readme[:begin] + "\n".join(lines) + "\n" + readme[end:]


def write(path, log, snag, run):
    with open(path) as file:
        readme = file.read()
    log = log.split("\nWhat to type next")[0]
    # One that was held up in its own code: what is said of it is always the same, so the test can compare it.
    entries = re.split(r"^ +\d+  (?=#)", log, flags=re.M)
    stopped = next((e for e in map(OF_OWN.match, entries) if e), None)
    if stopped is None:
        sys.exit("shown.py: none of the first was disturbed in pair_forces: run the demo again when the machine is idle")
    command = "snag show %s '%s'" % (run, stopped[1])
    said = subprocess.check_output([snag, "show", run, stopped[1]], text=True)
    readme = replaced(readme, "demo", log)
    readme = replaced(readme, "show", "$ %s\n%s" % (command, said))
    with open(path, "w") as file:
        file.write(readme)


def main():
    what, path = sys.argv[1:3]
    if what == "write":
        with open(sys.argv[3]) as file:
            write(path, file.read(), *sys.argv[4:6])
        return 0
    part, log = sys.argv[3:5]
    with open(path) as file, open(log) as lines:
        wrong = wrong_lines(file.read(), part, lines.read())
    if wrong:
        print("\n".join(wrong + ["README.md shows a demo of another shape: ./setup.sh screenshots writes it anew"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The commands of the pages are right.

    commands.py SNAG SOURCE [TRACE]

Blocks of the tutorial, of start/ and of recipes/ that are marked `sh` or `python` are run, those of a page one after another
in one directory; what follows the mark says what they need: `needs PROGRAM ...`, or `elsewhere` for what needs a cluster or a
person. They print what blocks marked `text` say. Options of all `snag` commands of all pages are those that the command has. With
TRACE, the archive of the tutorial, that is run with it, too, and prints what its blocks marked `text archive` say.
"""

import glob
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.S | re.M)
LANGUAGES = {"sh": ["bash", "-eu", "-o", "pipefail", "-c"], "python": [sys.executable, "-c"]}


def commands_of(text):
    """Each `snag ...` of a page, and whether it stands in a block: joined where a line goes on in the next."""
    rest = FENCE.sub("", text)
    blocks = [(body, True) for _, _, body in FENCE.findall(text)]
    blocks += [("\n".join(re.findall(r"^(?: {4}|\t)(.*)$", rest, re.M)), True)]
    blocks += [(code, False) for code in re.findall(r"`(snag [^`\n]+)`", rest)]
    for block, is_block in blocks:
        for line in block.replace("\\\n", " ").split("\n"):
            for part in re.split(r"(?:^|[|;&(`$]|\bexec|\bthen|\belse|\bdo|-- |srun[^|;]*? |mpirun[^|;]*? )\s*(?=snag [a-z])", line):
                if re.match(r"snag [a-z]", part):
                    yield part, is_block


def options_of(command):
    """The words of a command that are its options, up to what ends it: a pipe, a comment, `--`."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|;&()<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    words = []
    try:
        for word in lexer:
            if word == "--" or word in ("|", ";", "&", "&&", "||", ")", "..."):
                break
            words.append(word)
    except ValueError:  # a quote that the page leaves open
        pass
    return [word.split("=")[0] for word in words[2:] if re.match(r"--?[a-z][a-z-]*(=|$)", word)]


def has_options(snag):
    """{command: its options}."""
    listed = re.search(r"^commands:\n(.*?)\n\n", subprocess.check_output([snag, "help"], text=True), re.S | re.M).group(1)
    known = {}
    for name in re.findall(r"^  ([a-z-]+) ", listed, re.M):
        text = subprocess.check_output([snag, "help", name], text=True).split("\noptions:\n")[1]
        pairs = re.findall(r"^  (?:(-\w), |    )(--[a-z-]+)", text, re.M)
        known[name] = {option for pair in pairs for option in pair if option}
    return known


def check_options(snag, source):
    """Prints the options that are none; returns (how many commands were looked at, how many are wrong)."""
    known = has_options(snag)
    n = n_wrong = 0
    pages = ["README.md", "tracer/README.md", "dist/README.md", "CONTRIBUTING.md"]
    for path in pages + sorted(glob.glob("docs/**/*.md", root_dir=source, recursive=True)):
        with open(os.path.join(source, path)) as file:
            text = file.read()
        for command, is_block in commands_of(text):
            name = command.split()[1]
            if name not in known:
                if is_block and name not in ("help", "man", "completion", "version"):  # else the name of a value
                    print("%s: snag has no command '%s': %s" % (path, name, command))
                    n_wrong += 1
                continue
            n += 1
            program_follows = name == "record" and " -- " not in command
            for option in options_of(command):
                if option not in known[name] and not program_follows:
                    print("%s: snag %s has no option '%s': %s" % (path, name, option, command))
                    n_wrong += 1
    return n, n_wrong


def why_not(mark):
    """Why a block is not run here; None: it is."""
    words = mark.split()
    if words and words[0] == "elsewhere":
        return "elsewhere"
    needed = words[1:] if words and words[0] == "needs" else []
    is_here = lambda name: shutil.which(name) or importlib.util.find_spec(name)
    missing = [name for name in needed if not is_here(name)]
    return "no " + " ".join(missing) if missing else None


def run_page(path, replace=None):
    """Runs the blocks of a page, with another trace if one is given; returns (how many, how many failed, how many were not run)."""
    with open(path) as file:
        blocks = FENCE.findall(file.read())
    n = n_failed = n_left = 0
    with tempfile.TemporaryDirectory() as folder:
        variables = printed = ""
        for language, mark, body in blocks:
            if language not in LANGUAGES:
                continue
            if why_not(mark):
                n_left += 1
                continue
            body = re.sub(r"^TRACE=.*(\nTRACE\+=.*)*", lambda m: "TRACE=" + shlex.quote(replace), body, flags=re.M) if replace else body
            n += 1
            before = variables if language == "sh" else ""
            done = subprocess.run(LANGUAGES[language] + [before + body], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                n_failed += 1
                print("%s: status %d of\n%s%s%s" % (path, done.returncode, body, done.stdout[-2000:], done.stderr[-2000:]))
            printed += done.stdout
            if language == "sh":
                variables += "".join(re.findall(r"^[A-Z_]+\+?=.*\n", body, re.M))
    for language, mark, body in blocks:
        if language == "text" and (mark.strip() == "archive") == bool(replace) and " ".join(body.split()) not in " ".join(printed.split()):
            n_failed += 1
            print("%s: not printed: %s" % (path, body))
    return n, n_failed, n_left


def main():
    snag, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    trace = sys.argv[3] if len(sys.argv) > 3 else None
    n_options, n_wrong = check_options(snag, source)
    os.environ["PATH"] = os.path.dirname(snag) + ":" + os.environ["PATH"]
    pages = [os.path.join(source, "docs/tutorial.md")]
    for folder in ("start", "recipes"):
        pages += sorted(glob.glob(os.path.join(source, "docs", folder, "*.md")))
    results = [run_page(page) for page in pages]
    if trace:
        results.append(run_page(os.path.join(source, "docs/tutorial.md"), trace))
    n, n_failed, n_left = (sum(column) for column in zip(*results))
    print("%d commands looked at, %d options or commands wrong" % (n_options, n_wrong))
    print("%d blocks run, %d failed; %d are for elsewhere, or what they need is not here" % (n, n_failed, n_left))
    return n_wrong > 0 or n_failed > 0 or n < 10 or n_options < 100


if __name__ == "__main__":
    sys.exit(main())

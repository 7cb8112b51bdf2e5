#!/usr/bin/env python3
"""Do two builds of snag say the same, to the byte?

    tests/house/same.py OLD NEW [DATA [NAME ...]]     with OLD and NEW: two programs, e.g. build/release/snag

For who changes the structure of the program and not what it does. Both analyse sentences (`synth:`) and every
archive of DATA (of these NAMEs alone), and are asked by each command and each route of the API; run directories,
stores, answers and what is printed are compared. Left out is what tells of the moment: when a run was made,
the port of a server. Prints what differs, and the processor time of both; ends with 1 where something differs.
"""
import hashlib
import json
import os
import pathlib
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request

SENTENCES = {
    "ring": "synth:120*step(compute@1ms(a 3*b) >1 <1);ranks=4;jitter=0.1;slow=compute/37/9/2",
    "few": "synth:300*step(compute@1ms >1 <1);ranks=2;jitter=0.05;slow=compute/1/2/1",
    "threads": "synth:60*step(solve[compute@1ms a] >1 <1);ranks=4;threads=4;jitter=0.1;slow=compute/37/9/2",
    "job": "synth:100*step(input@1ms kernel@2ms >1 <1);ranks=8;jitter=0.05;slow=kernel/30/40/4",
}
OTHER = "synth:120*step(compute@1ms(a 3*b) >1 <1);ranks=4;jitter=0.1;slow=compute/1/1.2/1"  # than the first
MOMENTS = [  # what is not the same in two runs of one program
    (rb'("?(created|at|began|started|learnt|pid|written)"?: ?)"?[0-9T:.Z+-]+"?', rb"\1-"),
    (rb'"up_ns":\d+', b'"up_ns":0'),
    (rb" in [0-9.,]+ (ns|us|ms|s);", b" in a moment;"),
    (rb"127\.0\.0\.1:\d+", b"HOST"),
    (rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?", b"DATE"),
    (rb"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", b"DATE"),
]
SETTLED = {"created", "analyzed", "pid", "elapsed_ns", "host"}  # keys of `meta` that are of a moment


def masked(data):
    for pattern, text in MOMENTS:
        data = re.sub(pattern, text, data)
    return data


class Side:
    """One of the programs, in a directory of its own, and all that it said: {what: digest}."""

    def __init__(self, snag, place):
        self.snag, self.place = snag, place
        self.said, self.kept = {}, {}
        place.mkdir()

    def keep(self, what, data):
        data = masked(data)
        self.said[what] = hashlib.sha256(data).hexdigest()
        self.kept[what] = data[:1_000_000]

    def run(self, *args, what=None):
        env = {**os.environ, "NO_COLOR": "1", "SOURCE_DATE_EPOCH": "0"}
        done = subprocess.run([self.snag, *args], cwd=self.place, capture_output=True, check=False, env=env)
        self.keep(what or " ".join(args), b"%d\n" % done.returncode + done.stdout + b"\n--\n" + done.stderr)
        return done.stdout

    def database(self, what, path):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            tables = [x[0] for x in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
            for table in tables:
                rows = sorted(repr(x) for x in db.execute(f'SELECT * FROM "{table}"')
                              if not (table == "meta" and x[0] in SETTLED))
                self.keep(f"{what}: {table}", "\n".join(rows).encode())

    def files(self, what, path):
        for file in sorted(x for x in path.rglob("*") if x.is_file()):
            name = f"{what}/{file.relative_to(path)}"
            if file.suffix == ".db":
                self.database(name, file)
            elif not file.name.endswith(("-wal", "-shm", ".lock")):
                self.keep(name, file.read_bytes())


def ask_server(side, what, args, routes):
    """Every route that is a GET without a parameter that only a person knows, by the answers to others."""
    server = subprocess.Popen([side.snag, *args, "--port", "0"], cwd=side.place, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    try:
        url = None
        while url is None:
            line = server.stdout.readline().decode()
            if not line:
                side.keep(f"{what}: no server", b"")
                return
            found = re.search(r"http://\S+", line)
            url = found and found.group(0).rstrip("/")
        for route in routes:
            try:
                with urllib.request.urlopen(f"{url}/api/v1{route}", timeout=300) as answer:
                    data = answer.read()
            except urllib.error.HTTPError as error:
                data = b"%d " % error.code + error.read()
            side.keep(f"{what}: GET {route}", data)
    finally:
        server.terminate()
        server.wait()


def routes_of():
    """All that the API's description has, with a first foi, execution and call filled in."""
    source = pathlib.Path(__file__).parents[2] / "src/serve/openapi.json"
    paths = json.loads(source.read_text())["paths"]
    fill = {"foi": "1", "tree": "1", "location": "0", "row": "5", "counter": "0", "id": "1", "cell": "0"}
    found = []
    for path, entry in sorted(paths.items()):
        if "get" not in entry or path.endswith("/events"):
            continue
        filled = re.sub(r"\{(\w+)\}", lambda m: fill.get(m.group(1), "0"), path)
        found.append(filled)
    return found + ["/timeline?from=0&to=50000000&width=300", "/messages?from=0&to=50000000", "/search?text=a", "/fois/1/path?path=step",
                    "/fois/1/executions/2/tree", "/fois/1/candidates?order=next&limit=5"]


def is_of(route, kinds):
    if kinds == "live":
        return "/live" in route or route == "/run"
    return not re.match(r"/(live|comparison|history|runs)", route) and not route.endswith("/model")  # says when


def use(side, source, foi, routes):
    """All commands on one trace."""
    fois = ["--foi", foi] if foi else []
    side.run("info", source)
    side.run("info", source, "--json")
    side.run("analyze", source, *fois, "-o", "r.snag", "--force", "--quiet")
    side.files("r.snag", side.place / "r.snag")
    listed = side.run("list", "r.snag", "--json", "--all").decode().splitlines()
    first = json.loads(listed[0])["id"] if listed and listed[0].startswith("{") else "#0-0"
    for args in (["list", "r.snag"], ["list", "r.snag", "--incidents", "--json", "--all"],
                 ["ranks", "r.snag"], ["ranks", "r.snag", "--json"], ["show", "r.snag", first],
                 ["show", "r.snag", first, "--json"], ["show", "r.snag", first, "--subtrees"],
                 ["what-if", "r.snag", "--without", "anomalies"], ["what-if", "r.snag", "--without", "rank=1", "--json"],
                 ["next", "r.snag"], ["export", "r.snag", "--format", "csv"], ["export", "r.snag", "--format", "json"],
                 ["analyze", OTHER, "--foi", "step", "-o", "o.snag", "--quiet"],
                 ["compare", "o.snag", "r.snag"], ["compare", "o.snag", "r.snag", "--json"],
                 ["report", "o.snag", "r.snag", "-o", "c.html"], ["history", "add", "h.db", "o.snag", "r.snag"],
                 ["history", "show", "h.db"],
                 ["project", "r.snag"], ["model", "save", "r.snag", "m.model"],
                 ["score", source, "--model", "m.model", "-o", "s.snag", "--quiet"],
                 ["report", "r.snag", "-o", "r.html"],
                 ["query", "r.snag", "SELECT name, calls, exclusive_ns FROM region ORDER BY 1", "--format", "csv"]):
        side.run(*args)
    for page in side.place.glob("*.html"):
        side.keep(page.name, page.read_bytes())
    side.run("analyze", source, *fois, "-o", "p.snag", "--force", "--quiet", "--features", "subtrees", "--detector",
             "lof")
    side.run("list", "p.snag", "--json", "--all")
    ask_server(side, "serve", ["serve", "r.snag"], [x for x in routes if is_of(x, "run")])
    side.run("label", "r.snag", f"{first}=abnormal")
    side.run("retrain", "r.snag")
    side.run("list", "r.snag", "--json", "--all", what="list after a label")
    side.run("ad", source, *fois, "--store", "store", "--run-id", "job", "--json")
    for table in ("anomalies", "normalexecs"):
        side.run("query", "store", f"SELECT record FROM {table} ORDER BY event_id", "--format", "csv")
    side.run("provdb", "top", "store")
    ask_server(side, "store", ["serve", "store"], [x for x in routes if is_of(x, "live")])


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def traces_of(folder):
    """What an archive holds that can be read: the largest."""
    for pattern in ("**/*.otf2", "*.bp*", "**/*.json*"):
        found = sorted(folder.glob(pattern), key=lambda x: (-x.stat().st_size, x))
        if found:
            return found[0]
    return None


def main():
    old, new = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:3])
    data = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
    names = sys.argv[4:]
    routes = routes_of()
    n_same, different, times = 0, [], [0.0, 0.0]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        inputs = [(name, text, "step") for name, text in SENTENCES.items() if not names or name in names]
        for archive in sorted(data.glob("*.tar.zst")) if data else []:
            name = archive.name.removesuffix(".tar.zst")
            if names and name not in names:
                continue
            where = scratch / "data" / name
            where.mkdir(parents=True)
            subprocess.run(["tar", "-C", where, "--zstd", "-xf", archive], check=True)
            source = traces_of(where)
            if source:
                inputs.append((name, str(source), None))
        for name, source, foi in inputs:
            sides = []
            for i, snag in enumerate((old, new)):
                before = children_s()
                side = Side(snag, scratch / f"{name}-{i}")
                use(side, source, foi, routes)
                times[i] += children_s() - before
                sides.append(side)
            here = [what for what in sorted({**sides[0].said, **sides[1].said})
                    if sides[0].said.get(what) != sides[1].said.get(what)]
            n_same += len(sides[0].said) - len(here)
            different += [(name, what) for what in here]
            print(f"{name}: {len(sides[0].said)} things, {len(here)} differ", flush=True)
            for what in here[:5]:
                print(f"  {what}")
                for side in sides:
                    path = scratch / f"{name}-{sides.index(side)}.said"
                    path.write_bytes(side.kept.get(what, b""))
                shown = subprocess.run(["diff", *(scratch / f"{name}-{i}.said" for i in (0, 1))], capture_output=True,
                                       check=False).stdout
                print("    " + shown[:600].decode(errors="replace").replace("\n", "\n    "))
    print(f"{n_same} the same, {len(different)} not; processor time {times[1] / times[0]:.3f} of the old one's")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

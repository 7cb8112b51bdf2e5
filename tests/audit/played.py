"""A run as docs/formats.md describes its files, and a plain replay of it.

Calls are read as columns, messages and collectives as records. The replay follows algorithms.md,
section 16, for what is exact there: blocking sends and receives, barriers, one thread per rank.
"""
import mmap
import os
import sqlite3
import struct
from collections import defaultdict

NONE32, NONE64 = 2**32 - 1, 2**64 - 1
MESSAGE = struct.Struct("<QQQQIIIIII")
COLLECTIVE = struct.Struct("<QQQQIIIIII")
MAX_CALLS = 60000  # of a run that is walked call by call
INDEX_HEADER, INDEX_LOCATION = 136, 192


def own_ns(x):
    """What an execution took, without the tracer."""
    return x["duration_ns"] - x["tracer_ns"]


class Run:
    """run.db and calls/ of a run directory, read only."""

    def __init__(self, path):
        self.path = path
        self.db = sqlite3.connect(f"file:{path}/run.db?mode=ro", uri=True)
        self.db.row_factory = sqlite3.Row
        self.meta = dict(self.db.execute("SELECT key, value FROM meta").fetchall())
        self.regions = self.db.execute("SELECT * FROM region ORDER BY id").fetchall()
        self.name = [r["name"] for r in self.regions]
        self.short = {r["name"]: r["short_name"] for r in self.regions}
        self.kind = [r["kind"] for r in self.regions]
        self.locations = self.db.execute("SELECT * FROM location ORDER BY id").fetchall()
        with open(f"{path}/calls/index", "rb") as f:
            index = f.read()
        self.part = [
            dict(
                zip(
                    ("first", "n", "_", "_", "first_message", "n_messages", "first_coll", "n_coll"),
                    struct.unpack_from("<8Q", index, INDEX_HEADER + i * INDEX_LOCATION),
                )
            )
            for i in range(len(self.locations))
        ]
        self.enter = self._column("enter_ns.u64", "Q")
        self.inclusive = self._column("inclusive_ns.u64", "Q")
        self.region = self._column("region.u32", "I")
        self.length = self._column("subtree_len.u32", "I")
        self.depth = self._column("depth.u16", "H")
        self._messages = self._collectives = None

    def _column(self, name, code):
        path = f"{self.path}/calls/{name}"
        if not os.path.getsize(path):
            return memoryview(b"").cast(code)
        with open(path, "rb") as f:
            return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)).cast(code)

    def _records(self, name, record):
        with open(f"{self.path}/calls/{name}", "rb") as f:
            return list(record.iter_unpack(f.read()))

    def messages(self):
        """[(begin, end, bytes, match, call, peer, comm, tag, order, kind)] of all locations."""
        if self._messages is None:
            self._messages = self._records("messages.rec", MESSAGE)
        return self._messages

    def collectives(self):
        """[(begin, end, sent, received, call, comm, kind, root, order, instance)]."""
        if self._collectives is None:
            self._collectives = self._records("collectives.rec", COLLECTIVE)
        return self._collectives

    def executions(self, foi_id):
        return self.db.execute("SELECT * FROM execution WHERE foi = ? ORDER BY tree", (foi_id,)).fetchall()

    def fois(self):
        return self.db.execute("SELECT * FROM foi ORDER BY id").fetchall()

    def is_tracer(self, row):
        return self.kind[self.region[row]] == "tracer"

    def rows(self, location, call):
        """First row behind the call, and the row itself, in the columns."""
        at = self.part[location]["first"] + call
        return at, at + self.length[at]

    def paths_of(self, location, call):
        """({names from the root down: [calls, exclusive ns]}, ns of the tracer's calls) of an
        execution; what is in a tracer's call is in neither."""
        row, end = self.rows(location, call)
        paths, tracer_ns, stack = defaultdict(lambda: [0, 0]), 0, []
        while row < end:
            while stack and stack[-1][1] <= row:
                stack.pop()
            if stack:
                paths[stack[-1][0]][1] -= self.inclusive[row]
            if self.is_tracer(row):
                tracer_ns += self.inclusive[row]
                row += self.length[row]
                continue
            path = (stack[-1][0] if stack else ()) + (self.name[self.region[row]],)
            paths[path][0] += 1
            paths[path][1] += self.inclusive[row]
            stack.append((path, row + self.length[row]))
            row += 1
        return paths, tracer_ns


# ------------------------------------------------------------------------------------ replay


class NotExact(Exception):
    """The plain replay does not hold for this run."""


class Replay:
    """Who waits for whom in a run of blocking messages and barriers, and the run again without
    some of its own time.

    A call of MPI with a message or barrier in it is entered at a and left at b. It can go on at w,
    when the last of what it needs was entered: for a receive the call that sent, for a barrier all.
    """

    def __init__(self, run):
        self.run = run
        if any(loc["thread"] for loc in run.locations):
            raise NotExact("threads")
        syncs = defaultdict(list)  # location -> [[enter, leave, needs, key]]
        by_message, by_instance, at_call = {}, defaultdict(list), {}
        messages, collectives = run.messages(), run.collectives()

        def sync_of(location, call):
            if call == NONE32:
                raise NotExact("outside of calls")
            if (location, call) not in at_call:
                at = run.part[location]["first"] + call
                s = [run.enter[at], run.enter[at] + run.inclusive[at], [], at]
                at_call[location, call] = s
                syncs[location].append(s)
            return at_call[location, call]

        for location, part in enumerate(run.part):
            for m in range(part["first_message"], part["first_message"] + part["n_messages"]):
                begin, end, size, match, call, peer, comm, tag, order, kind = messages[m]
                if match == NONE64 or begin != end and kind == 0 or size > 4096:
                    raise NotExact("not blocking, or not matched")
                by_message[m] = sync_of(location, call)
            for c in range(part["first_coll"], part["first_coll"] + part["n_coll"]):
                begin, end, _, _, call, comm, kind, root, order, instance = collectives[c]
                if kind != 0 or instance == NONE32:
                    raise NotExact("another collective than a barrier")
                by_instance[instance].append(sync_of(location, call))
        for m, s in by_message.items():
            if messages[m][9] == 1:
                s[2].append(by_message[messages[m][3]])
        for members in by_instance.values():
            if len(members) != len(run.locations):
                raise NotExact("a barrier of some ranks")
            for s in members:
                s[2].extend(x for x in members if x is not s)
        self.syncs = {l: sorted(s, key=lambda x: x[3]) for l, s in syncs.items()}
        # for each its location, so that times can be made anew in the order of leaving
        self.order = sorted(
            ((s[1], s[0], l, i) for l, all_ in self.syncs.items() for i, s in enumerate(all_)),
        )

    def waits(self):
        """{location: ns} that it waits in all."""
        sums = {l: 0 for l in range(len(self.run.locations))}
        for l, all_ in self.syncs.items():
            for enter, leave, needs, _ in all_:
                last = max((n[0] for n in needs), default=0)
                if last > enter:
                    sums[l] += min(last, leave) - enter
        return sums

    def play(self, cut):
        """(ns by which the run is shorter, {location: ns by which its waits became shorter}) without {row: ns of own
        time}; rows are those of the columns, and the cut is at the end of a call's own time."""
        locations = range(len(self.run.locations))
        cuts = {l: [] for l in locations}  # [(time, ns)], the last first
        for row, ns in cut.items():
            cuts[self.location_of(row)].append((self.cut_at(row), ns))
        for c in cuts.values():
            c.sort(reverse=True)
        ahead = {l: 0 for l in locations}  # by how much it is ahead of the run as it was
        less = {l: 0 for l in locations}
        entered = {}

        def enter(l, i):
            s = self.syncs[l][i]
            while cuts[l] and cuts[l][-1][0] <= s[0]:
                ahead[l] += cuts[l].pop()[1]
            entered[id(s)] = s[0] - ahead[l]

        for l in self.syncs:
            enter(l, 0)
        for _, _, l, i in self.order:
            s = self.syncs[l][i]
            a, b, needs, a_new = s[0], s[1], s[2], entered[id(s)]
            if any(id(n) not in entered for n in needs):
                raise NotExact("clocks disagree")
            w = max((n[0] for n in needs), default=a)
            w_new = max((entered[id(n)] for n in needs), default=a_new)
            took = b - max(a, w)
            b_new = max(a_new + max(took, 0), w_new + took)
            less[l] += max(max(min(w, b) - a, 0) - max(min(w_new, b_new) - a_new, 0), 0)
            ahead[l] = b - b_new
            if i + 1 < len(self.syncs[l]):
                enter(l, i + 1)
        last = [loc["last_ns"] or 0 for loc in self.run.locations]
        return max(last) - max(last[l] - ahead[l] - sum(ns for _, ns in cuts[l]) for l in locations), less

    def location_of(self, row):
        for l, part in enumerate(self.run.part):
            if part["first"] <= row < part["first"] + part["n"]:
                return l
        raise IndexError(row)

    def cut_at(self, row):
        """When a call's own time is cut: at its end. Only calls without calls of MPI in them have
        one place where that can be."""
        run = self.run
        for r in range(row + 1, row + run.length[row]):
            if run.kind[run.region[r]] == "mpi":
                raise NotExact("own time around messages")
        return run.enter[row] + run.inclusive[row]

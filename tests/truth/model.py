"""What a run would have taken without what went wrong: the logs of its ranks (truth.c) played again.

Every thread of every rank is a lane of operations. Own time (work, and what lies between operations) stays as it was;
an operation that waits ends when the last that it waits for has come, plus what it took then in the run itself (its
rest: the transfer, the wake-up). So without any change the play is the run. What went wrong is taken out of own time
and of rests; then the ends move. README.md says where this differs from the program run again.
"""
import bisect
import collections
import pathlib
import statistics

# what went wrong as a program or the laboratory wrote it down; function "-": while it waited
Event = collections.namedtuple("Event", "rank thread function steps pieces")  # pieces: [(begin, end)], ns


ALL = -1  # in place of a peer: all other ranks


class Op:
    """A line of a log. Of match(): deps, what it waits for; came, when the last of that had, or it had begun itself; rest,
    what it took from then on; gap, what lies between it and the one before."""

    __slots__ = ("what", "step", "function", "begin", "end", "nominal", "delayed", "peer", "deps", "came", "rest", "gap")

    def __init__(self, words):
        self.what, self.step, self.function = words[0], int(words[2]), words[3]
        if self.what == "D" and self.function == "collective":
            self.what = "I"  # inside of the meeting that follows, whose time it is
        self.begin, self.end, self.nominal, self.delayed = (int(x) for x in words[4:8])
        self.peer = tuple(int(x) for x in words[8:12])
        self.deps, self.came, self.rest, self.gap = [], self.begin, 0, 0


def read(directory):
    """{(rank, thread): [Op]} in the order of the program; receives of one call are one operation."""
    lanes = collections.defaultdict(list)
    for path in sorted(pathlib.Path(directory).glob("log.*")):
        rank = int(path.suffix[1:])
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            lanes[rank, int(words[1])].append(Op(words))
    match(lanes)
    return dict(lanes)


def members(key, op):
    if op.what == "T":
        return [(key[0], t) for t in range(op.peer[1])]
    first, n, stride, _ = op.peer
    return [(first + i * stride, 0) for i in range(n)]


STAYED = 3  # times as long before the last came as after that: it waited for that one


def inner(ops_of, key, op, deps):
    """What goes to one or comes from one goes along a tree of ranks: who stands in its middle waits for those behind it,
    or before it. Who that is no log says; but who stayed until somebody came, and then hardly longer, waited for that."""
    start = max([op.begin] + [x.begin for x in deps])
    came = [x for k, x in ops_of.items() if k != key and start < x.begin <= op.end]
    last = max([x.begin for x in came], default=start)
    return came if op.end - last <= (last - start) / STAYED else []


def match(lanes):
    """Sets deps: of receives the sends, in order of each pair; of a meeting the other arrivals that count."""
    sends, receives = collections.defaultdict(list), collections.Counter()
    ranks = {key[0] for key in lanes}
    meetings, sums = collections.defaultdict(dict), collections.defaultdict(dict)
    for key, ops in lanes.items():
        times = collections.Counter()
        for op in ops:
            if op.what == "S":
                for peer in ranks - {key[0]} if op.peer[0] == ALL else {op.peer[0]}:
                    sends[key[0], peer].append(op)
            elif op.what in "MT":
                where = (op.what, key[0] if op.what == "T" else 0, op.peer)
                meetings[where + (times[where],)][key] = op
                times[where] += 1
    for (rank, thread), ops in lanes.items():
        kept = []
        for op in ops:
            if op.what == "R":
                same = bool(kept) and kept[-1].what == "R" and kept[-1].begin == op.begin
                into = kept[-1] if same else op
                into.end = max(into.end, op.end)
                for peer in ranks - {rank} if op.peer[0] == ALL else {op.peer[0]}:
                    into.deps += sends[peer, rank][receives[peer, rank]:][:1]
                    receives[peer, rank] += 1
                if same:
                    continue
                if op.peer[0] == ALL:
                    sums[receives[rank, ALL]][rank, thread] = op
                    receives[rank, ALL] += 1
            kept.append(op)
        ops[:] = kept
    # a sum that goes on beside work goes on only while all are in MPI: who waits may wait until the last one does
    for ops_of in sums.values():
        for key, op in ops_of.items():
            op.deps = op.deps + inner(ops_of, key, op, op.deps)
    for ops_of in meetings.values():
        for key, op in ops_of.items():
            root = op.peer[3]
            everyone = [ops_of[x] for x in members(key, op) if x in ops_of and x != key]
            if root >= 0:  # from one: the root waits for nobody
                root_key = (key[0], root) if op.what == "T" else (root, 0)
                everyone = [ops_of[root_key]] if root_key in ops_of and key != root_key else []
            elif root <= -2:  # to one: nobody else waits
                everyone = everyone if (key[1] if op.what == "T" else key[0]) == -2 - root else []
            op.deps = everyone + inner(ops_of, key, op, everyone)
    for ops in lanes.values():
        at = ops[0].begin if ops else 0
        for op in ops:
            if op.what == "I":
                continue
            op.gap = max(0, op.begin - at)
            op.came = max([op.begin] + [x.begin for x in op.deps])
            op.rest = max(0, op.end - (op.came if op.what in "RMT" else max(op.begin, at)))
            at = max(at, op.end)


def touched(pieces, begin, end):
    """Which pieces, in the order of their begins and of their ends, have a part in a stretch of time: numbers."""
    last = bisect.bisect_left(pieces, end, key=lambda piece: piece[0])
    first = last
    while first > 0 and pieces[first - 1][1] > begin:
        first -= 1
    return range(first, last)


def overlap(pieces, begin, end):
    """How much of a stretch of time is in such pieces, ns."""
    return sum(min(end, pieces[i][1]) - max(begin, pieces[i][0]) for i in touched(pieces, begin, end))


def cut_from_meetings(lanes, pieces):
    """{id of an operation that waits for many: ns}: what of its rest is gone. What went wrong inside of a meeting on one
    of its ranks is in the rest of all of them; and a sum that goes on beside work goes on only while all ranks
    are in MPI: who is held up in between holds up the others, though it had begun."""
    inside = collections.Counter()
    for key, ops in lanes.items():
        for op in ops if pieces[key] else ():
            if op.what == "M":
                cut = min(op.rest, overlap(pieces[key], op.came, op.end))
                for other in [op] + op.deps:
                    inside[id(other)] = max(inside[id(other)], cut)
    for ops in lanes.values():
        for op in ops:
            if op.what == "R" and op.peer[0] == ALL:
                inside[id(op)] = min(op.rest, max(overlap(x, op.came, op.end) for x in pieces.values()) if pieces else 0)
    return inside


class Lane:
    """Where the play of a lane is: the next operation, and what time it is, in the play and in the run as it was."""

    def __init__(self, ops, pieces, first):
        self.ops, self.pieces, self.next = ops, pieces, 0
        self.now, self.then = ops[0].begin - first, ops[0].begin

    def arrive(self, op):
        if op.gap:
            self.now += max(0, op.gap - overlap(self.pieces, self.then, op.begin))
        return self.now

    def leave(self, op, when, cut):
        """An operation ends, whose last dependency came then in the play; cut: what a meeting loses."""
        if op.what == "M" or op.what == "R" and op.peer[0] == ALL:
            rest = op.rest - cut
        else:
            lost = overlap(self.pieces, op.came if op.what in "RT" else max(op.begin, self.then), op.end) if self.pieces else 0
            rest = op.rest - (min(lost, max(0, op.rest - op.nominal)) if op.what == "W" else lost)
        self.now = when + max(0, rest)
        self.then = self.then if op.what == "I" else max(self.then, op.end)
        self.next += 1


def play(lanes, without=()):
    """Plays the run without these events. Returns when it ends, in ns after its first operation, and of each rank when
    its steps begin, and the last one ends: {rank: [ns]}."""
    pieces = collections.defaultdict(list)
    for event in without:
        for key in lanes:  # a rank that is stopped is stopped with all of its threads
            if key[0] == event.rank and (event.thread is None or key[1] == event.thread):
                pieces[key] += event.pieces
    for of_lane in pieces.values():
        of_lane.sort()
    first = min(ops[0].begin for ops in lanes.values() if ops)
    inside = cut_from_meetings(lanes, pieces)
    arrived, begins = {}, collections.defaultdict(list)
    state = {key: Lane(ops, pieces[key], first) for key, ops in lanes.items() if ops}
    moved = True
    while moved:
        moved = False
        for key, lane in state.items():
            while lane.next < len(lane.ops):
                op = lane.ops[lane.next]
                if id(op) not in arrived:
                    arrived[id(op)] = lane.arrive(op)
                    moved = True
                    if op.what == "B":
                        begins[key[0]].append(lane.now)
                when = arrived[id(op)]
                if op.deps:
                    others = [arrived.get(id(x)) for x in op.deps]
                    if None in others:
                        break
                    when = max(when, *others)
                lane.leave(op, when, inside.get(id(op), 0))
                moved = True
    stuck = [key for key, lane in state.items() if lane.next < len(lane.ops)]
    if stuck:
        raise ValueError(f"these wait forever: {stuck}")
    for (rank, thread), lane in state.items():
        if thread == 0:
            begins[rank].append(lane.now)
    return max(lane.now for lane in state.values()), dict(begins)


def span(lanes):
    """(begin, end) of the run as it was, ns of the machine's clock."""
    return min(x[0].begin for x in lanes.values() if x), max(max(op.end for op in x) for x in lanes.values() if x)


def steps(lanes):
    """{rank: [(begin, end)]} of the steps of each rank, as thread 0 began them."""
    found = {}
    for (rank, thread), ops in lanes.items():
        if thread == 0:
            begins = [op.begin for op in ops if op.what == "B"]
            found[rank] = list(zip(begins, begins[1:] + [max(op.end for op in ops)]))
    return found


def typical_step(lanes):
    return statistics.median([e - b for x in steps(lanes).values() for b, e in x] or [0])


def planned(lanes):
    """What programs wrote down that went wrong: an event for each rank, thread, function and step."""
    found = collections.defaultdict(list)
    for (rank, thread), ops in lanes.items():
        for op in ops:
            if op.what in "DI":
                found[rank, thread, op.function, op.step].append((op.begin, op.end))
    return [Event(rank, thread, function, [step], pieces) for (rank, thread, function, step), pieces in sorted(found.items())]


def joined(events):
    """The events of a thread and function as one."""
    of = collections.defaultdict(list)
    for event in events:
        of[event.rank, event.thread, event.function].append(event)
    return [Event(*key, sorted({s for x in group for s in x.steps}), sorted(p for x in group for p in x.pieces))
            for key, group in of.items()]


def stopped(lanes, rank, begin, end):
    """The event of a stop of a rank from outside: in the function where most of it was."""
    where = collections.Counter()
    of_step = set()
    for (r, thread), ops in lanes.items():
        if r != rank or thread != 0:
            continue
        for op in ops:
            common = overlap([(begin, end)], op.begin, op.end)
            if common > 0:
                where[op.function if op.what in "WD" else "-"] += common
                of_step.add(op.step)
    return Event(rank, None, where.most_common(1)[0][0] if where else "?", sorted(of_step), [(begin, end)])


def delay_beside(op, pieces):
    """What work took longer than its amount, without what of it is in these pieces: the last of its time outside of
    them, as pieces in order."""
    left, end, found = op.rest - op.nominal - overlap(pieces, op.begin, op.end), op.end, []
    for i in reversed(touched(pieces, op.begin, op.end)):
        begin = max(pieces[i][1], end - max(left, 0))
        if begin < end:
            found.append((begin, end))
            left -= end - begin
        end = min(end, pieces[i][0])
    if left > 0:
        found.append((max(op.begin, end - left), end))
    return found[::-1]


def also_then(lanes, event):
    """What else held threads up then, as events: work that took longer than its amount, of the same thread in the same
    steps, and of others while it lasted, which may be for want of a core that it took. Nobody who sees the run from
    outside can tell these apart."""
    found, steps = [], set(event.steps)
    for (rank, thread), ops in lanes.items():
        is_same = rank == event.rank and event.thread in (None, thread)
        pieces = []
        for op in ops:
            if op.what == "W" and op.rest > op.nominal and (
                    op.step in steps if is_same else overlap(event.pieces, op.begin, op.end) > 0):
                pieces += delay_beside(op, event.pieces if is_same else [])
        if pieces:
            found.append(Event(rank, thread, event.function, event.steps, pieces))
    return found


def excess(lanes, event):
    """By how much what the rank did itself was longer for the event, ns: what of it was no waiting for others."""
    ns = 0
    for key, ops in lanes.items():
        if key[0] != event.rank or (key[1] != event.thread if event.thread is not None else key[1] != 0):
            continue
        at = ops[0].begin
        for op in ops:
            if op.what == "I":
                continue
            ns += overlap(event.pieces, at, op.begin) if op.begin > at else 0
            if op.what in "RMT":
                ns += overlap(event.pieces, op.came, op.end)
            else:
                cut = overlap(event.pieces, max(at, op.begin), op.end)
                ns += min(cut, max(0, op.rest - op.nominal)) if op.what == "W" else cut
            at = max(at, op.end)
    return ns


class Delays:
    """By how much ranks were held up by themselves or by the machine: work that took longer than its amount, time
    without a core (as the kernel counts it), what lies between operations, and what went wrong by plan."""

    def __init__(self, lanes):
        self.ends, self.sums = {}, {}
        for key, ops in lanes.items():
            total, before, at = 0, None, None
            self.ends[key], self.sums[key] = [], [0]
            for op in ops:
                waited = op.delayed - before if before is not None else 0
                before = op.delayed
                if op.what != "I":
                    total += max(0, op.begin - at) if at is not None else 0
                    at = max(at or 0, op.end)
                if op.what == "W":
                    total += max(waited, op.rest - op.nominal, 0)
                else:
                    total += op.rest if op.what == "D" else op.end - op.begin if op.what == "I" else waited
                self.ends[key].append(at or op.end)
                self.sums[key].append(total)

    def of(self, rank, begin, end):
        """Of operations that end in this time, and the one after, ns: of the thread that has most."""
        most = 0
        for key, ends in self.ends.items():
            if key[0] == rank:
                first, last = bisect.bisect_right(ends, begin), bisect.bisect_left(ends, end) + 1
                most = max(most, self.sums[key][min(last, len(ends))] - self.sums[key][first])
        return most

    def ranks(self):
        return {key[0] for key in self.ends}

"""Runs and their executions: what `snag.h` says of a run, with names and errors of Python.

A run is mapped as long as anybody refers to it, or to an array of its columns: an array may
outlive the :class:`Run` that it was asked of. A run may be used by several threads, one at a
time: a lock sees to that.
"""

from __future__ import annotations

import ctypes
import operator
import os
import re
import threading
from array import array
from bisect import bisect_left
from ctypes import byref, c_size_t, c_void_p
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Optional,
    Sequence,
    SupportsIndex,
    Tuple,
    Union,
)

from . import _command, _draw
from . import _library as lib
from ._table import Column, Repeated, Strided, Table, Texts

PathLike = Union[str, "os.PathLike[str]"]
_ID = re.compile(
    r"^(?:(?P<foi>.*)#|#?)(?P<rank>\d+)(?:\.(?P<thread>\d+))?-(?P<index>\d+)$", re.S
)
_LABELS = {"abnormal": 1, "normal": -1, None: 0}
_MESSAGE_BYTES = 56


def _ints(format: str, values: Sequence[int]) -> memoryview:
    return memoryview(array(format, values)).toreadonly()


def _id(rank: int, thread: int, index: int) -> str:
    return "#%d%s-%d" % (rank, ".%d" % thread if thread else "", index)


class Execution:
    """One execution of a function of interest, of a run: ``run["#1-40"]``.

    Its numbers are as they were when the run was asked for it; times are in nanoseconds.
    """

    def __init__(self, run: Run, row: int) -> None:
        n = len(run.executions)
        if not -n <= row < n:
            raise IndexError("no execution in row %d: the run has %d" % (row, n))
        self._run = run._as_it_is()
        self.row = row % n
        self._values = run.executions.row(self.row)
        self._details: Optional[Dict[str, Any]] = None
        self._tree: Optional[Table] = None

    @property
    def id(self) -> str:
        """As the command writes it: ``#1-40``, ``#1.2-40`` off the master thread."""
        return _id(self.rank, self.thread, self.index)

    @property
    def function(self) -> str:
        return self._run.function

    @property
    def rank(self) -> int:
        return int(self._values["rank"])

    @property
    def thread(self) -> int:
        return int(self._values["thread"])

    @property
    def index(self) -> int:
        """Which of its thread, from 0."""
        return int(self._values["index"])

    @property
    def enter_ns(self) -> int:
        """Since the start of the trace."""
        return int(self._values["enter_ns"])

    @property
    def duration_ns(self) -> int:
        return int(self._values["duration_ns"])

    @property
    def typical_ns(self) -> int:
        """What executions with the same calls on this rank take."""
        return int(self._values["typical_ns"])

    @property
    def lost_ns(self) -> int:
        """Beyond that, where it is more than noise; else 0. Of one that :attr:`is_open` it is
        not known, and 0."""
        return int(self._values["lost_ns"])

    @property
    def cost_ns(self) -> Optional[int]:
        """By what the run would be shorter; None: not known."""
        value = self._values["cost_ns"]
        return None if value is None else int(value)

    @property
    def score(self) -> float:
        """How strange it is, in nats for the default detector."""
        return float(self._values["score"])

    @property
    def is_anomaly(self) -> bool:
        return bool(self._values["is_anomaly"])

    @property
    def is_open(self) -> bool:
        """It has no end in the trace: its duration is until the trace ends, or more."""
        return bool(self._values["is_open"])

    @property
    def label(self) -> Optional[str]:
        """What a person said: ``"abnormal"``, ``"normal"`` or None."""
        return {1: "abnormal", -1: "normal"}.get(self._values["label"])

    @property
    def why(self) -> str:
        """What is strange about it, in a sentence."""
        return self._run._reason(self.row)

    @property
    def tree(self) -> Table:
        """(n) its calls, in preorder: region, parent, enter_ns, inclusive_ns, exclusive_ns.

        ``parent`` is a row of this table; None of the root, which is row 0.
        """
        if self._tree is None:
            self._tree = self._run._vertices(self.row)
        return self._tree

    @property
    def details(self) -> Dict[str, Any]:
        """What ``snag show --json`` says of it: typical times of call paths, the cause, peers.

        Asks the command; docs/formats.md has the fields.
        """
        if self._details is None:
            self._details = self._run._ask("show", self.id)
        return self._details

    def excess(self) -> Tuple[Dict[Tuple[str, ...], int], str]:
        """By call path, how much longer than typical its calls took, in ns; why it is unknown.

        Asks the command; without it nothing is known.
        """
        try:
            paths = self.details["paths"]
        except lib.Error as error:
            return {}, "what is typical is not known: %s" % error
        return {tuple(path["path"]): int(path["excess_ns"]) for path in paths}, ""

    def timeline(self, width: int = 900) -> _draw.Drawing:
        """Its calls over time, callers above callees; ``width`` in pixels."""
        return _draw.Drawing(_draw.timeline_svg(self, width))

    def _repr_html_(self) -> str:
        return _draw.execution_html(self)

    def __repr__(self) -> str:
        return "<snag.Execution %s %s: %s, %s, score %.2f>" % (
            self.function,
            self.id,
            "anomaly" if self.is_anomaly else "normal",
            _draw.duration(self.duration_ns),
            self.score,
        )


class Run:
    """A run, of one of its functions of interest: see :func:`snag.open`.

    ``path``; ``functions``, the names of all; ``function``, the one that it is asked about
    (:meth:`of` asks about another).
    """

    def __init__(self, path: PathLike, foi: Optional[str] = None) -> None:
        value = c_void_p()
        self.path = os.path.abspath(os.fspath(path))
        opened = lib.library().snag_run_open(lib.name_bytes(self.path), byref(value))
        self._handle = lib.Handle(int(value.value or 0), lib.library().snag_run_close)
        lib.check(opened)
        self._lock = threading.RLock()
        n = lib.library().snag_run_functions(self._handle.value)
        name = lib.library().snag_run_function
        self.functions: List[str] = [lib.text(name(self._handle.value, i)) for i in range(n)]
        self._regions: Optional[List[str]] = None
        self._location_of: Optional[Dict[Tuple[int, int], int]] = None
        self._locations: Optional[Table] = None
        self._select(foi)

    def _select(self, foi: Optional[str]) -> None:
        if foi is not None and foi not in self.functions:
            raise lib.Error(
                "no function of interest '%s' in the run, but %s"
                % (foi, ", ".join(self.functions)),
                lib.NOT_FOUND,
            )
        self._function = 0 if foi is None else self.functions.index(foi)
        self._forget()

    def of(self, foi: str) -> Run:
        """The same run, asked about another function of interest; shares what is mapped."""
        other = self._as_it_is()
        other._select(foi)
        return other

    def _as_it_is(self) -> Run:
        """The same run, whatever :meth:`refresh` opens."""
        same = Run.__new__(Run)
        same.__dict__.update(self.__dict__)
        return same

    @property
    def function(self) -> str:
        return self.functions[self._function] if self.functions else ""

    def refresh(self) -> None:
        """Read executions and incidents anew, which another process may have changed.

        Where the run itself was made anew, by :func:`analyze` with ``replace``, that one is
        opened. Until then tables, trees and reasons are of the run that was opened; what is
        asked of the command, and labels, are an error then. So are those of executions that
        were taken before: they stay executions of the former run.
        """
        try:
            self._check_same()
        except lib.Error:
            self.__dict__.update(Run(self.path, self.function or None).__dict__)
        self._forget()

    def _check_same(self) -> None:
        self._call("snag_run_check_same")

    def _forget(self) -> None:
        self._executions: Optional[Table] = None
        self._incidents: Optional[Table] = None
        self._members: Dict[int, List[str]] = {}
        self._first: List[Tuple[int, int, int]] = []

    # ------------------------------------------------------------------------- the library

    def _call(self, function: str, *arguments: Any) -> int:
        with self._lock:
            return lib.check(getattr(lib.library(), function)(self._handle.value, *arguments))

    def _columns(self, function: str, kind: Any, release: str, *arguments: Any) -> lib.Columns:
        columns = kind()
        self._call(function, *arguments, byref(columns))
        freeing = getattr(lib.library(), release) if release else None
        return lib.Columns(columns, freeing, self._handle)

    @property
    def regions(self) -> List[str]:
        """Names of regions, by their numbers."""
        if self._regions is None:
            library, run = lib.library(), self._handle.value
            with self._lock:
                n = library.snag_run_regions(run)
                self._regions = [lib.text(library.snag_run_region(run, i)) for i in range(n)]
        return self._regions

    def _reason(self, row: int) -> str:
        out = ctypes.create_string_buffer(4096)
        self._call("snag_run_reason", self._function, row, out, len(out))
        return lib.text(out.value)

    def _vertices(self, row: int) -> Table:
        c = self._columns(
            "snag_run_vertices", lib.Vertices, "snag_vertices_release", self._function, row
        )
        return Table(
            [
                Column("region", c.view("region", "I"), names=self.regions),
                Column("parent", c.view("parent", "I"), null=lib.NONE_32),
                Column("enter_ns", c.view("enter_ns", "Q"), "ns"),
                Column("inclusive_ns", c.view("inclusive_ns", "Q"), "ns"),
                Column("exclusive_ns", c.view("exclusive_ns", "Q"), "ns"),
            ],
            c.n,
        )

    # ------------------------------------------------------------------------------ tables

    @property
    def locations(self) -> Table:
        """(n) threads of ranks and streams of GPUs, in the order of ranks and threads.

        rank, thread, is_gpu, name, node, first_call, n_calls, first_message, n_messages; the
        latter four are rows of ``calls`` and ``messages``.
        """
        if self._locations is None:
            c = self._columns("snag_run_locations", lib.Locations, "snag_locations_release")
            texts = []
            for column in ("name", "node"):
                pointers = c.view(column, "Q")
                texts.append(
                    Texts(column, [lib.text(ctypes.c_char_p(at).value) for at in pointers])
                )
            self._locations = Table(
                [
                    Column("rank", c.view("rank", "I")),
                    Column("thread", c.view("thread", "I")),
                    Column("is_gpu", c.view("is_gpu", "?")),
                    *texts,
                    Column("first_call", c.view("first_call", "Q")),
                    Column("n_calls", c.view("n_calls", "Q")),
                    Column("first_message", c.view("first_message", "Q")),
                    Column("n_messages", c.view("n_messages", "Q")),
                ],
                c.n,
            )
        return self._locations

    @property
    def executions(self) -> Table:
        """(n) executions of the function, in the order of ranks, threads and time.

        rank, thread, index (which of its thread), enter_ns, duration_ns, typical_ns (with the
        same calls on this rank), lost_ns (beyond that; of one that is_open it is not known,
        and 0), cost_ns (what the run would be shorter;
        None: not known), tracer_ns (of the duration, the tracer's), error_ns (by which the
        duration may be wrong), n_vertices and n_messages (of the tree), score (nats), p (that
        chance alone makes it look so strange, at most), is_anomaly, is_open (it has no end in
        the trace), label (1 abnormal, -1 normal, 0 none), location and call (of its root: rows
        of ``locations``, and of the calls of that). Read once, O(n); see :meth:`refresh`.
        """
        if self._executions is None:
            x = self._columns(
                "snag_run_executions",
                lib.Executions,
                "snag_executions_release",
                self._function,
            )
            losses = self._columns(
                "snag_run_losses", lib.Losses, "snag_losses_release", self._function
            )
            if losses.n != x.n:  # somebody has made the run anew in between
                raise lib.Error("'%s' changes while it is read" % self.path)
            self._executions = Table(
                [
                    Column("rank", x.view("rank", "I")),
                    Column("thread", x.view("thread", "I")),
                    Column("index", x.view("index", "I")),
                    Column("enter_ns", x.view("enter_ns", "Q"), "ns"),
                    Column("duration_ns", x.view("duration_ns", "Q"), "ns"),
                    Column("typical_ns", losses.view("typical_ns", "Q"), "ns"),
                    Column("lost_ns", losses.view("lost_ns", "Q"), "ns"),
                    Column("cost_ns", losses.view("cost_ns", "q"), "ns", null=-1),
                    Column("tracer_ns", losses.view("tracer_ns", "Q"), "ns"),
                    Column("error_ns", losses.view("error_ns", "Q"), "ns"),
                    Column("n_vertices", x.view("n_vertices", "Q")),
                    Column("n_messages", x.view("n_messages", "Q")),
                    Column("score", x.view("score", "d"), "nats"),
                    Column("p", losses.view("p", "d")),
                    Column("is_anomaly", x.view("is_anomaly", "?")),
                    Column("is_open", losses.view("is_open", "?")),
                    Column("label", x.view("label", "b")),
                    Column("location", losses.view("location", "I")),
                    Column("call", losses.view("call", "Q")),
                ],
                x.n,
            )
        return self._executions

    def _starts(self, first: str, n: str) -> List[int]:
        starts = list(self.locations.column(first).contiguous(0, len(self.locations)))
        total = self.locations.column(n).contiguous(0, len(self.locations))
        return starts + [starts[-1] + total[-1]] if starts else [0]

    def _location(self, rank: int, thread: int) -> int:
        if self._location_of is None:
            of = [self.locations.column(name) for name in ("rank", "thread")]
            places = zip(*(column.contiguous(0, len(self.locations)) for column in of))
            self._location_of = {place: location for location, place in enumerate(places)}
        location = self._location_of.get((rank, thread))
        if location is None:
            said = "the run has no thread %d on rank %d" % (thread, rank)
            raise lib.Error(said, lib.NOT_FOUND)
        return location

    def _check(self, location: int) -> None:
        self._call("snag_run_check_regions", location)

    def check(self) -> None:
        """See that all calls and messages are what docs/formats.md says; raises :class:`Error`.

        3 ns a call, the first time. Numbers of a run are those of its files, which somebody
        else may have written; that regions are there is seen whenever others take calls.
        """
        self._call("snag_run_check", lib.ALL_LOCATIONS)

    def _calls(self, location: int) -> lib.Columns:
        return self._columns("snag_run_calls", lib.Calls, "", location)

    def _call_columns(self, c: lib.Columns) -> List[Column]:
        return [
            Column("enter_ns", c.view("enter_ns", "Q"), "ns"),
            Column("inclusive_ns", c.view("inclusive_ns", "Q"), "ns"),
            Column("region", c.view("region", "I"), names=self.regions),
            Column("subtree_len", c.view("subtree_len", "I")),
            Column("depth", c.view("depth", "H")),
        ]

    @property
    def calls(self) -> Table:
        """(n) all calls of the run, mapped: rank, thread, enter_ns, inclusive_ns, region (a
        number of ``regions``), subtree_len (calls inside it, itself included), depth.

        By location, each in preorder: the calls inside call i are the rows i + 1 to
        i + subtree_len - 1. Instant. rank and thread are made when they are asked for.
        """
        c = self._calls(lib.ALL_LOCATIONS)
        starts = self._starts("first_call", "n_calls")
        of = self.locations
        where: List[Column] = [
            Repeated(name, list(of.column(name).contiguous(0, len(of))), starts)
            for name in ("rank", "thread")
        ]
        return Table(where + self._call_columns(c), c.n, starts, self._check)

    def calls_of(self, rank: int, thread: int = 0) -> Table:
        """(n) calls of one location: as :attr:`calls`, without rank and thread."""
        location = self._location(rank, thread)
        c = self._calls(location)
        return Table(self._call_columns(c), c.n, check=lambda _: self._check(location))

    @property
    def messages(self) -> Table:
        """(n) ends of messages, mapped.

        rank, thread, begin_ns, end_ns (of the send or receive), bytes, match (row of the other
        end; None: there is none), call (innermost around it, a row of its location's calls;
        None: none), peer (rank at the other end), comm, tag, order (on its location, as
        posted), is_receive.

        By location. Instant; rank and thread are made when they are asked for.
        """
        c = self._columns("snag_run_messages", lib.Messages, "", lib.ALL_LOCATIONS)
        records = lib.view(c.columns.message, c.n * _MESSAGE_BYTES, "B", c)
        starts = self._starts("first_message", "n_messages")
        of = self.locations
        columns: List[Column] = [
            Repeated(name, list(of.column(name).contiguous(0, len(of))), starts)
            for name in ("rank", "thread")
        ]
        members = [
            ("begin_ns", 0, "Q", "ns", None),
            ("end_ns", 8, "Q", "ns", None),
            ("bytes", 16, "Q", "bytes", None),
            ("match", 24, "Q", "", lib.NONE_64),
            ("call", 32, "I", "", lib.NONE_32),
            ("peer", 36, "I", "", None),
            ("comm", 40, "I", "", None),
            ("tag", 44, "I", "", None),
            ("order", 48, "I", "", None),
            ("is_receive", 52, "?", "", None),
        ]
        for name, offset, format, unit, null in members:
            columns.append(Strided(name, records, _MESSAGE_BYTES, offset, format, unit, null))
        return Table(columns, c.n, starts)

    @property
    def incidents(self) -> Table:
        """(n) executions that were strange together, those that lost most first.

        number, is_anomaly, begin_ns, end_ns, lost_ns (of all its executions, but not of those
        that do not end, of which it is not known: n_open says how many), cost_ns (None: not
        known), score, head (the execution that it goes back to), rank (where its cause is),
        n_executions, n_open, n_ranks, turns, period, cause, why. Asks the command: ``snag list
        --incidents --all --json``. See :meth:`members`.
        """
        if self._incidents is None:
            rows = self._ask_lines("list", "--incidents", "--all")
            self._members = {row["id"]: row["members"] for row in rows if row["id"]}
            self._incidents = _incident_table(rows, [self._n_open(row) for row in rows])
        return self._incidents

    def _n_open(self, incident: Dict[str, Any]) -> int:
        return sum(self[id].is_open for id in incident["members"])

    def members(self, incident: int) -> List[str]:
        """Ids of the executions of an incident, by its number. Asks the command, once."""
        len(self.incidents)
        if incident not in self._members:
            raise lib.Error("there is no incident %d" % incident, lib.NOT_FOUND)
        return list(self._members[incident])

    # -------------------------------------------------------------------------- executions

    def _row(self, rank: int, thread: int, index: int) -> int:
        if not self._first:
            table = self.executions
            columns = [
                table.column(name).contiguous(0, len(table)) for name in ("rank", "thread")
            ]
            before = (-1, -1)
            for row, where in enumerate(zip(*columns)):
                if where != before:
                    self._first.append((where[0], where[1], row))
                    before = where
        at = bisect_left(self._first, (rank, thread, 0))
        there = "none"
        if at < len(self._first) and self._first[at][:2] == (rank, thread):
            row = self._first[at][2] + index
            last = self._first[at + 1][2] if at + 1 < len(self._first) else len(self.executions)
            if row < last:
                return row
            there = "0 to %d" % (last - self._first[at][2] - 1)
        raise lib.Error(
            "no execution '%s': rank %d, thread %d has %s"
            % (_id(rank, thread, index), rank, thread, there),
            lib.NOT_FOUND,
        )

    def __getitem__(self, id: Union[str, SupportsIndex]) -> Execution:
        """An execution by its id, ``"#1-40"`` (rank 1, the 41st), or by its row of
        :attr:`executions`, which is the index of its ``DataFrame``, too."""
        if not isinstance(id, str):
            try:
                row = operator.index(id)
            except TypeError:
                text = "an execution is named by its id, '#1-40', or by its row, not by %r"
                raise TypeError(text % (id,)) from None
            return Execution(self, row)
        match = _ID.match(id)
        if match is None:
            raise lib.Error("'%s' is no execution: #RANK-INDEX, or #RANK.THREAD-INDEX" % id)
        run = self.of(match["foi"]) if match["foi"] else self
        row = run._row(int(match["rank"]), int(match["thread"] or 0), int(match["index"]))
        return Execution(run, row)

    def _own(self, execution: Union[str, SupportsIndex, Execution]) -> Execution:
        """An execution of this run, of any of its functions: itself, or by id or row."""
        if not isinstance(execution, Execution):
            return self[execution]
        if execution._run._handle is not self._handle:
            execution._run._check_same()
        if execution._run.path != self.path:
            raise lib.Error(
                "%s is an execution of another run, '%s'" % (execution.id, execution._run.path)
            )
        return execution

    def __contains__(self, what: object) -> bool:
        """Whether there is an execution of this id, or row; of itself, whether it is of this
        run and its function."""
        if isinstance(what, Execution):
            run = what._run
            return run._handle is self._handle and run._function == self._function
        if not isinstance(what, (str, SupportsIndex)):
            return False
        if isinstance(what, str) and _ID.match(what) is None:
            return False
        try:
            self[what]
        except IndexError:
            return False
        except lib.Error as error:
            if error.code != lib.NOT_FOUND:
                raise
            return False
        return True

    def __len__(self) -> int:
        """How many executions there are."""
        return len(self.executions)

    def __iter__(self) -> Iterator[Execution]:
        return (Execution(self, row) for row in range(len(self)))

    @property
    def anomalies(self) -> List[Execution]:
        """Executions that are anomalies, the strangest first."""
        flags = self.executions.column("is_anomaly").contiguous(0, len(self))
        found = [Execution(self, row) for row in range(len(self)) if flags[row]]
        return sorted(found, key=lambda x: -x.score)

    # ---------------------------------------------------------------------------- learning

    def label(
        self,
        execution: Union[str, SupportsIndex, Execution],
        label: Optional[str],
        author: Optional[str] = None,
    ) -> None:
        """Say that an execution is ``"abnormal"`` or ``"normal"``; None takes it back.

        ``execution``: itself, its id or its row; ``author``: who says so, by default ``$USER``.
        """
        if label not in _LABELS:
            raise lib.Error("a label is 'abnormal', 'normal' or None, not %r" % (label,))
        execution = self._own(execution)
        execution._run._call(
            "snag_run_label",
            execution._run._function,
            execution.row,
            _LABELS[label],
            _author(author),
        )
        execution._run._forget()
        self._forget()

    def retrain(self, author: Optional[str] = None) -> int:
        """Scores and verdicts anew from all labels; returns how many verdicts have changed."""
        n = c_size_t()
        self._call("snag_run_retrain", self._function, _author(author), byref(n))
        self._forget()
        return n.value

    def undo(self) -> int:
        """What held before the newest retrain; returns how many verdicts are others now."""
        n = c_size_t()
        self._call("snag_run_undo", self._function, byref(n))
        self._forget()
        return n.value

    def save_model(self, path: PathLike) -> None:
        """Keep what the run taught, for ``snag.analyze(..., model=path)``: with the labels
        that the newest retrain which is not undone has learnt. A warning says how many others
        there are."""
        self._call("snag_run_save_model", self._function, lib.name_bytes(os.fspath(path)))

    # ------------------------------------------------------------------------- the command

    def _arguments(self, command: str, *arguments: str) -> List[str]:
        foi = ["--foi", self.function] if len(self.functions) > 1 else []
        return [command, self.path, *arguments, *foi]

    def _ask(self, command: str, *arguments: str) -> Any:
        return self._asked(_command.ask, command, *arguments)

    def _ask_lines(self, command: str, *arguments: str) -> List[Any]:
        answer: List[Any] = self._asked(_command.ask_lines, command, *arguments)
        return answer

    def _asked(self, ask: Callable[..., Any], command: str, *arguments: str) -> Any:
        """The command opens what is there: it must be this run, before it and after."""
        self._check_same()
        answer = ask(*self._arguments(command, *arguments))
        self._check_same()
        return answer

    def ranks(self, by: Optional[str] = None) -> Dict[str, Any]:
        """Who is slow in every execution, and who waits for it: ``snag ranks --json``.

        ``by``: ``"rank"``, ``"thread"``, ``"node"``, ``"stage"``, ...; asks the command, whose
        fields docs/formats.md has.
        """
        answer: Dict[str, Any] = self._ask("ranks", *(["--by", by] if by else []))
        return answer

    def what_if(self, *without: Union[str, Execution]) -> Dict[str, Any]:
        """By how much the run would be shorter without some excess: ``snag what-if --json``.

        ``without``: ``"anomalies"`` (also if nothing is given), ``"incident=1"``, ``"#1-40"``
        or an execution, ``"rank=3"``, ``"path=step > solve"``. Executions may be of another
        function of the run, all of the same one, which the rest is asked about then, too. Asks
        the command, whose fields docs/formats.md has.
        """
        run, options = self, []
        for what in without or ("anomalies",):
            if isinstance(what, Execution):
                what = self._own(what).function + what.id
            named = _ID.match(str(what))
            if named and named["foi"] in self.functions:
                run = self.of(named["foi"])
            options += ["--without", str(what)]
        answer: Dict[str, Any] = run._ask("what-if", *options)
        return answer

    # -------------------------------------------------------------------------- for people

    def scatter(self, width: int = 700, height: int = 260) -> _draw.Drawing:
        """When executions were entered, and how long they took; sizes in pixels."""
        return _draw.Drawing(_draw.scatter_svg(self, width, height))

    def _repr_html_(self) -> str:
        return _draw.scatter_svg(self)

    def __repr__(self) -> str:
        return "<snag.Run %s: %d executions of %s>" % (self.path, len(self), self.function)


def _author(author: Optional[str]) -> bytes:
    return (author or os.environ.get("USER") or "python").encode()


def _incident_table(rows: Sequence[Dict[str, Any]], n_open: Sequence[int]) -> Table:
    columns: List[Column] = [Column("number", _ints("q", [row["id"] or 0 for row in rows]))]
    flags = bytes([row["verdict"] == "anomaly" for row in rows])
    columns.append(Column("is_anomaly", memoryview(flags).cast("?")))
    for name in ("begin_ns", "end_ns", "lost_ns"):
        columns.append(Column(name, _ints("q", [row[name] for row in rows]), "ns"))
    costs = [-1 if row["cost_ns"] is None else row["cost_ns"] for row in rows]
    columns.append(Column("cost_ns", _ints("q", costs), "ns", null=-1))
    scores = memoryview(array("d", [row["score"] for row in rows])).toreadonly()
    columns.append(Column("score", scores, "nats"))
    columns.append(Texts("head", [row["head"] for row in rows]))
    columns.append(Column("rank", _ints("q", [row["rank"] for row in rows])))
    columns.append(Column("n_executions", _ints("q", [len(row["members"]) for row in rows])))
    columns.append(Column("n_open", _ints("q", n_open)))
    columns.append(Column("n_ranks", _ints("q", [len(row["ranks"]) for row in rows])))
    for name in ("turns", "period"):
        columns.append(Column(name, _ints("q", [row[name] for row in rows])))
    for name in ("cause", "why"):
        columns.append(Texts(name, [row[name] or "" for row in rows]))
    return Table(columns, len(rows))

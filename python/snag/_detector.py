"""Events of a program that runs, judged step by step: pushed here, or read from a source."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import byref, c_void_p
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Union

from . import _library as lib

Names = Union[None, str, Sequence[str]]


class CallVerdict(NamedTuple):
    """A call that took strangely long, of any function; times in ns."""

    rank: int
    thread: int
    region: str
    enter_ns: int
    inclusive_ns: int
    exclusive_ns: int
    score: float
    severity_ns: float  # time beyond what is typical
    p: float  # how likely a normal call is to be as strange: a false alarm


class ExecutionVerdict(NamedTuple):
    """An execution of a function of interest, strange or not; times in ns."""

    rank: int
    thread: int
    index: int  # type: ignore[assignment]  # of its thread, from 0
    function: str
    enter_ns: int
    duration_ns: int
    n_calls: int  # of the tree
    is_judged: bool  # False: too few to compare it with yet
    is_anomaly: bool
    score: float
    threshold: float
    reason: Optional[str]  # of an anomaly

    @property
    def id(self) -> str:
        """``#1-40``, ``#1.2-40`` off the master thread."""
        thread = ".%d" % self.thread if self.thread else ""
        return "#%d%s-%d" % (self.rank, thread, self.index)


Verdict = Union[CallVerdict, ExecutionVerdict]


def _names(names: Names) -> List[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _check_number(what: str, n: int) -> None:
    if not 0 <= n < lib.NONE_32:
        raise lib.Error("a %s is 0 or more, and below 2^32 - 1, not %d" % (what, n))


class Detector:
    """Judges the events of a program that are pushed into it; of several threads, one at a
    time.

    ``foi``: functions of interest, or patterns; ``model``: a file, whose function is one of
    interest and judged by it. Events of one location come in time order; times are in ns, below
    2^62. :meth:`step` once a second, or every million events, keeps memory bounded.

    >>> detector = Detector(foi="step")
    >>> here = detector.location(rank=0)
    >>> step = detector.region("step")
    >>> for i in range(200):
    ...     detector.enter(here, 100000 * i, step)
    ...     detector.leave(here, 100000 * i + (90000 if i == 150 else 100 + i % 3), step)
    >>> told = detector.end()
    >>> [x.id for x in told if isinstance(x, ExecutionVerdict) and x.is_anomaly]
    ['#0-150']
    """

    def __init__(
        self,
        foi: Names = None,
        model: Union[None, str, "os.PathLike[str]"] = None,
        **source: Any,
    ) -> None:
        library = lib.library()
        names = _names(foi)
        self._verdicts: List[Verdict] = []
        self._on = (lib.ON_CALL(self._take_call), lib.ON_EXECUTION(self._take_execution))
        options: Any = lib.DetectorOptions()
        options.size = ctypes.sizeof(options)
        options.function = lib.names_array(names)
        options.n_functions = len(names)
        options.model = None if model is None else lib.name_bytes(os.fspath(model))
        options.on_call, options.on_execution = self._on
        for name, value in source.items():
            setattr(options, name, value)
        value = c_void_p()
        lib.check(library.snag_detector_open(byref(options), byref(value)))
        self._kept = options
        self._handle = lib.Handle(int(value.value or 0), library.snag_detector_close)
        self._lock = threading.Lock()
        self._functions = {
            name: getattr(library, "snag_" + name)
            for name in ("enter", "leave", "send", "receive", "count")
        }

    def _take_call(self, ctx: Any, call: Any) -> None:
        c = call.contents
        self._verdicts.append(
            CallVerdict(
                c.rank,
                c.thread,
                lib.text(c.region),
                c.enter_ns,
                c.inclusive_ns,
                c.exclusive_ns,
                c.score,
                c.severity_ns,
                c.p,
            )
        )

    def _take_execution(self, ctx: Any, execution: Any) -> None:
        x = execution.contents
        self._verdicts.append(
            ExecutionVerdict(
                x.rank,
                x.thread,
                x.index,
                lib.text(x.function),
                x.enter_ns,
                x.duration_ns,
                x.n_calls,
                bool(x.is_judged),
                bool(x.is_anomaly),
                x.score,
                x.threshold,
                None if x.reason is None else lib.text(x.reason),
            )
        )

    def region(self, name: str) -> int:
        """The number of a region, the same every time."""
        return int(lib.library().snag_region(self._handle.value, lib.name_bytes(name)))

    def counter(self, name: str) -> int:
        """The number of a counter, the same every time."""
        return int(lib.library().snag_counter(self._handle.value, lib.name_bytes(name)))

    def location(self, rank: int, thread: int = 0) -> int:
        """The number of a thread of a rank, the same every time; both are 0 or more."""
        _check_number("rank", rank)
        _check_number("thread", thread)
        return int(lib.library().snag_location(self._handle.value, rank, thread))

    def enter(self, location: int, time_ns: int, region: int) -> None:
        """A call of a region begins."""
        self._functions["enter"](self._handle.value, location, time_ns, region)

    def leave(self, location: int, time_ns: int, region: int) -> None:
        """... and ends."""
        self._functions["leave"](self._handle.value, location, time_ns, region)

    def send(self, location: int, time_ns: int, to_rank: int, tag: int, bytes: int) -> None:
        """A message goes to a rank."""
        _check_number("rank", to_rank)
        self._functions["send"](self._handle.value, location, time_ns, to_rank, tag, bytes)

    def receive(
        self, location: int, time_ns: int, from_rank: int, tag: int, bytes: int
    ) -> None:
        """A message has come from a rank."""
        _check_number("rank", from_rank)
        self._functions["receive"](self._handle.value, location, time_ns, from_rank, tag, bytes)

    def count(self, location: int, time_ns: int, counter: int, value: float) -> None:
        """What a counter reads."""
        self._functions["count"](self._handle.value, location, time_ns, counter, value)

    def _told(self, status: int) -> List[Verdict]:
        lib.check(status)
        told, self._verdicts = self._verdicts, []
        return told

    def step(self) -> List[Verdict]:
        """Judge all calls and executions that have finished."""
        with self._lock:
            return self._told(lib.library().snag_detector_step(self._handle.value))

    def end(self) -> List[Verdict]:
        """The last step: what is open ends now, and no events may follow."""
        with self._lock:
            return self._told(lib.library().snag_detector_end(self._handle.value))

    @property
    def damage(self) -> int:
        """How much was wrong with the events so far: left out, repaired."""
        return int(lib.library().snag_detector_damage(self._handle.value))

    def _read(self, timeout_ms: int) -> int:
        with self._lock:
            return lib.check(lib.library().snag_detector_next(self._handle.value, timeout_ms))


def watch(
    source: Union[str, "os.PathLike[str]"],
    foi: Names = None,
    model: Union[None, str, "os.PathLike[str]"] = None,
    step_s: float = 1.0,
    speed: float = 0.0,
    connect_s: float = 60.0,
    everything: bool = False,
) -> Iterator[Verdict]:
    """Verdicts on a program while it runs: strange calls, and anomalies of functions of
    interest.

    ``source``: ``tracer:PATH``, a socket that a program under the tracer connects to;
    ``replay:TRACE`` or a trace, as if its program ran now, in steps of ``step_s`` seconds of
    the trace and ``speed`` of these a second (0: as fast as it goes). ``connect_s``: how long
    to wait for a program that is not there yet. ``everything``: normal executions, too. Ends
    with the program, by an :class:`Error` if a function of interest was never called.

    >>> trace = "synth:100*step(a@1ms b@2ms);jitter=0.05;slow=b/47/5"
    >>> [(x.id, x.duration_ns > 9e6) for x in watch(trace, foi="step")]
    [('#0-46', True), ('#0-93', True)]
    """
    detector = Detector(
        foi,
        model,
        source=lib.name_bytes(os.fspath(source)),
        step_ns=max(int(step_s * 1e9), 1),
        speed=speed,
        connect_ms=int(connect_s * 1e3),
    )
    state = 1
    failed: Optional[lib.Error] = None
    while state != 0:
        try:
            state = detector._read(200)
        except lib.Error as error:
            state, failed = 0, error  # after what was judged before
        for verdict in detector._told(0):
            if everything or isinstance(verdict, CallVerdict) or verdict.is_anomaly:
                yield verdict
    if failed is not None:
        raise failed

"""snag: find the executions of a parallel program's functions that do not belong, and say why.

>>> import snag, tempfile
>>> trace = "synth:100*step(a@1ms b(c@1ms d@2ms >1 <1));ranks=3;jitter=0.05;slow=d/47/5"
>>> run = snag.analyze(trace, foi="step", out=tempfile.mkdtemp() + "/r.snag")
>>> len(run), len(run.anomalies), run.calls.names[2:5]
(300, 6, ['enter_ns', 'inclusive_ns', 'region'])
>>> worst = run.anomalies[0]
>>> worst.id, worst.why.split(":")[0]
('#2-93', '8.17 ms longer than a typical execution with the same calls (4.09 ms)')

Tables (``run.executions``, ``run.calls``, ``run.messages``, ``run.incidents``,
``run.locations``) are columns without a copy: ``.to_numpy()``, ``.to_pandas()``, and by the
Arrow PyCapsule interface whatever polars, pyarrow, DuckDB or pandas make of it. Times are in
nanoseconds since the start of the trace; scores grow with strangeness.

It is libsnag by ctypes; what the library has no function for is asked of the command ``snag``
beside it, where the documentation says so. docs/python.md begins with examples.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_void_p
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _command
from . import _library as _lib
from ._detector import CallVerdict, Detector, ExecutionVerdict, Verdict, watch
from ._draw import Drawing
from ._library import DamagedWarning, Error, SnagWarning
from ._run import Execution, PathLike, Run
from ._table import Column, Table

__all__ = [
    "CallVerdict",
    "Column",
    "DamagedWarning",
    "Detector",
    "Drawing",
    "Error",
    "Execution",
    "ExecutionVerdict",
    "Run",
    "SnagWarning",
    "Table",
    "Verdict",
    "analyze",
    "compare",
    "open",
    "version",
    "watch",
]


def version() -> str:
    """Of the library that is loaded: ``"0.1.0"``."""
    return _lib.text(_lib.library().snag_version())


def open(path: PathLike, foi: Optional[str] = None) -> Run:
    """Open a run, a directory that :func:`analyze` or ``snag analyze`` has made.

    ``foi``: the function of interest to ask about; the first by default. Instant, whatever the
    size: columns are mapped.
    """
    return Run(path, foi)


def _named_after(trace: str) -> str:
    """The trace's name, or that of its directory, in this directory."""
    if trace.startswith("synth:"):
        raise _lib.Error("a trace that is a sentence gives its run no name: say it with out=")
    path = os.path.abspath(trace)
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem == "traces":
        stem = os.path.basename(os.path.dirname(path)) or stem
    return stem + ".snag"


def analyze(
    trace: PathLike,
    foi: Union[None, str, Sequence[str]] = None,
    out: Optional[PathLike] = None,
    *,
    detector: Optional[str] = None,
    features: Optional[str] = None,
    model: Optional[PathLike] = None,
    threads: int = 0,
    seed: int = 1,
    replace: bool = False,
) -> Run:
    """Make a run of a trace, and open it.

    ``trace``: a file, or anything else that ``snag analyze`` takes; ``foi``: functions of
    interest, names or patterns (what suits best, by default); ``out``: the directory that is
    made (by default named after the trace, here); ``detector``: ``"residual"``, ``"ocsvm"``,
    ``"lof"``, ``"knn"``, ``"iforest"``; ``features``: what it compares; ``model``: a file, to
    score by; ``threads``: 0, as many as there are processors; ``replace``: a run of that name
    is replaced, its labels kept.

    A trace that is damaged is analysed as far as it can be read, with a
    :class:`DamagedWarning`. The trace is read in this process: one that crashes a library below
    crashes it, where ``snag analyze`` survives, and Ctrl-C comes when it is done.
    """
    library = _lib.library()
    names = [foi] if isinstance(foi, str) else list(foi or [])
    path = os.fspath(out) if out is not None else _named_after(os.fspath(trace))
    options: Any = _lib.AnalyzeOptions()
    if threads < 0:
        raise _lib.Error("threads: 0 or more, not %d" % threads)
    array = _lib.names_array(names)
    options.size = ctypes.sizeof(options)
    options.function = array
    options.n_functions = len(names)
    options.detector = detector.encode() if detector else None
    options.features = features.encode() if features else None
    options.threads, options.seed, options.replace = threads, seed, int(replace)
    kept = None
    if model is not None:
        value = c_void_p()
        opened = library.snag_model_open(_lib.name_bytes(os.fspath(model)), byref(value))
        _lib.check(opened)
        kept = _lib.Handle(int(value.value or 0), library.snag_model_close)
        options.model = kept.value
    status = _lib.check(
        library.snag_analyze(
            _lib.name_bytes(os.fspath(trace)), _lib.name_bytes(path), byref(options)
        )
    )
    del kept
    if status == _lib.DAMAGED:
        import warnings

        text = "'%s' was damaged: what could be read was analysed" % os.fspath(trace)
        warnings.warn(text, _lib.DamagedWarning, stacklevel=2)
    return Run(path)


Runs = Union[Run, PathLike, Sequence[Union[Run, PathLike]]]


def _paths(runs: Runs) -> List[str]:
    if isinstance(runs, (str, os.PathLike, Run)):
        runs = [runs]
    for run in runs:
        if isinstance(run, Run):
            run._check_same()
    return [run.path if isinstance(run, Run) else os.fspath(run) for run in runs]


def compare(base: Runs, new: Runs, foi: Optional[str] = None) -> Dict[str, Any]:
    """What changed from one run to another, or from some runs to others: ``snag compare
    --json``.

    A side is a run, a trace (which is analysed first), a history, or a list of runs. Asks the
    command, whose fields docs/formats.md has.
    """
    arguments = [part for path in _paths(base) for part in ("--base", path)]
    arguments += _paths(new)
    if foi is not None:
        arguments += ["--foi", foi]
    answer: Dict[str, Any] = _command.ask("compare", *arguments)
    return answer

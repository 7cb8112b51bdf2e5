"""libsnag by ctypes: where it is found, what its functions take, and errors as exceptions.

The library is loaded when it is first needed, not when ``snag`` is imported. Structures have
the layout of ``include/snag/snag.h``; their arrays are addresses, which :func:`view` makes
memory of that keeps its owner alive.
"""

from __future__ import annotations

import collections
import ctypes
import os
import sys
import threading
from ctypes import (
    POINTER,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple, Type

ALL_LOCATIONS = 2 ** (8 * ctypes.sizeof(c_size_t)) - 1
NONE_32 = 2**32 - 1
NONE_64 = 2**64 - 1

DAMAGED = 1
NOT_FOUND = -5


class Error(Exception):
    """What snag says went wrong; ``code`` is one of ``enum snag_error`` of ``snag.h``.

    A command that fails has its exit status instead, which is positive.
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class SnagWarning(UserWarning):
    """What snag warns of: a model that lacks labels, a rank that is no longer listened to."""


class DamagedWarning(SnagWarning):
    """A trace was damaged: what could be read was analysed."""


# ------------------------------------------------------------------------------ structures


def _struct(name: str, fields: Sequence[Tuple[str, Any]]) -> Type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": list(fields)})


def _columns(name: str, columns: str) -> Type[ctypes.Structure]:
    """n, then the address of an array for each column."""
    return _struct(name, [("n", c_size_t)] + [(column, c_void_p) for column in columns.split()])


Executions = _columns(
    "Executions",
    "rank thread index enter_ns duration_ns n_vertices n_messages score is_anomaly label",
)
Losses = _columns(
    "Losses", "location call typical_ns lost_ns tracer_ns error_ns cost_ns p is_open"
)
Vertices = _columns("Vertices", "region parent enter_ns inclusive_ns exclusive_ns")
Locations = _columns(
    "Locations", "rank thread is_gpu name node first_call n_calls first_message n_messages"
)
Calls = _columns("Calls", "enter_ns inclusive_ns region subtree_len depth")
Messages = _columns("Messages", "message")

AnalyzeOptions = _struct(
    "AnalyzeOptions",
    [
        ("size", c_size_t),
        ("function", POINTER(c_char_p)),
        ("n_functions", c_size_t),
        ("detector", c_char_p),
        ("features", c_char_p),
        ("model", c_void_p),
        ("threads", ctypes.c_uint),
        ("seed", c_uint64),
        ("replace", c_int),
    ],
)

JudgedCall = _struct(
    "JudgedCall",
    [
        ("rank", c_uint32),
        ("thread", c_uint32),
        ("region", c_char_p),
        ("enter_ns", c_uint64),
        ("inclusive_ns", c_uint64),
        ("exclusive_ns", c_uint64),
        ("score", c_double),
        ("severity_ns", c_double),
        ("p", c_double),
    ],
)
JudgedExecution = _struct(
    "JudgedExecution",
    [
        ("rank", c_uint32),
        ("thread", c_uint32),
        ("index", c_uint32),
        ("function", c_char_p),
        ("enter_ns", c_uint64),
        ("duration_ns", c_uint64),
        ("n_calls", c_size_t),
        ("is_judged", c_int),
        ("is_anomaly", c_int),
        ("score", c_double),
        ("threshold", c_double),
        ("reason", c_char_p),
    ],
)
ON_CALL = ctypes.CFUNCTYPE(None, c_void_p, POINTER(JudgedCall))
ON_EXECUTION = ctypes.CFUNCTYPE(None, c_void_p, POINTER(JudgedExecution))
DetectorOptions = _struct(
    "DetectorOptions",
    [
        ("size", c_size_t),
        ("function", POINTER(c_char_p)),
        ("n_functions", c_size_t),
        ("model", c_char_p),
        ("on_call", ON_CALL),
        ("on_execution", ON_EXECUTION),
        ("ctx", c_void_p),
        ("source", c_char_p),
        ("step_ns", c_uint64),
        ("speed", c_double),
        ("connect_ms", ctypes.c_uint),
    ],
)

ON_WARNING = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)

_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "snag_version": (c_char_p, []),
    "snag_message": (c_char_p, []),
    "snag_on_warning": (None, [ON_WARNING, c_void_p]),
    "snag_model_open": (c_int, [c_char_p, POINTER(c_void_p)]),
    "snag_model_close": (None, [c_void_p]),
    "snag_analyze": (c_int, [c_char_p, c_char_p, POINTER(AnalyzeOptions)]),
    "snag_run_open": (c_int, [c_char_p, POINTER(c_void_p)]),
    "snag_run_close": (None, [c_void_p]),
    "snag_run_functions": (c_size_t, [c_void_p]),
    "snag_run_function": (c_char_p, [c_void_p, c_size_t]),
    "snag_run_regions": (c_size_t, [c_void_p]),
    "snag_run_region": (c_char_p, [c_void_p, c_uint32]),
    "snag_run_executions": (c_int, [c_void_p, c_size_t, POINTER(Executions)]),
    "snag_executions_release": (None, [POINTER(Executions)]),
    "snag_run_losses": (c_int, [c_void_p, c_size_t, POINTER(Losses)]),
    "snag_losses_release": (None, [POINTER(Losses)]),
    "snag_run_vertices": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(Vertices)]),
    "snag_vertices_release": (None, [POINTER(Vertices)]),
    "snag_run_locations": (c_int, [c_void_p, POINTER(Locations)]),
    "snag_locations_release": (None, [POINTER(Locations)]),
    "snag_run_calls": (c_int, [c_void_p, c_size_t, POINTER(Calls)]),
    "snag_run_messages": (c_int, [c_void_p, c_size_t, POINTER(Messages)]),
    "snag_run_check": (c_int, [c_void_p, c_size_t]),
    "snag_run_check_same": (c_int, [c_void_p]),
    "snag_run_check_regions": (c_int, [c_void_p, c_size_t]),
    "snag_run_reason": (c_int, [c_void_p, c_size_t, c_size_t, c_char_p, c_size_t]),
    "snag_run_label": (c_int, [c_void_p, c_size_t, c_size_t, c_int, c_char_p]),
    "snag_run_retrain": (c_int, [c_void_p, c_size_t, c_char_p, POINTER(c_size_t)]),
    "snag_run_undo": (c_int, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "snag_run_save_model": (c_int, [c_void_p, c_size_t, c_char_p]),
    "snag_detector_open": (c_int, [POINTER(DetectorOptions), POINTER(c_void_p)]),
    "snag_detector_close": (None, [c_void_p]),
    "snag_region": (c_uint32, [c_void_p, c_char_p]),
    "snag_counter": (c_uint32, [c_void_p, c_char_p]),
    "snag_location": (c_uint32, [c_void_p, c_uint32, c_uint32]),
    "snag_enter": (None, [c_void_p, c_uint32, c_uint64, c_uint32]),
    "snag_leave": (None, [c_void_p, c_uint32, c_uint64, c_uint32]),
    "snag_send": (None, [c_void_p, c_uint32, c_uint64, c_uint32, c_uint32, c_uint64]),
    "snag_receive": (None, [c_void_p, c_uint32, c_uint64, c_uint32, c_uint32, c_uint64]),
    "snag_count": (None, [c_void_p, c_uint32, c_uint64, c_uint32, c_double]),
    "snag_detector_step": (c_int, [c_void_p]),
    "snag_detector_end": (c_int, [c_void_p]),
    "snag_detector_next": (c_int, [c_void_p, c_int]),
    "snag_detector_damage": (c_uint64, [c_void_p]),
}

# --------------------------------------------------------------------------------- loading

_NAME = "libsnag.so.1"
_lock = threading.Lock()
_library: Optional[ctypes.CDLL] = None
_warnings: Deque[str] = collections.deque()  # that were not said yet


def _keep_warning(_: Optional[int], said: Optional[bytes]) -> None:
    _warnings.append(text(said))  # from any thread, also while none of Python's waits for it


_taker = ON_WARNING(_keep_warning)  # the library calls it as long as it is there


def _say_warnings() -> None:
    """What was kept, as if the first caller that is not of this package had said it."""
    import warnings

    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    while True:
        try:
            said = _warnings.popleft()  # another thread may take the last one
        except IndexError:
            return
        warnings.warn(said, SnagWarning, stacklevel=level)


def path() -> str:
    """Where the library is: ``$SNAG_LIBRARY``, else in this package, else by its name."""
    said = os.environ.get("SNAG_LIBRARY")
    if said:
        return said
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", _NAME)
    return own if os.path.exists(own) else _NAME


def _load() -> ctypes.CDLL:
    if sys.byteorder != "little":
        raise Error("columns of a run are little-endian, this machine is not")
    try:
        library = ctypes.CDLL(path())
    except OSError as error:
        raise Error(
            "cannot load %s: %s; install the wheel, or set SNAG_LIBRARY to libsnag.so"
            % (_NAME, error)
        ) from error
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise Error(
                "'%s' is older than this package: it has no %s" % (path(), name)
            ) from None
        function.restype = result
        function.argtypes = arguments
    library.snag_on_warning(_taker, None)
    return library


def library() -> Any:
    """libsnag, loaded once."""
    global _library
    with _lock:
        if _library is None:
            _library = _load()
        return _library


def check(status: int) -> int:
    """``status`` of a function of the library, if it is no error; raises :class:`Error`.

    What the library warned of until then is said, too.
    """
    if status < 0:
        message = text(library().snag_message())
        message = message.replace("(--force replaces", "(replace=True replaces")
        raise Error(message.replace("open it again", "open it again, or refresh()"), status)
    if _warnings:
        _say_warnings()
    return status


# ---------------------------------------------------------------------------------- memory


def text(data: Optional[bytes]) -> str:
    """A text of the library; bytes that are no UTF-8 are shown as ``\\xNN``."""
    return (data or b"").decode("utf-8", "backslashreplace")


def name_bytes(name: str) -> bytes:
    return os.fsencode(name)


def names_array(names: Sequence[str]) -> Any:
    """An array of strings; NULL if there are none."""
    return (c_char_p * len(names))(*[os.fsencode(name) for name in names]) if names else None


class Handle:
    """A handle of the library, closed when nobody refers to it or to memory of it."""

    def __init__(self, value: int, close: Callable[[int], None]) -> None:
        self.value = value
        self._close = close

    def __del__(self) -> None:
        self._close(self.value)


class Columns:
    """Columns that the library has made, released when nobody refers to their memory."""

    def __init__(
        self, columns: ctypes.Structure, release: Optional[Any], owner: object
    ) -> None:
        self.columns: Any = columns
        self._release = release
        self._owner = owner

    def __del__(self) -> None:
        if self._release is not None:
            self._release(byref(self.columns))

    @property
    def n(self) -> int:
        return int(self.columns.n)

    def view(self, column: str, format: str) -> memoryview:
        """(n) values of a column, not to be written to."""
        return view(getattr(self.columns, column), self.n, format, self)


def view(address: Optional[int], n: int, format: str, owner: object) -> memoryview:
    """(n) values at an address, of a ``struct`` format, that keep ``owner`` alive."""
    if not address or n == 0:
        return memoryview(b"").cast(format)
    block: Any = (ctypes.c_ubyte * (n * WIDTH[format])).from_address(address)
    block.owner = owner
    flat = memoryview(block).cast("B").toreadonly()
    return flat.cast(format)


WIDTH = {"Q": 8, "q": 8, "d": 8, "I": 4, "i": 4, "H": 2, "B": 1, "b": 1, "?": 1}

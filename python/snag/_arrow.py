"""Tables for others by the Arrow C data interface, with nothing but ctypes.

A structure that is exported has, as its private data, a number under which :data:`_kept` holds
what its memory is: the buffers, the structures of its children. Whoever takes it calls its
release, in whatever thread, and the entry goes. A child that was moved out by the consumer
lives on, as it has an entry of its own.

https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html and
CDataInterface/PyCapsuleInterface.html
"""

from __future__ import annotations

import ctypes
import functools
import itertools
from ctypes import addressof, c_char_p, c_int, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

if TYPE_CHECKING:
    from ._table import Column, Table

_NULLABLE = 2
_EIO = 5
_ARROW = {
    "Q": "L",
    "q": "l",
    "d": "g",
    "I": "I",
    "i": "i",
    "H": "S",
    "B": "C",
    "b": "c",
    "?": "b",
}


class Schema(ctypes.Structure):
    _fields_ = [
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_char_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class Array(ctypes.Structure):
    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


@functools.lru_cache(maxsize=None)
def _times(kind: Any, n: int) -> Any:
    """The type of n of a kind, kept: ctypes would make it anew for each batch."""
    return kind * n


_kept: Dict[int, Any] = {}
_numbers = itertools.count(1)


def exported() -> int:
    """How many structures others have not released yet."""
    return len(_kept)


def _entry(function: Any) -> Optional[int]:
    """Where a function of C type begins; the function has to stay."""
    return ctypes.cast(function, c_void_p).value


def _keep(structure: Any, what: Any, release: Optional[int]) -> None:
    number = next(_numbers)
    _kept[number] = what
    structure.private_data = number
    structure.release = release


def _release_below(kind: Any, address: int) -> None:
    """Of a schema or an array, and of its children that were not moved."""
    structure = kind.from_address(address)
    below: List[int] = []
    if structure.n_children:
        below += list(_times(c_void_p, structure.n_children).from_address(structure.children))
    if structure.dictionary:
        below.append(structure.dictionary)
    for child in below:
        if kind.from_address(child).release:
            _release_below(kind, child)
    number = structure.private_data
    structure.release = None
    _kept.pop(number, None)


def _release_schema(address: int) -> None:
    _release_below(Schema, address)


def _release_array(address: int) -> None:
    _release_below(Array, address)


_RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
_FUNCTIONS = [_RELEASE(_release_schema), _RELEASE(_release_array)]
_SCHEMA_RELEASE, _ARRAY_RELEASE = map(_entry, _FUNCTIONS)


def _addresses(structures: Any) -> Any:
    width = ctypes.sizeof(structures._type_)
    first = addressof(structures)
    n = len(structures)
    return _times(c_void_p, n)(*[first + i * width for i in range(n)])


# -------------------------------------------------------------------------------- schemas


def _metadata(pairs: Dict[str, str]) -> Optional[bytes]:
    if not pairs:
        return None
    out = len(pairs).to_bytes(4, "little")
    for item in itertools.chain.from_iterable(pairs.items()):
        data = item.encode()
        out += len(data).to_bytes(4, "little") + data
    return out


def _describe(out: Any, format: str, name: str, flags: int, unit: str = "") -> List[Any]:
    kept = [format.encode(), name.encode(), _metadata({"unit": unit} if unit else {})]
    out.format, out.name, out.metadata = kept
    out.flags = flags
    return kept


def _column_schema(column: Column, out: Any) -> None:
    flags = _NULLABLE if column.null is not None else 0
    format = (
        "U" if column.is_text else "i" if column.names is not None else _ARROW[column.format]
    )
    kept = _describe(out, format, column.name, flags, column.unit)
    if column.names is not None:
        names = Schema()
        _keep(names, _describe(names, "U", "", 0), _SCHEMA_RELEASE)
        out.dictionary = addressof(names)
        kept.append(names)
    _keep(out, kept, _SCHEMA_RELEASE)


def schema(table: Table, out: Any) -> None:
    """A structure of the table's columns."""
    ctypes.memset(addressof(out), 0, ctypes.sizeof(out))
    children = _times(Schema, len(table.columns))()
    for column, child in zip(table.columns, children):
        _column_schema(column, child)
    addresses = _addresses(children)
    kept = _describe(out, "+s", "", 0) + [children, addresses]
    out.n_children = len(children)
    out.children = addressof(addresses)
    _keep(out, kept, _SCHEMA_RELEASE)


# --------------------------------------------------------------------------------- arrays


def _address(buffer: Any) -> int:
    """Of memory that nobody may write to, too; of an empty one, of any byte."""
    data = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(buffer), ctypes.byref(data), 0)
    address = data.buf
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(data))
    return address or addressof(_nothing)


class _Buffer(ctypes.Structure):
    """The begin of CPython's Py_buffer, and room for the rest."""

    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("rest", c_void_p * 14)]


_nothing = (ctypes.c_uint64 * 8)()


def _fill(out: Any, n: int, buffers: List[Any], n_null: int = 0) -> List[Any]:
    addresses = _times(c_void_p, len(buffers))(
        *[None if buffer is None else _address(buffer) for buffer in buffers]
    )
    out.length, out.null_count = n, n_null
    out.n_buffers, out.buffers = len(buffers), addressof(addresses)
    return [addresses, buffers]


def texts_of(texts: List[str]) -> List[Any]:
    """Offsets and bytes of large_utf8."""
    encoded = [text.encode("utf-8", "backslashreplace") for text in texts]
    offsets = memoryview((ctypes.c_int64 * (len(texts) + 1))()).cast("B").cast("q")
    for i, data in enumerate(encoded):
        offsets[i + 1] = offsets[i] + len(data)
    return [offsets, b"".join(encoded)]


def bits(flags: Any) -> bytes:
    """(n) bytes of 0 or 1 as bits, the lowest first: O(n), and no loop in Python."""
    n = len(flags)
    if n == 0:
        return b""
    digits = bytes(flags)[::-1].translate(_DIGITS)
    return int(digits, 2).to_bytes((n + 7) // 8, "little")


_DIGITS = bytes([ord("0")] + [ord("1")] * 255)


def _column_array(column: Column, begin: int, end: int, out: Any) -> None:
    n = end - begin
    validity, n_null = column.validity(begin, end)
    if column.is_text:
        kept = _fill(out, n, [None] + texts_of(column.texts(begin, end)))
    elif column.format == "?":
        kept = _fill(out, n, [validity, bits(column.contiguous(begin, end))], n_null)
    else:
        kept = _fill(out, n, [validity, column.contiguous(begin, end)], n_null)
    if column.names is not None:
        names = Array()
        _keep(
            names,
            _fill(names, len(column.names), [None] + column.encoded_names()),
            _ARRAY_RELEASE,
        )
        out.dictionary = addressof(names)
        kept.append(names)
    _keep(out, kept, _ARRAY_RELEASE)


def array(table: Table, begin: int, end: int, out: Any) -> None:
    """Rows [begin, end) of a table, as a structure whose children are the columns."""
    ctypes.memset(addressof(out), 0, ctypes.sizeof(out))
    children = _times(Array, len(table.columns))()
    for column, child in zip(table.columns, children):
        _column_array(column, begin, end, child)
    addresses = _addresses(children)
    kept = _fill(out, end - begin, [None]) + [children, addresses]
    out.n_children = len(children)
    out.children = addressof(addresses)
    _keep(out, kept, _ARRAY_RELEASE)


# -------------------------------------------------------------------------------- streams


class _Reading:
    def __init__(self, table: Table) -> None:
        self.table = table
        self.batch: Iterator[Tuple[int, int]] = iter(table.batches())
        self.error: Optional[bytes] = None


def _reading(address: int) -> _Reading:
    reading: _Reading = _kept[Stream.from_address(address).private_data]
    return reading


def _get_schema(address: int, out: int) -> int:
    schema(_reading(address).table, Schema.from_address(out))
    return 0


def _get_next(address: int, out: int) -> int:
    reading = _reading(address)
    try:
        rows = next(reading.batch, None)
        if rows is None:
            Array.from_address(out).release = None
        else:
            array(reading.table, rows[0], rows[1], Array.from_address(out))
    except Exception as error:  # nobody above could catch it
        reading.error = str(error).encode("utf-8", "backslashreplace")
        return _EIO
    return 0


def _get_last_error(address: int) -> Optional[int]:
    error = _reading(address).error
    return None if error is None else ctypes.cast(c_char_p(error), c_void_p).value


def _release_stream(address: int) -> None:
    structure = Stream.from_address(address)
    number = structure.private_data
    structure.release = None
    _kept.pop(number, None)


_GET = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
_STREAM_FUNCTIONS = [
    _GET(_get_schema),
    _GET(_get_next),
    ctypes.CFUNCTYPE(c_void_p, c_void_p)(_get_last_error),
    _RELEASE(_release_stream),
]
_GET_SCHEMA, _GET_NEXT, _GET_LAST_ERROR, _STREAM_RELEASE = map(_entry, _STREAM_FUNCTIONS)


def stream(table: Table, out: Any) -> None:
    """Batches of a table."""
    out.get_schema = _GET_SCHEMA
    out.get_next = _GET_NEXT
    out.get_last_error = _GET_LAST_ERROR
    _keep(out, _Reading(table), _STREAM_RELEASE)


# ------------------------------------------------------------------------------- capsules

_structures: Dict[int, Any] = {}
_pointer_of = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_name_of = ctypes.PYFUNCTYPE(c_char_p, c_void_p)(("PyCapsule_GetName", ctypes.pythonapi))


def _forget(capsule: int) -> None:
    """A capsule is gone: what nobody took out of it is released."""
    address = _pointer_of(capsule, _name_of(capsule))
    structure = _structures.pop(address, None)
    if structure is not None and structure.release:
        _RELEASE(structure.release)(address)


_FORGET = ctypes.PYFUNCTYPE(None, c_void_p)(_forget)


_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_NAMES = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}


def capsule(structure: Any) -> object:
    """A PyCapsule of a structure, which stays where it is until the capsule is gone."""
    address = addressof(structure)
    _structures[address] = structure
    out: object = _new_capsule(address, _NAMES[type(structure)], _entry(_FORGET))
    return out

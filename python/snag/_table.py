"""Tables of columns, and the forms in which others take them.

A column is memory: of a file of a run that is mapped, or made once by the library. It is shown
as a ``memoryview``, as an array of numpy, or to others by the Arrow C data interface, each time
the same memory. What is made for it is said by the class: :class:`Repeated` (a value for each
location) and :class:`Strided` (a member of records) are, when they are asked for.
"""

from __future__ import annotations

import sys
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

from ._library import WIDTH

if TYPE_CHECKING:
    import numpy
    import pandas

_NUMPY = {"Q": "<u8", "q": "<i8", "d": "<f8", "I": "<u4", "i": "<i4", "H": "<u2", "B": "u1"}
_NUMPY.update({"b": "i1", "?": "?"})
_PANDAS = {"Q": "UInt64", "q": "Int64", "I": "UInt32", "i": "Int32"}
# Rows of a batch that others are given: few enough that what is looked at or made for them is
# in the cache when they read it, and that what all batches of a location share is small.
_MAX_BATCH = 1 << 18
_IN_CACHE = 1 << 16  # values


class Column:
    """One column: n values of one type, in memory of its own or of a mapped file.

    ``name``; ``format`` as of ``struct`` (``"Q"`` for unsigned 64 bits); ``unit`` (``"ns"``, or
    ``""``); ``null``, a value that means: not known; ``names``, of which the values are
    numbers.
    """

    is_text = False
    is_mapped = True

    def __init__(
        self,
        name: str,
        values: memoryview,
        unit: str = "",
        null: Optional[int] = None,
        names: Optional[List[str]] = None,
    ) -> None:
        self.name = name
        self.format = values.format
        self.unit = unit
        self.null = null
        self.names = names
        self._values = values
        self._encoded: List[Any] = []

    def __len__(self) -> int:
        return len(self._values)

    def value(self, row: int) -> Any:
        """Of a row: a number, a text of ``names``, or None."""
        value = self._values[row]
        if self.null is not None and value == self.null:
            return None
        return self.names[value] if self.names is not None else value

    def contiguous(self, begin: int, end: int) -> Any:
        """Memory of rows [begin, end), one after the other."""
        return self._values[begin:end]

    def texts(self, begin: int, end: int) -> List[str]:
        """Of a column of texts."""
        raise TypeError("%s has no texts" % self.name)

    def encoded_names(self) -> List[Any]:
        """``names`` as memory of Arrow, made once for all batches."""
        from ._arrow import texts_of

        if not self._encoded:
            self._encoded = texts_of(self.names or [])
        return self._encoded

    def numpy(self) -> numpy.ndarray[Any, Any]:
        """(n) values, not to be written to; of texts, objects. No copy where it is mapped."""
        import numpy

        return numpy.frombuffer(self._values, dtype=_NUMPY[self.format])

    def validity(self, begin: int, end: int) -> Tuple[Optional[bytes], int]:
        """Bits that say which of the rows [begin, end) are known, and how many are not."""
        from ._arrow import bits

        if self.null is None:
            return None, 0
        if "numpy" in sys.modules:
            import numpy

            known = self.numpy()[begin:end] != self.null
            n_null = len(known) - int(numpy.count_nonzero(known))
            return (
                (numpy.packbits(known, bitorder="little").tobytes(), n_null)
                if n_null
                else (None, 0)
            )
        flags = bytes([value != self.null for value in self._values[begin:end]])
        n_null = flags.count(0)
        return (bits(flags), n_null) if n_null else (None, 0)

    def _codes(self, values: Any) -> Any:
        """Numbers of names in few bytes, looked at while they are in the cache."""
        import numpy

        assert self.names is not None
        n = len(self.names)
        dtype = "i1" if n <= 128 else "i2" if n <= 32768 else "i4"
        codes = numpy.empty(len(values), dtype)
        for begin in range(0, len(values), _IN_CACHE):
            some = values[begin : begin + _IN_CACHE]
            highest = int(some.max())
            if highest >= n:
                raise ValueError("%s %d has no name" % (self.name, highest))
            codes[begin : begin + _IN_CACHE] = some
        return codes

    def pandas(self) -> Any:
        """What a column of a ``DataFrame`` is made of: a category for ``names``."""
        import pandas

        values = self.numpy()
        if self.names is not None:
            dtype = pandas.CategoricalDtype(self.names)
            codes = self._codes(values)  # which has looked at them: pandas need not once more
            if pandas.__version__ < "2.1":
                return pandas.Categorical(codes, dtype=dtype, fastpath=True)
            return pandas.Categorical.from_codes(codes, dtype=dtype, validate=False)
        if self.null is None:
            return values
        nullable: Any = pandas.array([], dtype=_PANDAS[self.format])
        return type(nullable)(values, values == self.null)


class Strided(Column):
    """A member of records that are mapped; without a copy for numpy, with one for Arrow."""

    def __init__(
        self,
        name: str,
        records: memoryview,
        width: int,
        offset: int,
        format: str,
        unit: str = "",
        null: Optional[int] = None,
    ) -> None:
        step = WIDTH[format]
        flat = records.cast("B").cast(format)
        super().__init__(name, flat[offset // step :: width // step], unit, null)
        self._place = (flat, offset // step, width // step)

    def contiguous(self, begin: int, end: int) -> Any:
        return self._values[begin:end].tobytes()

    def numpy(self) -> numpy.ndarray[Any, Any]:
        import numpy

        flat, first, step = self._place
        return numpy.frombuffer(flat, dtype=_NUMPY[self.format])[first::step]


class Repeated(Column):
    """A value for each location, as often as that has rows; made when it is asked for."""

    is_mapped = False

    def __init__(self, name: str, of_location: Sequence[int], starts: Sequence[int]) -> None:
        super().__init__(name, memoryview(b"").cast("I"))
        self._of_location = of_location
        self._starts = starts  # [locations + 1]
        self._made = (0, b"")  # a value, and so many of it as were wanted at most

    def __len__(self) -> int:
        return self._starts[-1]

    def value(self, row: int) -> Any:
        from bisect import bisect_right

        return self._of_location[bisect_right(self._starts, row) - 1]

    def contiguous(self, begin: int, end: int) -> Any:
        from bisect import bisect_left, bisect_right

        pieces = []
        first = bisect_right(self._starts, begin) - 1
        for location in range(max(first, 0), bisect_left(self._starts, end)):
            n = min(self._starts[location + 1], end) - max(self._starts[location], begin)
            if n > 0:
                pieces.append(self._some(int(self._of_location[location]), n))
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _some(self, value: int, n: int) -> memoryview:
        if self._made[0] != value or len(self._made[1]) < 4 * n:
            # of zeros, pages that are made when they are read
            data = value.to_bytes(4, "little") * n if value else bytes(4 * n)
            self._made = (value, data)
        return memoryview(self._made[1])[: 4 * n]

    def numpy(self) -> numpy.ndarray[Any, Any]:
        import numpy

        if not any(self._of_location):
            return numpy.zeros(len(self), dtype="<u4")  # pages that are never made
        out = numpy.empty(len(self), dtype="<u4")  # not zeros(): that takes no large pages
        for location, value in enumerate(self._of_location):
            out[self._starts[location] : self._starts[location + 1]] = value
        return out


class Texts(Column):
    """A column of texts."""

    is_text = True
    is_mapped = False

    def __init__(self, name: str, texts: List[str]) -> None:
        super().__init__(name, memoryview(b""))
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def value(self, row: int) -> Any:
        return self._texts[row]

    def texts(self, begin: int, end: int) -> List[str]:
        return self._texts[begin:end]

    def numpy(self) -> numpy.ndarray[Any, Any]:
        import numpy

        return numpy.array(self._texts, dtype=object)


class Arrays(Mapping[str, "numpy.ndarray[Any, Any]"]):
    """An array for each column of a table, by its name; made, where it is, when asked for."""

    def __init__(self, columns: Dict[str, Column]) -> None:
        self._columns = columns
        self._arrays: Dict[str, numpy.ndarray[Any, Any]] = {}

    def __getitem__(self, name: str) -> numpy.ndarray[Any, Any]:
        if name not in self._arrays:
            self._arrays[name] = self._columns[name].numpy()
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


class Table:
    """Rows of columns: ``len(table)``, ``table.names``, ``table["score"]``, ``table.row(3)``.

    polars, pyarrow, DuckDB and pandas 3 take it as it is (``pyarrow.table(table)``,
    ``polars.DataFrame(table)``), by the Arrow PyCapsule interface. Times are in
    nanoseconds since the start of the trace (columns ``..._ns``).
    """

    def __init__(
        self,
        columns: Sequence[Column],
        n: int,
        starts: Sequence[int] = (),
        check: Optional[Callable[[int], None]] = None,
    ) -> None:
        self.columns = list(columns)
        self._n = n
        self._starts = list(starts) or [0, n]
        self._check = check  # of a location, before others take its numbers for indices
        self._by_name = {column.name: column for column in self.columns}

    def __len__(self) -> int:
        return self._n

    @property
    def names(self) -> List[str]:
        """Names of the columns, in their order."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """A column with its type, unit and names."""
        if name not in self._by_name:
            raise KeyError("there is no column '%s' but %s" % (name, ", ".join(self.names)))
        return self._by_name[name]

    def __getitem__(self, name: str) -> Any:
        """(n) values of a column: an array of numpy where that is there, else a sequence.

        Not to be written to. Regions are numbers: ``table.column("region").names``.
        """
        column = self.column(name)
        try:
            return column.numpy()
        except ImportError:
            if column.is_text:
                return column.texts(0, self._n)
            data = column.contiguous(0, self._n)
            return memoryview(data).cast("B").cast(column.format)

    def select(self, *names: str) -> Table:
        """The same rows of these columns, in this order; nothing is copied."""
        columns = [self.column(name) for name in names]
        check = self._check if any(column.names is not None for column in columns) else None
        return Table(columns, self._n, self._starts, check)

    def row(self, row: int) -> Dict[str, Any]:
        """One row: values by names of columns; None for what is not known."""
        if not -self._n <= row < self._n:
            raise IndexError("row %d of %d" % (row, self._n))
        return {column.name: column.value(row % self._n) for column in self.columns}

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return (self.row(row) for row in range(self._n))

    def to_numpy(self) -> Arrays:
        """A (n) array for each column, by its name.

        Without a copy where a column is mapped; not to be written to. Regions are numbers; what
        is not known has the value ``column(name).null``.
        """
        return Arrays(self._by_name)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``DataFrame`` of (n) rows, without a copy where a column is mapped.

        Regions are categories, 1 to 4 bytes a row; columns in which something is not known are
        pandas' nullable integers. Of pandas 1.5 on.
        """
        import pandas

        return pandas.DataFrame(
            {column.name: column.pandas() for column in self.columns}, copy=False
        )

    # ------------------------------------------------------------------------- for others

    def batches(self) -> Iterator[Tuple[int, int]]:
        """Rows [begin, end) of each batch: of a location, checked, and not more than 2^18."""
        for location, begin in enumerate(self._starts[:-1]):
            end = self._starts[location + 1]
            if self._check is not None and begin < end:
                self._check(location)
            for at in range(begin, end, _MAX_BATCH):
                yield at, min(at + _MAX_BATCH, end)

    def __arrow_c_schema__(self) -> object:
        """The types of the columns; see the Arrow PyCapsule interface."""
        from . import _arrow

        schema = _arrow.Schema()
        _arrow.schema(self, schema)
        return _arrow.capsule(schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Batches of rows; see the Arrow PyCapsule interface. Other types are not made."""
        from . import _arrow

        stream = _arrow.Stream()
        _arrow.stream(self, stream)
        return _arrow.capsule(stream)

    def __arrow_c_array__(self, requested_schema: object = None) -> Tuple[object, object]:
        """All rows at once; see the Arrow PyCapsule interface. Other types are not made."""
        from . import _arrow

        for _ in self.batches():
            pass  # which checks them
        array = _arrow.Array()
        _arrow.array(self, 0, self._n, array)
        return self.__arrow_c_schema__(), _arrow.capsule(array)

    # ------------------------------------------------------------------------- for people

    def __repr__(self) -> str:
        return "<snag.Table of %d rows: %s>" % (self._n, ", ".join(self.names))

    def _repr_html_(self) -> str:
        from ._draw import table_html

        return table_html(self, 10)

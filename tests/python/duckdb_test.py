"""Tables of the package for Python, taken by a program that is not ours: DuckDB's C interface.

In the environment: SNAG_TEST_DUCKDB, its library; SNAG_TEST_RUNS, runs, a line each. It is a
test of its own, as DuckDB does not give back the types that it has asked a stream for.
"""

import os
import unittest

import snag
from snag import _arrow, _library


def _text(value):
    return "NULL" if value is None else value.decode()


class GoesToDuckDB(unittest.TestCase):
    def setUp(self):
        c = _library.ctypes
        pointer, text, number = c.c_void_p, c.c_char_p, c.c_uint64
        duck = self.duck = c.CDLL(os.environ["SNAG_TEST_DUCKDB"])
        duck.duckdb_open.argtypes = [text, pointer]
        duck.duckdb_connect.argtypes = [pointer, pointer]
        duck.duckdb_arrow_scan.argtypes = [pointer, text, pointer]
        duck.duckdb_query.argtypes = [pointer, text, pointer]
        duck.duckdb_row_count.argtypes, duck.duckdb_row_count.restype = [pointer], number
        duck.duckdb_column_count.argtypes, duck.duckdb_column_count.restype = [pointer], number
        duck.duckdb_result_error.argtypes, duck.duckdb_result_error.restype = [pointer], text
        duck.duckdb_value_varchar.argtypes = [pointer, number, number]
        duck.duckdb_value_varchar.restype = text
        self.database, self.connection = pointer(), pointer()
        self.assertEqual(duck.duckdb_open(None, c.byref(self.database)), 0)
        self.assertEqual(duck.duckdb_connect(self.database, c.byref(self.connection)), 0)

    def ask(self, query):
        result = _library.ctypes.byref((_library.ctypes.c_void_p * 8)())
        failed = self.duck.duckdb_query(self.connection, query.encode(), result)
        self.assertEqual(failed, 0, self.duck.duckdb_result_error(result))
        value = self.duck.duckdb_value_varchar
        width = self.duck.duckdb_column_count(result)
        return [
            [_text(value(result, column, row)) for column in range(width)]
            for row in range(self.duck.duckdb_row_count(result))
        ]

    def take(self, table, name):
        """All columns at once: of a part of them, that function takes the first ones."""
        stream = _arrow.Stream()
        _arrow.stream(table, stream)
        address = _library.ctypes.addressof(stream)
        self.assertEqual(
            self.duck.duckdb_arrow_scan(self.connection, name.encode(), address), 0
        )
        self.ask("CREATE TABLE own_%s AS SELECT * FROM %s" % (name, name))

    def test_values_are_those_of_the_run(self):
        for line in os.environ["SNAG_TEST_RUNS"].splitlines():
            run = snag.open(line)
            for name in ("calls", "executions", "messages", "incidents", "locations"):
                table = getattr(run, name)
                taken = "%s_%d" % (name, len(run))
                self.take(table, taken)
                rows = self.ask("SELECT * FROM own_%s LIMIT 2000" % taken)
                n = self.ask("SELECT count(*) FROM own_%s" % taken)
                self.assertEqual(n, [[str(len(table))]])
                for said, row in zip(rows, table):
                    for value, (column, ours) in zip(said, row.items()):
                        if isinstance(ours, float):
                            self.assertEqual(float(value), ours, (name, column))
                        elif isinstance(ours, bool):
                            self.assertEqual(value, str(ours).lower(), (name, column))
                        else:
                            want = "NULL" if ours is None else str(ours)
                            self.assertEqual(value, want, (name, column))


if __name__ == "__main__":
    unittest.main()

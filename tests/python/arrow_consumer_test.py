"""Tables of the package for Python, taken by arrow_consumer.c.

    arrow_consumer_test.py CONSUMER WORK

CONSUMER is the library that is made of it.
"""

import ctypes
import os
import struct
import sys
import unittest

import snag
from snag import _arrow, _table

CONSUMER, WORK = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1)
SENTENCE = "synth:60*step(a@1ms b(c@1ms d@2ms >1 <1));ranks=3;jitter=0.05;slow=d/47/5"


class Consumed(ctypes.Structure):
    _fields_ = [
        ("rows", ctypes.c_int64),
        ("batches", ctypes.c_int64),
        ("nulls", ctypes.c_int64 * 64),
        ("sum", ctypes.c_uint64 * 64),
        ("wrong", ctypes.c_char * 256),
    ]


def number(value, column):
    """A value as the consumer adds it up."""
    if column.is_text:
        return sum(value.encode())
    if column.names is not None:
        return column.names.index(value)
    if column.format == "d":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    width = struct.calcsize("<" + column.format)
    return int(value) % (1 << 8 * width)


class IsConsumed(unittest.TestCase):
    def consume(self, table):
        found = Consumed()
        stream = _arrow.Stream()
        _arrow.stream(table, stream)
        ctypes.CDLL(CONSUMER).consume_stream(ctypes.byref(stream), ctypes.byref(found))
        self.assertEqual(found.wrong, b"")
        self.assertEqual(_arrow.exported(), 0)
        return found

    def same(self, table, batches):
        found = self.consume(table)
        self.assertEqual((found.rows, found.batches), (len(table), batches))
        for i, column in enumerate(table.columns):
            values = [column.value(row) for row in range(len(table))]
            known = [number(value, column) for value in values if value is not None]
            self.assertEqual(found.nulls[i], len(values) - len(known), column.name)
            self.assertEqual(found.sum[i], sum(known) % (1 << 64), column.name)

    def test_all_tables(self):
        run = snag.analyze(SENTENCE, foi="step", out=os.path.join(WORK, "run.snag"))
        self.same(run.calls, 3)
        self.same(run.messages, 3)
        self.same(run.executions, 1)
        self.same(run.locations, 1)
        self.same(run.incidents, 1)
        self.same(run["#1-3"].tree, 1)
        self.same(run.calls.select("region", "depth"), 3)
        most = _table._MAX_BATCH
        _table._MAX_BATCH = 100
        try:
            self.same(run.calls, 15)
        finally:
            _table._MAX_BATCH = most

    def test_what_is_wrong_is_seen(self):
        """The consumer does not take a region that there is not."""
        run = snag.open(os.path.join(WORK, "run.snag"))
        table = run.calls.select("region")
        table.columns[0].names = table.columns[0].names[:1]
        table._check = None
        found, stream = Consumed(), _arrow.Stream()
        _arrow.stream(table, stream)
        ctypes.CDLL(CONSUMER).consume_stream(ctypes.byref(stream), ctypes.byref(found))
        self.assertIn(b"dictionary->length", found.wrong)


if __name__ == "__main__":
    unittest.main()

"""The package for Python: it says what the command says; memory, types, names, releases.

    package_test.py WORK [unittest's arguments]

WORK is an empty directory; in the environment are SNAG_LIBRARY and SNAG_COMMAND, and in
SNAG_TEST_TRACES traces that are to be compared as well, a line each: NAME FOI PATH.
"""

import ast
import contextlib
import csv
import doctest
import gc
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import unittest
import warnings
import xml.dom.minidom

WORK = sys.argv.pop(1)

import snag
from snag import _arrow, _command, _detector, _draw, _library, _table

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

SENTENCE = "synth:100*step(a@1ms b(c@1ms d@2ms >1 <1));ranks=3;jitter=0.05;slow=d/47/5"
TRACES = [("synth", "step", SENTENCE)]
TRACES += [
    tuple(line.split(" ", 2))
    for line in os.environ.get("SNAG_TEST_TRACES", "").splitlines()
    if line
]


def command(*arguments):
    done = subprocess.run(
        [_command.command_path(), *arguments], stdout=subprocess.PIPE, check=True
    )
    return done.stdout.decode()


_runs = {}


def run_of(name, foi, trace):
    if name not in _runs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", snag.DamagedWarning)
            path = os.path.join(WORK, name + ".snag")
            _runs[name] = snag.analyze(trace, foi=foi, out=path).path
    return snag.open(_runs[name])


def sentence():
    return run_of(*TRACES[0])


class SaysWhatTheCommandSays(unittest.TestCase):
    def each(self):
        for trace in TRACES:
            yield run_of(*trace)

    def test_executions(self):
        for run in self.each():
            said = [
                json.loads(line)
                for line in command(
                    "list", run.path, "--executions", "--all", "--json"
                ).splitlines()
            ]
            self.assertEqual(len(said), len(run))
            self.assertGreater(len(said), 0)
            print("%d executions compared" % len(said), file=sys.stderr)
            for x in said:
                execution = run[x["id"]]
                row = run.executions.row(execution.row)
                self.assertEqual(execution.id, x["id"])
                for ours, theirs in (
                    ("rank", "rank"),
                    ("thread", "thread"),
                    ("index", "index"),
                    ("enter_ns", "enter_ns"),
                    ("duration_ns", "duration_ns"),
                    ("typical_ns", "usual_ns"),
                    ("lost_ns", "lost_ns"),
                    ("cost_ns", "cost_ns"),
                    ("tracer_ns", "tracer_ns"),
                    ("error_ns", "off_ns"),
                    ("n_vertices", "vertices"),
                    ("n_messages", "messages"),
                ):
                    self.assertEqual(row[ours], x[theirs], (x["id"], ours))
                self.assertAlmostEqual(row["score"], x["score"], delta=1e-9 * abs(x["score"]))
                self.assertAlmostEqual(
                    row["p"], x["false_alarm_probability"], delta=1e-9 * row["p"]
                )
                self.assertEqual(execution.is_anomaly, x["verdict"] == "anomaly")
                self.assertEqual(row["is_open"], x["open_ns"] is not None)
                self.assertEqual(execution.why, x["why"])
            strange = [x["id"] for x in said if x["verdict"] == "anomaly"]
            self.assertEqual({x.id for x in run.anomalies}, set(strange))

    def test_calls(self):
        for run in self.each():
            calls = run.calls
            columns = [
                calls[name] for name in ("rank", "thread", "depth", "enter_ns", "inclusive_ns")
            ]
            region, names = calls["region"], calls.column("region").names
            rows = csv.DictReader(io.StringIO(command("export", run.path, "--what", "calls")))
            n = 0
            for i, row in enumerate(rows):
                want = [
                    int(row[k]) for k in ("rank", "thread", "depth", "enter_ns", "inclusive_ns")
                ]
                self.assertEqual([int(column[i]) for column in columns], want, i)
                self.assertEqual(names[region[i]], row["region"], i)
                n += 1
            self.assertEqual(n, len(calls))
            where = run.locations.row(len(run.locations) - 1)
            one = run.calls_of(where["rank"], where["thread"])
            self.assertEqual(len(one), where["n_calls"])
            if len(one):
                self.assertEqual(
                    one.row(0)["enter_ns"], calls.row(where["first_call"])["enter_ns"]
                )

    def test_messages(self):
        for run in self.each():
            with open(os.path.join(run.path, "calls", "messages.rec"), "rb") as file:
                records = list(struct.iter_unpack("<4Q6I", file.read()))
            table = run.messages
            self.assertEqual(len(table), len(records))
            none = {3: 2**64 - 1, 4: 2**32 - 1}
            for i in list(range(0, len(records), max(len(records) // 500, 1))):
                want = [None if none.get(k) == v else v for k, v in enumerate(records[i])]
                self.assertEqual(list(table.row(i).values())[2:], want)
            ends = run.locations
            self.assertEqual(sum(row["n_messages"] for row in ends), len(table))

    def test_incidents(self):
        for run in self.each():
            said = command("list", run.path, "--incidents", "--all", "--json").splitlines()
            said = [json.loads(line) for line in said]
            self.assertEqual(len(run.incidents), len(said))
            for x, row in zip(said, run.incidents):
                self.assertEqual(
                    [row["number"], row["head"], row["lost_ns"], row["cost_ns"], row["why"]],
                    [x["id"], x["head"], x["lost_ns"], x["cost_ns"], x["why"]],
                )
                if x["id"]:
                    self.assertEqual(run.members(x["id"]), x["members"])

    def test_tree(self):
        for run in self.each():
            for execution in [run[0], *run.anomalies[:3]]:
                tree = execution.tree
                self.assertEqual(len(tree), execution._values["n_vertices"])
                self.assertEqual(sum(map(int, tree["exclusive_ns"])), execution.duration_ns)
                paths = {}

                def add(path):
                    paths[path.names] = (path.n_calls, path.exclusive_ns)
                    for below in path.below.values():
                        add(below)

                add(_draw.call_paths(execution))
                said = execution.details["paths"]
                self.assertGreater(len(said), 0)
                for path in said:
                    if path["calls"]:
                        want = (path["calls"], path["exclusive_ns"])
                        self.assertEqual(paths[tuple(path["path"])], want)

    def test_what_is_asked_of_the_command(self):
        run = sentence()
        asked = json.loads(command("what-if", run.path, "--without", "incident=1", "--json"))
        self.assertEqual(run.what_if("incident=1"), asked)
        self.assertEqual(run.ranks(), json.loads(command("ranks", run.path, "--json")))
        again = snag.analyze(SENTENCE, foi="step", out=os.path.join(WORK, "again.snag"))
        self.assertEqual(snag.compare(run, again)["change"], 0)


class Learns(unittest.TestCase):
    def test_labels_retrain_and_undo(self):
        run = snag.analyze(SENTENCE, foi="step", out=os.path.join(WORK, "labels.snag"))
        before = list(run.executions["score"])
        run.label("#0-3", "abnormal", "me")
        run.label("#0-5", "normal", "me")
        self.assertEqual((run["#0-3"].label, run["#0-5"].label), ("abnormal", "normal"))
        self.assertGreaterEqual(run.retrain("me"), 1)
        self.assertTrue(run["#0-3"].is_anomaly)
        run.undo()
        self.assertEqual(list(run.executions["score"]), before)
        run.label("#0-3", None)
        self.assertIsNone(run["#0-3"].label)
        model = os.path.join(WORK, "step.model")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            run.save_model(model)  # what was said of #0-5 it has not learnt
        self.assertEqual([w.category for w in said], [snag.SnagWarning])
        self.assertIn("without 1 label of the run", str(said[0].message))
        self.assertEqual(said[0].filename, __file__)
        scored = snag.analyze(SENTENCE, out=os.path.join(WORK, "scored.snag"), model=model)
        self.assertEqual(scored.functions, ["step"])

    def test_errors_are_said(self):
        run = sentence()
        other = os.path.join(WORK, "never.snag")
        for wrong, said in (
            (lambda: snag.open(os.path.join(WORK, "none")), "none"),
            (lambda: snag.open(run.path, foi="other"), "other"),
            (
                lambda: snag.analyze(SENTENCE, foi="step", out=run.path),
                "(replace=True replaces",
            ),
            (lambda: snag.analyze(SENTENCE), "out="),
            (lambda: snag.analyze(SENTENCE, out=other, detector="nose"), "iforest"),
            (lambda: snag.analyze(SENTENCE, out=other, features="smell"), "stack2vec"),
            (lambda: snag.analyze(SENTENCE, out=other, threads=-1), "-1"),
            (lambda: run["#9-0"], "'#9-0': rank 9, thread 0 has none"),
            (lambda: run["#0-100"], "'#0-100': rank 0, thread 0 has 0 to 99"),
            (lambda: run["0,1"], "0,1"),
            (lambda: run.label("#0-0", "odd"), "odd"),
            (lambda: run.members(999), "999"),
            (lambda: run.calls_of(3), "rank 3"),
            (lambda: run.what_if("nonsense"), "nonsense"),
            (lambda: run.what_if(1), "'1'"),
            (lambda: run.undo(), ""),
        ):
            with self.assertRaises(snag.Error) as caught:
                wrong()
            self.assertIn(said, str(caught.exception))
        with self.assertRaises(KeyError):
            run.calls["no such column"]
        with self.assertRaises(IndexError):
            run[len(run)]
        for id in (1.5, None, slice(3)):
            with self.assertRaisesRegex(TypeError, "#1-40"):
                run[id]

    def test_an_execution_is_named_in_every_way(self):
        run = sentence()
        execution = run["#2-99"]
        self.assertEqual((run[-1].row, run[-1].why), (execution.row, execution.why))
        for name in ("#2-99", execution.row, execution):
            run.label(name, "normal", author="test")
            self.assertEqual(run["#2-99"].label, "normal")
            run.label(name, None, author="test")
        self.assertEqual(run["#2-99"].label, None)
        self.assertEqual(run.what_if(run["#2-93"]), run.what_if("#2-93"))
        if numpy is not None:
            self.assertEqual(run[numpy.argmax(run.executions["score"])].id, "#2-93")

    def test_what_is_in_a_run(self):
        run = sentence()
        for there in ("#0-1", "0-1", "step#2-99", 0, len(run) - 1, -1, run["#0-1"]):
            self.assertIn(there, run)
        for absent in ("#0-100", "#9-0", "other#0-1", "#0", "", len(run), 1.5, None):
            self.assertNotIn(absent, run)

    def test_what_does_not_end_has_no_loss_that_is_known(self):
        trace = os.path.join(WORK, "open.json")
        with open(trace, "w") as file:
            events = [
                {"ph": "BE"[i % 2], "pid": 0, "tid": 0, "ts": 1000 * i, "name": "step"}
                for i in range(199)
            ] + [{"ph": "X", "pid": 1, "tid": 0, "ts": 0, "dur": 900000, "name": "other"}]
            json.dump(events, file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", snag.DamagedWarning)
            run = snag.analyze(trace, foi="step", out=os.path.join(WORK, "open.snag"))
        self.assertEqual([run["#0-99"].is_open, run["#0-98"].is_open], [True, False])
        self.assertEqual(run["#0-99"].lost_ns, 0)
        n_open = list(run.incidents["n_open"])
        members = [run.members(n) for n in run.incidents["number"] if n]
        self.assertEqual(n_open[: len(members)], [int("#0-99" in ids) for ids in members])

    def test_several_functions(self):
        path = os.path.join(WORK, "two.snag")
        run = snag.analyze("synth:50*step(a@1ms b@2ms)", foi=["a", "b"], out=path)
        self.assertEqual(run.functions, ["a", "b"])
        self.assertEqual(run["b#0-3"].function, "b")
        self.assertEqual(run.of("b")["#0-3"].enter_ns, run["b#0-3"].enter_ns)
        self.assertNotEqual(run["a#0-3"].enter_ns, run["b#0-3"].enter_ns)
        self.assertEqual(run.of("b").incidents.names, run.incidents.names)

    def test_what_if_is_asked_of_the_function_of_the_execution(self):
        trace = "synth:60*step(a@1ms b(c@2ms) b(c@2ms));ranks=2;jitter=0.05;slow=c/33/9/1"
        path = os.path.join(WORK, "two_if.snag")
        run = snag.analyze(trace, foi=["step", "b"], out=path)
        strange = run.of("b")["#1-32"]
        asked = json.loads(command("what-if", path, "--without", "b#1-32", "--json"))
        of_step = run.what_if("#1-32")
        self.assertNotEqual(of_step["excess_ns"], asked["excess_ns"])
        for others in (run, run.of("b")):
            self.assertEqual(others.what_if(strange), asked)
            self.assertEqual(others.what_if("b#1-32"), asked)
            self.assertEqual(others.what_if(run["#1-32"]), of_step)
        self.assertEqual(run.of("b").what_if("#1-32"), asked)
        self.assertEqual(strange.details["foi"], "b")
        with self.assertRaisesRegex(snag.Error, "another function of interest"):
            run.what_if(strange, run["#1-32"])

    def test_a_run_that_is_made_anew_is_no_mixture(self):
        path = os.path.join(WORK, "anew.snag")
        first = "synth:60*step(a@1ms b@2ms);slow=a/33/9"
        run = snag.analyze(first, foi=["step", "b"], out=path)
        of_b, execution = run.of("b"), run["#0-32"]
        duration, why, n_calls = execution.duration_ns, execution.why, len(execution.tree)
        run.label("#0-3", "normal", "test")
        second = "synth:80*step(a@1ms b@2ms a@3ms);slow=a/17/9"
        anew = snag.analyze(second, foi=["step", "b"], out=path, replace=True)
        for wrong in (
            lambda: execution.details,
            lambda: run.incidents,
            lambda: run.ranks(),
            lambda: run.what_if(),
            lambda: of_b.what_if("#0-32"),
            lambda: run.label("#0-4", "normal"),
            lambda: run.retrain(),
            lambda: run.undo(),
            lambda: anew.what_if(execution),
            lambda: anew.label(execution, "normal"),
            lambda: snag.compare(run, anew),
        ):
            with self.assertRaisesRegex(snag.Error, r"anew.snag' was made anew.*refresh\(\)"):
                wrong()
        self.assertIn("made anew", execution.excess()[1])
        # What is mapped is of the run that was opened, all of it.
        self.assertEqual((len(run), len(run.of("b"))), (60, 60))
        self.assertEqual((run["#0-32"].duration_ns, run["#0-32"].why), (duration, why))
        run.refresh()
        self.assertEqual((len(run), len(run.calls)), (80, len(anew.calls)))
        self.assertEqual(run.what_if(), anew.what_if())
        self.assertEqual(run["#0-16"].why, anew["#0-16"].why)
        self.assertEqual(run["#0-16"].details, anew["#0-16"].details)
        self.assertEqual((execution.why, len(execution.tree)), (why, n_calls))
        for wrong in (lambda: execution.details, lambda: run.what_if(execution)):
            with self.assertRaisesRegex(snag.Error, "made anew"):
                wrong()
        of_b.refresh()
        self.assertEqual((of_b.function, len(of_b)), ("b", 80))
        snag.analyze(first, foi="step", out=path, replace=True)
        with self.assertRaisesRegex(snag.Error, "no function of interest 'b'"):
            of_b.refresh()
        self.assertEqual(len(of_b), 80)
        shutil.rmtree(path)
        with self.assertRaisesRegex(snag.Error, "not in .* any more"):
            run.ranks()
        with self.assertRaisesRegex(snag.Error, "no such run"):
            run.refresh()

    def test_an_execution_of_another_run_is_an_error(self):
        run = sentence()
        other = snag.analyze(SENTENCE, foi="step", out=os.path.join(WORK, "other.snag"))
        for wrong in (run.what_if, lambda x: run.label(x, "normal")):
            with self.assertRaisesRegex(snag.Error, "#0-3 is an execution of another run"):
                wrong(other["#0-3"])
        self.assertIsNone(other["#0-3"].label)


# ------------------------------------------------------------------------------ memory


@unittest.skipIf(numpy is None, "numpy is not here")
class IsNotCopied(unittest.TestCase):
    def address(self, values):
        return values.__array_interface__["data"][0]

    def mapped(self, address):
        """The file that is mapped at an address."""
        with open("/proc/self/maps") as maps:
            for line in maps:
                begin, end = (int(part, 16) for part in line.split()[0].split("-"))
                if begin <= address < end:
                    return line.split()[-1]
        return None

    def test_numpy_shows_the_files_of_the_run(self):
        run = sentence()
        columns = run.calls.to_numpy()
        for name, file in (
            ("enter_ns", "enter_ns.u64"),
            ("inclusive_ns", "inclusive_ns.u64"),
            ("region", "region.u32"),
            ("subtree_len", "subtree_len.u32"),
            ("depth", "depth.u16"),
        ):
            self.assertTrue(self.mapped(self.address(columns[name])).endswith(file), name)
            self.assertFalse(columns[name].flags.writeable)
        for name, values in run.messages.to_numpy().items():
            if name not in ("rank", "thread"):
                where = self.mapped(self.address(values))
                self.assertTrue(where.endswith("messages.rec"), name)

    def test_columns_are_selected_as_they_are(self):
        calls = sentence().calls
        some = calls.select("region", "enter_ns")
        self.assertEqual((some.names, len(some)), (["region", "enter_ns"], 2100))
        self.assertTrue(numpy.shares_memory(some["enter_ns"], calls["enter_ns"]))
        self.assertEqual(some.row(704), {k: calls.row(704)[k] for k in some.names})

    @unittest.skipIf(pandas is None, "pandas is not here")
    def test_pandas_shows_the_same_memory(self):
        run = sentence()
        calls = run.calls
        frame = calls.to_pandas()
        for name in ("enter_ns", "inclusive_ns", "subtree_len", "depth"):
            self.assertTrue(
                numpy.shares_memory(frame[name].to_numpy(), calls.to_numpy()[name]), name
            )
        self.assertEqual(frame["region"].iloc[3], "c")
        self.assertEqual(frame.groupby("rank").size().to_dict(), {0: 700, 1: 700, 2: 700})
        root = run["#0-46"].tree.to_pandas()
        self.assertTrue(root["parent"].isna().tolist() == [True] + [False] * 6)
        self.assertEqual(run.executions.to_pandas()["cost_ns"].isna().sum(), 0)
        run.incidents.to_pandas()

    def test_an_array_outlives_its_run(self):
        values = sentence().calls.to_numpy()["enter_ns"]
        gc.collect()
        self.assertGreater(int(values[-1]), 0)
        path = sentence().path + "/calls/enter_ns.u64"
        del values
        gc.collect()
        with open("/proc/self/maps") as maps:
            self.assertEqual([line for line in maps if path in line], [])

    def test_two_threads_have_one_run(self):
        run, wrong = sentence(), []

        def look():
            for row in range(0, 300, 7):
                if run[row].tree["exclusive_ns"].sum() != run[row].duration_ns:
                    wrong.append(row)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


# ------------------------------------------------------------------------------- Arrow


class Taken:
    """A consumer of its own: what the Arrow C data interface gives, walked with ctypes."""

    WIDTH = {"L": "Q", "l": "q", "g": "d", "I": "I", "i": "i", "S": "H", "C": "B", "c": "b"}

    def __init__(self, schema, array):
        self.schema, self.array = schema, array
        ctypes = _library.ctypes
        self.names, self.columns, self.formats = [], [], []
        assert schema.format == b"+s" and schema.n_children == array.n_children
        at = ctypes.c_void_p * schema.n_children
        for s, a in zip(at.from_address(schema.children), at.from_address(array.children)):
            s, a = _arrow.Schema.from_address(s), _arrow.Array.from_address(a)
            assert s.release and a.release and a.length == array.length and a.offset == 0
            self.names.append(s.name.decode())
            self.formats.append(s.format.decode())
            values = self.values(s, a)
            if s.dictionary:
                texts = self.values(
                    _arrow.Schema.from_address(s.dictionary),
                    _arrow.Array.from_address(a.dictionary),
                )
                values = [None if value is None else texts[value] for value in values]
            self.columns.append(values)

    def values(self, schema, array):
        ctypes, n = _library.ctypes, array.length
        buffers = (ctypes.c_void_p * array.n_buffers).from_address(array.buffers)
        read = lambda address, size: (ctypes.c_ubyte * size).from_address(address)
        bit = lambda address, i: read(address, (n + 7) // 8)[i // 8] >> i % 8 & 1
        format = schema.format.decode()
        if format == "U":
            assert array.n_buffers == 3
            offsets = struct.unpack("<%dq" % (n + 1), bytes(read(buffers[1], 8 * n + 8)))
            data = bytes(read(buffers[2], offsets[-1]))
            out = [data[offsets[i] : offsets[i + 1]].decode() for i in range(n)]
        elif format == "b":
            out = [bool(bit(buffers[1], i)) for i in range(n)]
        else:
            letter = self.WIDTH[format]
            size = n * struct.calcsize("<" + letter)
            out = list(struct.unpack("<%d%s" % (n, letter), bytes(read(buffers[1], size))))
        if buffers[0]:
            assert schema.flags & 2
            out = [value if bit(buffers[0], i) else None for i, value in enumerate(out)]
            assert out.count(None) == array.null_count
        else:
            assert array.null_count == 0
        return out

    def release(self):
        for structure in (self.schema, self.array):
            _library.ctypes.CFUNCTYPE(None, _library.ctypes.c_void_p)(structure.release)(
                _library.ctypes.addressof(structure)
            )
            assert not structure.release


def pointer(capsule, name):
    function = _library.ctypes.pythonapi.PyCapsule_GetPointer
    function.restype = _library.ctypes.c_void_p
    function.argtypes = [_library.ctypes.py_object, _library.ctypes.c_char_p]
    return function(capsule, name)


def moved(kind, address):
    """As a consumer does: the structure is copied, and the original marked as released."""
    out = kind()
    original = kind.from_address(address)
    _library.ctypes.memmove(
        _library.ctypes.addressof(out), address, _library.ctypes.sizeof(kind)
    )
    original.release = None
    return out


class GoesToOthers(unittest.TestCase):
    def tearDown(self):
        gc.collect()
        self.assertEqual((_arrow.exported(), len(_arrow._structures)), (0, 0))

    def same(self, table, taken, begin=0):
        self.assertEqual(taken.names, table.names)
        for name, values in zip(taken.names, taken.columns):
            column = table.column(name)
            rows = range(begin, begin + taken.array.length)
            self.assertEqual(values, [column.value(row) for row in rows], name)

    def test_a_table_is_an_array(self):
        run = sentence()
        for table in (run.executions, run.incidents, run.calls, run.messages, run.locations):
            schema, array = table.__arrow_c_array__()
            taken = Taken(
                moved(_arrow.Schema, pointer(schema, b"arrow_schema")),
                moved(_arrow.Array, pointer(array, b"arrow_array")),
            )
            del schema, array
            self.assertEqual(taken.array.length, len(table))
            self.same(table, taken)
            taken.release()

    def test_types_are_those_of_the_columns(self):
        schema, array = sentence().calls.__arrow_c_array__()
        taken = Taken(
            _arrow.Schema.from_address(pointer(schema, b"arrow_schema")),
            _arrow.Array.from_address(pointer(array, b"arrow_array")),
        )
        self.assertEqual(taken.formats, ["I", "I", "L", "L", "i", "I", "S"])
        self.assertEqual(
            _arrow.Schema.from_address(
                (_library.ctypes.c_void_p * 3).from_address(taken.schema.children)[2]
            ).metadata,
            b"\x01",  # of one pair; ctypes ends it at the first zero
        )

    def batches_of(self, table):
        """Lengths of the batches of a table, each of which has the values of its rows."""
        capsule = table.__arrow_c_stream__()
        stream = _arrow.Stream.from_address(pointer(capsule, b"arrow_array_stream"))
        get = _library.ctypes.CFUNCTYPE(
            _library.ctypes.c_int, _library.ctypes.c_void_p, _library.ctypes.c_void_p
        )
        address = _library.ctypes.addressof
        rows, taken = [], []
        while True:
            schema, array = _arrow.Schema(), _arrow.Array()
            self.assertEqual(get(stream.get_next)(address(stream), address(array)), 0)
            if not array.release:
                break
            self.assertEqual(get(stream.get_schema)(address(stream), address(schema)), 0)
            taken.append((schema, array, sum(rows)))
            rows.append(array.length)
        for schema, array, begin in taken:  # all are held until the last one is there
            batch = Taken(schema, array)
            self.same(table, batch, begin)
            batch.release()
        return rows

    def test_a_stream_has_a_batch_for_each_location(self):
        self.assertEqual(self.batches_of(sentence().calls), [700, 700, 700])

    def test_a_long_location_has_several_batches(self):
        most = _table._MAX_BATCH
        _table._MAX_BATCH = 300
        try:
            self.assertEqual(self.batches_of(sentence().calls), 3 * [300, 300, 100])
        finally:
            _table._MAX_BATCH = most

    def test_a_child_that_was_moved_stays(self):
        schema, array = sentence().calls.__arrow_c_array__()
        parent = moved(_arrow.Array, pointer(array, b"arrow_array"))
        children = (_library.ctypes.c_void_p * 7).from_address(parent.children)
        child = moved(_arrow.Array, children[2])
        release = _library.ctypes.CFUNCTYPE(None, _library.ctypes.c_void_p)
        release(parent.release)(_library.ctypes.addressof(parent))
        del schema, array, parent
        gc.collect()
        self.assertEqual(_arrow.exported(), 1)
        buffers = (_library.ctypes.c_void_p * 2).from_address(child.buffers)
        self.assertEqual(
            _library.ctypes.c_uint64.from_address(buffers[1] + 8).value,
            sentence().calls.row(1)["enter_ns"],
        )
        release(child.release)(_library.ctypes.addressof(child))

    def test_damaged_calls_are_an_error_and_no_index(self):
        path = os.path.join(WORK, "damaged.snag")
        run = snag.analyze(SENTENCE, foi="step", out=path)
        with open(path + "/calls/region.u32", "r+b") as file:
            file.seek(4 * 710)
            file.write(struct.pack("<I", 1000))
        capsule = run.calls.__arrow_c_stream__()
        stream = _arrow.Stream.from_address(pointer(capsule, b"arrow_array_stream"))
        ctypes = _library.ctypes
        get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(stream.get_next)
        first, second = _arrow.Array(), _arrow.Array()
        self.assertEqual(get(ctypes.addressof(stream), ctypes.addressof(first)), 0)
        self.assertNotEqual(get(ctypes.addressof(stream), ctypes.addressof(second)), 0)
        why = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(stream.get_last_error)
        self.assertIn(b"damaged", why(ctypes.addressof(stream)))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(first.release)(ctypes.addressof(first))
        with self.assertRaises(snag.Error):
            run.calls.__arrow_c_array__()
        if pandas is not None:
            with self.assertRaises(ValueError):
                run.calls.to_pandas()

    def test_bits(self):
        for n in (0, 1, 7, 8, 9, 100):
            flags = [i % 3 == 0 for i in range(n)]
            want = [
                sum(flags[8 * k + j] << j for j in range(8) if 8 * k + j < n)
                for k in range((n + 7) // 8)
            ]
            self.assertEqual(list(_arrow.bits(bytes(flags))), want)

    def test_pyarrow_and_polars_take_it(self):
        run, tried = sentence(), 0
        for name, make in (
            ("pyarrow", lambda m: m.table(run.calls)["enter_ns"].to_pylist()),
            ("polars", lambda m: m.DataFrame(run.calls)["enter_ns"].to_list()),
        ):
            try:
                module = __import__(name)
            except ImportError:
                continue
            self.assertEqual(make(module), [row["enter_ns"] for row in run.calls])
            tried += 1
        if not tried:
            self.skipTest(
                "neither pyarrow nor polars is here: a consumer of our own has taken it"
            )


# ------------------------------------------------------------------------------ the rest


class Watches(unittest.TestCase):
    def test_pushed_events_are_judged_as_those_that_are_read(self):
        run = sentence()
        detector = snag.Detector(foi="step")
        for location in run.locations:
            here = detector.location(location["rank"], location["thread"])
            calls, ends = list(run.calls_of(location["rank"])), []
            for call in calls:
                while ends and ends[-1][0] <= call["enter_ns"]:
                    detector.leave(here, *ends.pop())
                region = detector.region(call["region"])
                detector.enter(here, call["enter_ns"], region)
                ends.append((call["enter_ns"] + call["inclusive_ns"], region))
            while ends:
                detector.leave(here, *ends.pop())
        pushed = [x for x in detector.end() if isinstance(x, snag.ExecutionVerdict)]
        self.assertEqual(detector.damage, 0)
        self.assertEqual(len(pushed), 300)
        read = list(snag.watch(SENTENCE, foi="step", step_s=100, everything=True))
        self.assertEqual(
            sorted((x.id, x.duration_ns, x.is_anomaly, x.score) for x in pushed),
            sorted((x.id, x.duration_ns, x.is_anomaly, x.score) for x in read),
        )
        self.assertEqual(sum(x.is_anomaly for x in read), 6)
        with self.assertRaises(snag.Error):
            detector.step()

    def test_a_function_that_is_never_called_is_said_at_the_end(self):
        told = []
        with self.assertRaisesRegex(snag.Error, "no function matches 'stop'"):
            for verdict in snag.watch(SENTENCE, foi="stop", step_s=100):
                told.append(verdict)
        every = list(snag.watch(SENTENCE, foi="step", step_s=100))
        self.assertEqual(told, [x for x in every if isinstance(x, snag.CallVerdict)])

    def test_a_rank_is_a_number_from_0_on(self):
        detector = snag.Detector(foi="step")
        for wrong in ({"rank": -1}, {"rank": 0, "thread": -1}, {"rank": 1 << 32}):
            with self.assertRaisesRegex(snag.Error, "is 0 or more"):
                detector.location(**wrong)
        self.assertEqual(detector.location(rank=0), detector.location(0, 0))
        for tell in (detector.send, detector.receive):
            with self.assertRaisesRegex(snag.Error, "a rank is 0 or more"):
                tell(detector.location(0), 10, -1, 0, 8)

    def test_messages_and_counters_are_pushed(self):
        detector = snag.Detector(foi="step")
        here, step = detector.location(0), detector.region("step")
        detector.enter(here, 1, step)
        detector.send(here, 2, 1, 0, 8)
        detector.receive(here, 3, 1, 0, 8)
        detector.count(here, 4, detector.counter("flops"), 1e9)
        detector.leave(here, 5, step)
        detector.enter(here + 1, 6, step)  # nobody
        self.assertEqual([x.duration_ns for x in detector.end()], [4])
        self.assertEqual(detector.damage, 1)


class Draws(unittest.TestCase):
    def test_drawings_are_well_formed_and_load_nothing(self):
        run = sentence()
        execution = run.anomalies[0]
        for text in (
            run.scatter().svg,
            execution.timeline().svg,
            execution._repr_html_(),
            run._repr_html_(),
            run.executions._repr_html_(),
            run.incidents._repr_html_(),
        ):
            parsed = xml.dom.minidom.parseString("<x>%s</x>" % text.replace("<br>", "<br/>"))
            self.assertTrue(parsed.documentElement.childNodes)
            addresses = set(re.findall("https?://[^\"' ]*", text))
            self.assertLessEqual(addresses, {"http://www.w3.org/2000/svg"})
        self.assertEqual(run.scatter().svg.count("<circle"), 300)
        self.assertEqual(run.scatter().svg.count('r="3.5"'), 6)
        self.assertIn("+8.", execution._repr_html_())
        path = os.path.join(WORK, "timeline.svg")
        execution.timeline().save(path)
        self.assertIsNotNone(xml.dom.minidom.parse(path))

    def test_names_are_text(self):
        self.assertEqual(_draw.said("a<b> & \x01\"c'"), "a&lt;b&gt; &amp; \ufffd&quot;c&#x27;")
        self.assertEqual(_draw.said("x" * 100, 10), "xxxxx\u2026xxxx")

    def test_without_the_command_a_tree_is_drawn_and_says_what_is_missing(self):
        before = os.environ.get("SNAG_COMMAND")
        os.environ["SNAG_COMMAND"] = "/nowhere/snag"
        try:
            drawn = sentence()["#0-46"]._repr_html_()
        finally:
            del os.environ["SNAG_COMMAND"]
            if before:
                os.environ["SNAG_COMMAND"] = before
        self.assertIn("<svg", drawn)
        self.assertIn("what is typical is not known", drawn)


class IsWritten(unittest.TestCase):
    SOURCE = os.path.dirname(snag.__file__)

    def test_examples_of_docstrings(self):
        for module in (snag, _detector, _draw):
            result = doctest.testmod(module, verbose=False)
            self.assertEqual(result.failed, 0, module.__name__)
            self.assertGreater(result.attempted, 0)

    def test_examples_of_the_documentation(self):
        """Blocks of docs/python.md, one after the other; but those for what is not here."""
        root = os.path.dirname(os.path.dirname(self.SOURCE))
        with open(os.path.join(root, "docs", "python.md"), encoding="utf-8") as file:
            blocks = re.findall("```python\n(.*?)```", file.read(), re.S)
        self.assertGreater(len(blocks), 5)
        directory, names, printed = os.path.join(WORK, "examples"), {}, io.StringIO()
        os.mkdir(directory)
        before = os.getcwd()
        os.chdir(directory)
        try:
            for block in blocks:
                try:
                    with contextlib.redirect_stdout(printed):
                        exec(compile(block, "docs/python.md", "exec"), names)
                except ImportError as error:
                    self.assertIn(error.name, ("polars", "pandas"))
        finally:
            os.chdir(before)
        self.assertIn("#1-93 12.45", printed.getvalue())
        self.assertIn("verdicts are others now", printed.getvalue())
        self.assertIn("ExecutionVerdict(rank=1, thread=0, index=93", printed.getvalue())

    def test_it_is_python_3_8(self):
        for name in os.listdir(self.SOURCE):
            if name.endswith(".py"):
                with open(os.path.join(self.SOURCE, name)) as file:
                    ast.parse(file.read(), name, feature_version=(3, 8))

    def test_what_others_see_is_documented(self):
        for name in snag.__all__:
            thing = getattr(snag, name)
            if name != "Verdict":
                self.assertTrue(thing.__doc__, name)
        for kind in (snag.Run, snag.Table, snag.Column, snag.Detector):
            for name, member in vars(kind).items():
                if not name.startswith("_") and (
                    callable(member) or isinstance(member, property)
                ):
                    obvious = {"contiguous", "function", "rank", "thread", "numpy", "texts"}
                    self.assertTrue(member.__doc__ or name in obvious, (kind, name))

    def test_types_are_right(self):
        project = os.path.join(os.path.dirname(self.SOURCE), "pyproject.toml")
        if subprocess.run(
            [sys.executable, "-m", "mypy", "--version"], stdout=-3, stderr=-3
        ).returncode:
            self.skipTest("mypy is not here")
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", WORK, "--config-file", project],
            cwd=os.path.dirname(self.SOURCE),
            stdout=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    def test_importing_it_imports_and_loads_little(self):
        """Prints how long that takes; what it must not bring along is what is asserted."""
        code = (
            "import sys, time; t = time.perf_counter(); import snag; "
            "print('%.1f' % (1e3 * (time.perf_counter() - t)), "
            "*sorted({'numpy', 'pandas', 'json', 'subprocess', 'inspect'} & set(sys.modules)), "
            "*['libsnag' for line in open('/proc/self/maps') if 'libsnag' in line][:1])"
        )
        said = [
            subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
            .stdout.decode()
            .split()
            for _ in range(5)
        ]
        least = min(float(words[0]) for words in said)
        print("import snag: %.1f ms, the least of 5" % least, file=sys.stderr)
        self.assertEqual([words[1:] for words in said], [[]] * 5)


if __name__ == "__main__":
    unittest.main()

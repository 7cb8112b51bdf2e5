"""python_columns.py HOW RUN -- what it takes until all calls of a run are columns, each read once.

HOW is files (the floor: numpy maps the columns itself), numpy, pandas, arrow (batches of Arrow,
walked by ctypes), pandas_all, arrow_all (rank and thread as well, which are made), bare (pandas
without this package: of the columns that numpy maps), bare_all (rank and thread, too, by
numpy.repeat) or import. Reading is the sum of a column. Says, on one line: cpu_ms, the processor
time, which other work disturbs less than wall_ms; wall_ms; calls; and anon_mib, by how much memory
of its own the process has grown.
"""

import ctypes
import os
import sys
import time


def anon_mib():
    with open("/proc/self/status") as status:
        return (
            next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024
        )


FILES = {"enter_ns.u64": "<u8", "inclusive_ns.u64": "<u8", "region.u32": "<u4"}
FILES.update({"subtree_len.u32": "<u4", "depth.u16": "<u2"})


def mapped(path):
    import numpy

    return [
        numpy.memmap(os.path.join(path, "calls", name), dtype, "r")
        for name, dtype in FILES.items()
    ]


def files(path):
    columns = mapped(path)
    return len(columns[0]), sum(int(column.sum()) for column in columns), columns


def numpy(path):
    import snag

    columns = snag.open(path).calls.to_numpy()
    n = len(columns["depth"])
    return n, sum(int(columns[name.split(".")[0]].sum()) for name in FILES), columns


def columns_of(path, is_all):
    import snag

    calls = snag.open(path).calls
    return calls if is_all else calls.select(*[name.split(".")[0] for name in FILES])


def summed(frame):
    arrays = [frame[name.split(".")[0]] for name in FILES]
    codes = [
        x.cat.codes.to_numpy() if x.dtype.name == "category" else x.to_numpy() for x in arrays
    ]
    return len(frame), sum(int(values.sum()) for values in codes), frame


def pandas(path):
    return summed(columns_of(path, False).to_pandas())


def pandas_all(path):
    return summed(columns_of(path, True).to_pandas())


def bare(path, more=()):
    import numpy
    import pandas

    columns = dict(zip((name.split(".")[0] for name in FILES), mapped(path)))
    codes = columns["region"].astype("i1")
    names = ["region %d" % i for i in range(int(codes.max()) + 1)]
    columns["region"] = pandas.Categorical.from_codes(codes, names)
    columns.update((name, numpy.repeat(values, n_calls)) for name, values, n_calls in more)
    return summed(pandas.DataFrame(columns, copy=False))


def bare_all(path):
    return bare(path, LOCATIONS)


def arrow(path, is_all=False):
    import numpy
    from snag import _arrow

    table = columns_of(path, is_all)
    anywhere = ctypes.c_ubyte * (1 << 40)  # a type once, not one for each length
    released = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    n = total = 0
    for begin, end in table.batches():
        batch = _arrow.Array()
        _arrow.array(table, begin, end, batch)
        children = (ctypes.c_void_p * batch.n_children).from_address(batch.children)
        for name, dtype in FILES.items():
            at = table.names.index(name.split(".")[0])
            child = _arrow.Array.from_address(children[at])
            buffers = (ctypes.c_void_p * child.n_buffers).from_address(child.buffers)
            memory = anywhere.from_address(buffers[1])
            total += int(numpy.frombuffer(memory, dtype, child.length).sum())
        n += end - begin
        released(batch.release)(ctypes.addressof(batch))
    return n, total, table  # what is mapped is unmapped later, as it is of the others


def arrow_all(path):
    return arrow(path, True)


LOCATIONS = []  # what bare_all makes: (name, of each location, calls of each location)


def find_locations(path):
    import snag

    table = snag.open(path).locations.to_numpy()
    LOCATIONS.extend(
        (name, table[name].copy(), table["n_calls"].astype(int)) for name in ("rank", "thread")
    )


def main():
    how, path = sys.argv[1:]
    if how == "import":
        begin = time.perf_counter()
        import snag

        print("wall_ms %.3f" % (1e3 * (time.perf_counter() - begin)), "of", snag.__name__)
        return
    import numpy as _numpy  # what is there before is not measured

    if how.startswith(("pandas", "bare")):
        import pandas as _pandas
    if how != "files":
        import snag._arrow

        snag.version()
    if how == "bare_all":
        find_locations(path)
    before = anon_mib()
    begin, begin_cpu = time.perf_counter(), time.process_time()
    n, total, kept = globals()[how](path)
    wall, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    print(
        "cpu_ms %.3f wall_ms %.3f calls %d anon_mib %.1f sum %d"
        % (1e3 * cpu, 1e3 * wall, n, anon_mib() - before, total)
    )


main()

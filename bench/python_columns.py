"""python_columns.py HOW RUN -- what it takes until all calls of a run are columns, each read once.

HOW is files (the floor: numpy maps the columns itself), numpy, pandas, arrow (batches of Arrow,
walked by ctypes), pandas_all, arrow_all (rank and thread as well, which are made) or import.
Reading is the sum of a column. Says, on one line: wall_ms, calls,
and anon_mib, by how much memory of its own the process has grown at its largest.
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


def files(path):
    import numpy

    columns = [
        numpy.memmap(os.path.join(path, "calls", name), dtype, "r")
        for name, dtype in FILES.items()
    ]
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


def pandas(path, is_all=False):
    frame = columns_of(path, is_all).to_pandas()
    arrays = [frame[name.split(".")[0]] for name in FILES]
    codes = [
        x.cat.codes.to_numpy() if x.dtype.name == "category" else x.to_numpy() for x in arrays
    ]
    return len(frame), sum(int(values.sum()) for values in codes), frame


def pandas_all(path):
    return pandas(path, True)


def arrow(path, is_all=False):
    import numpy
    from snag import _arrow

    table = columns_of(path, is_all)
    n = total = 0
    for begin, end in table.batches():
        batch = _arrow.Array()
        _arrow.array(table, begin, end, batch)
        children = (ctypes.c_void_p * batch.n_children).from_address(batch.children)
        for name, dtype in FILES.items():
            at = table.names.index(name.split(".")[0])
            child = _arrow.Array.from_address(children[at])
            buffers = (ctypes.c_void_p * child.n_buffers).from_address(child.buffers)
            size = int(dtype[-1]) * child.length
            memory = (ctypes.c_ubyte * size).from_address(buffers[1])
            total += int(numpy.frombuffer(memory, dtype).sum())
        n += end - begin
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(batch.release)(ctypes.addressof(batch))
    return n, total, None


def arrow_all(path):
    return arrow(path, True)


def main():
    how, path = sys.argv[1:]
    if how == "import":
        begin = time.perf_counter()
        import snag

        print("wall_ms %.3f" % (1e3 * (time.perf_counter() - begin)), "of", snag.__name__)
        return
    import numpy as _numpy  # what is there before is not measured

    if how.startswith("pandas"):
        import pandas as _pandas
    if how != "files":
        import snag

        snag.version()
    before = anon_mib()
    begin = time.perf_counter()
    n, total, kept = globals()[how](path)
    wall = 1e3 * (time.perf_counter() - begin)
    print("wall_ms %.3f calls %d anon_mib %.1f sum %d" % (wall, n, anon_mib() - before, total))


main()

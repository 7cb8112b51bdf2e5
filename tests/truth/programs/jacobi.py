"""mpi4py: work in functions of Python, then all ranks meet. Runs where mpi4py is installed."""
import ctypes
import os

from mpi4py import MPI

lib = ctypes.CDLL(os.environ["TRUTH_LIBRARY"])
lib.truth_now.restype = ctypes.c_int64
lib.truth_work.argtypes = [ctypes.c_char_p, ctypes.c_double]
lib.truth_met.argtypes = [ctypes.c_int64] + [ctypes.c_int] * 4
RELAX, COPY = b"relax", b"copy_borders"  # the log keeps their addresses
world = MPI.COMM_WORLD


def relax():
    lib.truth_work(RELAX, 3.0)


def copy_borders():
    lib.truth_work(COPY, 0.3)


def converged():
    begin = lib.truth_now()
    change = world.allreduce(1.0, op=MPI.MAX)
    lib.truth_met(begin, 0, world.size, 1, -1)
    return change < 0.5


def sweep(i):
    lib.truth_step(i)
    relax()
    copy_borders()
    return converged()


def main():
    lib.truth_begin(world.rank, world.size)
    world.Barrier()
    for i in range(lib.truth_steps(300)):
        sweep(i)
    lib.truth_end()


main()

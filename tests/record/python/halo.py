"""A program of mpi4py, whose steps compute, talk to a neighbour and sum up. In some of them one rank sleeps, in
Field.tables, for longer than any step took until then: it writes a line for each, with the least and the most ns that
the call of tables took.

halo.py RANK STEP...
"""
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
sleeper, sleeps = int(sys.argv[1]), {int(arg) for arg in sys.argv[2:]}
MIN_S, TIMES = 0.3, 3  # a sleep: as many times the longest step


class Field:
    def __init__(self, n):
        self.values = bytearray(n)
        self.neighbours = bytearray(n)
        self.slept_ns = 0
        self.longest_s = 0

    def compute(self):
        for _ in range(10):
            for i, value in enumerate(self.values):
                self.values[i] = value + 1 & 255

    def tables(self, step):
        begin = time.monotonic_ns()
        if rank == sleeper and step in sleeps:
            time.sleep(max(MIN_S, TIMES * self.longest_s))
        self.slept_ns = time.monotonic_ns() - begin

    def exchange(self):
        comm.Sendrecv(self.values, (rank + 1) % size, recvbuf=self.neighbours, source=(rank - 1) % size)

    def total(self):
        return comm.allreduce(sum(self.values))


def step(field, i):
    began = time.monotonic()
    field.compute()
    begin = time.monotonic_ns()
    field.tables(i)
    took_ns = time.monotonic_ns() - begin
    if rank == sleeper and i in sleeps:
        print(i, field.slept_ns, took_ns, flush=True)
    field.exchange()
    field.total()
    if i not in sleeps:
        field.longest_s = max(field.longest_s, time.monotonic() - began)


def main():
    field = Field(500)
    for i in range(100):
        step(field, i)


main()

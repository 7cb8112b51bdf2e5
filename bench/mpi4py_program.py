"""A program of mpi4py, to be run with and without snag record.

mpi4py_program.py small|numpy STEPS

small: 1,000 objects, two short methods of each are called in a step, then the ranks sum up and exchange a value.
numpy: a Jacobi solver, rows of a grid on each rank, borders exchanged in each step, a maximum over all in every tenth.
"""
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
up, down = (rank - 1) % size, (rank + 1) % size


class Particle:
    def __init__(self, x):
        self.x, self.v = x, 0.0

    def push(self, pull):
        self.v += 0.01 * (pull - self.x)

    def move(self):
        self.x += 0.01 * self.v


def small(steps):
    particles = [Particle(float(i)) for i in range(1000)]
    pull = 0.0
    for _ in range(steps):
        for particle in particles:
            particle.push(pull)
            particle.move()
        first = comm.sendrecv(particles[0].x, dest=up, source=down)
        pull = (first + comm.allreduce(particles[-1].x)) / (size + 1)
    return pull


def relax(old, new):
    new[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])


def exchange(grid):
    comm.Sendrecv(grid[1], dest=up, recvbuf=grid[-1], source=down)
    comm.Sendrecv(grid[-2], dest=down, recvbuf=grid[0], source=up)


def numpy_solver(steps):
    change = 1.0
    old = np.zeros((602, 1200))
    old[:, 0] = 1.0
    new = old.copy()
    for step in range(steps):
        exchange(old)
        relax(old, new)
        if step % 10 == 9:
            change = comm.allreduce(float(np.abs(old - new).max()), op=MPI.MAX)
        old, new = new, old
    return change


result = {"small": small, "numpy": numpy_solver}[sys.argv[1]](int(sys.argv[2]))
if rank == 0:
    print(result)

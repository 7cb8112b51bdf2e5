"""Functions that are first called in a child of a fork, and others that its parent calls first after that."""
import os


def child(n):
    return n


def grandchild(n):
    return n


def parent(n):
    return n


def last(n):
    return n


def forked(function, then):
    pid = os.fork()
    if pid == 0:
        function(1)
        then()
        os._exit(0)
    os.waitpid(pid, 0)


forked(child, lambda: forked(grandchild, lambda: None))
parent(1)
for i in range(3):
    last(i)

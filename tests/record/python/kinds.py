"""Calls of all kinds, which the program writes down as they happen: a file for each thread, a line "enter NAME" or
"leave NAME" for each call of what is defined here, and for each part of a generator between two yields.

kinds.py DIRECTORY
"""
import os
import sys
import threading

here = threading.local()
directory = sys.argv[1]


def _write(what, name):
    if not hasattr(here, "file"):
        here.file = open(os.path.join(directory, threading.current_thread().name), "w", buffering=1)
    here.file.write(f"{what} {name}\n")


def _enter(name):
    _write("enter", name)


def _leave(name):
    _write("leave", name)


class _call:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        _enter(self.name)

    def __exit__(self, *what):
        _leave(self.name)


# ---------------------------------------------------------------------------- functions and exceptions


def leaf(n):
    with _call("leaf"):
        return n + 1


def fails(depth):
    with _call("fails"):
        if depth == 0:
            raise ValueError(leaf(0))
        fails(depth - 1)


def catches():
    with _call("catches"):
        try:
            fails(4)
        except ValueError:
            leaf(1)


def recurses(n):
    with _call("recurses"):
        return 0 if n == 0 else 1 + recurses(n - 1)


def makes_inner():
    with _call("makes_inner"):

        def inner():
            with _call("makes_inner.<locals>.inner"):
                return leaf(8)

        return inner()


class Thing:
    def __init__(self, x):
        with _call("Thing.__init__"):
            self.x = leaf(x)

    def __lt__(self, other):  # called by code in C
        with _call("Thing.__lt__"):
            return self.x < other.x

    @property
    def doubled(self):
        with _call("Thing.doubled"):
            return 2 * self.x

    class Part:
        @staticmethod
        def alone():
            with _call("Thing.Part.alone"):
                return leaf(5)


def things():
    with _call("things"):
        some = sorted(Thing(x) for x in [2, 1])
        Thing.Part.alone()
        return some[0].doubled


# ---------------------------------------------------------------------------- generators and coroutines


def numbers(n):
    _enter("numbers")
    try:
        for i in range(n):
            leaf(i)
            _leave("numbers")
            try:
                yield i
            finally:
                _enter("numbers")
    finally:
        _leave("numbers")


def catches_thrown():
    _enter("catches_thrown")
    for _ in range(3):
        _leave("catches_thrown")
        try:
            yield
        except KeyError:
            pass
        _enter("catches_thrown")
        leaf(2)
    _leave("catches_thrown")


def inner_of(outer):
    """Whoever delegates to it, or waits for it, is left when it yields, too."""
    _enter("inner_of")
    for _ in range(2):
        leaf(4)
        _leave("inner_of")
        _leave(outer)
        yield
        _enter(outer)
        _enter("inner_of")
    _leave("inner_of")


def delegates():
    _enter("delegates")
    yield from inner_of("delegates")
    _leave("delegates")


class Awaited:
    def __await__(self):
        return inner_of("waits")


async def waits():
    _enter("waits")
    await Awaited()
    _leave("waits")


async def counts():
    _enter("counts")
    for i in range(2):
        leaf(i)
        _leave("counts")
        yield i
        _enter("counts")
    _leave("counts")


async def collects():
    with _call("collects"):
        async for _ in counts():
            leaf(3)


def generators():
    with _call("generators"):
        for _ in numbers(3):
            leaf(7)
        half = numbers(5)
        next(half)
        half.close()
        thrown = catches_thrown()
        next(thrown)
        thrown.throw(KeyError("x"))
        list(thrown)
        list(delegates())
        for coroutine in waits(), collects():
            try:
                while True:
                    coroutine.send(None)
            except StopIteration:
                pass


# ---------------------------------------------------------------------------- threads and the end


def in_thread(n, together):
    together.wait()
    with _call("in_thread"):
        for i in range(n):
            recurses(i)
        catches()
        generators()


def exits():
    with _call("exits"):
        sys.exit(5)


catches()
generators()
things()
makes_inner()
together = threading.Barrier(3)
threads = [threading.Thread(target=in_thread, args=(3 + i, together), name=f"thread{i}") for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
sys.setrecursionlimit(3000)
recurses(2000)
exits()

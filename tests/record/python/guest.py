"""What a program can ask its interpreter, and what it starts: printed, and to be the same whoever records it."""
import cProfile
import multiprocessing
import os
import pstats
import subprocess
import sys
import threading


def sums(n):
    return sum(x * x for x in range(n))


def depth(n, seen):
    seen[0] = n
    depth(n + 1, seen)


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def puts(queue):
    queue.put(sums(10))


def recursion():
    seen = [0]
    try:
        depth(0, seen)
    except RecursionError:
        print("as deep as", seen[0])
    sys.setrecursionlimit(10**6)
    print("deep", deep(10**5))
    thread = threading.Thread(target=lambda: print("deep in a thread", deep(10**5)))
    thread.start()
    thread.join()


def profiler():
    profile = cProfile.Profile()
    profile.enable()
    sums(1000)
    print("its profiler", sys.getprofile() is profile or sys.version_info >= (3, 12))
    profile.disable()
    calls = {key[2]: row[0] for key, row in pstats.Stats(profile).stats.items()}
    print("profiled", calls["sums"], calls["<genexpr>"], sys.getprofile(), sys.gettrace())


def processes():
    for how in "fork", "spawn":
        context = multiprocessing.get_context(how)
        queue = context.SimpleQueue()
        process = context.Process(target=puts, args=(queue,))
        process.start()
        print(how, queue.get())
        process.join()
        print("ended by", process.exitcode)
    child = subprocess.run([sys.executable, "-I", "-S", "-c", "print('hello')"], capture_output=True)
    print(child.returncode, child.stdout, child.stderr)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        sums(10)
        os._exit(3)
    print("forked, ended by", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def main():
    print(sys.path, sorted(name for name in sys.modules if "snag" in name or "custom" in name), sys.flags)
    recursion()
    profiler()
    processes()
    sys.stdout.flush()
    os._exit(7)


if __name__ == "__main__":
    main()

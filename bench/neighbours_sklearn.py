#!/usr/bin/python3
"""Times scikit-learn's nearest neighbours and LOF on the input of neighbours_bench.

usage: neighbours_sklearn.py [ROWS [COLS [ALGORITHM]]]

The default algorithm, auto, takes brute force for more than 15 columns: blocks of a matrix product,
as fast as the BLAS that Python is linked to. kd_tree and ball_tree are measured once, for LOF alone.
"""
import json
import sys
import time

from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from bench_input import matrix

K = 20
rows, cols = (int(a) for a in (sys.argv[1:3] + ["5800", "128"][len(sys.argv[1:3]) :]))
algorithm = sys.argv[3] if len(sys.argv) > 3 else "auto"
x = matrix(rows, cols)


def shortest(run):
    best = best_cpu = float("inf")
    for _ in range(2 if algorithm == "auto" else 1):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        result = run()
        best = min(best, time.perf_counter() - begin)
        best_cpu = min(best_cpu, time.process_time() - begin_cpu)
    return best, best_cpu, result


lof_seconds, lof_cpu_seconds, lof = shortest(
    lambda: LocalOutlierFactor(n_neighbors=K, algorithm=algorithm).fit(x))
result = {"rows": rows, "cols": cols, "k": K, "lof_seconds": lof_seconds,
          "lof_cpu_seconds": lof_cpu_seconds, "lof_sum": float(-lof.negative_outlier_factor_.sum())}
if algorithm == "auto":
    seconds, _, found = shortest(lambda: NearestNeighbors(n_neighbors=K).fit(x).kneighbors())
    result.update(seconds=seconds, distance_mean=float(found[0].mean()))
print(json.dumps(result))

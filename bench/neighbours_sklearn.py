#!/usr/bin/python3
"""Times scikit-learn's nearest neighbours and LOF on the input of neighbours_bench: [ROWS [COLS]]."""
import json
import sys
import time

from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from bench_input import matrix

K = 20
REPEATS = 2
rows, cols = (int(a) for a in (sys.argv[1:3] + ["5800", "128"][len(sys.argv) - 1 :]))
x = matrix(rows, cols)


def shortest(run):
    best = best_cpu = float("inf")
    for _ in range(REPEATS):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        result = run()
        best = min(best, time.perf_counter() - begin)
        best_cpu = min(best_cpu, time.process_time() - begin_cpu)
    return best, best_cpu, result


# the default takes brute force for so many columns; a tree is what it takes for fewer than 16
lof_seconds, lof_cpu_seconds, lof = shortest(lambda: LocalOutlierFactor(n_neighbors=K).fit(x))
seconds, _, found = shortest(lambda: NearestNeighbors(n_neighbors=K).fit(x).kneighbors())
print(json.dumps({"rows": rows, "cols": cols, "k": K, "seconds": seconds, "lof_seconds": lof_seconds,
                  "lof_cpu_seconds": lof_cpu_seconds, "lof_sum": float(-lof.negative_outlier_factor_.sum()),
                  "distance_mean": float(found[0].mean())}))

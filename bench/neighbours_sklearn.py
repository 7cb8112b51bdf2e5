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
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - begin)
    return best, result


lof_seconds, lof = shortest(lambda: LocalOutlierFactor(n_neighbors=K).fit(x))
# brute is the fastest there is for so many columns
brute_seconds, brute_lof = shortest(lambda: LocalOutlierFactor(n_neighbors=K, algorithm="brute").fit(x))
seconds, found = shortest(lambda: NearestNeighbors(n_neighbors=K, algorithm="brute").fit(x).kneighbors())
print(json.dumps({"rows": rows, "cols": cols, "k": K, "seconds": seconds, "lof_seconds": lof_seconds,
                  "lof_brute_seconds": brute_seconds, "lof_sum": float(-lof.negative_outlier_factor_.sum()),
                  "distance_mean": float(found[0].mean())}))

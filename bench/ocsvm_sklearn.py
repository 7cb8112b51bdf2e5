#!/usr/bin/python3
"""Times scikit-learn's OneClassSVM, fit + score, on the input of ocsvm_bench: [ROWS [COLS [TOLERANCE]]]."""
import json
import sys
import time

from sklearn.svm import OneClassSVM

from bench_input import matrix

NU = 0.02
rows, cols = (int(a) for a in (sys.argv[1:3] + ["5800", "128"][len(sys.argv) - 1 :]))
tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-3
x = matrix(rows, cols)
seconds = cpu_seconds = float("inf")
for _ in range(3):
    begin, begin_cpu = time.perf_counter(), time.process_time()
    svm = OneClassSVM(nu=NU, gamma="scale", tol=tolerance, cache_size=500).fit(x)
    score = -svm.decision_function(x)
    seconds = min(seconds, time.perf_counter() - begin)
    cpu_seconds = min(cpu_seconds, time.process_time() - begin_cpu)
rho = -float(svm.intercept_[0])
k = rho - score[svm.support_]  # K alpha at the support vectors
objective = float(svm.dual_coef_[0] @ k) / 2
print(json.dumps({"rows": rows, "cols": cols, "seconds": seconds, "cpu_seconds": cpu_seconds, "objective": objective, "rho": rho,
                  "n_support": len(svm.support_)}))

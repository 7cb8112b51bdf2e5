"""t-SNE of scikit-learn on a file of tsne_bench: tsne_sklearn.py COLS FILE ITERATIONS [POINTS]

Prints seconds, also those of the processors, and the KL divergence, computed exactly as tsne_bench does (P from all pairs at
perplexity 30, Q from all pairs of points). With POINTS, a file of points that are there
already, only their KL divergence is computed.
"""
import sys
import time

import numpy as np

PERPLEXITY = 30


def conditional(square):
    """p_j|i of one row from its squared distances to all others."""
    square = square - square.min()
    low, high, beta = 0.0, np.inf, 1 / square.mean()
    for _ in range(100):
        p = np.exp(-beta * square)
        total = p.sum()
        off = np.log(total) + beta * (p * square).sum() / total - np.log(PERPLEXITY)
        if abs(off) < 1e-6:
            break
        if off > 0:
            low = beta
        else:
            high = beta
        beta = 2 * beta if np.isinf(high) else (low + high) / 2
    return p / total


def squares(a):
    norm = (a * a).sum(1)
    return np.maximum(norm[:, None] + norm[None, :] - 2 * a @ a.T, 0)


def exact_cost(x, y):
    n = len(x)
    distance = squares(x - x.mean(0))
    p = np.zeros((n, n))
    for i in range(n):
        p[i, np.arange(n) != i] = conditional(np.delete(distance[i], i))
    p = (p + p.T) / (2 * n)
    log1 = np.log1p(squares(y))
    q = np.exp(-log1)
    sum_q = q.sum() - np.trace(q)
    here = p > 0
    return (p[here] * (np.log(p[here]) + log1[here] + np.log(sum_q))).sum()


def main():
    cols, path, iterations = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    x = np.fromfile(path).reshape(-1, cols)
    if len(sys.argv) > 4:
        print(f"kl {exact_cost(x, np.fromfile(sys.argv[4]).reshape(-1, 2)):.5f}")
        return
    from sklearn.manifold import TSNE

    tsne = TSNE(n_iter=iterations, perplexity=PERPLEXITY, init="pca", learning_rate="auto",
                random_state=1)
    begin, cpu = time.perf_counter(), time.process_time()
    y = tsne.fit_transform(x)
    print(f"seconds {time.perf_counter() - begin:.3f}")
    print(f"cpu_seconds {time.process_time() - cpu:.3f}")
    print(f"kl_estimate {tsne.kl_divergence_:.5f}", flush=True)
    print(f"kl {exact_cost(x, y.astype(float)):.5f}")


main()

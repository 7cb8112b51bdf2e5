"""The input of the detectors' benchmarks: the same numbers as bench_input.h (up to the last bit)."""
import numpy as np

CLUSTERS = 20


def uniform(n):
    """n numbers in [0, 1): splitmix64 from seed 1, as base/rng.h."""
    with np.errstate(over="ignore"):
        z = np.uint64(1) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(float) * 2.0**-53


def matrix(rows, cols):
    u = uniform(2 * (CLUSTERS + rows) * cols)
    normal = np.sqrt(-2 * np.log(1 - u[0::2])) * np.cos(6.283185307179586 * u[1::2])
    centre = normal[: CLUSTERS * cols].reshape(CLUSTERS, cols)
    noise = normal[CLUSTERS * cols :].reshape(rows, cols)
    i = np.arange(rows)
    return centre[i % CLUSTERS] + np.where(i % 50 == 7, 1, 0.3)[:, None] * noise

"""Usage: python -m benchmarks.first_use

What a fresh installation pays: importing, compiling on first use, and loading compiled kernels in a second process.
"""

import os
import subprocess
import sys
import tempfile

CODE = """
import time
start = time.perf_counter()
import latently
imported = time.perf_counter() - start
import numpy as np
from latently.cluster import GaussianMixture, KMeans
X = np.random.default_rng(0).normal(size=(30_000, 10))
few, many = X[:500], X
def seconds(fit, rows):
    begun = time.perf_counter()
    fit(rows)
    return time.perf_counter() - begun
mixture = seconds(lambda rows: GaussianMixture(3, random_state=0).fit(rows).predict(rows), few)
clusters = seconds(lambda rows: KMeans(8, random_state=0, n_init=1).fit(rows), few)
bounds = seconds(lambda rows: KMeans(100, random_state=0, n_init=1, init="random", max_iter=2).fit(rows), many)
print(imported, mixture, clusters, bounds)
"""


def run(cache: str) -> list[float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        first, second = run(cache), run(cache)
    print(f"{'':<34}{'first use':>12}{'then':>10}")
    labels = ("import latently", "GaussianMixture", "KMeans, few rows", "KMeans, 30 000 x 10 in 100")
    for label, cold, warm in zip(labels, first, second, strict=True):
        print(f"{label:<34}{cold:>10.2f} s{warm:>8.2f} s")
    compiled = sum(first[1:]) - sum(second[1:])
    print(
        f"compiled in {compiled:.1f} s in all (goal 10); loaded by a second process in {sum(second[1:]):.2f} s (goal 1)"
    )


if __name__ == "__main__":
    main()

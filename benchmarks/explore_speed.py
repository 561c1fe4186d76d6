"""Time and memory of a whole report on simulated tables of mixed types with missing values.

    python -m benchmarks.explore_speed [--sizes 10000x20 100000x50] [--html]

Compiled code is loaded by a small table first. Limits: 15 s for 10,000 x 20; 60 s and 2 GB for 100,000 x 50.
"""

import argparse
import resource
import time

import numpy as np
import pandas as pd

from latently.report import explore


def table(n, d, share=0.05, seed=0):
    """Three clusters, factors, skewed numbers, counts and words; a share of the cells is missing."""
    rng = np.random.default_rng(seed)
    hidden, factors = rng.integers(0, 3, n), rng.normal(size=(n, 3))
    made = {}
    for j in range(d):
        column = _column(j, hidden, factors, rng)
        column[rng.random(n) < share] = None if column.dtype == object else np.nan
        made[f"c{j}"] = column
    return pd.DataFrame(made)


def _column(j, hidden, factors, rng):
    n = len(hidden)
    if j % 10 < 6:
        return rng.normal(size=n) + 0.5 * factors[:, j % 3] + (2.5 * hidden if j % 5 == 0 else 0)
    if j % 10 == 6:
        return rng.lognormal(size=n)
    if j % 10 == 7:
        return rng.poisson(4, n).astype(float)
    words = np.array(["a", "b", "c", "d", "e"], dtype=object)
    return words[(rng.integers(0, 4, n) + (hidden if j % 4 == 0 else 0)) % 5]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", default=["10000x20", "100000x50"])
    parser.add_argument("--html", action="store_true", help="make the page too, and tell its size")
    args = parser.parse_args()
    explore(table(500, 10))
    for size in args.sizes:
        n, d = map(int, size.split("x"))
        print(f"{n} x {d}: {measured(table(n, d), args.html)}", flush=True)


def measured(given, html):
    marks, began = [], time.perf_counter()
    report = explore(given, progress=lambda part, _: marks.append((part, time.perf_counter())))
    took = time.perf_counter() - began
    ends = [at for _, at in marks[1:]]
    parts = ", ".join(f"{part} {end - at:.1f}" for (part, at), end in zip(marks, ends, strict=False))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    page = f", page {len(report.to_html()) / 1e6:.1f} MB" if html else ""
    return f"{took:.1f} s ({parts}), at most {memory:.2f} GB so far{page}"


if __name__ == "__main__":
    main()

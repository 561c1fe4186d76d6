"""Error and time of filling holes, beside scikit-learn's KNNImputer and IterativeImputer.

Values of real tables are hidden completely at random; the error is the root mean square over the hidden values, in
standard deviations of their columns. The peers see standardised columns, which is to their advantage.

    python -m benchmarks.impute_accuracy [--shares 0.1 0.3] [--seeds 3] [--rows 20000]
"""

import argparse
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from tacit.impute import Imputer

NAMES = ("iris", "wine", "breast_cancer", "diabetes", "linnerud", "digits")


def tables(rows):
    """Real tables of scikit-learn, and a long simulated one."""
    for name in NAMES:
        bunch = getattr(datasets, f"load_{name}")()
        X = np.asarray(bunch.data, dtype=float)
        if name == "linnerud":
            X = np.hstack([X, bunch.target])
        if name == "digits":
            X = X[:600, X[:600].std(axis=0) > 0.5]
        yield name, X
    if rows:
        yield f"simulated {rows}", simulated(rows)


def simulated(n, d=10, k=4):
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(k, d, d)) / np.sqrt(d)
    labels = rng.integers(k, size=n)
    return 2 * rng.normal(size=(k, d))[labels] + np.einsum("nij,nj->ni", roots[labels], rng.normal(size=(n, d)))


def hidden(X, share, seed):
    holes = np.random.default_rng(seed).uniform(size=X.shape) < share
    holes[holes.all(axis=1)] = False
    return np.where(holes, np.nan, X), holes


def imputers(n_rows):
    yield "tacit", Imputer(random_state=0)
    if n_rows <= 5000:
        yield "KNN", KNNImputer()
    yield "Iterative", IterativeImputer(random_state=0)


def measure(X, share, seed):
    """Error and seconds by imputer."""
    Y, holes = hidden(X, share, seed)
    centre, unit = np.nanmean(Y, axis=0), np.nanstd(Y, axis=0)
    Z, out = (Y - centre) / unit, {}
    for name, imputer in imputers(len(X)):
        began = time.perf_counter()
        filled = imputer.fit_transform(Z)
        spent = time.perf_counter() - began
        gaps = (filled * unit + centre - X) / X.std(axis=0)
        out[name] = np.sqrt(np.mean(gaps[holes] ** 2)), spent
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.3])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20000, help="rows of the simulated table; 0 for none")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    measure(simulated(60), 0.2, 0)  # compiles, or loads what was compiled
    print(f"{'table':16}{'hidden':>7}  " + "".join(f"{name:>10}{'s':>8}" for name in ("tacit", "KNN", "Iterative")))
    wins, total = 0, 0
    for name, X in tables(options.rows):
        for share in options.shares:
            runs = [measure(X, share, seed) for seed in range(options.seeds)]
            means = {who: np.mean([run[who] for run in runs], axis=0) for who in runs[0]}
            cells = [f"{means[w][0]:10.3f}{means[w][1]:8.3f}" if w in means else f"{'-':>10}{'-':>8}"
                     for w in ("tacit", "KNN", "Iterative")]  # fmt: skip
            best = min(means, key=lambda who: means[who][0]) == "tacit"
            wins, total = wins + best, total + 1
            print(f"{name:16}{share:7.0%}  " + "".join(cells) + ("  lowest error" if best else ""), flush=True)
    print(f"lowest error in {wins} of {total} settings")


if __name__ == "__main__":
    main()

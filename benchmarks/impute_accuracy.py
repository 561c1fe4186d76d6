"""Error and time of filling missing values, beside scikit-learn's KNNImputer and IterativeImputer.

Values of real tables are hidden completely at random; the error is the root mean square over the hidden values, in
standard deviations of their columns. The peers see standardised columns, which is to their advantage. Times are of
fit and transform together, the best of several interleaved rounds, averaged over the seeds.

    python -m benchmarks.impute_accuracy [--shares 0.1 0.3] [--seeds 3] [--rounds 3] [--rows 20000]
"""

import argparse
import time
import warnings

import numpy as np
from sklearn import datasets
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from latently.impute import Imputer

WHO = ("latently", "KNN", "Iterative")
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
    absent = np.random.default_rng(seed).uniform(size=X.shape) < share
    absent[absent.all(axis=1)] = False
    return np.where(absent, np.nan, X), absent


def imputers(n_rows):
    yield "latently", Imputer(random_state=0)
    if n_rows <= 5000:
        yield "KNN", KNNImputer()
    yield "Iterative", IterativeImputer(random_state=0)


def measure(X, share, seed, rounds=1):
    """Error and seconds by imputer."""
    Y, absent = hidden(X, share, seed)
    centre, unit = np.nanmean(Y, axis=0), np.nanstd(Y, axis=0)
    Z, out = (Y - centre) / unit, {}
    for _ in range(rounds):
        for name, imputer in imputers(len(X)):
            began = time.perf_counter()
            filled = imputer.fit_transform(Z)
            spent = min(time.perf_counter() - began, out.get(name, (0, np.inf))[1])
            gaps = (filled * unit + centre - X) / X.std(axis=0)
            out[name] = np.sqrt(np.mean(gaps[absent] ** 2)), spent
    return out


def line(name, share, means):
    """Errors, seconds and how many times faster, as text."""
    cells = [f"{means[w][0]:10.3f}{means[w][1]:9.4f}" if w in means else f"{'-':>10}{'-':>9}" for w in WHO]
    ratios = [f"{means[w][1] / means['latently'][1]:9.1f}x" if w in means else f"{'-':>10}" for w in WHO[1:]]
    low = "  lowest error" if _is_best(means, 0) else ""
    return f"{name:16}{share:7.0%}  " + "".join(cells + ratios) + low


def _is_best(means, at):
    return min(means, key=lambda who: means[who][at]) == "latently"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.3])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20000, help="rows of the simulated table; 0 for none")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n in (60, 20000):  # compiles, or loads what was compiled
        Imputer(random_state=0).fit_transform(hidden(simulated(n), 0.2, 0)[0])
    print(f"{'table':16}{'hidden':>7}  " + "".join(f"{w:>10}{'s':>9}" for w in WHO) + f"{'KNN':>10}{'Iterative':>10}")
    found = []
    for name, X in tables(options.rows):
        for share in options.shares:
            runs = [measure(X, share, seed, options.rounds) for seed in range(options.seeds)]
            found.append({who: np.mean([run[who] for run in runs], axis=0) for who in runs[0]})
            print(line(name, share, found[-1]), flush=True)
    for what, at in (("lowest error", 0), ("fastest", 1)):
        print(f"{what} in {sum(_is_best(means, at) for means in found)} of {len(found)} settings")


if __name__ == "__main__":
    main()

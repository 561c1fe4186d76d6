"""Mixtures over tables: beside StepMix, by EM and by gradient, and the price of missing values.

    python -m benchmarks.mixture_compare [--rows 200000] [--repeats 3] [--json FILE]

StepMix has no counts, so both fit five numeric and five categorical columns; the table with two columns of counts as
well is timed for latently alone. Everyone starts from the same responsibilities, which StepMix takes as they are and
latently as the components they make, and goes through the same number of iterations.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn import datasets

from benchmarks.compare.harness import Contest, compare, table, timed
from latently.cluster import BernoulliMixture, GaussianMixture, Mixture
from latently.distributions import Categorical, Gaussian, Poisson, Product

ITERATIONS = 20
CLUSTERS = 4
LEVELS = 6
FAITHFUL = Path(__file__).parents[1] / "tests" / "reference" / "old_faithful.csv"


@dataclass(frozen=True)
class MixedTable:
    """Five columns of numbers, five of codes, two of counts; responsibilities and components to start from."""

    X: np.ndarray
    shares: np.ndarray
    parts: list[Product]


def mixed(rows: int) -> MixedTable:
    """Rows of four groups; the start knows the group of a third of them."""
    rng = np.random.default_rng(0)
    group = rng.integers(CLUSTERS, size=rows)
    numbers = 1.5 * rng.normal(size=(CLUSTERS, 5))[group] + rng.normal(size=(rows, 5))
    levels = rng.dirichlet(np.ones(LEVELS), size=(CLUSTERS, 5)).cumsum(axis=2)
    codes = (rng.uniform(size=(rows, 5, 1)) > levels[group][:, :, :-1]).sum(axis=2)
    counts = rng.poisson(rng.uniform(1, 8, size=(CLUSTERS, 2))[group])
    guess = np.where(rng.uniform(size=rows) < 1 / 3, group, rng.integers(CLUSTERS, size=rows))
    X, shares = np.hstack([numbers, codes, counts]), np.eye(CLUSTERS)[guess]
    return MixedTable(X, shares, start_of(X, shares))


def start_of(X: np.ndarray, shares: np.ndarray) -> list[Product]:
    """Components that are best for the responsibilities."""
    parts = []
    for share in shares.T:
        mean = share @ X / share.sum()
        variance = share @ (X[:, :5] - mean[:5]) ** 2 / share.sum()
        codes = [(Categorical(np.bincount(X[:, c].astype(int), share, LEVELS) / share.sum()), c) for c in range(5, 10)]
        visits = [(Poisson(mean[c]), c) for c in (10, 11)]
        parts.append(Product([(Gaussian(mean[:5], variance, "diag"), list(range(5))), *codes, *visits]))
    return parts


def by_latently(data: MixedTable, *, counts: bool = False) -> float:
    parts = data.parts if counts else [Product(part.parts[:-2]) for part in data.parts]
    families = {c: Categorical() for c in range(5, 10)} | ({10: Poisson(), 11: Poisson()} if counts else {})
    model = Mixture(
        CLUSTERS,
        families=families,
        prior="ml",
        components_init=parts,
        weights_init=np.full(CLUSTERS, 1 / CLUSTERS),
        tol=0.0,
        max_iter=ITERATIONS,
    )
    return _quietly(model.fit, data.X if counts else data.X[:, :10]).lower_bound_


def by_stepmix(data: MixedTable) -> float:
    from stepmix import StepMix

    class Started(StepMix):
        """The peer with a start of our choice."""

        def _initialize_parameters(self, X, random_state):
            self.log_resp_ = np.log(np.clip(data.shares, 1e-15, 1 - 1e-15))
            self.weights_ = np.full(CLUSTERS, 1 / CLUSTERS)
            self._initialize_parameters_measurement(X, random_state)

    measurement = {
        "numbers": {"model": "gaussian_diag", "n_columns": 5},
        "codes": {"model": "categorical", "n_columns": 5},
    }
    model = Started(CLUSTERS, measurement=measurement, abs_tol=0.0, max_iter=ITERATIONS, progress_bar=0, random_state=0)
    return _quietly(model.fit, data.X[:, :10]).lower_bound_


def _quietly(fit: Callable, X: np.ndarray):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(X)


def contests() -> list[Contest]:
    return [
        Contest(
            "Mixture 5 numeric 5 categorical",
            200_000,
            mixed,
            by_latently,
            {"StepMix": by_stepmix},
            {"StepMix": 10},
            tolerance=1e-6,
        )
    ]


# EM against gradient


def two_ways(large: int) -> dict[str, tuple[Callable, np.ndarray]]:
    """What to fit by both ways, by name."""
    digits = (datasets.load_digits().data > 8).astype(float)
    blobs = datasets.make_blobs(large, n_features=6, centers=5, cluster_std=3.0, random_state=0)[0]
    return {
        "iris, 3 full": (lambda **o: GaussianMixture(3, **o), datasets.load_iris().data),
        "Old Faithful, 2 full": (lambda **o: GaussianMixture(2, **o), np.loadtxt(FAITHFUL, delimiter=",", skiprows=1)),
        "binary digits, 4": (lambda **o: BernoulliMixture(4, **{**o, "random_state": 1}), digits),
        f"{large} x 6, 5 full": (lambda **o: GaussianMixture(5, **o), blobs),
    }


def race(make: Callable, X: np.ndarray, repeats: int) -> dict[str, tuple[float, float, int]]:
    """Seconds, log-likelihood and iterations of both ways from one start to the same precision; best of several."""
    found: dict[str, tuple[float, float, int]] = {}
    for method in ("em", "gradient") * repeats:
        fitted = []

        def run(X, method=method, fitted=fitted):
            fitted.append(_quietly(make(method=method, tol=1e-9, max_iter=2000, random_state=0).fit, X))
            return fitted[0].score(X) * len(X)

        seconds, likelihood = timed(run, X)
        best = min(seconds, found.get(method, (np.inf,))[0])
        found[method] = best, likelihood, fitted[0].n_iter_
    return found


def ways_table(results: dict[str, dict[str, tuple[float, float, int]]]) -> str:
    lines = [f"{'model':<26}{'em s':>9}{'steps':>7}{'gradient s':>12}{'steps':>7}{'difference':>13}  faster"]
    for name, ways in results.items():
        (s1, l1, n1), (s2, l2, n2) = ways["em"], ways["gradient"]
        faster = "em" if s1 < s2 else "gradient"
        factor = max(s1, s2) / min(s1, s2)
        lines.append(f"{name:<26}{s1:>9.4f}{n1:>7}{s2:>12.4f}{n2:>7}{l2 - l1:>13.1e}  {faster} {factor:.1f}x")
    return "\n".join(lines)


# the price of missing values


def price_of_missing_values(rows: int, repeats: int, d: int = 10, k: int = 10) -> tuple[float, float]:
    """Seconds of a full-covariance fit to complete rows, and to the same with a fifth of the entries missing."""
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(k, d))
    X = centres[rng.integers(k, size=rows)] + rng.normal(size=(rows, d)) @ rng.normal(size=(d, d)) / 3
    incomplete = np.where(rng.uniform(size=X.shape) < 0.2, np.nan, X)
    start = {
        "means_init": centres + 0.3,
        "weights_init": np.full(k, 1 / k),
        "precisions_init": np.tile(np.eye(d), (k, 1, 1)),
    }

    def run(table: np.ndarray) -> float:
        return _quietly(GaussianMixture(k, tol=0.0, max_iter=ITERATIONS, **start).fit, table).lower_bound_

    for small in (X[:2000], incomplete[:2000]):
        run(small)
    times = [(timed(run, X)[0], timed(run, incomplete)[0]) for _ in range(repeats)]
    return min(t[0] for t in times), min(t[1] for t in times)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    contest = Contest(**{**vars(contests()[0]), "rows": options.rows, "repeats": options.repeats})
    beside = compare(contest, growth=False)
    print(table([beside]))
    data = mixed(options.rows)
    counted = min(timed(lambda d: by_latently(d, counts=True), data)[0] for _ in range(options.repeats))
    print(f"latently with two columns of counts as well: {counted:.4f} s", flush=True)
    ways = {name: race(make, X, options.repeats) for name, (make, X) in two_ways(options.rows // 2).items()}
    print("\n" + ways_table(ways), flush=True)
    whole, incomplete = price_of_missing_values(options.rows, options.repeats)
    print(
        f"\n({options.rows}, 10, 10) full: complete {whole:.3f} s, a fifth missing {incomplete:.3f} s, "
        f"{incomplete / whole:.1f}x"
    )
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        absent = {"complete": whole, "missing": incomplete}
        record = {"stepmix": beside.to_dict(), "with_counts": counted, "ways": ways, "absent": absent}
        options.json.write_text(json.dumps(record, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

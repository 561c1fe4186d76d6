"""How often Rubin's intervals of 95 %, from draws of `Imputer`, hold what they are about: by simulation.

Tables of numbers: five columns of several units, all correlated by rho; 30 % of the values missing completely at random
(mcar), or two columns missing by what the first one says (mar). Tables of mixed types: three numbers and a category
in two clusters, 25 % missing. Asked are a mean, the coefficient of a column on the one that decides its missing values,
and one of a regression on all others; for mixed tables two means, a difference between categories, and a share.

Each figure is the coverage in percent, and in brackets that of the complete tables and the mean ratio of the standard
errors. The last column is the Monte-Carlo error of a coverage. Intervals are pooled by Rubin's rules with the degrees
of freedom of Barnard and Rubin. Exit 1 if a coverage is further than 2 points and twice its error from 95 % (and from
that of the complete tables: Wald's interval of a share holds less than it says on few rows).

    python -m benchmarks.impute_coverage [--repeats 1000] [--draws 20] [--rows 50 200 1000] [--jobs 2] [--only mixed]
"""

import argparse
import sys
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats

from latently.cluster import Mixture
from latently.distributions import Gaussian
from latently.impute import Imputer
from latently.learn.engine.reduce import single_threaded_blas

LEVEL, TOLERANCE = 0.95, 2.0
SCALES, CENTRES = np.linspace(1, 3, 5), np.arange(5.0)
APART = np.array([4.0, 4.0, 0.0])
INSIDE = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.3], [0.3, 0.3, 1.0]])


def regression(y, X, at):
    """Coefficient, its squared standard error, and degrees of freedom."""
    X = np.column_stack([np.ones(len(y)), X])
    inverse = np.linalg.inv(X.T @ X)
    found = inverse @ X.T @ y
    freedom = len(y) - X.shape[1]
    return found[at], ((y - X @ found) ** 2).sum() / freedom * inverse[at, at], freedom


def mean(y):
    return y.mean(), y.var(ddof=1) / len(y), len(y) - 1


def pooled(estimates, truth):
    """Whether Rubin's interval holds the truth, and its standard error."""
    values, variances, complete = np.array(estimates).T
    m, within, between = len(values), variances.mean(), values.var(ddof=1)
    total = within + (1 + 1 / m) * between
    lost = (1 + 1 / m) * between / total
    freedom = (complete[0] + 1) / (complete[0] + 3) * complete[0] * (1 - lost)
    if lost > 0:
        freedom = 1 / (lost**2 / (m - 1) + 1 / freedom)
    return abs(values.mean() - truth) < stats.t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(total), np.sqrt(total)


def plain(estimate, truth):
    """The same of a complete table."""
    value, variance, freedom = estimate
    return abs(value - truth) < stats.t.ppf((1 + LEVEL) / 2, freedom) * np.sqrt(variance), np.sqrt(variance)


class Numbers:
    """Five correlated columns."""

    names = ("mean", "coefficient", "multiple")

    def __init__(self, rho, how):
        self.rho, self.how = rho, how

    def __str__(self):
        return f"numbers, rho {self.rho}, {self.how}"

    def rows(self, n, rng):
        """A table, and the same with holes."""
        root = np.linalg.cholesky(np.full((5, 5), self.rho) + (1 - self.rho) * np.eye(5))
        X = rng.standard_normal((n, 5)) @ root.T * SCALES + CENTRES
        chance = np.zeros(X.shape) + (0.3 if self.how == "mcar" else 0.0)
        if self.how == "mar":
            chance[:, 1:3] = 1 / (1 + np.exp(0.8 - 1.5 * X[:, :1]))
        return X, np.where(rng.random(X.shape) < chance, np.nan, X)

    def truths(self):
        # of equally correlated columns each other one gets rho / (1 + 3 rho)
        return 1.0, self.rho * SCALES[1], self.rho / (1 + 3 * self.rho) * SCALES[2]

    def asked(self, X):
        return mean(X[:, 1]), regression(X[:, 1], X[:, :1], 1), regression(X[:, 2], X[:, [0, 1, 3, 4]], 1)

    def imputer(self):
        return Imputer(max_components=1, random_state=0)


class Mixed:
    """Three numbers and a category in two clusters; the category names the cluster in nine of ten rows."""

    names = ("mean", "other mean", "difference", "share")

    def __init__(self, how):
        self.how = how

    def __str__(self):
        return f"mixed, {self.how}"

    def rows(self, n, rng):
        cluster = rng.integers(2, size=n)
        X = rng.standard_normal((n, 3)) @ np.linalg.cholesky(INSIDE).T + cluster[:, None] * APART
        named = np.where(rng.random(n) < 0.9, cluster, 1 - cluster)
        chance = np.full((n, 4), 0.25)
        if self.how == "mar":  # by the third column, which is always seen
            chance = np.column_stack([stats.norm.cdf(X[:, 2] - 0.5), stats.norm.cdf(-X[:, 2] - 0.5), *np.zeros((2, n))])
            chance[:, 3] = 0.25
        missing = rng.random((n, 4)) < chance
        table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.array(["u", "v"], dtype=object)[named])
        return table, table.mask(missing)

    def truths(self):
        return 2.0, 0.0, 0.8 * 4.0, 0.5

    def asked(self, table):
        of_v = (table["kind"] == "v").to_numpy(float)
        return mean(table["a"]), mean(table["c"]), regression(table["b"].to_numpy(), of_v, 1), mean(of_v)

    def imputer(self):
        # the size is given: on 50 rows the criterion takes one component now and then, in which nothing hangs together
        return Imputer(Mixture(2, families={("a", "b", "c"): Gaussian()}, max_iter=1000, random_state=0))


def once(case, n, draws, seed):
    """For each question: whether the intervals of drawn and complete tables hold; the ratio of their errors."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([n, seed])
    with single_threaded_blas():
        complete, incomplete = case.rows(n, rng)
        tables = case.imputer().fit(incomplete).draws(incomplete, draws, random_state=int(rng.integers(2**31)))
        answers = zip(*(case.asked(table) for table in tables), strict=True)
        found = [pooled(answer, truth) for answer, truth in zip(answers, case.truths(), strict=True)]
    whole = [plain(answer, truth) for answer, truth in zip(case.asked(complete), case.truths(), strict=True)]
    return [(covered, own, error / alone) for (covered, error), (own, alone) in zip(found, whole, strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a case's name")
    options = parser.parse_args()
    cases = [Numbers(rho, how) for rho in (0.3, 0.8) for how in ("mcar", "mar")] + [
        Mixed(how) for how in ("mcar", "mar")
    ]
    error, missed = 100 * np.sqrt(LEVEL * (1 - LEVEL) / options.repeats), 0
    for case in (case for case in cases if options.only in str(case)):
        for n in options.rows:
            calls = (delayed(once)(case, n, options.draws, seed) for seed in range(options.repeats))
            covered, whole, ratio = np.array(Parallel(options.jobs)(calls), dtype=float).mean(axis=0).T
            far = np.minimum(np.abs(covered - LEVEL), np.abs(covered - whole))
            off = 100 * far > TOLERANCE + 2 * error
            cells = [
                f"{name} {100 * h:.1f}{'!' if o else ''} ({100 * w:.1f}, {r:.2f})"
                for name, h, w, r, o in zip(case.names, covered, whole, ratio, off, strict=True)
            ]
            print(f"{case!s:24}{n:5}  " + "".join(f"{cell:32}" for cell in cells) + f"+-{error:.1f}", flush=True)
            missed += int(off.sum())
    if missed:
        sys.exit(f"{missed} coverages lie outside {100 * LEVEL:g} +- {TOLERANCE + 2 * error:.1f} %")


if __name__ == "__main__":
    main()

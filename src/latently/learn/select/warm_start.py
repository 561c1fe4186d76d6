"""A larger mixture started from a smaller one: its heaviest component is split in two."""

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from latently.data.tables.matrix import as_matrix
from latently.learn.engine.protocol import Array

_PARTS = ("weights", "means", "precisions")


def can_grow(model: Any) -> bool:
    """Whether a model says so itself, or takes weights, means and precisions to start from and has them once fitted."""
    if hasattr(model, "_can_grow"):
        return bool(model._can_grow())
    params = model.get_params(deep=False)
    names = [f"{part}_init" for part in _PARTS]
    return all(name in params for name in names) and all(params[name] is None for name in names)


def grown_fit(smaller: Any, model: Any, X: Any, rows: Any) -> Any:
    """Fit a clone of `model` from the components of a smaller fitted one; components come heaviest first.

    What is fitted is X; where a component is split is seen from `rows`, all of X or some of it. The clone has the
    settings of `model` afterwards: where it started is not one of them.
    """
    from sklearn.base import clone

    if hasattr(model, "_grown_fit"):
        return model._grown_fit(smaller, X, rows)
    start = _grown(smaller, np.asarray(as_matrix(rows, allow_nan=True), dtype=float), model.n_components)
    first = clone(model).set_params(n_init=1, **start).fit(X)
    if getattr(model, "_keeps_order", False):  # components that are known by place stay there
        return first.set_params(**model.get_params(deep=False))
    order = np.argsort(-first.weights_, kind="stable")
    # A start that is given fixes the order of the components: a second, short fit puts them in the usual one.
    again = clone(model).set_params(n_init=1, **_permuted(_parts(first), order, _is_tied(first))).fit(X)
    return again.set_params(**model.get_params(deep=False))


def _parts(fitted: Any) -> dict[str, Array]:
    return {f"{part}_init": np.asarray(getattr(fitted, f"{part}_")) for part in _PARTS}


def _is_tied(fitted: Any) -> bool:
    return getattr(fitted, "covariance_type", None) == "tied"


def _permuted(parts: dict[str, Array], order: npt.NDArray[np.intp], tied: bool) -> dict[str, Array]:
    return {name: v if tied and name == "precisions_init" else v[order] for name, v in parts.items()}


def _grown(smaller: Any, X: Array, k: int) -> dict[str, Array]:
    parts, shares = _parts(smaller), _shares(smaller, X)
    while len(parts["weights_init"]) < k:
        heaviest = int(np.argmax(parts["weights_init"]))
        low, high = _halves(X, shares[:, heaviest], parts["means_init"][heaviest])
        shares = np.column_stack([shares, np.where(high, shares[:, heaviest], 0.0)])
        shares[:, heaviest] *= low
        parts = _with_split(parts, heaviest, shares, X, _is_tied(smaller))
    return parts


def _shares(fitted: Any, rows: Array) -> Array:
    unnamed = copy.copy(fitted)
    vars(unnamed).pop("feature_names_in_", None)  # the rows are a plain array
    shares: Array = unnamed.predict_proba(rows)
    return shares


def _halves(X: Array, share: Array, mean: Array) -> tuple[Array, Array]:
    """Which rows lie to each side of a component's mean, along its longest axis in units of its columns."""
    gaps = np.nan_to_num(X - mean)
    spread = np.sqrt(share @ gaps**2 / max(share.sum(), np.finfo(float).tiny))
    Z = np.divide(gaps, spread, out=np.zeros_like(gaps), where=spread > 0)
    axis = np.linalg.eigh((Z * share[:, None]).T @ Z)[1][:, -1]
    high = Z @ axis > 0
    return ~high, high


def _with_split(parts: dict[str, Array], k: int, shares: Array, X: Array, tied: bool) -> dict[str, Array]:
    means = np.vstack([parts["means_init"], parts["means_init"][k]])
    means[k], means[-1] = (_mean(X, shares[:, side], means[k]) for side in (k, -1))
    weights = np.append(parts["weights_init"], parts["weights_init"][k] / 2)
    weights[k] /= 2
    precisions = parts["precisions_init"]
    if not tied:
        precisions = np.concatenate([precisions, precisions[k : k + 1]])
    return {"weights_init": weights / weights.sum(), "means_init": means, "precisions_init": precisions}


def _mean(X: Array, share: Array, otherwise: Array) -> Array:
    """Mean of the observed entries; a column without any keeps what it had."""
    seen = share[:, None] * ~np.isnan(X)
    weight = seen.sum(axis=0)
    total = (seen * np.nan_to_num(X)).sum(axis=0)
    out: Array = np.divide(total, weight, out=np.array(otherwise, dtype=float), where=weight > 0)
    return out

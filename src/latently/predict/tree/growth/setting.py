"""Settings of a tree's growth, as numbers for a table of a given size."""

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils.validation import check_random_state

CRITERIA: Final = {
    "gini": 0, "entropy": 1, "log_loss": 1, "gain": 1, "squared_error": 2, "poisson": 3, "absolute_error": 4,
}  # fmt: skip
NO_LIMIT: Final = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Setting:
    """When a node is split, and how; `None` of an estimator's parameters is a number here."""

    criterion: str
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction: float
    min_weight_leaf: float
    min_impurity_decrease: float
    max_features: int
    max_leaf_nodes: int  # -1: no limit
    is_random: bool
    significance: float | None
    signs: NDArray[np.int8]  # (d,) monotone constraints

    @property
    def bounds(self) -> NDArray[np.float64]:
        """Bounds of the value of the root."""
        return np.array([-np.inf, np.inf])

    def critical(self, n_classes: int) -> NDArray[np.float64]:
        """Least chi-square of a split by degrees of freedom; empty if every split will do."""
        if self.significance is None:
            return np.empty(0)
        return np.append(0.0, stats.chi2.isf(self.significance, np.arange(1, max(n_classes, 2))))

    def weighing(self, total: float) -> "Setting":
        """Give the setting with the least weight of a leaf, for a tree whose rows weigh a total."""
        return replace(self, min_weight_leaf=self.min_weight_fraction * total)


def make_setting(params: dict[str, Any], n: int, d: int) -> Setting:
    """Settings for a table of n rows and d columns, from the parameters of an estimator."""
    leaf = _count(params["min_samples_leaf"], n)
    split = params["min_samples_split"]
    split = split if _is_whole(split) else max(2, math.ceil(split * n))
    depth, leaves = params["max_depth"], params["max_leaf_nodes"]
    return Setting(
        criterion=params["criterion"],
        max_depth=NO_LIMIT if depth is None else min(int(depth), NO_LIMIT),
        min_samples_split=max(int(split), 2 * leaf),
        min_samples_leaf=leaf,
        min_weight_fraction=float(params["min_weight_fraction_leaf"]),
        min_weight_leaf=0.0,
        min_impurity_decrease=float(params["min_impurity_decrease"]),
        max_features=features_per_split(params["max_features"], d),
        max_leaf_nodes=-1 if leaves is None else min(int(leaves), NO_LIMIT),
        is_random=params.get("splitter", "best") == "random",
        significance=params["significance"],
        signs=_signs(params["monotonic_cst"], d),
    )


def seed_of(random_state: Any) -> int:
    """Seed of the draws of a tree: a number as it is, so that a tree of a forest fitted alone is the same tree.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if _is_whole(random_state):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer)


def _count(value: Any, n: int) -> int:
    return int(value) if _is_whole(value) else math.ceil(value * n)


def features_per_split(max_features: Any, d: int) -> int:
    """Columns to be tried at each split.

    Examples
    --------
    >>> [features_per_split(value, 30) for value in ("sqrt", "log2", 0.5, 7, None)]
    [5, 4, 15, 7, 30]
    """
    if max_features is None:
        return d
    if max_features == "sqrt":
        return max(1, int(np.sqrt(d)))
    if max_features == "log2":
        return max(1, int(np.log2(d)))
    if _is_whole(max_features):
        return int(min(max_features, d))
    return max(1, int(max_features * d))


def _signs(constraints: Any, d: int) -> NDArray[np.int8]:
    if constraints is None:
        return np.zeros(d, dtype=np.int8)
    signs = np.asarray(constraints)
    if signs.shape != (d,):
        raise ValueError(f"monotonic_cst has shape {np.shape(signs)} but the input data X has {d} features.")
    if not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(
            f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {np.unique(signs).tolist()}"
        )
    return signs.astype(np.int8)

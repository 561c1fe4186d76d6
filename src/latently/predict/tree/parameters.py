"""Constructor parameters that trees and forests share, and what they may be."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, Final, Literal

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from latently.data import Schema
from latently.learn.estimator.parameters import stores_parameters

WHOLE_1: Final = Interval(Integral, 1, None, closed="left")
WHOLE_2: Final = Interval(Integral, 2, None, closed="left")
REAL_0: Final = Interval(Real, 0.0, None, closed="left")
CLASS_CRITERIA: Final = StrOptions({"gini", "entropy", "log_loss", "gain", "gain_ratio"})
NUMBER_CRITERIA: Final = StrOptions({"squared_error", "absolute_error", "poisson"})

GROWTH_CONSTRAINTS: Final[dict[str, list[Any]]] = {
    "max_depth": [WHOLE_1, None],
    "min_samples_split": [WHOLE_2, Interval(RealNotInt, 0.0, 1.0, closed="right")],
    "min_samples_leaf": [WHOLE_1, Interval(RealNotInt, 0.0, 1.0, closed="neither")],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "max_features": [WHOLE_1, Interval(RealNotInt, 0.0, 1.0, closed="right"), StrOptions({"sqrt", "log2"}), None],
    "random_state": ["random_state"],
    "max_leaf_nodes": [WHOLE_2, None],
    "min_impurity_decrease": [REAL_0],
    "ccp_alpha": [REAL_0],
    "monotonic_cst": ["array-like", None],
    "significance": [Interval(Real, 0.0, 1.0, closed="neither"), None],
    "nominal": [StrOptions({"groups", "values"})],
    "missing": [StrOptions({"side", "fractional"})],
    "max_bins": [WHOLE_2, None],
    "schema": [Schema, None],
}
TREE_CONSTRAINTS: Final = {**GROWTH_CONSTRAINTS, "splitter": [StrOptions({"best", "random"})]}
FOREST_CONSTRAINTS: Final[dict[str, list[Any]]] = {
    **GROWTH_CONSTRAINTS,
    "n_estimators": [WHOLE_1],
    "bootstrap": ["boolean"],
    "oob_score": ["boolean", callable],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
    "warm_start": ["boolean"],
    "max_samples": [None, Interval(RealNotInt, 0.0, None, closed="neither"), WHOLE_1],
}


@stores_parameters
class GrowthParameters:
    """When a node is split, and what a column's splits are."""

    _: KW_ONLY
    max_depth: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    max_features: Any = None
    random_state: Any = None
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0
    monotonic_cst: ArrayLike | None = None
    nominal: Literal["groups", "values"] = "groups"
    missing: Literal["side", "fractional"] = "side"
    significance: float | None = None
    max_bins: int | None = None
    schema: Schema | None = None


@stores_parameters
class TreeParameters(GrowthParameters):
    """Those of a tree alone."""

    _: KW_ONLY
    splitter: Literal["best", "random"] = "best"


@stores_parameters
class ForestParameters(GrowthParameters):
    """Those of a forest: how many trees, and on which rows."""

    n_estimators: int = 100
    _: KW_ONLY
    bootstrap: bool = True
    oob_score: Any = False
    n_jobs: int | None = None
    verbose: int = 0
    warm_start: bool = False
    max_samples: Any = None

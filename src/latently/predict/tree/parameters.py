"""Constructor parameters that trees and forests share, and what they may be."""

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, Final, Literal

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from latently.data import Schema
from latently.learn.estimator.parameters import (
    CHOICES,
    COUNT,
    NON_NEGATIVE,
    Count,
    Flag,
    Seed,
    Verbose,
    stores_parameters,
)

WHOLE_2: Final = Interval(Integral, 2, None, closed="left")


@stores_parameters
class GrowthParameters:
    """When a node is split, and what a column's splits are."""

    _: KW_ONLY
    max_depth: Annotated[int | None, COUNT, None] = None
    min_samples_split: Annotated[float, WHOLE_2, Interval(RealNotInt, 0.0, 1.0, closed="right")] = 2
    min_samples_leaf: Annotated[float, COUNT, Interval(RealNotInt, 0.0, 1.0, closed="neither")] = 1
    min_weight_fraction_leaf: Annotated[float, Interval(Real, 0.0, 0.5, closed="both")] = 0.0
    max_features: Annotated[
        Any, COUNT, Interval(RealNotInt, 0.0, 1.0, closed="right"), StrOptions({"sqrt", "log2"}), None
    ] = None
    random_state: Seed = None
    max_leaf_nodes: Annotated[int | None, WHOLE_2, None] = None
    min_impurity_decrease: Annotated[float, NON_NEGATIVE] = 0.0
    ccp_alpha: Annotated[float, NON_NEGATIVE] = 0.0
    monotonic_cst: Annotated[ArrayLike | None, "array-like", None] = None
    nominal: Annotated[Literal["groups", "values"], CHOICES] = "groups"
    missing: Annotated[Literal["side", "fractional"], CHOICES] = "side"
    significance: Annotated[float | None, Interval(Real, 0.0, 1.0, closed="neither"), None] = None
    max_bins: Annotated[int | None, WHOLE_2, None] = None
    schema: Annotated[Schema | None, Schema, None] = None


@stores_parameters
class TreeParameters(GrowthParameters):
    """Those of a tree alone."""

    _: KW_ONLY
    splitter: Annotated[Literal["best", "random"], CHOICES] = "best"


@stores_parameters
class ForestParameters(GrowthParameters):
    """Those of a forest: how many trees, and on which rows."""

    n_estimators: Count = 100
    _: KW_ONLY
    bootstrap: Flag = True
    oob_score: Annotated[Any, "boolean", callable] = False
    n_jobs: Annotated[int | None, Integral, None] = None
    verbose: Verbose = 0
    warm_start: Flag = False
    max_samples: Annotated[Any, None, Interval(RealNotInt, 0.0, None, closed="neither"), COUNT] = None

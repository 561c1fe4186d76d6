"""Some columns of a fitted mixture as a distribution of their own."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from latently.cluster import GaussianMixture
from latently.distributions import Gaussian, MixtureDistribution
from latently.impute.tables import read_table
from latently.plot.axes import Array, column_names, place


def columns_of(model: Any, X: Any, columns: list[int]) -> Array:
    """(n, c) values of some columns: numbers, and codes of categories."""
    return read_table(X, getattr(model, "schema_", None)).values[:, columns]


def density_of(mixture: Any, columns: list[int], given: Mapping[Any, float] | None) -> MixtureDistribution:
    """Give the distribution of some columns, given the values of others; the rest is summed out."""
    names = column_names(mixture)
    known = {place(column, names): value for column, value in (given or {}).items()}
    both = sorted(set(known) & set(columns))
    if both:
        raise ValueError(f"column {names[both[0]]!r} cannot be both drawn and given")
    wanted = [*columns, *known]
    density = _marginal(mixture, wanted)
    if known:
        rest = density.conditional(list(range(len(columns), len(wanted))), list(known.values()))
        density = cast(MixtureDistribution, rest)  # a conditional of a mixture is one
    return density


def _marginal(mixture: Any, columns: list[int]) -> MixtureDistribution:
    if isinstance(mixture, GaussianMixture):
        parts = [_gaussian(mixture, k, columns) for k in range(len(mixture.weights_))]
        return MixtureDistribution(mixture.weights_, parts)
    if not hasattr(mixture, "distribution_"):
        raise TypeError(f"{type(mixture).__name__} is not a fitted mixture of latently.cluster")
    marginal: MixtureDistribution = mixture.distribution_.marginal(columns)
    return marginal


def _gaussian(mixture: GaussianMixture, k: int, columns: list[int]) -> Gaussian:
    kind = mixture.covariance_type
    covariance = mixture.covariances_ if kind == "tied" else mixture.covariances_[k]
    if kind == "spherical":
        return Gaussian(mixture.means_[k, columns], np.full(len(columns), covariance), kind="diag")
    if kind == "diag":
        return Gaussian(mixture.means_[k, columns], covariance[columns], kind="diag")
    return Gaussian(mixture.means_[k, columns], covariance[np.ix_(columns, columns)])

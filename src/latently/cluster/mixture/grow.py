"""A larger mixture over a table, started from a smaller one with its heaviest component divided."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from latently.cluster.mixture.model import MixtureModel, MixtureParams, normalise
from latently.cluster.mixture.start import START_ROWS, coordinates, params_from
from latently.distributions.components.order import is_asymmetric
from latently.distributions.components.slab import Slab
from latently.learn.engine.protocol import Array


class MixtureGrowth:
    """What a search over sizes asks of a mixture: `_can_grow` and `_grown_fit`."""

    model_: MixtureModel
    parameters_: MixtureParams
    weight_prior: Any
    get_params: Callable[..., dict[str, Any]]
    _encode: Callable[..., Array]

    @property
    @abstractmethod
    def _k(self) -> int:
        """Number of components."""

    @property
    @abstractmethod
    def _keeps_order(self) -> bool:
        """Whether components have places that the user knows."""

    @abstractmethod
    def _start_settings(self, params: MixtureParams, model: MixtureModel) -> dict[str, Any]:
        """Constructor arguments that start a fit at these parameters."""

    def _can_grow(self) -> bool:
        """Whether nothing is said of where components start or stay."""
        prior = getattr(self.weight_prior, "concentration", self.weight_prior)
        return not self._keeps_order and (prior is None or not is_asymmetric(np.atleast_1d(prior)))

    def _grown_fit(self, smaller: Self, X: Any, rows: Any = None) -> Self:
        """Fit a mixture with our settings from the components of a smaller fitted one, heaviest first.

        What is fitted is X; where a component is divided is seen from `rows`, X if None.
        """
        table = smaller._encode(X if rows is None else rows, reset=False, learning=False)[:START_ROWS]
        params, model = grown(smaller.model_, smaller.parameters_, table, self._k)
        fresh = clone(self).set_params(**self._start_settings(params, model)).fit(X)
        order = np.argsort(-fresh.weights_, kind="stable")
        fresh._keep(fresh.model_, fresh.parameters_.permuted(order), fresh.statistics_.permuted(order))
        found: Self = fresh.set_params(**self.get_params(deep=False))
        return found


def grown(model: MixtureModel, params: MixtureParams, rows: Array, k: int) -> tuple[MixtureParams, MixtureModel]:
    """Parameters of k components, the heaviest divided until there are so many, and the model they are of."""
    R = model.joint(params, Slab(rows))
    normalise(R)
    Z = coordinates(rows, model.blocks)
    while len(R) < k:
        R = _divided(R, Z)
    larger = replace(model, pseudo=np.zeros(k))
    return params_from(larger, rows, R), larger


def _divided(R: Array, Z: Array) -> Array:
    """Responsibilities (K, n) with those of the heaviest component shared out to both sides of its longest axis."""
    heavy = int(R.sum(axis=1).argmax())
    share = R[heavy]
    seen = ~np.isnan(Z)
    weight = np.maximum(share @ seen, np.finfo(float).tiny)
    gaps = np.where(seen, Z - (share @ np.where(seen, Z, 0.0)) / weight, 0.0)
    axis = np.linalg.eigh((gaps * share[:, None]).T @ gaps)[1][:, -1]
    high = gaps @ axis > 0
    return np.vstack([np.where(np.arange(len(R))[:, None] == heavy, R * ~high, R), share * high])

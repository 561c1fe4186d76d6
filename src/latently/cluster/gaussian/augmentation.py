"""Data augmentation: parameters of a mixture drawn from their posterior given rows with missing entries.

Missing entries and components are drawn given the parameters, then the parameters given the completed rows, in turn.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latently.cluster.gaussian.model import GaussianMixtureModel
from latently.distributions.components.gaussian.incomplete.conditional import (
    IncompleteRows,
    coloured,
    describe_incomplete,
    incomplete_rows,
)
from latently.distributions.components.gaussian.moments import GaussianMoments
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.posterior import drawn_params
from latently.learn.engine.augmentation import chain, mode_on, sample_factor, spacing
from latently.learn.engine.protocol import Array


@dataclass(frozen=True, eq=False)
class Augmentation:
    """A chain over the parameters of a mixture and the missing entries of its rows.

    Attributes
    ----------
    model, fitted
        What was fitted, and the parameters found.
    rows
        The rows, in the frame of the parameters.
    order
        (d,) columns, those that are observed most often first.
    exact
        Whether parameters have the posterior under a flat prior. Else they are the best ones for rows weighted at
        random (the Bayesian bootstrap), under the priors and limits of the model.
    """

    model: GaussianMixtureModel
    fitted: GaussianParams
    rows: IncompleteRows
    order: NDArray[np.intp]
    exact: bool

    def step(self, params: GaussianParams, rng: np.random.RandomState) -> GaussianParams:
        """Draw what is missing, then the parameters."""
        joint, completed, _ = describe_incomplete(params, self.rows)
        chosen = drawn_components(shares_of(joint), rng)
        noise = rng.standard_normal(self.rows.Z.shape)
        missing = completed[chosen, np.arange(len(noise))] + coloured(params, self.rows, chosen, noise)
        Z = np.where(self.rows.absent, missing, self.rows.Z)
        if self.exact:
            return drawn_params(self.fitted, moments_of(params, Z, chosen), self.order, rng)
        weights = rng.standard_exponential(len(Z))
        return self.model.update(params, moments_of(params, Z, chosen, weights * len(Z) / weights.sum()))


def drawn_parameters(mixture: Any, X: Array, n_draws: int, rng: np.random.RandomState) -> Iterator[GaussianParams]:
    """Parameters of a fitted mixture from their posterior given the rows that it was fitted to, or a sample of them.

    The posterior of a sample is narrowed by the root of its share, and centred at the parameters that were fitted.
    """
    model, fitted = mixture._engine()
    known = X[~np.isnan(X).all(axis=1)]
    order = np.argsort(np.isnan(known).sum(axis=0), kind="stable")
    said = mixture.prior is not None or mixture.fixed or mixture.bounds or mixture.tied
    augmentation = Augmentation(model, fitted, incomplete_rows(known, fitted.frame), order, not said)
    apart = spacing(augmentation.rows.absent, shares_of(describe_incomplete(fitted, augmentation.rows)[0]))
    drawn = chain(partial(augmentation.step, rng=rng), fitted, n_draws, apart)
    factor = sample_factor(len(X), mixture.statistics_.rows)
    return drawn if factor == 1 else _narrowed(drawn, model, fitted, known, factor)


def _narrowed(
    drawn: Iterator[GaussianParams], model: GaussianMixtureModel, fitted: GaussianParams, X: Array, factor: float
) -> Iterator[GaussianParams]:
    """Parameters as far from those fitted as drawn ones are from the mode of their own rows, times a factor."""
    centre, mode = model.pack(fitted), model.pack(mode_on(model, fitted, X))
    for params in drawn:
        yield model.unpack(fitted, centre + factor * (model.pack(params) - mode))


def drawn_components(shares: Array, rng: np.random.RandomState) -> NDArray[np.intp]:
    """(n,) a component for each row, by its responsibilities (n, k)."""
    spots = rng.uniform(size=(len(shares), 1))
    return np.asarray(np.minimum((shares.cumsum(axis=1) < spots).sum(axis=1), shares.shape[1] - 1))


def shares_of(joint: Array) -> Array:
    """(n, k) responsibilities from log p(x_i, k)."""
    shares = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def moments_of(
    params: GaussianParams, Z: Array, chosen: NDArray[np.intp], weights: Array | None = None
) -> GaussianMoments:
    """Moments about their means of complete rows of the frame whose components are known."""
    k, d = params.means.shape
    weights = np.ones(len(Z)) if weights is None else weights
    mass: Array = np.bincount(chosen, weights, k).astype(np.float64, copy=False)
    centre, second = np.zeros((k, d)), []
    for c in range(k):
        here = chosen == c
        own, w = Z[here], weights[here]
        centre[c] = w @ own / mass[c] if mass[c] else params.means[c]
        gaps = own - centre[c]
        second.append((gaps * w[:, None]).T @ gaps if params.shape_of_roots == "triangular" else w @ gaps**2)
    by_kind = {"tied": lambda s: s.sum(axis=0), "spherical": lambda s: s.sum(axis=1)}.get(params.kind, np.asarray)
    return GaussianMoments(
        rows=float(mass.sum()),
        bound=0.0,
        kind=params.kind,
        frame=params.frame,
        weight=mass,
        centre=centre,
        first=np.zeros((k, d)),
        second=by_kind(np.array(second)),
    )

"""Data augmentation: parameters of a mixture over a table, drawn from their posterior given rows with missing entries.

Missing entries and components are drawn given the parameters, then the parameters given the completed rows, in turn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from latently.cluster.mixture.model import MixtureModel, MixtureParams, normalise
from latently.distributions.components.base import Block
from latently.distributions.components.gaussian.block import GaussianBlock
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.gaussian.posterior import drawn_params
from latently.distributions.components.slab import Ints, Slab
from latently.distributions.unconstrained import Reader
from latently.learn.engine.augmentation import chain, mode_on, sample_factor, spacing
from latently.learn.engine.protocol import Array


@dataclass(frozen=True, eq=False)
class Augmentation:
    """A chain over the parameters of a mixture and the missing entries of its rows."""

    model: MixtureModel
    fitted: MixtureParams
    slab: Slab  # what does not change from step to step is kept here

    def step(self, params: MixtureParams, rng: np.random.Generator) -> MixtureParams:
        """Draw what is missing, then the parameters: of Gaussian columns from their posterior under a flat prior.

        All others are the best ones for rows weighted at random (the Bayesian bootstrap), under their prior and limits:
        for categories without a prior that is their Dirichlet posterior.
        """
        labels = drawn_labels(shares_of(self.model, params, self.slab), rng)
        whole = Slab(completed(self.model, params, self.slab, lambda b, t, s: b.draw(t, s, labels, rng)))
        own = np.equal.outer(np.arange(len(params.weights)), labels) * 1.0
        by_chance = rng.standard_exponential(len(labels))
        weighted = own * (by_chance * len(labels) / by_chance.sum())
        triples = zip(self.model.blocks, self.fitted.parts, params.parts, strict=True)
        parts = tuple(
            self._drawn(block, fitted, block.expect(theta, whole, own), rng)
            if _is_flat(block)
            else block.update(theta, block.expect(theta, whole, weighted))
            for block, fitted, theta in triples
        )
        return MixtureParams(self.model.kept_weights(weighted.sum(axis=1) + self.model.pseudo), parts)

    def _drawn(self, block: Block, fitted: Any, stats: Any, rng: np.random.Generator) -> Any:
        order = np.argsort(np.isnan(self.slab.X[:, block.places]).sum(axis=0), kind="stable")
        rows = np.ascontiguousarray(stats.by_column()[:, 0])
        return drawn_params(fitted, replace(stats, weight=rows), order, rng)


def drawn_parameters(
    mixture: Any, X: Array, n_draws: int, rng: np.random.Generator, every: int | None = None
) -> Iterator[MixtureParams]:
    """Parameters of a fitted mixture from their posterior given the rows that it was fitted to, or a sample of them.

    The posterior of a sample is narrowed by the root of its share, and centred at the parameters that were fitted.
    With `every`, draws are so many steps apart, and not as many as make them independent.
    """
    model, fitted = mixture.model_, mixture.parameters_
    known = X[~np.isnan(X).all(axis=1)]
    augmentation = Augmentation(model, fitted, Slab(known))
    apart = spacing(np.isnan(known), shares_of(model, fitted, augmentation.slab).T)
    drawn = chain(partial(augmentation.step, rng=rng), fitted, n_draws, apart, every)
    factor = sample_factor(len(X), mixture.statistics_.rows)
    return drawn if factor == 1 else _narrowed(drawn, model, fitted, known, factor)


def _narrowed(
    drawn: Iterator[MixtureParams], model: MixtureModel, fitted: MixtureParams, X: Array, factor: float
) -> Iterator[MixtureParams]:
    """Parameters as far from those fitted as drawn ones are from the mode of their own rows, times a factor."""
    mode = mode_on(replace(model, labelled=False), fitted, X)
    for params in drawn:
        ratio = params.weights / np.maximum(mode.weights, np.finfo(float).tiny)
        records = zip(model.blocks, fitted.parts, mode.parts, params.parts, strict=True)
        parts = tuple(_moved(*record, factor) for record in records)
        yield MixtureParams(model.kept_weights(fitted.weights * ratio**factor), parts)


def _moved(block: Block, theta: Any, mode: Any, drawn: Any, factor: float) -> Any:
    """Parameters of a block, moved without constraints."""
    step = block.pack(drawn) - block.pack(mode)
    return block.unpack(theta, Reader(block.pack(theta) + factor * step))


def _is_flat(block: Block) -> bool:
    """Whether columns are Gaussian, with nothing said of them but a strength that steadies their variances."""
    if not isinstance(block, GaussianBlock) or block.is_limited:
        return False
    return block.prior is None or not np.any(block.prior.kappa)


def shares_of(model: MixtureModel, params: MixtureParams, slab: Slab) -> Array:
    """(K, n) responsibilities."""
    joint = model.joint(params, slab)
    normalise(joint)
    return joint


def drawn_labels(shares: Array, rng: np.random.Generator) -> Ints:
    """(n,) a component for each row, by its responsibilities (K, n)."""
    ends = np.cumsum(shares, axis=0)
    spots = rng.random(shares.shape[1]) * ends[-1]
    return np.asarray(np.minimum((spots >= ends).sum(axis=0), len(ends) - 1))


def completed(model: MixtureModel, params: MixtureParams, slab: Slab, ask: Callable[[Any, Any, Slab], Array]) -> Array:
    """The rows with what `ask` says of every block in the place of what is missing."""
    out = slab.X.copy()
    for block, theta in zip(model.blocks, params.parts, strict=True):
        own = slab.X[:, block.places]
        if np.isnan(own).any():
            out[:, block.places] = np.where(np.isnan(own), ask(block, theta, slab), own)
    return out


def side_by_side(drawn: list[MixtureParams]) -> MixtureParams:
    """The components of several mixtures as those of one."""
    weights = np.concatenate([params.weights for params in drawn]) / len(drawn)
    return MixtureParams(weights, tuple(_joined(parts) for parts in zip(*(p.parts for p in drawn), strict=True)))


def _joined(parts: tuple[Any, ...]) -> Any:
    def joined(values: list[Any]) -> Any:
        return sum(values, ()) if isinstance(values[0], tuple) else np.concatenate(values)

    names = (
        ["weights", "means", "covariances"]
        if isinstance(parts[0], GaussianParams)
        else [f.name for f in fields(parts[0])]
    )
    return replace(parts[0], **{name: joined([getattr(p, name) for p in parts]) for name in names})

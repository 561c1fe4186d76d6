"""Priors of a mixture over a table, as a user may give them: a strength, or a dict by column or family."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from latently.cluster.mixture.model import MixtureModel
from latently.distributions import Dirichlet, Parts
from latently.distributions.components.base import Block
from latently.distributions.names import families
from latently.learn.engine.protocol import Array

DEFAULT = 1.0
"""Strength of the prior where none is asked for, in rows."""

_KNOWN = {type(family).__name__ for family in families().values()}


def strength_of(prior: Any) -> float:
    """Rows that a prior is worth where nothing more special is said."""
    if prior is None or isinstance(prior, Mapping):
        return DEFAULT
    if isinstance(prior, str) and prior == "ml":
        return 0.0
    if isinstance(prior, bool) or not isinstance(prior, Real) or not 0 <= float(prior) < np.inf:
        raise ValueError(f"prior must be None, 'ml', a number from 0 on, or a dict by column, got {prior!r}")
    return float(prior)


def block_priors(block: Block, prior: Any, where: Callable[[Any], tuple[int, ...]]) -> list[Any]:
    """Give the prior of each column of a block (of the whole block, first, where columns stand together)."""
    strength = strength_of(prior)
    if not isinstance(prior, Mapping):
        return [strength] * len(block.columns)
    general = next((prior[kind] for kind in block.families if kind in prior), strength)
    by_column = _by_column(prior, where)
    if block.is_together:
        return [_one(by_column.get(block.columns, general))] * len(block.columns)
    return [_one(by_column.get((c,), general)) for c in block.columns]


def check_keys(blocks: Sequence[Block], prior: Any, where: Callable[[Any], tuple[int, ...]]) -> None:
    """See that each key of a dict of priors is a column that stands alone, a group as it is, or a family."""
    if not isinstance(prior, Mapping):
        return
    groups = {b.columns for b in blocks if b.is_together}
    alone = {(c,) for b in blocks if not b.is_together for c in b.columns}
    for key in prior:
        if key not in _KNOWN and where(key) not in groups | alone:
            raise ValueError(f"prior: {key!r} is neither a column described by itself nor a group in families")


def _one(given: Any) -> Any:
    return float(given) if not isinstance(given, bool) and isinstance(given, Real) else given


def _by_column(prior: Mapping[Any, Any], where: Callable[[Any], tuple[int, ...]]) -> dict[tuple[int, ...], Any]:
    return {where(key): given for key, given in prior.items() if key not in _KNOWN}


def weight_pseudo(weight_prior: Any, prior: Any, k: int) -> Array:
    """(K,) rows that each component's weight is given beforehand: a Dirichlet prior less one."""
    if weight_prior is None:
        return np.full(k, strength_of(prior) / k)
    given = weight_prior.concentration if isinstance(weight_prior, Dirichlet) else weight_prior
    values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    if values.shape not in ((1,), (k,)) or not np.isfinite(values).all() or (values < 1).any():
        raise ValueError(
            f"weight_prior must be a Dirichlet concentration of at least 1, one number or {k}, got {weight_prior!r}"
        )
    return np.broadcast_to(values - 1, (k,)).copy()


def fixed_weights(given: Any, k: int, name: str) -> Array:
    """(K,) weights as given, checked."""
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (k,) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"{name} must be {k} numbers, not negative, got {given!r}")
    if abs(values.sum() - 1) > 1e-6:
        raise ValueError(f"{name} must sum to 1, not to {values.sum():.8g}")
    return np.asarray(values / values.sum())


Where = Callable[[Any], tuple[int, ...]]


def with_limits(blocks: Sequence[Block], fixed: Any, bounds: Any, tied: Any, k: int, where: Where) -> tuple[Block, ...]:
    """The blocks with what a user fixes {component: {column: ...}}, bounds {column: ...} and ties {column: ...}."""
    made = list(blocks)
    for component, columns in _mapping(fixed, "fixed").items():
        if not isinstance(component, int | np.integer) or not 0 <= component < k:
            raise ValueError(f"fixed: {component!r} is not a component, which are 0 to {k - 1}")
        if not isinstance(columns, Mapping):
            raise TypeError(f"fixed: component {component} needs a dict of distributions by column")
        for key, given in columns.items():
            if not isinstance(given, Mapping) and not getattr(given, "is_fitted", False):
                raise ValueError(f"fixed: {key!r} needs a distribution with parameters, or a dict of some of them")
            places, at = _place(made, key, where, "fixed")
            made[at] = made[at].with_fixed(k, int(component), places, given)
    for what, said in (("bounds", bounds), ("tied", tied)):
        for key, given in _mapping(said, what).items():
            if key != "weights":
                places, at = _place(made, key, where, what)
                made[at] = getattr(made[at], f"with_{what}")(k, places, given)
    return tuple(made)


def _mapping(given: Any, name: str) -> Mapping[Any, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict, got {type(given).__name__}")
    return given or {}


def _place(blocks: Sequence[Block], key: Any, where: Where, what: str) -> tuple[tuple[int, ...], int]:
    """The columns of a key, and the block that has them."""
    places = where(key)
    at = next((b for b, block in enumerate(blocks) if set(places) <= set(block.columns)), None)
    if at is None:
        raise ValueError(f"{what}: {key!r} must be columns of one kind, or a group in families")
    return places, at


def with_block_priors(model: MixtureModel, pooled: Parts, priors: Sequence[list[Any]]) -> MixtureModel:
    """The model with a prior for every column of every block."""
    triples = zip(model.blocks, pooled.parts, priors, strict=True)
    blocks: tuple[Block, ...] = tuple(block.with_prior(stats, given) for block, stats, given in triples)
    return replace(model, blocks=blocks)

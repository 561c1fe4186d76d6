"""Whatever a posterior comes as, read as rows of probabilities over named states."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from latently.decide.rewards import Floats

TOLERANCE = 1e-6  # float32 classifiers sum to one no better than this


class Belief(NamedTuple):
    """Probabilities (rows, states), the names of the states if known, and whether it was a single row."""

    probabilities: Floats
    states: tuple[Hashable, ...] | None
    single: bool


def as_belief(posterior: Any, states: Sequence[Hashable] | None = None) -> Belief:
    """Read probabilities from an array, a mapping {state: probability} or anything with `as_dict()`.

    Parameters
    ----------
    posterior
        An array (states,) or (rows, states), a mapping, or an object whose `as_dict()` gives one.
    states
        Names of the states of an array.
    """
    named = posterior if isinstance(posterior, Mapping) else None
    if named is None and hasattr(posterior, "as_dict"):
        named = posterior.as_dict()
    if named is not None:
        states, posterior = list(named), list(named.values())
    table = np.asarray(posterior, dtype=np.float64)
    if table.ndim not in (1, 2) or 0 in table.shape[-1:]:
        raise ValueError(f"a posterior needs shape (states,) or (rows, states), got {table.shape}")
    names = None if states is None else tuple(states)
    if names is not None and len(names) != table.shape[-1]:
        raise ValueError(f"the posterior has {table.shape[-1]} states, but {len(names)} names: {list(names)}")
    rows = np.atleast_2d(table)
    _check_rows(rows, names, table.ndim == 1)
    return Belief(rows, names, table.ndim == 1)


def _check_rows(rows: Floats, states: tuple[Hashable, ...] | None, single: bool) -> None:
    bad = np.argwhere(~(np.isfinite(rows) & (rows >= 0)))
    if len(bad):
        i, s = bad[0]
        state = states[s] if states is not None else int(s)
        where = "" if single else f" in row {i}"
        raise ValueError(f"the probability of state {state!r}{where} is {rows[i, s]}: it must be 0 or more")
    totals = rows.sum(axis=1)
    off = np.abs(totals - 1)
    if np.any(off > TOLERANCE):
        worst = int(np.argmax(off))
        where = "" if single else f" of row {worst}"
        side = "short" if totals[worst] < 1 else "too much"
        raise ValueError(f"the probabilities{where} sum to {totals[worst]:.8g}, {off[worst]:.3g} {side}")

"""What a user fixes in a hidden Markov model: by the names of its parameters, NaN (or None) for what is learnt."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latently.sequence.inference.chain import Array


class FixedMixin:
    """Reads the parameter `fixed`."""

    FIXABLE: ClassVar[tuple[str, ...]] = ("startprob", "transmat")
    """Names of what can be fixed, as in the mixtures."""

    fixed: Any
    n_components: int

    def _fixed(self, name: str) -> Any:
        """What is fixed of a parameter, as given; None if nothing is."""
        given = {} if self.fixed is None else self.fixed
        if not isinstance(given, Mapping):
            raise TypeError(
                f"fixed must be a mapping with any of {', '.join(self.FIXABLE)}, got {type(given).__name__}"
            )
        if odd := [key for key in given if key not in self.FIXABLE]:
            raise ValueError(f"fixed has the unknown key {odd[0]!r}: it may have {', '.join(self.FIXABLE)}")
        return given.get(name)

    def _fixed_chain(self, name: str) -> Any:
        """What is fixed of the start or of the transitions: by `fixed`, or by the parameter of this name."""
        given, own = self._fixed(name), getattr(self, name)
        if given is not None and own is not None:
            raise ValueError(f'fixed["{name}"] and {name} fix the same parameter: give one of them')
        return own if given is None else given

    def _fixed_rows(self, name: str, *each: int) -> Array:
        """Fixed numbers (K, *each) of the states, NaN where they are learnt."""
        given, shape = self._fixed(name), (self.n_components, *each)
        rows = np.full(shape, np.nan) if given is None else np.asarray(given, dtype=np.float64)
        if rows.shape != shape or np.isinf(rows).any():
            raise ValueError(f'fixed["{name}"] must be finite numbers (or NaN) of shape {shape}, got {given!r}')
        return rows


def matched(start: Array, fixed: Array) -> Array:
    """Starting values (K, m) in the order that is nearest to what is fixed, which is put in its place.

    Examples
    --------
    >>> matched(np.array([[0.0, 1.0], [9.0, 2.0]]), np.array([[8.0, np.nan], [np.nan, np.nan]])).tolist()
    [[8.0, 2.0], [0.0, 1.0]]
    """
    return np.where(np.isnan(fixed), start[nearest(start, fixed)], fixed)


def nearest(start: Array, fixed: Array) -> NDArray[np.intp]:
    """(K,) which row of the start (K, m) goes to each place, by the numbers that are fixed there."""
    gaps = np.nan_to_num(fixed[:, None] - start)
    return np.asarray(linear_sum_assignment((gaps**2).sum(axis=2))[1])


def matched_within(start: Array, fixed: Array) -> Array:
    """Starting values (K, M, d) of M parts in each of K states, in the order that is nearest to what is fixed.

    Parts stay with those that they are in a state with.

    Examples
    --------
    >>> start = np.array([[[0.0], [1.0]], [[8.0], [9.0]]])
    >>> matched_within(start, np.array([[[np.nan], [8.2]], [[np.nan], [np.nan]]])).tolist()
    [[[9.0], [8.2]], [[0.0], [1.0]]]
    """
    orders = [[nearest(part, known) for part in start] for known in fixed]
    pairs = [[part[order] for part, order in zip(start, row, strict=True)] for row in orders]
    gaps = np.nan_to_num(fixed[:, None] - np.array(pairs))
    states = linear_sum_assignment((gaps**2).sum(axis=(2, 3)))[1]
    return np.where(np.isnan(fixed), np.array([pairs[k][j] for k, j in enumerate(states)]), fixed)

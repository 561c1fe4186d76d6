"""Conditional probability tables: p(targets | givens), one distribution per row of givens."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from latently.infer.factors import Dense, Floats
from latently.infer.joint.labels import as_variables, as_weights, cell_name, check_total


class Conditional:
    """A table p(targets | givens) with named variables and values.

    Parameters
    ----------
    targets
        The variables the table is a distribution of, each with its values.
    given
        The variables it depends on, each with its values.
    table
        Probabilities with one axis per variable, givens first; every row of givens sums to one. Or a mapping
        from cells (tuples of values, givens first) to probabilities.

    Attributes
    ----------
    targets, given : dict
        The variables.
    table : ndarray
        The probabilities, givens first.

    Examples
    --------
    >>> from latently.infer import Conditional, Joint
    >>> test = Conditional({"test": ["+", "-"]}, {"ill": [True, False]}, [[0.95, 0.05], [0.05, 0.95]])
    >>> both = Joint({"ill": [True, False]}, [0.01, 0.99]) * test
    >>> both.condition(test="+").probability(ill=True)
    0.1610
    """

    def __init__(
        self,
        targets: Mapping[str, Iterable[Hashable]],
        given: Mapping[str, Iterable[Hashable]],
        table: Any,
    ) -> None:
        self.targets = as_variables(targets)
        self.given = as_variables(given)
        both = [name for name in self.targets if name in self.given]
        if both:
            raise ValueError(f"variable {both[0]!r} is both a target and given")
        factor = as_weights({**self.given, **self.targets}, table, "conditional probabilities")
        if not isinstance(factor, Dense):
            raise ValueError("a conditional table of this size must be written with fewer variables")
        self.table: Floats = factor.table
        self._check_rows()

    def _check_rows(self) -> None:
        axes = tuple(range(len(self.given), self.table.ndim))
        totals = self.table.sum(axis=axes)
        worst = np.unravel_index(int(np.argmax(np.abs(totals - 1))), totals.shape) if totals.ndim else ()
        where = f"of row {cell_name(self.given, [int(i) for i in worst])} " if self.given else ""
        check_total(float(totals[worst]), where)
        self.table = self.table / totals.reshape(totals.shape + (1,) * len(axes))

    def factor(self) -> Dense:
        """Give the table as a factor."""
        return Dense((*self.given, *self.targets), self.table)

    def __repr__(self) -> str:
        return f"Conditional({', '.join(self.targets)} | {', '.join(self.given)})"

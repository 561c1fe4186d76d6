"""Discrete joint distributions with names: the sum rule, the product rule, and what follows from them."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from math import exp
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.distributions.inputs import generator
from latently.infer.factors import Dense, Factor, Floats, check_size
from latently.infer.joint import build, labels, measures
from latently.infer.joint.conditional import Conditional
from latently.infer.joint.eliminate import best, draw, eliminate, log_total, marginal_factors, max_last
from latently.infer.joint.labels import Event, Variables

Names = str | Iterable[str]


class MostProbable(NamedTuple):
    """The most probable values, and how probable they are together."""

    values: dict[str, Hashable]
    probability: float


class Joint:
    """The joint distribution of named variables with named values.

    A joint is kept as a product of factors and multiplied out only as far as a question needs, so thirty
    variables in a chain cost thirty small tables and not one of 2^30 cells.

    Parameters
    ----------
    variables
        The variables, each with its values.
    probabilities
        An array with one axis per variable, or a mapping from cells (tuples of values) to probabilities, in
        which cells left out are zero. They sum to one.

    Attributes
    ----------
    variables : dict
        Name of each variable, with the tuple of its values.

    See Also
    --------
    Conditional : p(targets | givens); `joint * conditional` is the product rule.

    Examples
    --------
    >>> from latently.infer import Joint
    >>> weather = Joint({"rain": [True, False], "cold": [True, False]}, [[0.2, 0.1], [0.2, 0.5]])
    >>> weather.marginal("rain").as_dict()
    {True: 0.300, False: 0.700}
    >>> weather.condition(cold=True).as_dict()
    {True: 0.500, False: 0.500}
    >>> weather.map()
    MostProbable(values={'rain': False, 'cold': False}, probability=0.500)
    >>> weather.mutual_information("rain", "cold")
    0.0633
    """

    def __init__(self, variables: Mapping[str, Iterable[Hashable]], probabilities: Any) -> None:
        self.variables: Variables = labels.as_variables(variables)
        factor = labels.as_weights(self.variables, probabilities, "probabilities")
        values = factor.table if isinstance(factor, Dense) else factor.values
        labels.check_total(float(values.sum()), "")
        self._factors: tuple[Factor, ...] = (factor,)

    # -- making one

    @classmethod
    def _of(cls, variables: Variables, factors: Iterable[Factor]) -> Self:
        made = cls.__new__(cls)
        made.variables = dict(variables)
        made._factors = tuple(factors)
        return made

    @classmethod
    def from_counts(cls, variables: Mapping[str, Iterable[Hashable]], counts: Any, prior: Any = 1.0) -> Self:
        """Estimate from counts: (counts + prior) / total, the posterior mean under a Dirichlet prior.

        Parameters
        ----------
        variables
            The variables, each with its values.
        counts
            An array with one axis per variable, or a mapping from cells to counts.
        prior
            Pseudo-counts: a number for every cell, an array, or a `latently.distributions.Dirichlet`. Zero gives
            relative frequencies, and stays sparse if the counts are.

        Examples
        --------
        >>> Joint.from_counts({"coin": ["head", "tail"]}, [3, 0]).as_dict()
        {'head': 0.800, 'tail': 0.200}
        """
        named = labels.as_variables(variables)
        return cls._of(named, [build.smoothed(named, labels.as_weights(named, counts, "counts"), prior)])

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        columns: Sequence[str] | None = None,
        *,
        prior: Any = 0.0,
        weights: ArrayLike | None = None,
        missing: str = "raise",
    ) -> Self:
        """Estimate from the rows of a table.

        Parameters
        ----------
        frame
            A pandas, polars or Arrow table, a mapping from names to columns, or a two-dimensional array.
        columns
            The columns to use; None for all.
        prior
            Pseudo-counts as in `from_counts`. At zero only rows that occur are kept, however many columns.
        weights
            One weight per row.
        missing
            For rows with missing values: "raise", "drop" them, or make None a "value" of its own.

        Examples
        --------
        >>> seen = Joint.from_frame({"sky": ["grey", "blue", "grey"], "wet": [1, 0, 0]})
        >>> seen.probability(sky="grey", wet=1)
        0.3333
        """
        variables, counts = build.read_rows(frame, columns, weights, missing)
        return cls._of(variables, [build.smoothed(variables, counts, prior)])

    @classmethod
    def from_potentials(cls, variables: Mapping[str, Iterable[Hashable]], potentials: Mapping[Names, Any]) -> Self:
        """Make the distribution proportional to a product of non-negative tables (a Markov random field).

        Parameters
        ----------
        variables
            The variables, each with its values.
        potentials
            From the name, or the tuple of names, of a table's axes to the table.

        Examples
        --------
        >>> alike = [[2, 1], [1, 2]]
        >>> ring = Joint.from_potentials(
        ...     {v: [0, 1] for v in "abc"}, {("a", "b"): alike, ("b", "c"): alike, ("c", "a"): alike})
        >>> ring.probability(a=0, b=0, c=0)
        0.286
        """
        named = labels.as_variables(variables)
        factors: list[Factor] = [Dense((name,), np.ones(len(values))) for name, values in named.items()]
        for scope, table in potentials.items():
            within = {name: named[name] for name in labels.as_names(named, scope)}
            factors.append(labels.as_weights(within, table, f"potentials of {', '.join(within)}"))
        made = cls._of(named, factors)
        if made._log_total == -np.inf:
            raise ValueError("the potentials contradict each other: every assignment has weight zero")
        return made

    @classmethod
    def bayes(cls, prior: Any, likelihood: Any, **seen: Hashable) -> "Joint":
        """Give the posterior over hypotheses: prior times likelihood, normalised.

        Parameters
        ----------
        prior
            A joint over the hypotheses, or a mapping from hypotheses to probabilities.
        likelihood
            A mapping from hypotheses to the probability of what was seen, an array in the order of the
            prior's table, or a `Conditional` with what was seen as keywords.
        seen
            Values of the variables of the `Conditional`.

        Examples
        --------
        >>> Joint.bayes({"ill": 0.01, "well": 0.99}, {"ill": 0.95, "well": 0.05}).as_dict()
        {'ill': 0.161, 'well': 0.839}
        """
        start = prior if isinstance(prior, Joint) else cls({"hypothesis": list(prior)}, list(prior.values()))
        if isinstance(likelihood, Conditional):
            return (start * likelihood).condition(seen)
        if isinstance(likelihood, Mapping) and len(start.variables) == 1:
            (hypotheses,) = start.variables.values()
            absent = [h for h in hypotheses if h not in likelihood]
            if absent:
                raise ValueError(f"the likelihood lacks hypothesis {absent[0]!r}: give one number for each")
        factor = labels.as_weights(start.variables, likelihood, "likelihoods")
        after = cls._of(start.variables, [*start._factors, factor])
        if after._log_total == -np.inf:
            raise ValueError("what was seen is impossible under every hypothesis that the prior allows")
        return after

    def __mul__(self, other: "Joint | Conditional") -> "Joint":
        """Product rule: p(x) p(y | x); or p(x) p(y) for independent x and y."""
        if not isinstance(other, Joint | Conditional):
            return NotImplemented
        new = other.variables if isinstance(other, Joint) else other.targets
        twice = [name for name in new if name in self.variables]
        if twice:
            raise ValueError(f"variable {twice[0]!r} has a distribution already: rename one of the two")
        if isinstance(other, Joint):
            return Joint._of({**self.variables, **new}, [*self._factors, *other._factors])
        for name, values in other.given.items():
            if self.variables[labels.known(self.variables, name)] != values:
                here = self.variables[name]
                raise ValueError(f"the values of {name!r} differ: {here} here, {values} in {other}")
        return Joint._of({**self.variables, **new}, [*self._factors, other.factor()])

    # -- asking it

    @cached_property
    def _log_total(self) -> float:
        return log_total(eliminate(self._factors, ()))

    def marginal(self, *names: str) -> "Joint":
        """Sum rule: the distribution of some of the variables, in the order named."""
        keep = labels.as_names(self.variables, names)
        return Joint._of({n: self.variables[n] for n in keep}, marginal_factors(self._factors, keep))

    def condition(self, event: Event | None = None, /, **more: Any) -> "Joint":
        """Give the distribution of the other variables, given what is known.

        Parameters
        ----------
        event, more
            A value for each variable that is known; or a list or set of values it is known to be among, in
            which case the variable stays.
        """
        known = {**(event or {}), **more}
        fixed, factors = labels.restricted(self.variables, self._factors, known)
        rest = {name: values for name, values in self.variables.items() if name not in fixed}
        after = Joint._of(rest, factors)
        if after._log_total == -np.inf:
            raise ValueError(f"cannot condition on {labels.describe(known)}: it has probability zero")
        return after

    def probability(self, event: Event | None = None, /, **more: Any) -> float:
        """Give the probability of an event: a value, or a list of values, for some of the variables."""
        _, factors = labels.restricted(self.variables, self._factors, {**(event or {}), **more})
        return exp(log_total(eliminate(factors, ())) - self._log_total)

    def conditional(self, targets: Names, given: Names) -> Conditional:
        """Give p(targets | given) as a table; every row of `given` must be possible."""
        above, below = labels.as_names(self.variables, targets), labels.as_names(self.variables, given)
        table = self.marginal(*below, *above).table()
        totals = table.sum(axis=tuple(range(len(below), table.ndim)), keepdims=True)
        rows = {n: self.variables[n] for n in below}
        if np.any(totals == 0):
            row = labels.cell_name(rows, np.argwhere(totals.reshape([len(v) for v in rows.values()]) == 0)[0])
            raise ValueError(f"cannot condition on {row}: it has probability zero")
        return Conditional({n: self.variables[n] for n in above}, rows, table / totals)

    def table(self) -> Floats:
        """Give all probabilities as an array, one axis per variable."""
        shape = tuple(len(values) for values in self.variables.values())
        check_size(shape, self.variables)
        cells = measures.cells_of(self._factors, tuple(self.variables))
        whole = np.zeros(shape)
        whole[tuple(cells.codes.T)] = cells.values
        return whole

    def as_dict(self) -> dict[Any, float]:
        """Give the probability of each value; of each tuple of values if there are several variables.

        Cells of probability zero are listed only for a single variable.
        """
        if len(self.variables) == 1:
            (values,) = self.variables.values()
            return dict(zip(values, self.table().tolist(), strict=True))
        cells = measures.cells_of(self._factors, tuple(self.variables))
        every = list(self.variables.values())
        named = [tuple(v[c] for v, c in zip(every, row, strict=True)) for row in cells.codes]
        return dict(zip(named, cells.values.tolist(), strict=True))

    def map(self, *names: str) -> MostProbable:
        """Give the most probable values of some of the variables together, of all if none is named."""
        keep = labels.as_names(self.variables, names or self.variables)
        marginal = marginal_factors(self._factors, keep)
        codes, value = best(eliminate(marginal, (), max_last))
        total = log_total(eliminate(marginal, ()))
        return MostProbable({n: self.variables[n][codes[n]] for n in keep}, exp(value - total))

    def sample(self, n: int = 1, random_state: Any = None) -> dict[str, NDArray[Any]]:
        """Draw n assignments: the values of each variable, by name."""
        codes = draw(self._factors, n, generator(random_state))
        return {name: labels.pick(values, codes[name]) for name, values in self.variables.items()}

    # -- measuring it

    def entropy(self) -> float:
        """Give the entropy in nats."""
        return self._log_total - measures.expected_log(self._factors, self._factors)

    def kl_divergence(self, other: "Joint") -> float:
        """Give KL(self || other) in nats; infinite where the other rules out what is possible here."""
        if self.variables != other.variables:  # in any order
            raise ValueError("KL needs the same variables and values on both sides")
        cross = other._log_total - measures.expected_log(self._factors, other._factors)
        return max(0.0, cross - self.entropy())

    def mutual_information(self, left: Names, right: Names, given: Names = ()) -> float:
        """Give I(left; right | given) in nats: zero if and only if they are (conditionally) independent."""
        groups = [labels.as_names(self.variables, names) for names in (left, right, given)]
        asked = labels.as_names(self.variables, [n for group in groups for n in group])
        return measures.information(measures.cells_of(self._factors, asked), *groups)

    def independent(self, left: Names, right: Names, given: Names = (), *, tol: float = 1e-9) -> bool:
        """Whether the mutual information is at most `tol` nats."""
        return self.mutual_information(left, right, given) <= tol

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} ({len(values)})" for name, values in self.variables.items())
        return f"Joint({shown})"

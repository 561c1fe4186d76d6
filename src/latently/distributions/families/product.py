"""Product: columns of different families, independent of each other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latently.distributions.base import Distribution
from latently.distributions.family import ExponentialFamily, Family
from latently.distributions.floor import Floor
from latently.distributions.inputs import Array, ColumnError, as_rows
from latently.distributions.statistics import Additive, Parts, Sums
from latently.distributions.unconstrained import Directions, Reader

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Product(ExponentialFamily):
    """Groups of columns, each with a distribution of its own, independent of the other groups.

    Statistics are those of the parts, side by side; a prior is a sequence with one prior (or None) per part.
    Features exist if every part has them (`has_features`).

    Parameters
    ----------
    parts : pairs of a distribution (or template) and its columns, a position or several; together they must
        cover the columns 0..d-1, each once

    Examples
    --------
    >>> import numpy as np
    >>> from latently.distributions import Categorical, Gaussian
    >>> people = Product([(Gaussian(), 0), (Categorical(), 1)]).fit([[30.0, 0], [40.0, 1], [50.0, np.nan]])
    >>> people.mean
    array([40. ,  0.5])
    >>> people.marginal(1)
    Categorical(probabilities=array([0.5, 0.5]), n_categories=2)
    """

    parts: Sequence[tuple[Distribution, Any]]

    PARAMETERS: ClassVar[tuple[str, ...]] = ("parts",)

    # parameters

    def __post_init__(self) -> None:
        """Bring the columns to tuples, and check that they cover the table."""
        pairs = tuple((part, tuple(int(c) for c in np.atleast_1d(columns))) for part, columns in self.parts)
        object.__setattr__(self, "parts", pairs)
        used = sorted(c for _, columns in pairs for c in columns)
        if not used or used != list(range(len(used))):
            raise ValueError(
                f"the parts of a Product must cover columns 0..{max(len(used) - 1, 0)} once each, got {used}"
            )
        for part, columns in pairs:
            if part._width() not in (None, len(columns)):
                raise ValueError(f"{part} has {part._width()} columns, but is given {columns}")

    @property
    def is_fitted(self) -> bool:
        """Whether every part is."""
        return all(part.is_fitted for part, _ in self.parts)

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Per column, whether probabilities are sums (True) or integrals (False)."""
        owner = {c: kind for part, columns in self.parts for c, kind in zip(columns, part.discrete, strict=True)}
        return tuple(owner[c] for c in range(self.n_columns))

    @property
    def support(self) -> Array:
        """Lowest and highest value of each column, (2, d)."""
        return self._place(lambda part: part.support)

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """The blocks of the parts."""
        return tuple(tuple(columns[i] for i in block) for part, columns in self.parts for block in part.blocks)

    @property
    def has_features(self) -> bool:
        """Whether every part has them."""
        return all(isinstance(part, ExponentialFamily) and part.has_features for part, _ in self.parts)

    def _width(self) -> int:
        return sum(len(columns) for _, columns in self.parts)

    def _n_parameters(self) -> int:
        return sum(part.n_parameters for part, _ in self.parts)

    def _each(self, ask: Callable[[Any, list[int]], T]) -> Iterator[T]:
        """Ask every part; an error about one of its columns gets that column's place in the whole table."""
        for part, columns in self.parts:
            try:
                yield ask(part, list(columns))
            except ColumnError as error:
                raise error.named(columns[int(error.column)]) from None

    def _place(self, ask: Callable[[Any], Array]) -> Array:
        """Put what the parts say per column (..., d_part) in the order of the columns."""
        order = np.argsort([c for _, columns in self.parts for c in columns])
        return np.concatenate(list(self._each(lambda part, _: ask(part))), axis=-1)[..., order]

    # statistics

    def statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Parts:
        """Statistics of the parts."""
        rows = as_rows(X, self._width())
        return Parts(tuple(self._each(lambda part, columns: _family(part).statistics(rows[:, columns], weights))))

    def expected_statistics(self, X: ArrayLike, weights: ArrayLike | None = None) -> Parts:
        """Statistics of the parts, with missing entries at their expectation."""
        rows = as_rows(X, self._width())
        return Parts(
            tuple(self._each(lambda part, columns: _family(part).expected_statistics(rows[:, columns], weights)))
        )

    def record(self, total: Array, base: float = 0.0, origin: Array | None = None) -> Parts:
        """Cut summed features into the statistics of the parts; each must know how many features it has."""
        sizes = [_n_features(part, len(columns)) for part, columns in self.parts]
        if sum(sizes) != len(total):
            raise ValueError(f"{len(total)} summed features, but the parts have {sizes}")
        pieces = np.split(total, np.cumsum(sizes)[:-1])
        return Parts(
            tuple(
                part.record(piece, 0.0, None if origin is None else origin[list(columns)])  # type: ignore[attr-defined]
                for (part, columns), piece in zip(self.parts, pieces, strict=True)
            )
        )

    def _outside(self, X: Array) -> NDArray[np.bool_]:
        mask = np.zeros(X.shape, dtype=bool)
        for part, columns in self.parts:
            mask[:, columns] = _exponential(part)._outside(X[:, columns])
        return mask

    def _features(self, X: Array, origin: Array | None) -> Array:
        def ask(part: Any, c: list[int]) -> Array:
            return _exponential(part)._features(X[:, c], None if origin is None else origin[c])

        return np.hstack(list(self._each(ask)))

    def _natural(self, origin: Array | None) -> Array:
        return np.concatenate(
            [_exponential(part)._natural(None if origin is None else origin[list(c)]) for part, c in self.parts]
        )

    def _log_base(self, X: Array) -> Array:
        terms = [_exponential(part)._log_base(X[:, columns]) for part, columns in self.parts]
        return np.asarray(np.sum(terms, axis=0))

    # evaluation

    def _log_prob(self, X: Array) -> Array:
        terms = list(self._each(lambda part, columns: part.log_prob(X[:, columns])))
        return np.asarray(np.sum(terms, axis=0))

    def _mean(self) -> Array:
        return self._place(lambda part: part.mean)

    def _variance(self) -> Array:
        return self._place(lambda part: part.variance)

    def _mode(self) -> Array:
        return self._place(lambda part: part.mode)

    def _entropy(self) -> float:
        return float(sum(part.entropy() for part, _ in self.parts))

    def _cdf(self, X: Array) -> Array:
        found = np.empty(X.shape)
        for part, columns in self.parts:
            found[:, columns] = part._cdf(X[:, columns])
        return found

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        return self._place(lambda part: part._quantile(q, upper))

    def _marginal(self, columns: list[int]) -> Distribution:
        kept = [(part, own, [own.index(c) for c in columns if c in own]) for part, own in self.parts]
        pieces = [(part.marginal(local), [columns.index(own[i]) for i in local]) for part, own, local in kept if local]
        return pieces[0][0] if len(pieces) == 1 else Product(pieces)

    def _conditional(self, columns: list[int], values: Array, rest: list[int]) -> Distribution:
        given = dict(zip(columns, values, strict=True))
        pieces = []
        for part, own in self.parts:
            local, left = [i for i, c in enumerate(own) if c in given], [c for c in own if c not in given]
            if left:
                one = part.conditional(local, [given[own[i]] for i in local]) if local else part
                pieces.append((one, [rest.index(c) for c in left]))
        return pieces[0][0] if len(pieces) == 1 else Product(pieces)

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        return self._place(lambda part: part._sample(n, rng))

    # parameters without constraints

    def pack(self) -> Array:
        """Those of the parts."""
        return np.concatenate([_family(part).pack() for part, _ in self.parts])

    def unpack(self, reader: Reader) -> Self:
        """Parts, one after the other."""
        return self._with(_family(part).unpack(reader) for part, _ in self.parts)

    def directions(self) -> Directions:
        """Those of the parts."""
        return Directions.joined([_family(part).directions() for part, _ in self.parts])

    def log_likelihood(self, stats: Additive) -> float:
        """Sum over the parts."""
        return sum(_family(part).log_likelihood(s) for (part, _), s in zip(self.parts, _parts(stats), strict=True))

    def gradient(self, stats: Additive) -> Array:
        """Those of the parts."""
        pairs = zip(self.parts, _parts(stats), strict=True)
        return np.concatenate([_family(part).gradient(own) for (part, _), own in pairs])

    # fit

    def from_statistics(self, stats: Additive, prior: Sequence[Any] | None = None) -> Self:
        """Fit every part from its own statistics and prior."""
        found = self.record(stats.total) if isinstance(stats, Sums) else stats
        if not isinstance(found, Parts) or len(found.parts) != len(self.parts):
            raise TypeError(
                f"a Product of {len(self.parts)} parts reads as many statistics, not {type(stats).__name__}"
            )
        pairs = iter(zip(found.parts, self._priors(prior), strict=True))
        return self._with(self._each(lambda part, _: _family(part).from_statistics(*next(pairs))))

    def fit(self, X: ArrayLike, weights: ArrayLike | None = None, prior: Sequence[Any] | None = None) -> Self:
        """Fit every part to its own columns of X."""
        rows = as_rows(X, self._width())
        priors = iter(self._priors(prior))
        return self._with(self._each(lambda part, columns: _family(part).fit(rows[:, columns], weights, next(priors))))

    def fit_above(self, stats: Additive, prior: Sequence[Any] | None, floor: Floor | None) -> Self:
        """Fit every part above the floor of its columns."""
        if floor is None:
            return self.from_statistics(stats, prior)
        pairs = iter(zip(_parts(stats), self._priors(prior), strict=True))
        return self._with(self._each(lambda part, columns: part.fit_above(*next(pairs), floor.columns(columns))))

    def is_on_floor(self, floor: Floor) -> bool:
        """Whether a part is."""
        return any(_family(part).is_on_floor(floor.columns(list(columns))) for part, columns in self.parts)

    def _with(self, fitted: Iterator[Distribution]) -> Self:
        return type(self)([(part, columns) for part, (_, columns) in zip(fitted, self.parts, strict=True)])

    def _priors(self, prior: Sequence[Any] | None) -> Sequence[Any]:
        if prior is None:
            return [None] * len(self.parts)
        if not isinstance(prior, Sequence) or len(prior) != len(self.parts):
            raise TypeError(f"the prior of a Product is a sequence of {len(self.parts)}: a prior or None for each part")
        return prior


def _parts(stats: Any) -> tuple[Additive, ...]:
    found: tuple[Additive, ...] = stats.parts
    return found


def _family(part: Distribution) -> Family:
    if not isinstance(part, Family):
        raise TypeError(f"{type(part).__name__} does not learn from data and cannot be fitted inside a Product")
    return part


def _exponential(part: Distribution) -> ExponentialFamily:
    if not isinstance(part, ExponentialFamily):
        raise TypeError(f"{type(part).__name__} has no features, so that this Product has none")
    return part


def _n_features(part: Distribution, width: int) -> int:
    return int(_exponential(part).features(np.full((1, width), np.nan)).shape[1])

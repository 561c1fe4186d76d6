"""What a distribution is: the interface, and what every family shares.

The public methods here check their input once and hand clean arrays to the hooks of the family
(`_log_prob`, `_sample`, `_features`, ...), so that a family's file holds its mathematics and little else.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from latently.distributions.inputs import Array, as_columns, as_rows, frozen, generator
from latently.distributions.quantiles import bisected

UNSET: Any = None
"""The value of a parameter in a template: a distribution that has its configuration and awaits a fit."""


class Distribution(ABC):
    """A probability distribution over rows of `n_columns` numbers: a frozen dataclass of its parameters.

    With its parameters left out it is a template, which can be fitted but not evaluated. NaN in a row is a
    missing value and is marginalised out. Two distributions are equal if they are of one class and all their
    parameters are.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ()

    # parameters

    @property
    def is_fitted(self) -> bool:
        """Whether the parameters are there, so that densities can be asked for."""
        return all(getattr(self, name) is not None for name in self.PARAMETERS)

    @property
    def n_columns(self) -> int:
        """Number of columns of a row."""
        width = self._width()
        return self._unfitted() if width is None else width

    @property
    def n_parameters(self) -> int:
        """Number of free parameters, as BIC counts them."""
        return self._n_parameters() if self.is_fitted else self._unfitted()

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Per column, whether probabilities are sums (True) or integrals (False)."""
        return (self._DISCRETE,) * self.n_columns

    @property
    def support(self) -> Array:
        """Lowest and highest value of each column, (2, d)."""
        return np.repeat(np.array(self._ENDS)[:, None], self.n_columns, axis=1)

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Groups of columns that are independent of each other."""
        return (tuple(range(self.n_columns)),)

    _DISCRETE: ClassVar[bool] = False
    _ENDS: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def _unfitted(self) -> NoReturn:
        names = ", ".join(self.PARAMETERS)
        raise ValueError(f"this {type(self).__name__} is a template without {names}: call fit, or give them")

    def _lacks(self, method: str, what: str) -> NoReturn:
        raise TypeError(f"{type(self).__name__} has no {what}: its class does not define `{method}`")

    def _ready(self) -> Self:
        return self if self.is_fitted else self._unfitted()

    def _freeze(self, name: str, value: ArrayLike) -> Array:
        array = frozen(f"{name} of {type(self).__name__}", value)
        object.__setattr__(self, name, array)
        return array

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        values = (getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]
        # + 0.0 makes -0.0 and 0.0, which are equal, hash alike
        return hash((type(self), *((v + 0.0).tobytes() if isinstance(v, np.ndarray) else v for v in values)))

    # evaluation

    def log_prob(self, X: ArrayLike) -> Array:
        """Log density or log probability of each row, (n,); -inf outside the support."""
        return self._ready()._log_prob(as_rows(X, self._width()))

    def prob(self, X: ArrayLike) -> Array:
        """Density or probability of each row, (n,)."""
        return np.asarray(np.exp(self.log_prob(X)))

    @property
    def mean(self) -> Array:
        """Mean of each column, (d,)."""
        return self._ready()._mean()

    @staticmethod
    def mixed_mean(members: Sequence[Any], shares: Array) -> Array:
        """Means (n, d) of mixtures of these distributions, with shares (n, K)."""
        return np.asarray(shares @ np.array([member.mean for member in members]))

    @staticmethod
    def mixed_interval(members: Sequence[Any], shares: Array, level: float) -> tuple[Array, Array]:
        """Ends (n,) of equal-tailed intervals of mixtures of these distributions of one column, with shares (n, K)."""

        def cdf(x: Array) -> Array:
            return np.asarray(np.einsum("nk,kn->n", shares, np.array([m.cdf(x) for m in members])))

        def quantile(q: float) -> Array:
            ends = np.array([m.quantile(q)[0] for m in members])
            low, high = np.full(len(shares), ends.min()), np.full(len(shares), ends.max())
            return bisected(cdf, low, high, q, members[0].discrete[0])

        return quantile((1 - level) / 2), quantile((1 + level) / 2)

    @property
    def variance(self) -> Array:
        """Variance of each column, (d,)."""
        return self._ready()._variance()

    @property
    def mode(self) -> Array:
        """Row of highest density, (d,); an error where there is none."""
        return self._ready()._mode()

    def entropy(self) -> float:
        """Entropy in nats (differential where continuous)."""
        return float(self._ready()._entropy())

    def cdf(self, X: ArrayLike) -> Array:
        """Probability of a value up to x in each column by itself, in the shape of X; NaN stays NaN."""
        rows = as_rows(X, self._ready()._width())
        return np.where(np.isnan(rows), np.nan, self._cdf(rows)).reshape(np.shape(X))

    def quantile(self, q: ArrayLike) -> Array:
        """Smallest value of each column whose cdf reaches q: (d,), or (m, d) for m levels."""
        levels = np.asarray(q, dtype=np.float64)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError(f"q must be between 0 and 1, got {levels}")
        return self._ready()._quantile(np.atleast_1d(levels)[:, None]).reshape(*levels.shape, self.n_columns)

    def interval(self, level: float = 0.9) -> Array:
        """Equal-tailed interval of each column by itself: (2, d), lower and upper ends."""
        return self.quantile([(1 - level) / 2, (1 + level) / 2])

    def marginal(self, columns: int | ArrayLike) -> "Distribution":
        """Distribution of some of the columns, in the order given."""
        chosen = as_columns(columns, self._ready().n_columns)
        return self if chosen == list(range(self.n_columns)) else self._marginal(chosen)

    def conditional(self, columns: int | ArrayLike, values: ArrayLike) -> "Distribution":
        """Distribution of the other columns, in their order, given the values of these."""
        chosen = as_columns(columns, self._ready().n_columns)
        given = np.atleast_1d(np.asarray(values, dtype=np.float64))
        rest = [c for c in range(self.n_columns) if c not in chosen]
        if given.shape != (len(chosen),) or not np.isfinite(given).all():
            raise ValueError(f"values must be {len(chosen)} finite numbers, one per column, got {given}")
        if not rest:
            raise ValueError("every column is given: nothing is left to have a distribution")
        return self._conditional(chosen, given, rest)

    # sampling

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Draw n rows, (n, d)."""
        if n != int(n) or n < 0:
            raise ValueError(f"n must be a whole number of rows, not {n}")
        return self._ready()._sample(int(n), generator(random_state))

    # hooks: what a family must or may say about itself

    @abstractmethod
    def _width(self) -> int | None: ...

    @abstractmethod
    def _n_parameters(self) -> int: ...

    @abstractmethod
    def _log_prob(self, X: Array) -> Array: ...

    @abstractmethod
    def _mean(self) -> Array: ...

    @abstractmethod
    def _variance(self) -> Array: ...

    @abstractmethod
    def _mode(self) -> Array: ...

    @abstractmethod
    def _entropy(self) -> float: ...

    @abstractmethod
    def _sample(self, n: int, rng: np.random.Generator) -> Array: ...

    def _cdf(self, X: Array) -> Array:
        return self._lacks("_cdf", "cdf")

    def _quantile(self, q: Array, upper: bool = False) -> Array:
        """Give (m, d) quantiles of levels q (m, 1), counted from the upper end if asked."""
        return self._lacks("_quantile", "quantiles")

    def _marginal(self, columns: list[int]) -> "Distribution":
        return self._lacks("_marginal", "marginal of some of its columns")

    def _conditional(self, columns: list[int], values: Array, rest: list[int]) -> "Distribution":
        return self._lacks("_conditional", "conditional given some of its columns")

    def _kl(self, other: "Distribution") -> float | None:
        """Divergence from self to other in closed form, or None where there is none."""
        return None

    def _atoms(self) -> Array | None:
        """Give all rows with probability (up to a tail below rounding) of a discrete distribution, (m, d)."""
        return None


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    return bool(a == b)

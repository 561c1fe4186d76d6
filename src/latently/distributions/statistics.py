"""Statistics that add: the arithmetic behind threads, chunks, `partial_fit`, `merge` and `forget`."""

from dataclasses import dataclass, replace
from operator import add, sub
from typing import Self

import numpy as np
from numpy.typing import NDArray

from latently.distributions.inputs import Array, ColumnError


@dataclass(frozen=True)
class Additive:
    """Base of everything that is summed over rows.

    A subclass is a frozen dataclass whose fields are arrays, numbers or further `Additive` records; `+` and
    `-` act field by field. A subclass whose fields need more care (moments about a centre, say) overrides
    `_combine`, and both operators follow.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Counts(Additive):
    ...     rows: float
    ...     total: float
    >>> Counts(2, 3.0) + Counts(1, 4.0) - Counts(2, 3.0)
    Counts(rows=1, total=4.0)
    """

    def _combine(self, other: Self, sign: int) -> Self:
        combine = add if sign > 0 else sub
        # `fields()` would take longer than the additions of small statistics
        parts = {name: combine(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__}
        return type(self)(**parts)

    def __add__(self, other: Self) -> Self:
        return self._combine(other, 1) if isinstance(other, type(self)) else NotImplemented

    def __sub__(self, other: Self) -> Self:
        return self._combine(other, -1) if isinstance(other, type(self)) else NotImplemented


@dataclass(frozen=True)
class Statistics(Additive):
    """Base of what an E-step returns: a model adds its own fields.

    Attributes
    ----------
    rows
        Total weight of the rows seen.
    bound
        Their free energy: the sum over rows of E_q[log p(x, z)] plus the entropy of q.
    """

    rows: float
    bound: float


@dataclass(frozen=True, eq=False)
class Sums(Additive):
    """Weighted sums of an exponential family's features.

    Parameters
    ----------
    total : (P,) sum_i w_i features(x_i)
    base : sum_i w_i log_base(x_i), which no parameter touches; only `log_marginal` looks at it

    Examples
    --------
    >>> import numpy as np
    >>> Sums(np.array([1.0, 2.0])) + Sums(np.array([3.0, 0.0]))
    Sums(total=array([4., 2.]), base=0.0)
    """

    total: Array
    base: float = 0.0

    def _combine(self, other: Self, sign: int) -> Self:
        if np.shape(self.total) != np.shape(other.total):
            raise ValueError(
                f"statistics of lengths {np.size(self.total)} and {np.size(other.total)} do not add: the "
                "chunks differ in columns or categories (for a Categorical, give n_categories)"
            )
        return super()._combine(other, sign)


@dataclass(frozen=True, eq=False)
class Moments(Additive):
    """Weighted moments about a centre, so that data far from zero keep their variance; of several groups side by side.

    Parameters
    ----------
    weight : (...,) sum of weights, or (..., d) per column where entries may be missing
    centre : (..., d) the point that the moments are about
    first : (..., d) sum_i w_i (x_i - centre)
    second : (..., d, d) or (..., d) sum_i w_i (x_i - centre)(x_i - centre)', or its diagonal

    Examples
    --------
    >>> import numpy as np
    >>> near = Moments(np.array([2.0]), np.array([1e8]), np.array([0.0]), np.array([2.0]))
    >>> far = Moments(np.array([1.0]), np.array([1e8 + 3]), np.array([0.0]), np.array([0.0]))
    >>> (near + far).mean() - 1e8, (near + far).scatter()
    (array([1.]), array([8.]))
    """

    weight: Array
    centre: Array
    first: Array
    second: Array

    def shape_of_second(self) -> str:
        """What the second moments are: "full", "tied", "diag" or "spherical" (see `products`)."""
        return ("spherical", "diag", "full")[self.second.ndim - self.first.ndim + 1]

    def by_column(self) -> Array:
        """The weight behind each column, in a shape that goes with `first`."""
        weight = np.asarray(self.weight)
        return weight if weight.ndim == self.first.ndim else weight[..., None]

    def about(self, centre: Array) -> Self:
        """Move the moments to another centre."""
        kind, step = self.shape_of_second(), self.centre - centre
        first = self.first + self.by_column() * step
        # sum r (z - c + s)(z - c + s)' = second + first s' + s moved'
        second = self.second + products(kind, self.first, step) + products(kind, step, first)
        return replace(self, centre=centre, first=first, second=second)

    def offsets(self) -> Array:
        """From each centre to the mean; zero where there is no weight."""
        weight = self.by_column()
        return np.divide(self.first, weight, out=np.zeros(self.first.shape), where=weight > 0)

    def mean(self) -> Array:
        """Weighted mean (..., d); the centre where there is no weight."""
        return np.asarray(self.centre + self.offsets())

    def scatter(self) -> Array:
        """Sum of squares about the mean, shaped as `second`."""
        kind = self.shape_of_second()
        centred = self.second - products(kind, self.offsets(), self.first)
        if kind in ("full", "tied"):
            return np.asarray((centred + np.swapaxes(centred, -1, -2)) / 2)
        return np.asarray(centred)

    def mass(self) -> Array:
        """Weight behind each entry of `second`; every column of a spherical covariance counts."""
        kind, weight = self.shape_of_second(), np.asarray(self.weight)
        if kind == "tied":
            return np.asarray(weight.sum())
        if kind == "spherical":
            return np.asarray((self.by_column() * np.ones_like(self.first)).sum(axis=-1))
        return self.by_column() if kind == "diag" else weight[..., None, None]

    def permuted(self, order: NDArray[np.intp]) -> Self:
        """The same moments with the groups in another order."""
        second = self.second if self.shape_of_second() == "tied" else self.second[order]
        return replace(
            self, weight=self.weight[order], centre=self.centre[order], first=self.first[order], second=second
        )

    def spread(self, at: NDArray[np.intp], k: int) -> Self:
        """The same among k groups: group i becomes at[i], and of the others nothing is known."""
        parts = {name: spread(getattr(self, name), at, k) for name in ("weight", "centre", "first")}
        return replace(
            self, **parts, second=self.second if self.shape_of_second() == "tied" else spread(self.second, at, k)
        )

    def _combine(self, other: Self, sign: int) -> Self:
        if self.second.shape != other.second.shape:
            raise ValueError(f"moments of shapes {self.second.shape} and {other.second.shape} do not add")
        if other.centre is self.centre:
            return self._added(self, other, sign)
        theirs = other.about(self.centre)
        rough = replace(self, weight=self.weight + sign * other.weight, first=self.first + sign * theirs.first)
        # about the common mean the two parts add without cancellation
        middle = rough.mean()
        return self._added(self.about(middle), other.about(middle), sign)

    def _added(self, mine: Self, theirs: Self, sign: int) -> Self:
        parts = {name: getattr(mine, name) + sign * getattr(theirs, name) for name in ("weight", "first", "second")}
        return replace(mine, **parts)


def spread(values: Array, at: NDArray[np.intp], k: int) -> Array:
    """Values (m, ...) of some of k groups, among zeros for the others."""
    out = np.zeros((k, *values.shape[1:]))
    out[at] = values
    return out


def products(kind: str, left: Array, right: Array) -> Array:
    """Outer products of rows (..., d): (..., d, d) full, their sum (d, d) tied, diagonals diag, traces spherical."""
    if kind == "full":
        return np.asarray(left[..., :, None] * right[..., None, :])
    if kind == "tied":
        return np.asarray(left.T @ right)
    return left * right if kind == "diag" else np.asarray((left * right).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class Parts(Additive):
    """Statistics of several distributions side by side.

    Examples
    --------
    >>> import numpy as np
    >>> pair = Parts((Sums(np.array([1.0])), Sums(np.array([2.0]))))
    >>> (pair + pair).parts[1].total
    array([4.])
    """

    parts: tuple[Additive, ...]

    def _combine(self, other: Self, sign: int) -> Self:
        if len(self.parts) != len(other.parts):
            raise ValueError(f"statistics of {len(self.parts)} and {len(other.parts)} parts do not add")
        return type(self)(tuple(a._combine(b, sign) for a, b in zip(self.parts, other.parts, strict=True)))


def as_sums(stats: Additive, who: str) -> Sums:
    """Give back summed features, or say what else was given."""
    if not isinstance(stats, Sums):
        raise TypeError(f"{who} reads Sums of its features, not {type(stats).__name__}")
    if not np.isfinite(stats.total).all():
        raise ValueError(f"the summed features of {who} are not finite: rescale the data")
    return stats


# Share of a variance that may be lost where rows are taken away again.
TOLERABLE = 1e-4


def refuse_lost(before: Array, left: Array, weight: Array) -> None:
    """An error where taking rows away has cost digits of what is left; it names the column and says how much is lost.

    Rows far from all others make sums of squares so large that those of the others are rounded away: what is
    left once they are gone is exact to a few epsilon of what was there before, and no better.

    Parameters
    ----------
    before
        (..., d) sums of squares that something was taken from.
    left
        (..., d) sums of squares about the mean that are left, with what a prior adds to them.
    weight
        (..., d) rows that are left, in effect: without any there is nothing to lose.

    Examples
    --------
    >>> refuse_lost(np.array([1e4]), np.array([9.0]), np.array([3.0]))
    >>> try:
    ...     refuse_lost(np.array([1e14]), np.array([9.0]), np.array([3.0]))
    ... except ColumnError as problem:
    ...     str(problem)[:29]
    'column 0 cannot forget these '
    """
    lost = 4 * np.finfo(float).eps * np.abs(before)
    wrong = (lost > TOLERABLE * left) & (weight > 0)
    if not wrong.any():
        return
    share = np.minimum(np.divide(lost, left, out=np.ones_like(lost), where=left > 0), 1.0) * wrong
    raise ColumnError(
        int(share.reshape(-1, share.shape[-1]).max(axis=0).argmax()),
        f"cannot forget these rows: they are so far from the others that its variance would be uncertain by a share of "
        f"{share.max():.2g} (cancellation of digits); fit anew to the other rows",
    )

"""Priors of continuous parameters: independent ones by name, or a function of all."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from latently.distributions import Distribution
from latently.infer.factors import Floats

_EDGE = 1e-13  # quantile taken for the end of an endless support


class Parameters(Protocol):
    """What the methods need to know about a prior."""

    names: tuple[str, ...]
    bounds: Floats  # (d, 2), possibly infinite
    proper: bool

    def log_prob(self, theta: Floats) -> Floats:
        """Log density of rows (n, d)."""
        ...

    def places(self, n: int) -> list[Floats]:
        """Give places to look at along each parameter, from low to high."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Floats | None:
        """Draw rows (n, d); None if that cannot be done."""
        ...


class Uniform:
    """As scipy's, without the checks that take longer than the density itself."""

    def __init__(self, low: float, high: float) -> None:
        self._low, self._high = low, high
        self._log = -float(np.log(high - low))

    def logpdf(self, x: Floats) -> Floats:
        """Log density."""
        return np.where((x >= self._low) & (x <= self._high), self._log, -np.inf)

    def ppf(self, q: Floats) -> Floats:
        """Quantiles."""
        return self._low + (self._high - self._low) * np.asarray(q)


class Independent:
    """Independent priors of named parameters: scipy's or our distributions, (low, high), or "flat"."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        if not parts:
            raise ValueError("there are no parameters: give each a prior")
        self.names = tuple(str(name) for name in parts)
        self._parts = [_as_one(name, part) for name, part in parts.items()]
        self.bounds = np.array([_support(part) for part in self._parts])
        self.proper = all(part is not None for part in self._parts)
        self._alike = _alike(self._parts)

    def log_prob(self, theta: Floats) -> Floats:
        """Log density of rows (n, d)."""
        total = np.zeros(len(theta))
        with np.errstate(invalid="ignore"):  # at the end of one prior, outside of another: NaN, seen to below
            for part, columns in self._alike:
                total += _log_density(part, theta[:, columns].ravel()).reshape(-1, len(columns)).sum(axis=1)
        return np.where(np.isnan(total), -np.inf, total)

    def places(self, n: int) -> list[Floats]:
        """Give places to look at along each parameter."""
        return [_places(part, n) for part in self._parts]

    def sample(self, n: int, rng: np.random.Generator) -> Floats | None:
        """Draw rows; None if a prior is flat."""
        if not self.proper:
            return None
        u = rng.random((n, len(self._parts)))
        return np.column_stack([_quantile(part, u[:, j]) for j, part in enumerate(self._parts)])


class Function:
    """A log prior given as a function of all parameters, with their names and bounds."""

    def __init__(self, log_prior: Callable[[Floats], Floats], names: Sequence[str], bounds: Any) -> None:
        self.names = tuple(names)
        self.bounds = as_bounds(self.names, bounds)
        self.proper = True
        self._log_prior = log_prior

    def log_prob(self, theta: Floats) -> Floats:
        """Log density of rows (n, d)."""
        inside = np.all((theta >= self.bounds[:, 0]) & (theta <= self.bounds[:, 1]), axis=1)
        out = np.full(len(theta), -np.inf)
        if inside.any():
            out[inside] = self._log_prior(theta[inside])
        return out

    def places(self, n: int) -> list[Floats]:
        """Give places to look at along each parameter."""
        return [_spaced(low, high, n) for low, high in self.bounds]

    def sample(self, n: int, rng: np.random.Generator) -> Floats | None:
        """Draw rows uniformly within the bounds, if there are any: as places to start from."""
        if not np.all(np.isfinite(self.bounds)):
            return None
        return rng.uniform(self.bounds[:, 0], self.bounds[:, 1], size=(n, len(self.names)))


def as_bounds(names: Sequence[str], bounds: Any) -> Floats:
    """Read bounds, a mapping from names to (low, high); parameters left out have none."""
    given = dict(bounds or {})
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"bounds are given for {unknown[0]!r}, but the parameters are {list(names)}")
    table = np.array([given.get(name, (-np.inf, np.inf)) for name in names], dtype=np.float64)
    if table.shape != (len(names), 2) or not np.all(table[:, 0] < table[:, 1]):
        raise ValueError(f"bounds must be pairs (low, high) with low < high, got {given}")
    return table


def _as_one(name: str, part: Any) -> Any:
    """Give a prior of one parameter as a scipy or latently distribution; None for a flat one."""
    if part is None or (isinstance(part, str) and part == "flat"):
        return None
    if isinstance(part, Distribution):
        if part.n_columns != 1:
            raise ValueError(f"the prior of {name!r} has {part.n_columns} columns: give each parameter its own")
        return part
    if hasattr(part, "logpdf") and hasattr(part, "ppf"):
        return part
    ends = np.asarray(part, dtype=np.float64) if isinstance(part, tuple | list) else np.zeros(0)
    if ends.shape != (2,) or not np.all(np.isfinite(ends)) or not ends[0] < ends[1]:
        raise TypeError(
            f"the prior of {name!r} must be a distribution of ours or of scipy.stats, a pair (low, high) or "
            f"'flat'; got {part!r}"
        )
    return Uniform(float(ends[0]), float(ends[1]))


def _alike(parts: Sequence[Any]) -> list[tuple[Any, list[int]]]:
    """Put parameters with the same prior together: a call of scipy takes longer than the numbers in it."""
    groups: dict[Any, tuple[Any, list[int]]] = {}
    for j, part in enumerate(parts):
        if part is not None:
            groups.setdefault(_key(part), (part, []))[1].append(j)
    return list(groups.values())


def _key(part: Any) -> Any:
    """Give what two equal frozen distributions of scipy have in common; others are equal to themselves only."""
    dist = getattr(part, "dist", None)
    given = (*getattr(part, "args", ()), *sorted(getattr(part, "kwds", {}).items()))
    if dist is None or not all(np.ndim(v[1] if isinstance(v, tuple) else v) == 0 for v in given):
        return id(part)
    return type(dist), dist.name, given


def _log_density(part: Any, x: Floats) -> Floats:
    if isinstance(part, Distribution):
        return part.log_prob(x[:, None])
    return np.asarray(part.logpdf(x))


def _quantile(part: Any, q: Floats) -> Floats:
    return part.quantile(q)[:, 0] if isinstance(part, Distribution) else np.asarray(part.ppf(q))


def _support(part: Any) -> tuple[float, float]:
    if part is None:
        return -np.inf, np.inf
    low, high = _quantile(part, np.array([0.0, 1.0]))
    return float(low), float(high)


def _places(part: Any, n: int) -> Floats:
    low, high = _support(part)
    spread = _spaced(low, high, n)
    if part is None:
        return spread
    edges = np.array([_EDGE, 1e-6, 1 - 1e-6, 1 - _EDGE])
    q = np.sort(np.concatenate([edges, (np.arange(n) + 0.5) / n]))
    # where the prior is, and further out, should the data disagree with it
    return np.unique(np.concatenate([_quantile(part, q), spread]))


def _spaced(low: float, high: float, n: int) -> Floats:
    """Give places from low to high; by powers of ten from a finite end, or from zero, towards infinity."""
    powers = np.logspace(-8, 12, n)
    if np.isfinite(low) and np.isfinite(high):
        inner = np.logspace(-8, np.log10(0.5), n // 4) * (high - low)
        return np.unique(np.concatenate([np.linspace(low, high, n), low + inner, high - inner]))
    if np.isfinite(low):
        return np.concatenate([[low], low + powers])
    if np.isfinite(high):
        return np.concatenate([high - powers[::-1], [high]])
    return np.concatenate([-powers[::-1], [0.0], powers])

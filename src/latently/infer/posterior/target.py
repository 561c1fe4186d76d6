"""The log posterior, up to its constant, as a function of many parameter vectors at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from latently.distributions import Gaussian
from latently.distributions.family import Family
from latently.infer.factors import Floats
from latently.infer.posterior.priors import Function, Independent, Parameters

Rows = Callable[[Floats], Floats]  # (n, d) -> (n,)


class Target:
    """Prior times likelihood of named parameters."""

    def __init__(self, prior: Parameters, log_likelihood: Rows) -> None:
        self.prior = prior
        self._log_likelihood = log_likelihood
        self.d = len(prior.names)

    def log_likelihood(self, theta: Floats) -> Floats:
        """Log likelihood of rows (n, d); NaN and +inf are errors, except on the very ends of the prior."""
        with np.errstate(all="ignore"):  # log 0 is -inf, as it should be; NaN is seen to below
            values = self._log_likelihood(theta)
        odd = np.isnan(values) | (values == np.inf)
        if odd.any():  # a standard deviation of exactly zero has no probability: nobody should have to mind it
            on_end = np.any((theta == self.prior.bounds[:, 0]) | (theta == self.prior.bounds[:, 1]), axis=1)
            values = np.where(np.isnan(values) & on_end, -np.inf, values)
            odd &= ~on_end
        bad = np.flatnonzero(odd)
        if len(bad):
            at = ", ".join(f"{n}={v:.6g}" for n, v in zip(self.prior.names, theta[bad[0]], strict=True))
            raise ValueError(
                f"the log likelihood is {values[bad[0]]} at {at}: return -inf where the data are impossible, "
                "or keep the prior away from there"
            )
        return values

    def __call__(self, theta: Floats) -> Floats:
        """Log of prior times likelihood; the likelihood is not asked where the prior is zero.

        It may be +inf, at an end of the prior.
        """
        total = np.array(self.prior.log_prob(theta), dtype=np.float64)
        inside = np.all((theta >= self.prior.bounds[:, 0]) & (theta <= self.prior.bounds[:, 1]), axis=1)
        total[~inside | np.isnan(total)] = -np.inf
        open_ = total > -np.inf
        if open_.any():
            seen = self.log_likelihood(theta[open_])
            # a prior that is infinite at its end times a likelihood that is zero there: no density at that point
            possible = seen > -np.inf
            total[open_] = np.where(possible, total[open_] + np.where(possible, seen, 0.0), -np.inf)
        return total


def rows_of(function: Callable[..., Any], data: Any) -> Rows:
    """Make a function of single parameters one of rows; it is called with arrays if it can take them.

    Whether it can is found out at the first call: several at once and one by one it must give the same.
    """
    more = () if data is None else (data,)
    found: list[bool] = []

    def one_by_one(theta: Floats) -> Floats:
        return np.array([_one(function, row, more) for row in theta.tolist()])

    def rows(theta: Floats) -> Floats:
        if not found and len(theta) >= 3:
            found.append(_takes_arrays(function, theta, more))
        if found and found[0]:
            return np.asarray(function(*theta.T, *more), dtype=np.float64)
        return one_by_one(theta)

    return rows


def _one(function: Callable[..., Any], row: list[float], more: tuple[Any, ...]) -> float:
    """Give the function at one place; a division by zero is NaN, as it is for arrays."""
    try:
        return _number(function(*row, *more))
    except ZeroDivisionError:
        return float("nan")


def _takes_arrays(function: Callable[..., Any], theta: Floats, more: tuple[Any, ...]) -> bool:
    """Whether several rows at once give what each gives by itself, as an array of one."""
    probe = theta[np.unique(np.linspace(0, len(theta) - 1, 7).astype(int))]
    pieces = [probe, *np.split(probe, len(probe))]
    try:
        found = [np.asarray(function(*piece.T, *more), dtype=np.float64) for piece in pieces]
    except Exception:  # whatever a function of numbers raises when given arrays
        return False
    if any(value.shape != (len(piece),) for value, piece in zip(found, pieces, strict=True)):
        return False
    return bool(np.allclose(found[0], np.concatenate(found[1:]), rtol=1e-9, atol=1e-12, equal_nan=True))


def _number(value: Any) -> float:
    array = np.asarray(value, dtype=np.float64)
    if array.size != 1:
        raise ValueError(f"the likelihood must return one number, got shape {array.shape}: sum over the data")
    return float(array.reshape(()))


def family_rows(family: Family, names: Sequence[str], data: Any) -> Rows:
    """Log likelihood of data under one of our families, as a function of its parameters by name."""
    kind = type(family)
    if set(names) != set(kind.PARAMETERS):
        raise ValueError(f"{kind.__name__} has the parameters {list(kind.PARAMETERS)}, the prior {list(names)}")
    rows = np.asarray(data, dtype=np.float64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.shape[1] != 1:
        raise ValueError(f"{kind.__name__} with a prior for single numbers needs one column, got {rows.shape[1]}")

    def log_likelihood(theta: Floats) -> Floats:
        return np.array([_of(kind, names, row).log_prob(rows).sum() for row in theta])

    return log_likelihood


def _of(kind: type[Any], names: Sequence[str], row: Floats) -> Any:
    given = {name: np.array([value]) for name, value in zip(names, row, strict=True)}
    if kind is Gaussian:
        given["covariance"] = given["covariance"].reshape(1, 1)
    return kind(**given)


def as_family(likelihood: Any, data: Any) -> Family | None:
    """Give a likelihood that is one of our families; None if it is a function."""
    made = likelihood() if isinstance(likelihood, type) and issubclass(likelihood, Family) else likelihood
    if isinstance(made, Family):
        if data is None:
            raise ValueError(f"{type(made).__name__} as a likelihood needs data")
        return made
    if not callable(made):
        raise TypeError(f"likelihood must be a function or a family of latently.distributions, got {likelihood!r}")
    return None


def as_parameters(prior: Any, names: Any, bounds: Any, family: Family | None) -> Parameters:
    """Read a prior: by name, for a single parameter, or as a function."""
    if isinstance(prior, Mapping):
        return Independent(prior)
    if callable(prior) and not hasattr(prior, "logpdf"):
        if names is None:
            raise ValueError("a function as prior needs names=, the parameters in order")
        return Function(rows_of(prior, None), names, bounds)
    default = type(family).PARAMETERS[0] if family is not None else "theta"
    return Independent({names[0] if names else default: prior})

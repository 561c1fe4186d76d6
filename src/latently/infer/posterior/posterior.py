"""The posterior of one or a few continuous parameters: how it is found, and its densities."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latently.distributions import Gaussian
from latently.distributions.inputs import generator
from latently.distributions.priors.base import Prior
from latently.infer.factors import Floats
from latently.infer.posterior.answers import Summaries
from latently.infer.posterior.budget import Limits
from latently.infer.posterior.grid import grid, window
from latently.infer.posterior.methods import Result, exact, fitted_row, laplace, names_of
from latently.infer.posterior.optimise import climb
from latently.infer.posterior.priors import Function
from latently.infer.posterior.sampled import sampled
from latently.infer.posterior.target import Target, as_family, as_parameters, family_rows, rows_of

METHODS = ("auto", "exact", "grid", "laplace", "sample")


class Posterior(Summaries):
    """The posterior of continuous parameters, from a prior and a likelihood.

    It is exact where prior and likelihood are conjugate, found by quadrature for one or two parameters, and by
    an ensemble sampler for more; `method` chooses otherwise. Nothing is computed before it is asked for.

    Parameters
    ----------
    prior
        A mapping from the names of the parameters to their priors: distributions of ours or of scipy.stats,
        pairs (low, high) for uniform ones, or "flat". A single distribution, for one parameter. A conjugate
        prior of `latently.distributions`, for a family of ours. Or a function giving the log prior, with `names`.
    likelihood
        A function that gives the log likelihood from the parameters, in order, and the data if given. It may
        take arrays; if it does not, it is called once for each place. Or a family of `latently.distributions`.
    data
        The data: handed to the function as its last argument, or to the family.
    names
        Names of the parameters, where the prior does not tell.
    bounds
        With a function as prior: mapping from names to (low, high).
    method
        "auto", "exact", "grid", "laplace" or "sample".
    start
        For "laplace" and "sample": a guess of the parameters, or rows of guesses.
    n_samples
        For "sample": effective sample size to reach.
    max_steps
        For "sample": the most steps of each walker.
    max_evaluations
        For "sample": the budget, a number of evaluations of the log density. It is looked at between steps; when it
        is spent before the chains agree, a `PosteriorWarning` says how far they came, and `converged` is False.
    random_state
        Seed of the sampler.
    verbose
        For "sample": draw a progress bar, on a terminal only.

    Attributes
    ----------
    names : tuple of str
        The parameters.

    Examples
    --------
    A bent coin that came up heads three times in four, from a flat prior:

    >>> from latently.distributions import Bernoulli, Beta
    >>> from latently.infer import Posterior
    >>> coin = Posterior(Beta(1, 1), Bernoulli(), [1, 1, 0, 1])
    >>> coin.method, coin.map, coin.mean
    ('exact', array([0.75]), array([0.667]))
    >>> coin.interval(0.9)
    array([[0.343, 0.924]])

    The decay length of particles seen between 1 and 20 cm:

    >>> import numpy as np
    >>> def log_likelihood(length, x):
    ...     seen = length * (np.exp(-1 / length) - np.exp(-20 / length))
    ...     return np.sum(-x / length) - len(x) * np.log(seen)
    >>> decay = Posterior({"length": (0.1, 100)}, log_likelihood, np.array([1.5, 2, 3, 4, 5, 12]))
    >>> decay.method, decay.map
    ('grid', array([3.70]))
    """

    def __init__(
        self,
        prior: Any,
        likelihood: Any,
        data: Any = None,
        *,
        names: Sequence[str] | None = None,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        method: str = "auto",
        start: ArrayLike | None = None,
        n_samples: int = 1000,
        max_steps: int = 9600,
        max_evaluations: int = 1_000_000,
        random_state: Any = None,
        verbose: bool = True,
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
        self._family = as_family(likelihood, data)
        self._prior, self._data, self._start = prior, data, start
        self._conjugate = isinstance(prior, Prior) and self._family is not None
        self._wanted = method
        self._limits = Limits(n_samples, max_steps, max_evaluations, verbose)
        self._random_state = random_state
        if self._conjugate and self._family is not None:
            if method not in ("auto", "exact"):
                raise ValueError(f"a conjugate prior has an exact posterior: method={method!r} is not needed")
            self._seen = self._family.statistics(data)
            self.names = tuple(names or names_of(prior.posterior(self._seen), self._family))
            return
        if method == "exact":
            raise ValueError("only a conjugate prior of latently.distributions with its family is exact")
        self._parameters = as_parameters(prior, names, bounds, self._family)
        self.names = self._parameters.names
        rows = rows_of(likelihood, data) if self._family is None else family_rows(self._family, self.names, data)
        self._target = Target(self._parameters, rows)

    @cached_property
    def result(self) -> Result:
        """What was found, however it was found."""
        if self._conjugate and self._family is not None:
            return exact(self._prior, self._family, self._data)
        method = self._wanted
        if method == "auto":
            method = "grid" if len(self.names) <= 2 else "sample"
        if method == "grid":
            return grid(self._target)
        if method == "sample":
            start = None if self._start is None else np.asarray(self._start, dtype=np.float64)
            return sampled(self._target, start, generator(self._random_state), self._limits)
        return laplace(self._target, *self._guesses())

    def _guesses(self) -> tuple[Floats, Floats]:
        """Give places to climb from, and a scale for each parameter."""
        if self._start is not None:
            places = np.atleast_2d(np.asarray(self._start, dtype=np.float64))
        else:
            drawn = self._parameters.sample(2000, np.random.default_rng(0))
            if drawn is None and len(self.names) <= 2:
                middle = [a[len(a) // 2] for a in window(self._target)]
                drawn = np.array([middle])
            if drawn is None:
                raise ValueError("an unbounded flat prior gives no starting points: give start=")
            heights = self._target(drawn)
            places = drawn[np.argsort(-heights)[:5]]
            drawn = drawn[np.isfinite(heights)]
        spread = np.ptp(places, axis=0)
        return places, np.where(spread > 0, spread, np.maximum(np.abs(places[0]), 1e-3) * 0.1)

    # -- densities

    def log_prior(self, theta: ArrayLike) -> Floats:
        """Log prior density of rows (n, d)."""
        rows = self._rows(theta)
        return np.asarray((self._prior if self._conjugate else self._parameters).log_prob(rows))

    def log_likelihood(self, theta: ArrayLike) -> Floats:
        """Log likelihood of rows (n, d); -inf where a conjugate prior is zero."""
        rows = self._rows(theta)
        if not self._conjugate:
            return self._target.log_likelihood(rows)
        before, after = self.log_prior(rows), self._prior.posterior(self._seen).log_prob(rows)
        possible = np.isfinite(before)
        return np.where(possible, after - np.where(possible, before, 0.0) + self.log_evidence, -np.inf)

    def log_prob(self, theta: ArrayLike) -> Floats:
        """Log posterior density of rows (n, d)."""
        rows = self._rows(theta)
        if self._conjugate:
            return np.asarray(self.diagnostics["distribution"].log_prob(rows))
        return self._target(rows) - self.result.log_evidence

    def _rows(self, theta: ArrayLike) -> Floats:
        rows = np.asarray(theta, dtype=np.float64)
        rows = rows.reshape(-1, 1) if len(self.names) == 1 else np.atleast_2d(rows)
        if rows.ndim != 2 or rows.shape[1] != len(self.names):
            raise ValueError(f"rows need {len(self.names)} columns, {list(self.names)}; got shape {rows.shape}")
        return rows

    # -- the best parameters, and a Gaussian about them

    def maximum_likelihood(self) -> Floats:
        """Give the parameters of highest likelihood, (d,): the MAP in the limit of a wide, flat prior."""
        if self._conjugate and self._family is not None:
            return fitted_row(self._family.from_statistics(self._seen))
        best, _ = climb(self._target.log_likelihood, self.map, self.sd, self._parameters.bounds)
        return best

    def gaussian(self, match: str = "moments") -> Gaussian:
        """Give the Gaussian approximation.

        Parameters
        ----------
        match
            "moments" for mean and covariance, "mode" for the highest point and the curvature there (Laplace).
        """
        if match == "moments":
            return Gaussian(self.mean, self.covariance)
        if match != "mode":
            raise ValueError(f"match must be 'moments' or 'mode', got {match!r}")
        if self.method == "laplace":
            return Gaussian(self.map, self.covariance)
        target = self._target
        if self._conjugate:
            ends = {name: m.support() for name, m in zip(self.names, self.result.marginals, strict=True)}
            target = Target(Function(lambda rows: 0.0 * rows[:, 0], self.names, ends), self.log_prob)
        found = laplace(target, self.map[None, :], self.sd)
        return Gaussian(found.mode, found.covariance)

    # -- comparing models

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of the data; undefined under a flat prior without ends."""
        if not self._conjugate and not self._parameters.proper:
            raise ValueError("a flat prior without bounds has no marginal likelihood: give it as (low, high)")
        return self.result.log_evidence

    def bayes_factor(self, other: "Posterior") -> float:
        """Give how many times more probable the data are under this model than under the other."""
        return float(np.exp(self.log_evidence - other.log_evidence))

    def __repr__(self) -> str:
        return f"Posterior({', '.join(self.names)})"

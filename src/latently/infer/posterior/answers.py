"""What is asked of a posterior once it is found: moments, intervals, draws."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from latently.distributions.inputs import generator
from latently.infer.factors import Floats
from latently.infer.posterior.methods import Result
from latently.infer.posterior.summaries import equal_tailed, half_maximum, shortest
from latently.infer.posterior.target import rows_of


class Summaries(ABC):
    """Summaries of a posterior of parameters with names, all of them from `result`."""

    names: tuple[str, ...]

    @property
    @abstractmethod
    def result(self) -> Result:
        """What was found, however it was found."""

    @property
    def method(self) -> str:
        """How it was found: "exact", "grid", "laplace" or "sample"."""
        return self.result.method

    @property
    def diagnostics(self) -> dict[str, Any]:
        """How far it can be trusted: R-hat and effective sample sizes, or the error of the integral."""
        return self.result.diagnostics

    @property
    def converged(self) -> bool:
        """Whether it can be trusted as it is: chains that agree, an integral that is settled."""
        return bool(self.diagnostics.get("converged", True))

    @property
    def map(self) -> Floats:
        """The parameters of highest posterior density, (d,)."""
        return self.result.mode

    @property
    def mean(self) -> Floats:
        """Mean of each parameter, (d,)."""
        return self.result.mean

    @property
    def covariance(self) -> Floats:
        """Covariance, (d, d)."""
        return self.result.covariance

    @property
    def sd(self) -> Floats:
        """Standard deviation of each parameter, (d,)."""
        return np.sqrt(np.diag(self.result.covariance))

    def marginal(self, name: str) -> Any:
        """Give the distribution of one parameter: `pdf`, `ppf`, `support`."""
        if name not in self.names:
            raise ValueError(f"no parameter {name!r}: there are {list(self.names)}")
        return self.result.marginals[self.names.index(name)]

    def error_bars(self) -> Floats:
        """Give where the density of each parameter has fallen to half its maximum, (d, 2)."""
        return np.array([half_maximum(m) for m in self.result.marginals])

    def fwhm(self) -> Floats:
        """Give the full width at half maximum of each parameter, (d,)."""
        return np.diff(self.error_bars(), axis=1)[:, 0]

    def quantile(self, q: ArrayLike) -> Floats:
        """Give quantiles of each parameter: (d,), or (d, m) for m levels."""
        return np.array([m.ppf(np.asarray(q, dtype=np.float64)) for m in self.result.marginals])

    def interval(self, level: float = 0.95, kind: str = "equal") -> Floats:
        """Give a credible interval of each parameter, (d, 2).

        Parameters
        ----------
        level
            Its probability.
        kind
            "equal" for equal tails, "hdi" for the shortest interval (highest density, for a single hill).
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}")
        if kind not in ("equal", "hdi"):
            raise ValueError(f"kind must be 'equal' or 'hdi', got {kind!r}")
        ends = equal_tailed if kind == "equal" else shortest
        return np.array([ends(m, level) for m in self.result.marginals])

    def sample(self, n: int = 1, random_state: Any = None) -> Floats:
        """Draw n rows of parameters, (n, d)."""
        return self.result.draw(n, generator(random_state))

    def expect(self, function: Callable[..., Any]) -> float:
        """Give the posterior mean of a function of the parameters, in order."""
        return self.result.average(rows_of(function, None))

    def summary(self, level: float = 0.95) -> dict[str, dict[str, Any]]:
        """Give all summaries of each parameter, as plain numbers; None for a maximum that does not exist."""
        equal, hdi = self.interval(level), self.interval(level, "hdi")
        top = _if_any(lambda: self.map)
        bars = [_if_any(partial(half_maximum, marginal)) for marginal in self.result.marginals]
        return {
            name: {
                "map": None if top is None else float(top[j]),
                "half_maximum": None if bar is None else tuple(bar.tolist()),
                "mean": float(self.mean[j]),
                "sd": float(self.sd[j]),
                "interval": tuple(equal[j].tolist()),
                "hdi": tuple(hdi[j].tolist()),
            }
            for j, (name, bar) in enumerate(zip(self.names, bars, strict=True))
        }


def _if_any(find: Callable[[], Floats]) -> Floats | None:
    """Give what is found; None where the density has no maximum."""
    try:
        return find()
    except ValueError:
        return None

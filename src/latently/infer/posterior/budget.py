"""How long a sampler may work, and a log density that counts how often it was asked."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from latently.infer.factors import Floats
from latently.infer.posterior.line import without_poles

LogDensity = Callable[[Floats], Floats]  # (n, d) -> (n,)


@dataclass(frozen=True)
class Limits:
    """How long a sampler may work, and whether it says how far it is."""

    n_samples: int
    max_steps: int
    max_evaluations: int
    verbose: bool

    def __post_init__(self) -> None:
        for name in ("n_samples", "max_steps", "max_evaluations"):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


class Metered:
    """A log density with a budget of evaluations.

    Nothing is refused: whoever works with it looks at `left` between steps and stops.

    Parameters
    ----------
    log_density
        Log density of rows (n, d).
    limit
        Number of evaluations, one for each row.
    """

    def __init__(self, log_density: LogDensity, limit: int) -> None:
        self._log_density = log_density
        self.limit = limit
        self.used = 0

    def __call__(self, theta: Floats) -> Floats:
        """Log density of rows, counted; a single point where it is infinite has no probability, and counts as none."""
        self.used += len(theta)
        return without_poles(self._log_density(theta))

    def left(self, share: float = 1.0) -> int:
        """Give how many evaluations are left of a share of the budget; zero or less if it is spent."""
        return int(share * self.limit) - self.used

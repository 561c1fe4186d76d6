"""What a posterior is made from, as users write it down."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from latently.distributions.family import Family
from latently.infer.posterior.priors import Function, Independent, Parameters
from latently.infer.posterior.target import rows_of


@dataclass(frozen=True)
class Limits:
    """How long a sampler may work, and whether it says how far it is."""

    n_samples: int
    max_steps: int
    max_evaluations: int
    verbose: bool

    def __post_init__(self) -> None:
        for name in ("n_samples", "max_steps", "max_evaluations"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


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

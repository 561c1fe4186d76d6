"""Priors of a Gaussian mixture: as the user gives them, and in the frame that the fit runs in."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from latently.distributions.components.gaussian.frame import Frame, Kind
from latently.distributions.components.gaussian.params import GaussianParams
from latently.distributions.components.order import is_asymmetric
from latently.distributions.inputs import Array
from latently.distributions.priors.dirichlet import Dirichlet
from latently.distributions.priors.normal_inverse_wishart import NormalInverseWishart
from latently.distributions.statistics import products


def _nothing() -> Array:
    return np.zeros(())


@dataclass(frozen=True, eq=False)
class GaussianPrior:
    """log p = sum_k excess_k log w_k - (power log |C| + tr(scatter / C) + kappa |m - location|^2 / C) / 2 + constant.

    C and m are a component's covariance and mean in the frame. For the tied kind the first two terms count once,
    for the others once for each component. Every entry is zero where nothing is known beforehand. All may also have an
    entry per component (k, ...) first, in a shape that goes with means, covariances and the weight behind them.
    """

    excess: Array = field(default_factory=_nothing)  # (k,) rows seen before, in effect
    location: Array = field(default_factory=_nothing)  # (d,)
    kappa: Array = field(default_factory=_nothing)  # (), or (d,) for diag and spherical
    scatter: Array = field(default_factory=_nothing)  # (d, d), (d,) for diag, () for spherical
    power: Array = field(default_factory=_nothing)  # (), or (d,) for diag
    constant: float = 0.0

    @cached_property
    def pulls(self) -> bool:
        """Whether it says anything about the means."""
        return bool((self.kappa > 0).any())

    @cached_property
    def shapes(self) -> bool:
        """Whether it gives every covariance some rows."""
        return bool((self.power > 0).all())

    def log_density(self, params: GaussianParams) -> float:
        """Log prior density at these parameters."""
        from scipy.special import xlogy

        weights = xlogy(self.excess, params.weights).sum() if self.excess.any() else 0.0
        if not (self.power.any() or self.scatter.any() or self.pulls):
            return float(weights + self.constant)
        spread = self.scatter + self.pull(params.kind, params.means)
        return float(weights + self.constant - _energy(params, self.power, spread) / 2)

    def pull(self, kind: Kind, means: Array) -> Array:
        """kappa (m - location)(m - location)', shaped as the scatter of the components; zero without a location."""
        if not self.pulls:
            return _nothing()
        gaps = means - self.location
        return products(kind, self.kappa * gaps, gaps)


def _energy(params: GaussianParams, power: Array, spread: Array) -> float:
    """power log |C| + tr(spread / C), summed over the covariances."""
    if params.kind in ("diag", "spherical"):
        C = params.covariances
        return float(np.sum(power * np.log(C) + spread / C))
    matrices = params.precision  # (k or 1, d, d)
    logs = (-2 * params.log_roots[: len(matrices)] * np.ravel(power)).sum()
    return float(logs + (matrices * spread).sum())


@lru_cache(2)  # asked for twice in every iteration; no more are kept, for it may be as wide as the table
def relative_prior(kind: Kind, k: int, frame: Frame, strength: float) -> GaussianPrior:
    """Inverse Wishart about the spread inside clusters that weighs `strength` rows; its log density there is zero."""
    if not strength:
        return GaussianPrior()
    d, unit = len(frame.origin), frame.unit(kind)
    amount = np.asarray(strength * {"tied": k, "spherical": d}.get(kind, 1))
    logs = np.log(np.diagonal(unit) if unit.ndim == 2 else unit).sum() * (d if kind == "spherical" else 1)
    return GaussianPrior(scatter=amount * unit, power=amount, constant=strength * k * (d + float(logs)) / 2)


@dataclass(frozen=True, eq=False)
class MixturePrior:
    """What the user says beforehand of the weights and of every component, in the data's own units."""

    weights: Dirichlet | None
    components: NormalInverseWishart | None

    def in_frame(self, kind: Kind, k: int, frame: Frame, strength: float) -> GaussianPrior:
        """The same in a frame; `strength` is that of the relative prior, for covariances that have no other."""
        d = len(frame.origin)
        excess, level = _dirichlet(self.weights, k)
        own = self.components
        if own is None:
            base = relative_prior(kind, k, frame, strength)
            return replace(base, excess=excess, constant=base.constant + level)
        power = own.dof + {"diag": 3, "tied": d + 1 + k}.get(kind, d + 2)
        scatter = own.scatter / frame.covariance_factor(kind)
        constant = level + _component_constant(own, kind, k, frame)
        return GaussianPrior(excess, frame.inward(own.location), own.kappa, scatter, power, constant)


def _dirichlet(prior: Dirichlet | None, k: int) -> tuple[Array, float]:
    """(k,) concentration minus one, and the log of what normalises it."""
    from scipy.special import gammaln

    if prior is None:
        return _nothing(), 0.0
    a = np.broadcast_to(prior.concentration, (k,))
    return a - 1, float(gammaln(a.sum()) - gammaln(a).sum())


def _component_constant(own: NormalInverseWishart, kind: Kind, k: int, frame: Frame) -> float:
    """What makes the log density that of the data's own units: read off at the prior's own mode."""
    mean, covariance = own.modal_parameters()
    scaled = covariance / frame.covariance_factor(kind)
    mode = GaussianParams(
        kind,
        frame,
        np.ones(1),
        frame.inward(mean[None]),
        scaled if kind == "tied" else scaled[None],
    )
    power = own.dof + (3 if kind == "diag" else own.n_dimensions + 2)
    energy = _energy(mode, power, own.scatter / frame.covariance_factor(kind))
    constant = float(own.log_prob(own.mode[None])[0]) + energy / 2
    if kind != "tied":
        return k * constant
    # one covariance, k means: each further mean is normal about the location, with its own |C|^-1/2 in `power`
    return constant + (k - 1) * (own.n_dimensions / 2 * float(np.log(own.kappa / (2 * np.pi))) - frame.log_volume)


def names_components(given: Mapping[str, Any] | None) -> bool:
    """Whether what a user gave expects greater weights of some components than of others."""
    weights = (given or {}).get("weights")
    return isinstance(weights, Dirichlet) and is_asymmetric(weights.concentration)


def read_prior(given: Any, kind: Kind, k: int, d: int) -> MixturePrior | None:
    """The prior that a user gave, checked."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or (unknown := given.keys() - {"weights", "components"}):
        got = f"the key {sorted(unknown)[0]!r}" if isinstance(given, Mapping) else type(given).__name__
        raise ValueError(f'prior must be a mapping with "weights" or "components" or both, got {got}')
    return MixturePrior(_read_weights(given.get("weights"), k), _read_components(given.get("components"), kind, d))


def _read_weights(given: Any, k: int) -> Dirichlet | None:
    if given is None or isinstance(given, Dirichlet):
        prior = given
    elif isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        prior = Dirichlet(np.array(float(given)))
    else:
        raise TypeError(f'prior["weights"] must be a Dirichlet or a number, got {type(given).__name__}')
    if prior is None:
        return None
    if len(prior.concentration) not in (1, k):
        raise ValueError(f'prior["weights"] has {len(prior.concentration)} entries, but there are {k} components')
    if (prior.concentration < 1).any():
        raise ValueError(
            f'prior["weights"] must have concentrations of at least 1, got {prior.concentration.min():g}: below '
            "that the density is infinite where a weight is zero"
        )
    return prior


def _read_components(given: Any, kind: Kind, d: int) -> NormalInverseWishart | None:
    if given is None:
        return None
    if not isinstance(given, NormalInverseWishart):
        raise TypeError(f'prior["components"] must be a NormalInverseWishart, got {type(given).__name__}')
    wanted = "full" if kind == "tied" else kind
    if given.kind != wanted:
        raise ValueError(
            f'prior["components"] is of kind {given.kind!r}; a mixture with {kind} covariances needs {wanted!r}'
        )
    if given.n_dimensions != d:
        raise ValueError(f'prior["components"] is for {given.n_dimensions} columns, but the table has {d}')
    return given

"""Normal-inverse-Wishart: means with covariances; the prior of a Gaussian."""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy import special

from latently.distributions.base import Distribution
from latently.distributions.covariance import Kind, check_kind, factor, pack, unpack
from latently.distributions.inputs import Array
from latently.distributions.priors.base import Prior
from latently.distributions.statistics import Additive, Moments


class _Groups(NamedTuple):
    """The three kinds as one: g independent blocks of m means that share a q x q covariance."""

    location: Array  # (g, m)
    kappa: Array  # (g, m)
    scatter: Array  # (g, q, q)
    dof: Array  # (g,)

    @property
    def copies(self) -> int:
        """How many means share each variance: 1, and d for the spherical kind (q = 1, m = d)."""
        return int(self.location.shape[1] // self.scatter.shape[1])

    def log_constant(self) -> float:
        """Log of what normalises exp(-tr(scatter / Sigma) / 2) |Sigma|^(-power / 2), summed over groups."""
        q, m = self.scatter.shape[1], self.location.shape[1]
        terms = self.dof / 2 * (np.linalg.slogdet(self.scatter)[1] - q * np.log(2))
        terms = terms - _log_multigamma(self.dof / 2, q) + (np.log(self.kappa).sum(axis=1) - m * np.log(2 * np.pi)) / 2
        return float(terms.sum())


@dataclass(frozen=True, eq=False)
class NormalInverseWishart(Prior):
    """Prior of a Gaussian: Sigma ~ IW(scatter, dof), and mean | Sigma ~ N(location, Sigma / kappa).

    For kind="diag" each column has a variance of its own, with a one-column prior of its own; for
    kind="spherical" one variance v ~ IW(scatter, dof) in one dimension is shared by all, and
    mean_j | v ~ N(location_j, v / kappa_j). The covariance of highest density (with the mean, MAP) is
    scatter / (dof + d + 2) for full and spherical, and scatter / (dof + 3) for diag.

    As a distribution, a row holds the mean and then the covariance: its upper triangle row by row (full), d
    variances (diag), or one (spherical); `parameters_of` takes such rows apart.

    Parameters
    ----------
    location : (d,) where the mean is expected
    kappa : positive; how many rows that expectation is worth, one number, or (d,) for diag and spherical
    scatter : (d, d), (d,) or a number, by kind; positive definite
    dof : above d - 1 (full) or 0; one number, or (d,) for diag
    kind : "full", "diag" or "spherical"

    Examples
    --------
    >>> from latently.distributions import Gaussian
    >>> prior = NormalInverseWishart([0.0], kappa=1.0, scatter=[[1.0]], dof=3.0)
    >>> Gaussian().fit([2.0, 2.0, 2.0], prior=prior)
    Gaussian(mean=array([1.5]), covariance=array([[0.444]]), kind='full')
    """

    location: Array
    kappa: Array
    scatter: Array
    dof: Array
    kind: Kind = "full"

    PARAMETERS: ClassVar[tuple[str, ...]] = ("location", "kappa", "scatter", "dof")

    # parameters

    def __post_init__(self) -> None:
        """Freeze the parameters in the shapes of their kind, and check them."""
        check_kind(self.kind)
        d = len(self._freeze("location", np.atleast_1d(self.location)))
        full, single = self.kind == "full", self.kind != "diag"
        shapes = {
            "kappa": () if full else (d,),
            "scatter": (d, d) if full else (d,) if self.kind == "diag" else (),
            "dof": () if single else (d,),
        }
        for name, shape in shapes.items():
            given = np.asarray(getattr(self, name), dtype=np.float64)
            if given.size == 1 and not (name == "scatter" and d > 1 and full):
                given = np.broadcast_to(given.reshape(()), shape)
            if given.shape != shape:
                raise ValueError(
                    f"{name} of a {self.kind} NormalInverseWishart must have shape {shape}, not {given.shape}"
                )
            self._freeze(name, given)
        self._check_ranges(d if full else 1)

    def _check_ranges(self, q: int) -> None:
        if (self.kappa <= 0).any():
            raise ValueError(f"kappa must be positive, got {self.kappa}")
        if (self.dof <= q - 1).any():
            raise ValueError(f"dof must be above {q - 1}, got {self.dof}")
        factor(self.scatter if self.kind == "full" else np.diag(np.atleast_1d(self.scatter)))

    @property
    def n_dimensions(self) -> int:
        """Columns of the Gaussian that this is a prior of."""
        return len(self.location)

    def _width(self) -> int:
        d = self.n_dimensions
        return d + {"full": d * (d + 1) // 2, "diag": d, "spherical": 1}[self.kind]

    def _n_parameters(self) -> int:
        return self._width() + self.kappa.size + self.dof.size

    def _groups(self) -> _Groups:
        d = self.n_dimensions
        g, m, q = {"full": (1, d, d), "diag": (d, 1, 1), "spherical": (1, d, 1)}[self.kind]
        kappa = np.broadcast_to(self.kappa, (d,)).reshape(g, m)
        return _Groups(self.location.reshape(g, m), kappa, self.scatter.reshape(g, q, q), self.dof.reshape(g))

    def parameters_of(self, rows: Array) -> tuple[Array, Array]:
        """Take rows (..., n_columns) apart: means (..., d) and covariances in the shape of the kind."""
        d = self.n_dimensions
        means, rest = rows[..., :d], rows[..., d:]
        return means, {
            "full": lambda: unpack(rest, d),
            "diag": lambda: rest,
            "spherical": lambda: rest[..., 0],
        }[self.kind]()

    def _rows(self, mean: Array, covariance: Array) -> Array:
        rest = pack(covariance) if self.kind == "full" else np.atleast_1d(covariance)
        return np.concatenate([mean, rest])

    # statistics

    def posterior(self, stats: Additive) -> Self:
        """Update on the moments of rows."""
        seen = self._moments(stats)
        weight, step = seen.weight, seen.mean() - self.location
        step = np.where(weight > 0, step, 0.0)
        share = weight / (self.kappa + weight)
        pull = self.kappa * share
        gain = seen.scatter() + (pull * np.outer(step, step) if self.kind == "full" else pull * step**2)
        rows = weight
        if self.kind == "spherical":  # every entry of a row tells about the one variance
            gain, rows = gain.sum(), weight.sum()
        return replace(
            self,
            location=self.location + share * step,
            kappa=self.kappa + weight,
            scatter=self.scatter + gain,
            dof=self.dof + rows,
        )

    def log_marginal(self, stats: Additive) -> float:
        """Log density of the rows, mean and covariance integrated out."""
        weight = np.broadcast_to(self._moments(stats).weight, (self.n_dimensions,)).sum()
        change = self._groups().log_constant() - self.posterior(stats)._groups().log_constant()
        return float(change - weight / 2 * np.log(2 * np.pi))

    def _moments(self, stats: Additive) -> Moments:
        if not isinstance(stats, Moments):
            raise TypeError(f"NormalInverseWishart reads Moments, not {type(stats).__name__}")
        d = self.n_dimensions
        if stats.second.shape != ((d, d) if self.kind == "full" else (d,)):
            raise ValueError(
                f"moments of shape {stats.second.shape} do not fit a {self.kind} prior of {d} columns: "
                "prior and Gaussian must be of the same kind and width"
            )
        return stats

    # evaluation

    def _log_prob(self, X: Array) -> Array:
        if np.isnan(X).any():
            raise ValueError("rows of a mean and a covariance must be complete")
        own = self._groups()
        q = own.scatter.shape[1]
        means, sigma = X[:, : self.n_dimensions].reshape(len(X), *own.location.shape), self._matrices(X, q)
        good = np.asarray(np.isfinite(X).all(axis=1) & _positive(sigma).all(axis=1))
        sigma = np.where(good[:, None, None, None], sigma, np.eye(q))
        step = np.where(good[:, None, None], means - own.location, 0.0) * np.sqrt(own.kappa)
        inverse: Array = np.asarray(np.linalg.inv(sigma), dtype=np.float64)
        quadratic = np.einsum("ngi,ngij,ngj->ng", step, _spread(inverse, step.shape[2]), step)
        trace = np.einsum("gij,ngji->ng", own.scatter, inverse)
        power = own.dof + q + 1 + own.copies
        body = -(power * np.linalg.slogdet(sigma)[1] + quadratic + trace).sum(axis=1) / 2
        return np.where(good, body + own.log_constant(), -np.inf)

    def _matrices(self, X: Array, q: int) -> Array:
        """Covariances (n, g, q, q) of rows."""
        covariances = self.parameters_of(X)[1]
        return covariances.reshape(len(X), self._groups().dof.size, q, q)

    def modal_parameters(self) -> tuple[Array, Array]:
        """Mean and covariance (in the shape of the kind) of highest density."""
        d = self.n_dimensions
        return self.location, np.asarray(self.scatter / (self.dof + (3 if self.kind == "diag" else d + 2)))

    def _mode(self) -> Array:
        return self._rows(*self.modal_parameters())

    def _excess(self, least: int) -> Array:
        """Dof - q - 1, which must be above `least` for a moment to exist."""
        q = self.n_dimensions if self.kind == "full" else 1
        excess = self.dof - q - 1
        if (excess <= least).any():
            raise ValueError(f"dof must be above {q + 1 + least} for this moment to exist, not {self.dof}")
        return np.asarray(excess)

    def _mean(self) -> Array:
        return self._rows(self.location, self.scatter / self._excess(0))

    def _variance(self) -> Array:
        c = self._excess(2)
        own = np.diagonal(self.scatter) if self.kind == "full" else self.scatter
        products = np.outer(own, own) if self.kind == "full" else own * own
        spread = ((c + 2) * self.scatter**2 + c * products) / ((c + 1) * c**2 * (c - 2))
        return self._rows(np.broadcast_to(own / c / self.kappa, (self.n_dimensions,)), spread)

    def _entropy(self) -> float:
        return _cross_entropy(self._groups(), self._groups())

    def _kl(self, other: Distribution) -> float | None:
        if not isinstance(other, NormalInverseWishart) or other.kind != self.kind:
            return None
        return _cross_entropy(self._groups(), other._groups()) - self._entropy()

    # sampling

    def _sample(self, n: int, rng: np.random.Generator) -> Array:
        own = self._groups()
        g, m = own.location.shape
        q = own.scatter.shape[1]
        # Bartlett: with A lower triangular like this, (A A')^-1 is IW(1, dof), and M'M has the scale put in
        normal = np.tril(rng.standard_normal((n, g, q, q)), -1)
        diagonal = np.sqrt(rng.chisquare(own.dof[:, None] - np.arange(q), size=(n, g, q)))
        root = np.linalg.cholesky(own.scatter)
        lower = normal + diagonal[..., None] * np.eye(q)
        M: Array = np.asarray(np.linalg.solve(lower, np.swapaxes(root, 1, 2)[None]), dtype=np.float64)
        noise = rng.standard_normal((n, g, m))
        steps = np.einsum("ngij,ngi->ngj", _spread(M, m), noise) / np.sqrt(own.kappa)
        sigma = np.swapaxes(M, 2, 3) @ M
        packed = pack(sigma).reshape(n, g * q * (q + 1) // 2)
        return np.hstack([(own.location + steps).reshape(n, g * m), packed])


def _spread(matrices: Array, m: int) -> Array:
    """Give (..., m, m) matrices: as they are, or a single variance on the diagonal for m means."""
    return matrices if matrices.shape[-1] == m else matrices * np.eye(m)


def _positive(matrices: Array) -> Array:
    """Whether each of the symmetric matrices (..., q, q) is positive definite, by more than rounding."""
    variance = np.diagonal(matrices, axis1=-2, axis2=-1)
    fine = np.asarray(np.isfinite(matrices).all(axis=(-2, -1)) & (variance > 0).all(axis=-1))
    sd = np.sqrt(np.where(fine[..., None], variance, 1.0))
    safe = np.where(fine[..., None, None], matrices, 0.0) / sd[..., None] / sd[..., None, :]
    return np.asarray(fine & (np.linalg.eigvalsh(safe)[..., 0] > sd.shape[-1] * np.finfo(np.float64).eps))


def _log_multigamma(x: Array, q: int) -> Array:
    halves = np.arange(q) / 2
    return np.asarray(special.gammaln(x[:, None] - halves).sum(axis=1) + q * (q - 1) / 4 * np.log(np.pi))


def _cross_entropy(p: _Groups, q: _Groups) -> float:
    """Give the expectation of -log q under p."""
    size, m = p.scatter.shape[1], p.location.shape[1]
    precision = p.dof[:, None, None] * np.linalg.inv(p.scatter)  # E Sigma^-1
    digammas = special.digamma(p.dof[:, None] / 2 - np.arange(size) / 2).sum(axis=1)
    log_sigma = np.linalg.slogdet(p.scatter)[1] - size * np.log(2) - digammas  # E log |Sigma|
    step = (p.location - q.location) * np.sqrt(q.kappa)
    quadratic = np.einsum("gi,gij,gj->g", step, _spread(precision, m), step) + (q.kappa / p.kappa).sum(axis=1)
    trace = np.einsum("gij,gji->g", q.scatter, precision)
    expected = (q.dof + size + 1 + q.copies) * log_sigma + quadratic + trace
    return float(expected.sum() / 2 - q.log_constant())

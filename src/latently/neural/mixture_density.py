"""Mixture density networks: p(y | x) as a Gaussian mixture whose parameters a network gives."""

import math
from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import log_ndtr, ndtri
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions
from torch import Tensor, nn

from latently.data.tables.matrix import as_matrix
from latently.distributions import Gaussian, MixtureDistribution
from latently.distributions.covariance import Kind
from latently.distributions.floor import spacing
from latently.distributions.quantiles import bisected
from latently.learn.estimator.parameters import Count, checked, stores_parameters
from latently.learn.estimator.table import check_fitted, generator
from latently.neural.base import Missing, NeuralEstimator
from latently.neural.inputs import Array, Scaling, plain, read_table, rows_and_target
from latently.neural.modes import modes_of
from latently.neural.networks.density_head import DensityHead
from latently.neural.networks.mlp import mlp
from latently.neural.training.task import Task

NARROWEST = math.exp(-6)
"""Deviation, as a share of the target's, below which no component goes."""

WIDEST = 0.5
"""Deviation, as a share of the target's, that every component may have, however far apart the values are."""


class _MixtureFitted:
    target_scaling_: Scaling
    narrowest_: Array
    flat_target_: bool


@stores_parameters
class MixtureDensityNetwork(_MixtureFitted, RegressorMixin, NeuralEstimator):
    """A regression whose answer is a distribution: p(y | x) is a mixture of Gaussians.

    A network gives the weights, means and covariances of the components for each row; the likelihood is maximised.

    Parameters
    ----------
    n_components
        How many Gaussians.
    covariance_type
        Of several targets: "full", or "diag" (independent inside a component).
    missing
        What is done about NaN in X: "error" names the column; "mask" puts the mean in its place and tells the network
        where.
    hidden, activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        The network and its training, as in `latently.neural.base.NeuralEstimator`.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    weights_ : dict of arrays, the parameters of the network by name
    narrowest_ : (t,) smallest deviation that a component may have, in the unit of each target
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(-1, 1, size=500)
    >>> X = (y**2 + 0.01 * rng.normal(size=500))[:, None]  # two answers for each x
    >>> model = MixtureDensityNetwork(2, random_state=0).fit(X, y)
    >>> [mode.round(0).ravel().tolist() for mode in model.modes([[0.9]])]
    [[-1.0, 1.0]]
    """

    n_components: Count = 3
    _: KW_ONLY
    covariance_type: Annotated[str, StrOptions({"full", "diag"})] = "full"
    missing: Missing = "error"

    @checked
    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, every: int = 10) -> Self:
        """Maximise the likelihood of targets given rows.

        Parameters
        ----------
        X
            (n, d) rows: an array, a frame, a tensor or a dataset.
        y
            (n,) or (n, t) targets; not needed with a dataset of pairs.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        X, y = rows_and_target(X, y)
        rows = read_table(self, X, reset=True, missing=self.missing)
        targets, self.flat_target_ = _read_targets(y, len(rows), type(self).__name__)
        self.scaling_ = Scaling.of(rows, masked=self.missing == "mask")
        self.target_scaling_ = Scaling.of(targets)
        data = (self.scaling_.apply(rows), self.target_scaling_.apply(targets))
        self.narrowest_ = np.array([_narrowest(column) for column in data[1].T]) * self.target_scaling_.scale
        self._learn(_maximum_likelihood, data, checkpoint=checkpoint, every=every)
        return self

    @property
    def _n_targets(self) -> int:
        return len(self.target_scaling_.centre)

    def _build(self) -> nn.Module:
        full = self.covariance_type == "full"
        scale = self.target_scaling_.scale
        narrowest = getattr(self, "narrowest_", NARROWEST * scale) / scale  # models stored without it had this bound
        width = DensityHead.width(self.n_components, self._n_targets, full=full)
        body = mlp(self.scaling_.n_inputs, self._widths, width, self.activation)
        return DensityHead(body, self.n_components, narrowest.tolist(), full=full)

    # answers

    def components(self, X: Any) -> tuple[Array, Array, Array]:
        """Weights (n, k), means (n, k, t) and covariances (n, k, t, t) of the mixture of each row."""
        check_fitted(self)
        network = self._network()
        rows = self.scaling_.apply(read_table(self, X, reset=False, missing=self.missing))
        logs, means, factors = self._answer(lambda x: tuple(network(x)), rows)
        inverse = np.linalg.inv(factors)
        scale = self.target_scaling_.scale
        covariances = np.swapaxes(inverse, -1, -2) @ inverse * scale[:, None] * scale
        return np.exp(logs), self.target_scaling_.back(means), covariances

    def distribution(self, x: Any) -> MixtureDistribution:
        """The mixture of one row (d,), as a distribution of `latently.distributions`."""
        weights, means, covariances = (part[0] for part in self.components(np.atleast_2d(np.asarray(x, dtype=float))))
        kind: Kind = "full" if self.covariance_type == "full" else "diag"
        spread = covariances if kind == "full" else np.diagonal(covariances, axis1=-2, axis2=-1)
        return MixtureDistribution(weights, [Gaussian(m, s, kind=kind) for m, s in zip(means, spread, strict=True)])

    def _shaped(self, targets: Array) -> Array:
        return targets[:, 0] if self.flat_target_ else targets

    def predict(self, X: Any) -> Array:
        """Mean of the target of each row, (n,) or (n, t)."""
        weights, means, _ = self.components(X)
        return self._shaped(np.einsum("nk,nkt->nt", weights, means))

    def modes(self, X: Any) -> list[Array]:
        """Local maxima (m, t) of the density of each row, in the order of the first target."""
        return [modes_of(*row) for row in zip(*self.components(X), strict=True)]

    def predict_mode(self, X: Any) -> Array:
        """The target of highest density of each row, (n,) or (n, t)."""
        found = [self._most_probable(*row) for row in zip(*self.components(X), strict=True)]
        return self._shaped(np.array(found))

    def _most_probable(self, weights: Array, means: Array, covariances: Array) -> Array:
        modes = modes_of(weights, means, covariances)
        parts = [Gaussian(m, c) for m, c in zip(means, covariances, strict=True)]
        logs = MixtureDistribution(weights, parts).log_prob(modes)
        return np.asarray(modes[logs.argmax()])

    def quantiles(self, X: Any, q: Any = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of each target, (n, q), or (n, t, q) of several targets."""
        levels = np.atleast_1d(np.asarray(q, dtype=np.float64))
        if not ((levels > 0) & (levels < 1)).all():
            raise ValueError(f"q must lie between 0 and 1, got {levels.tolist()}")
        weights, means, covariances = self.components(X)
        sd = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))  # (n, k, t)

        def cdf(values: Array) -> Array:  # (n, t, q)
            z = (values[:, None] - means[..., None]) / sd[..., None]
            return np.asarray(np.einsum("nk,nktq->ntq", weights, np.exp(log_ndtr(z))))

        ends = means[..., None] + sd[..., None] * ndtri(levels)
        found = bisected(cdf, ends.min(axis=1), ends.max(axis=1), levels, np.array(False))
        return found[:, 0] if self.flat_target_ else found

    def score_samples(self, X: Any, y: Any) -> Array:
        """log p(y | x) (n,)."""
        check_fitted(self)
        network = self._network()
        rows = self.scaling_.apply(read_table(self, X, reset=False, missing=self.missing))
        targets, _ = _read_targets(y, len(rows), type(self).__name__)
        logs: Array = self._answer(lambda x, t: network(x).log_prob(t), rows, self.target_scaling_.apply(targets))
        return logs - np.log(self.target_scaling_.scale).sum()

    def sample(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> Array:
        """Draws (n, m) of the target of each row, or (n, m, t) of several targets."""
        rng = generator(random_state)
        weights, means, covariances = self.components(X)
        edges = weights.cumsum(axis=1)
        edges[:, -1] = np.inf
        chosen = (rng.uniform(size=(len(edges), n_samples, 1)) > edges[:, None]).sum(axis=2)  # (n, m)
        rows, factors = np.arange(len(edges))[:, None], np.linalg.cholesky(covariances)
        noise = rng.normal(size=(*chosen.shape, means.shape[2]))
        drawn = means[rows, chosen] + np.einsum("nmij,nmj->nmi", factors[rows, chosen], noise)
        return drawn[:, :, 0] if self.flat_target_ else drawn

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _expected_failed_checks(self) -> dict[str, str]:
        of_target = "score_samples and sample are of a target, given a row"
        return {
            "check_array_api_input": of_target,
            "check_methods_subset_invariance": of_target,
            "check_methods_sample_order_invariance": of_target,
            "law_samples_are_possible": of_target,
        }


def _narrowest(column: Array) -> float:
    """Smallest deviation of components of a scaled target: that of rounding to values as far apart as those seen."""
    return float(np.clip(spacing(column) / np.sqrt(12), NARROWEST, WIDEST))


def _maximum_likelihood(module: nn.Module) -> Task:
    def loss(batch: tuple[Tensor, ...]) -> Tensor:
        out: Tensor = -module(batch[0]).log_prob(batch[1]).mean()
        return out

    return Task.single(module, loss)


def _read_targets(y: Any, n_rows: int, who: str) -> tuple[Array, bool]:
    """Targets (n, t), and whether they came flat."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None.")
    y = plain(y)
    flat = np.asarray(y).ndim < 2
    values = as_matrix(np.asarray(y).reshape(-1, 1) if flat else y, name="y", min_rows=0)
    if len(values) != n_rows:
        raise ValueError(f"y has {len(values)} targets for {n_rows} rows: give one for each row")
    return np.asarray(values, dtype=np.float64), flat

"""Normalizing flows: exact densities of tables, unconditional or given a context."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor, nn

from latently.data.tables.matrix import as_matrix
from latently.learn.estimator.parameters import Count, checked, stores_parameters
from latently.learn.estimator.table import check_fitted, generator
from latently.neural.base import NeuralEstimator
from latently.neural.flows import spline
from latently.neural.flows.coupling import AffineCoupling, Coupling, Flow, Rotation
from latently.neural.flows.gaussianization import Gaussianization, gaussianization, standard_normal
from latently.neural.inputs import Array, Scaling, plain, read_table, refuse_constant
from latently.neural.training.task import Task


class _FlowFitted:
    context_scaling_: Scaling | None
    start_: Gaussianization | None


@stores_parameters
class NormalizingFlow(_FlowFitted, ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, NeuralEstimator):
    """A density as an invertible network that maps rows to a standard Gaussian.

    log p(x) is that of the Gaussian at z = f(x), plus the logarithm of the determinant of the Jacobian of f: exact, and
    so are draws, f^-1 of Gaussian ones. The first layer maps a Gaussian mixture, fitted before, to a Gaussian, so that
    training begins with the likelihood of the mixture. The others are couplings: half of the columns pass, and
    determine how the others are moved; between couplings the columns are turned by a trained rotation.

    Parameters
    ----------
    n_layers
        How many couplings.
    coupling
        "spline": monotone rational-quadratic splines, which bend a column to any shape. "affine": shift and scale.
    n_bins
        Bins of a spline.
    n_components
        Components of the mixture; "auto" is the number of least AIC up to 30 that leaves five rows for each parameter.
        0 for none: the first layer is a coupling.
    hidden, activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        The networks that determine the couplings, and their training, as in `latently.neural.base.NeuralEstimator`.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    start_ : the first layer, None without one
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, _ = make_moons(400, noise=0.05, random_state=0)
    >>> model = NormalizingFlow(2, random_state=0).fit(X)
    >>> bool(np.abs(model.inverse_transform(model.transform(X)) - X).max() < 1e-8)
    True
    >>> model.sample(3, random_state=0).shape
    (3, 2)
    """

    n_layers: Count = 4
    _: KW_ONLY
    coupling: Annotated[str, StrOptions({"spline", "affine"})] = "spline"
    n_bins: Count = 8
    n_components: Annotated[Any, Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})] = "auto"
    hidden: Sequence[int] = (64, 64)
    learning_rate: float = 1e-3

    _averaging = 0.99

    @checked
    def fit(self, X: Any, y: Any = None, *, context: Any = None, checkpoint: Any = None, every: int = 10) -> Self:
        """Maximise the likelihood of the rows.

        Parameters
        ----------
        X
            (n, d) rows: an array, a frame, a tensor or a dataset.
        y
            Not used.
        context
            (n, c) what the density is given; it is not modelled itself.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        rows = read_table(self, X, reset=True, min_rows=2)
        refuse_constant(self, rows)
        self.context_scaling_ = None if context is None else Scaling.of(_read_context(context))
        self.scaling_ = Scaling.of(rows)
        given, scaled = self._context(context, len(rows)), self.scaling_.apply(rows)
        parts = self._split(len(rows))
        self.start_ = gaussianization(scaled[parts.fitted], self.n_components, parts.seed)
        data = (self._started(scaled)[0], given)
        self._learn(_maximum_likelihood, data, parts=parts, checkpoint=checkpoint, every=every)
        if self.start_ is not None and not self._is_better(*(one[parts.held_out] for one in data)):
            self._keep_start(scaled, parts.seed)
        return self

    def _is_better(self, started: Array, context: Array) -> bool:
        """Whether couplings raise the log-likelihood of held-out rows by more than its standard error."""
        if not len(started):
            return True
        gains = self._answer(self._network().log_prob, started, context) - standard_normal(started)
        return bool(gains.mean() > gains.std() / np.sqrt(len(gains)))

    def _keep_start(self, scaled: Array, seed: int) -> None:
        """Couplings become the identity again, and the mixture learns from all rows."""
        assert self.start_ is not None
        self.start_ = gaussianization(scaled, len(self.start_.means), seed)
        for i in range(self.n_layers):
            last = f"layers.{i * (2 if self.n_features_in_ > 1 else 1)}.conditioner.{2 * len(self.hidden)}"
            self.weights_ |= {f"{last}.{kind}": 0 * self.weights_[f"{last}.{kind}"] for kind in ("weight", "bias")}
        self.best_iter_ = 0

    def _context(self, context: Any, n: int) -> Array:
        """(n, c) scaled context; no columns without one."""
        if (context is None) != (self.context_scaling_ is None):
            raise ValueError("the flow was fitted " + ("with" if context is None else "without") + " a context: give "
                             + ("one, (n, c)" if context is None else "none"))  # fmt: skip
        if context is None or self.context_scaling_ is None:
            return np.zeros((n, 0))
        given = _read_context(context)
        if given.shape != (n, len(self.context_scaling_.centre)):
            raise ValueError(f"context has shape {given.shape}, expected {(n, len(self.context_scaling_.centre))}")
        return self.context_scaling_.apply(given)

    def _build(self) -> nn.Module:
        d = self.n_features_in_
        n_context = 0 if self.context_scaling_ is None else len(self.context_scaling_.centre)
        width = spline.n_parameters(self.n_bins) if self.coupling == "spline" else 2
        layer = Coupling if self.coupling == "spline" else AffineCoupling
        layers: list[nn.Module] = []
        for i in range(self.n_layers):
            passes = [j for j in range(d) if d > 1 and (j < d // 2) == (i % 2 == 0)]
            moves = [j for j in range(d) if j not in passes]
            layers.append(layer(passes, moves, n_context, self._widths, self.activation, width))
            if d > 1:
                layers.append(Rotation(d))
        return Flow(layers)

    def _started(self, scaled: Array) -> tuple[Array, Array]:
        """Rows after the first layer, and its log-determinant."""
        return (scaled, np.zeros(len(scaled))) if self.start_ is None else self.start_.forward(scaled)

    def _inputs(self, X: Any, context: Any) -> tuple[Array, Array, Array]:
        """Rows after the first layer, the context, and the log-determinant of scaling and first layer."""
        check_fitted(self)
        rows = read_table(self, X, reset=False)
        given = self._context(context, len(rows))
        started, logs = self._started(self.scaling_.apply(rows))
        return started, given, logs - np.log(self.scaling_.scale).sum()

    def score_samples(self, X: Any, context: Any = None) -> Array:
        """log p(x) (n,), or log p(x | context); exact."""
        *inputs, logs = self._inputs(X, context)
        return logs + np.asarray(self._answer(self._network().log_prob, *inputs))

    def score(self, X: Any, y: Any = None, *, context: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X, context).mean())

    def transform(self, X: Any, context: Any = None) -> Array:
        """(n, d) coordinates in which the rows are Gaussian."""
        network, (started, given, _) = self._network(), self._inputs(X, context)
        z: Array = self._answer(lambda x, c: network(x, c)[0], started, given)
        return z

    def inverse_transform(self, X: Any, context: Any = None) -> Array:
        """(n, d) rows of Gaussian coordinates."""
        network = self._network()
        z = as_matrix(X, dtype="float64")
        if z.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {z.shape[1]} columns, but the flow has {self.n_features_in_}")
        started = self._answer(network.inverse, z, self._context(context, len(z)))
        return self.scaling_.back(started if self.start_ is None else self.start_.inverse(started))

    def sample(self, n_samples: int = 1, *, context: Any = None, random_state: Any = None) -> Array:
        """Draw rows (n, d); with a context (c,) or (n, c), given that."""
        check_fitted(self)
        if context is not None:
            context = np.broadcast_to(
                np.atleast_2d(np.asarray(plain(context), float)), (n_samples, np.shape(context)[-1])
            )
        z = generator(random_state).normal(size=(n_samples, self.n_features_in_))
        return self.inverse_transform(z, context)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_


def _read_context(context: Any) -> Array:
    return np.asarray(as_matrix(plain(context), name="context"), dtype=np.float64)


def _maximum_likelihood(module: nn.Module) -> Task:
    assert isinstance(module, Flow)

    def loss(batch: tuple[Tensor, ...]) -> Tensor:
        return -module.log_prob(*batch).mean()

    return Task.single(module, loss)

"""An energy model, and a generator that learns beside it to produce the contrastive examples."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any, Self

import numpy as np
import torch
from sklearn.base import DensityMixin
from torch import Tensor, nn
from torch.nn.functional import softplus

from latently.learn.estimator.parameters import COUNT, NON_NEGATIVE, Count, checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.base import NeuralEstimator
from latently.neural.energy.distance import energy_distance
from latently.neural.energy.langevin import langevin
from latently.neural.inputs import Array, Scaling, read_table
from latently.neural.networks.mlp import mlp
from latently.neural.training.task import Batch, Player, Task

ACCEPTED = 0.6
"""Share of Langevin steps that are to be accepted (Roberts and Rosenthal, 1998)."""
ADAPTED = 0.1
FLATTEST = 1e-4
"""Standard deviation of a direction, as a share of the largest, below which it is rounding."""


class _Competitors(nn.Module):
    """The energy of white rows, and the generator of rows from noise; both begin as those of a Gaussian."""

    log_step: Tensor

    def __init__(self, k: int, n_latent: int, widths: Sequence[int], kind: str, n_steps: int) -> None:
        super().__init__()
        self.tilt, self.generator, self.n_steps = mlp(k, widths, 1, kind), mlp(n_latent, widths, k, kind), n_steps
        self.skip = nn.Linear(n_latent, k, bias=False)
        self.level = nn.Parameter(torch.zeros(1))
        self.register_buffer("log_step", torch.zeros(()))
        nn.init.eye_(self.skip.weight)
        for parameter in (*self.tilt[-1].parameters(), *self.generator[-1].parameters()):
            nn.init.zeros_(parameter)

    def energy(self, u: Tensor) -> Tensor:
        """(n,) u'u / 2, that of a Gaussian, plus what the network adds."""
        out: Tensor = u.square().sum(dim=1) / 2 + self.tilt(u)[:, 0]
        return out

    def generated(self, n: int) -> Tensor:
        """(n, k) rows from noise."""
        weight = self.skip.weight
        z = torch.randn(n, weight.shape[1], dtype=weight.dtype, device=weight.device)
        out: Tensor = self.skip(z) + self.generator(z)
        return out

    def contrastive(self, n: int) -> Tensor:
        """(n, k) generated rows, moved on under the energy; in training the length of the steps is adapted."""
        out, accepted = langevin(self.energy, self.generated(n).detach(), float(self.log_step.exp()), self.n_steps)
        if self.training:
            self.log_step += ADAPTED * (accepted - ACCEPTED)
        return out

    def contrast(self, u: Tensor) -> Tensor:
        """Energy of the data less that of contrastive examples: its gradient is that of the log-likelihood."""
        return self.energy(u).mean() - self.energy(self.contrastive(len(u))).mean()

    def told_apart(self, u: Tensor) -> Tensor:
        """Log loss of telling data from Gaussian noise by what the network adds to the energy of noise."""
        data, noise = self.tilt(u) + self.level, self.tilt(torch.randn_like(u)) + self.level
        return softplus(data).mean() + softplus(-noise).mean()


class _EnergyFitted:
    white_: Array


@stores_parameters
class ContrastiveGenerator(_EnergyFitted, DensityMixin, NeuralEstimator):
    """An energy model of a table, trained against a generator.

    The energy is u'u / 2 + f(u), of rows u that are turned and scaled to covariance one: that of a Gaussian, and what
    a network f adds. Where Gibbs sampling cannot draw contrastive examples, a generator learns to, by the energy
    distance between its rows and the data; Langevin steps under the energy move them on. The energy of the data is
    pushed down and that of contrastive examples is pulled up, which is the gradient of the likelihood. Beside that,
    f learns to tell the data from Gaussian noise by log loss (Gutmann and Hyvarinen, 2010): the best f is the same, and
    this one sees all of the space, not only where draws are.

    Parameters
    ----------
    n_latent
        Length of the noise that the generator turns into rows; as many as there are columns if None.
    n_steps
        Langevin steps of a generated row, in training and in `sample`; their length is adapted.
    contrast
        Weight of the contrast beside the log loss.
    hidden, activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        The two networks and their training, as in `latently.neural.base.NeuralEstimator`. Held-out rows
        judge by the log loss plus their energy distance from contrastive examples.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    weights_ : dict of arrays, the parameters of the networks by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.where(rng.uniform(size=(300, 1)) < 0.5, -3.0, 3.0) + 0.3 * rng.normal(size=(300, 1))
    >>> model = ContrastiveGenerator(4, hidden=(16,), n_iter_no_change=3, random_state=0).fit(X)
    >>> model.sample(5, random_state=0).shape, model.score_samples(X).shape
    ((5, 1), (300,))
    """

    n_latent: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    n_steps: Count = 10
    contrast: Annotated[float, NON_NEGATIVE] = 0.1
    hidden: Sequence[int] = (64, 64)
    activation: str = "silu"
    n_iter_no_change: int = 20
    tol: float = 1e-3

    _averaging = 0.99

    @checked
    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None, every: int = 10) -> Self:
        """Train the energy and the generator.

        Parameters
        ----------
        X
            (n, d) rows: an array, a frame, a tensor or a dataset.
        y
            Not used.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        rows = read_table(self, X, reset=True, min_rows=2)
        self.scaling_ = Scaling.of(rows)
        scaled = self.scaling_.apply(rows)
        self.white_ = _whitening(scaled)
        self._learn(self._task, (scaled @ self.white_,), checkpoint=checkpoint, every=every)
        return self

    def _build(self) -> nn.Module:
        k = self.white_.shape[1]
        n_latent = k if self.n_latent is None else self.n_latent
        return _Competitors(k, n_latent, self._widths, self.activation, self.n_steps)

    def _task(self, module: nn.Module) -> Task:
        assert isinstance(module, _Competitors)

        def likelihood(batch: Batch) -> Tensor:
            return self.contrast * module.contrast(batch[0]) + module.told_apart(batch[0])

        def resemblance(batch: Batch) -> Tensor:
            return energy_distance(batch[0], module.generated(len(batch[0])))

        def judged(batch: Batch) -> Tensor:
            drawn = module.contrastive(max(len(batch[0]), 200))
            return module.told_apart(batch[0]) + energy_distance(batch[0], drawn)

        energy = Player([*module.tilt.parameters(), module.level], likelihood)
        generator = Player([*module.generator.parameters(), *module.skip.parameters()], resemblance)
        return Task(module, (energy, generator), judged)

    def score_samples(self, X: Any) -> Array:
        """Minus the energy (n,): the higher, the more usual; the sum over all rows is not known."""
        check_fitted(self)
        network = self._network()
        rows = self.scaling_.apply(read_table(self, X, reset=False)) @ self.white_
        scores: Array = self._answer(lambda u: -network.energy(u), rows)
        return scores

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Array:
        """Rows (n, d) from the generator, moved on under the energy."""
        network = self._network()
        with self._drawing(random_state), torch.no_grad():
            drawn = network.contrastive(n_samples).numpy()
        return self.scaling_.back(drawn @ np.linalg.pinv(self.white_))

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"law_density_integrates_to_one": "the energy is not normalised"}


def _whitening(scaled: Array) -> Array:
    """(d, k) map to directions that are uncorrelated and of variance one, without those that do not vary."""
    _, sizes, directions = np.linalg.svd(scaled / np.sqrt(len(scaled)), full_matrices=False)
    if not sizes[0]:
        raise ValueError("all columns of X are constant: there is nothing to learn")
    kept = sizes > FLATTEST * sizes[0]
    return np.asarray(directions[kept].T / sizes[kept])

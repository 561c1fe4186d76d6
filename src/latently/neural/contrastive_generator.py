"""An energy model, and a generator that learns beside it to produce the contrastive examples."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import torch
from sklearn.base import DensityMixin
from torch import Tensor, nn

from latently.learn.estimator.parameters import checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.base import NON_NEGATIVE, POSITIVE, NeuralEstimator
from latently.neural.energy.distance import energy_distance
from latently.neural.inputs import Array, Scaling, read_table
from latently.neural.networks.mlp import mlp
from latently.neural.training.task import Batch, Player, Task


class _Competitors(nn.Module):
    """The energy of rows, and the generator of rows from noise."""

    def __init__(self, energy: nn.Module, generator: nn.Module, n_latent: int) -> None:
        super().__init__()
        self.energy, self.generator, self.n_latent = energy, generator, n_latent

    def generated(self, n: int) -> Tensor:
        """(n, d) rows from noise."""
        weight = next(self.generator.parameters())
        out: Tensor = self.generator(torch.randn(n, self.n_latent, dtype=weight.dtype, device=weight.device))
        return out

    def push_and_pull(self, x: Tensor) -> Tensor:
        """Energy of the data less that of contrastive examples."""
        out: Tensor = self.energy(x).mean() - self.energy(self.generated(len(x)).detach()).mean()
        return out

    def steepness(self, x: Tensor) -> Tensor:
        """Mean of (|gradient of the energy| - 1)^2 between the data and contrastive examples."""
        share = torch.rand(len(x), 1, dtype=x.dtype, device=x.device)
        between = (share * x + (1 - share) * self.generated(len(x)).detach()).requires_grad_(True)
        (gradient,) = torch.autograd.grad(self.energy(between).sum(), between, create_graph=True)
        return (gradient.norm(dim=1) - 1).square().mean()


@stores_parameters
class ContrastiveGenerator(DensityMixin, NeuralEstimator):
    """An energy model of a table, trained against a generator.

    Where Gibbs sampling cannot draw contrastive examples, a generator learns to: the energy of the data is pushed down
    and that of generated rows is pulled up, while the generator learns to produce rows of low energy. A penalty keeps
    the gradient of the energy near one between the two, so that neither runs away.

    Parameters
    ----------
    n_latent
        Length of the noise that the generator turns into rows.
    penalty
        Weight of the penalty on the gradient of the energy.
    n_energy
        Steps of the energy for each step of the generator.
    hidden, activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        The two networks and their training, as in `latently.neural.base.NeuralEstimator`. The energy distance
        between held-out and generated rows judges.
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

    n_latent: int = 8
    _: KW_ONLY
    penalty: float = 3.0
    n_energy: int = 2
    hidden: Sequence[int] = (64, 64)
    activation: str = "silu"
    n_iter_no_change: int = 20
    tol: float = 1e-3

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeuralEstimator._parameter_constraints,
        "n_latent": [POSITIVE],
        "penalty": [NON_NEGATIVE],
        "n_energy": [POSITIVE],
    }

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
        rows = read_table(self, X, reset=True)
        self.scaling_ = Scaling.of(rows)
        self._learn(self._task, (self.scaling_.apply(rows),), checkpoint=checkpoint, every=every)
        return self

    def _build(self) -> nn.Module:
        d = self.n_features_in_
        energy = mlp(d, self._widths, 1, self.activation)
        return _Competitors(energy, mlp(self.n_latent, self._widths, d, self.activation), self.n_latent)

    def _task(self, module: nn.Module) -> Task:
        assert isinstance(module, _Competitors)

        def contrast(batch: Batch) -> Tensor:
            return module.push_and_pull(batch[0]) + self.penalty * module.steepness(batch[0])

        def fooling(batch: Batch) -> Tensor:
            out: Tensor = module.energy(module.generated(len(batch[0]))).mean()
            return out

        def apart(batch: Batch) -> Tensor:
            return energy_distance(batch[0], module.generated(max(len(batch[0]), 200)))

        energy = Player(list(module.energy.parameters()), contrast, self.n_energy)
        return Task(module, (energy, Player(list(module.generator.parameters()), fooling)), apart)

    def score_samples(self, X: Any) -> Array:
        """Minus the energy (n,): the higher, the more usual; the sum over all rows is not known."""
        check_fitted(self)
        network = self._network()
        rows = self.scaling_.apply(read_table(self, X, reset=False))
        scores: Array = self._answer(lambda x: -network.energy(x)[:, 0], rows)
        return scores

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Array:
        """Rows (n, d) from the generator."""
        network = self._network()
        with self._drawing(random_state), torch.no_grad():
            return self.scaling_.back(network.generated(n_samples).numpy())

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"law_density_integrates_to_one": "the energy is not normalised"}

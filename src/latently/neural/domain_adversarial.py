"""Classifiers that carry over to a second domain, of which no labels are known."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Self

import numpy as np
import torch
from sklearn.utils._param_validation import StrOptions
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from latently.learn.estimator.parameters import NON_NEGATIVE, Count, checked, stores_parameters
from latently.learn.estimator.table import check_fitted
from latently.neural.base import Missing
from latently.neural.classifier import NeuralClassifier
from latently.neural.energy.distance import energy_distance
from latently.neural.inputs import Array, Scaling, as_tensor, read_table, rows_and_target
from latently.neural.networks.activation import activation
from latently.neural.networks.mlp import mlp
from latently.neural.training.session import chosen_device
from latently.neural.training.task import Batch, Player, Task

PENALTY = 10.0
"""Weight of the gradient penalty of a Wasserstein critic."""


class _Reversal(torch.autograd.Function):
    """The identity, whose gradient has the other sign."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: float) -> Tensor:
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.weight * gradients[0], None


class _Adversaries(nn.Module):
    """Feature extractor, task head and domain critic."""

    def __init__(self, features: nn.Module, head: nn.Module, critic: nn.Module) -> None:
        super().__init__()
        self.features, self.head, self.critic = features, head, critic

    def forward(self, x: Tensor) -> Tensor:
        """(n, K) logits of the task."""
        out: Tensor = self.head(self.features(x))
        return out

    def wasserstein(self, source: Tensor, target: Tensor) -> Tensor:
        """Mean of the critic over one domain less that over the other: the distance, for the best critic."""
        out: Tensor = self.critic(self.features(source)).mean() - self.critic(self.features(target)).mean()
        return out

    def penalty(self, source: Tensor, target: Tensor) -> Tensor:
        """Mean of (|gradient of the critic| - 1)^2 at features between those of the domains, and at those."""
        with torch.no_grad():
            ends = self.features(source), self.features(target)
            share = torch.rand(len(source), 1, device=source.device)
            between = torch.cat([share * ends[0] + (1 - share) * ends[1], *ends])
        between.requires_grad_(True)
        (gradient,) = torch.autograd.grad(self.critic(between).sum(), between, create_graph=True)
        return (gradient.norm(dim=1) - 1).square().mean()


@dataclass(frozen=True)
class _TwoDomains:
    """Labelled rows of the source; a batch also has as many rows of the target, drawn at random."""

    X: Tensor
    codes: Tensor
    target: Tensor

    def __len__(self) -> int:
        return len(self.X)

    def batch(self, index: Tensor) -> Batch:
        drawn = torch.randint(len(self.target), (len(index),)).to(self.target.device)
        return self.X[index], self.codes[index], self.target[drawn]


@stores_parameters
class DomainAdversarialClassifier(NeuralClassifier):
    """A classifier for two domains, with labels of the source alone.

    A feature extractor feeds a task head, which classifies, and a domain critic, which tells the domains apart. The
    extractor is trained so that the head succeeds and the critic fails: what it keeps is common to both domains.

    Parameters
    ----------
    critic
        "wasserstein": the critic estimates the Wasserstein distance of the features of the domains, with a penalty on
        its gradients, and the extractor lowers it. "reversal": the critic is a classifier of the domain, whose gradient
        reaches the extractor with the other sign.
    weight
        Weight of the critic beside the task.
    n_critic
        Steps of a Wasserstein critic for each step of the extractor.
    missing
        What is done about NaN in X: "error" names the column; "mask" puts the mean in its place and tells the network
        where.
    hidden, activation, max_iter, batch_size, learning_rate, early_stopping, validation_fraction, n_iter_no_change, tol
        The extractor and its training, as in `latently.neural.base.NeuralEstimator`. Held-out rows judge by the task's
        loss plus the energy distance of the features of the domains, which no critic has a say in.
    random_state, device, verbose
        Seed, device and progress bar.

    Attributes
    ----------
    classes_ : (K,) the labels
    temperature_ : what logits are divided by
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_, best_iter_, converged_, reason_, loss_curve_, validation_curve_ : how training went

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 2
    >>> X = rng.normal(size=(300, 2)) + np.where(y[:, None] == 1, [0.0, 3.0], [0.0, -3.0])
    >>> moved = X + [4.0, 0.0]  # a domain that differs by a shift
    >>> model = DomainAdversarialClassifier(max_iter=300, early_stopping=False, tol=0.5, random_state=0)
    >>> model = model.fit(X, y, X_target=moved)
    >>> bool(model.score(moved, y) > 0.9)
    True
    """

    _: KW_ONLY
    critic: Annotated[str, StrOptions({"wasserstein", "reversal"})] = "wasserstein"
    weight: Annotated[float, NON_NEGATIVE] = 0.3
    n_critic: Count = 3
    missing: Missing = "error"

    @checked
    def fit(self, X: Any, y: Any = None, X_target: Any = None, *, checkpoint: Any = None, every: int = 10) -> Self:
        """Learn the task from the source, and features that are common to both domains.

        Parameters
        ----------
        X
            (n, d) rows of the source: an array, a frame, a tensor or a dataset.
        y
            (n,) their labels.
        X_target
            (m, d) rows of the target, without labels; without them this is a plain classifier.
        checkpoint, every
            A folder that the fit is saved to, every so many epochs; the same call again goes on from there.
        """
        X, y = rows_and_target(X, y)
        rows = read_table(self, X, reset=True, missing=self.missing)
        codes = self._codes(y, len(rows))
        other = rows[:0] if X_target is None else read_table(self, X_target, reset=False, missing=self.missing)
        self.scaling_ = Scaling.of(np.concatenate([rows, other]), masked=self.missing == "mask")
        device, scaled = chosen_device(self.device), self.scaling_.apply(rows)
        adapts = X_target is not None and self.weight > 0
        target = self.scaling_.apply(other) if adapts else scaled[:1]
        data = _TwoDomains(*(as_tensor(one, device) for one in (scaled, codes, target)))
        task = self._adapting if adapts else _plain
        _, held_out = self._learn(task, data, groups=codes, checkpoint=checkpoint, every=every)
        self._calibrate(self._of_scaled(scaled[held_out]), codes[held_out])
        return self

    def _build(self) -> nn.Module:
        widths = self._widths or (self.scaling_.n_inputs,)
        body = mlp(self.scaling_.n_inputs, widths[:-1], widths[-1], self.activation)
        features = nn.Sequential(body, activation(self.activation))
        return _Adversaries(features, nn.Linear(widths[-1], len(self.classes_)), mlp(widths[-1], (64,), 1))

    def _adapting(self, module: nn.Module) -> Task:
        assert isinstance(module, _Adversaries)
        if self.critic == "reversal":
            return Task.single(module, _reversed_loss(module, self.weight), _carried_over(module))
        return _wasserstein_task(module, self.weight, self.n_critic)

    def _of_scaled(self, scaled: Array) -> Array:
        logits: Array = self._answer(self._network(), scaled)
        return logits

    def _logits(self, X: Any) -> Array:
        check_fitted(self)
        return self._of_scaled(self.scaling_.apply(read_table(self, X, reset=False, missing=self.missing)))

    def features(self, X: Any) -> Array:
        """(n, k) features that both domains have in common."""
        check_fitted(self)
        rows = self.scaling_.apply(read_table(self, X, reset=False, missing=self.missing))
        common: Array = self._answer(self._network().features, rows)
        return common


def _task_loss(module: _Adversaries) -> Callable[[Batch], Tensor]:
    return lambda batch: cross_entropy(module(batch[0]), batch[1])


def _carried_over(module: _Adversaries) -> Callable[[Batch], Tensor]:
    def criterion(batch: Batch) -> Tensor:
        x, codes, target = batch
        features = module.features(x)
        apart = energy_distance(features, module.features(target))
        return cross_entropy(module.head(features), codes) + apart

    return criterion


def _plain(module: nn.Module) -> Task:
    assert isinstance(module, _Adversaries)
    return Task.single(module, _task_loss(module))


def _reversed_loss(module: _Adversaries, weight: float) -> Callable[[Batch], Tensor]:
    def loss(batch: Batch) -> Tensor:
        x, codes, target = batch
        features = module.features(torch.cat([x, target]))
        told = module.critic(_Reversal.apply(features, weight))[:, 0]
        truth = torch.cat([told.new_ones(len(x)), told.new_zeros(len(target))])
        return cross_entropy(module.head(features[: len(x)]), codes) + binary_cross_entropy_with_logits(told, truth)

    return loss


def _wasserstein_task(module: _Adversaries, weight: float, n_critic: int) -> Task:
    def critic(batch: Batch) -> Tensor:
        x, _, target = batch
        return PENALTY * module.penalty(x, target) - module.wasserstein(x, target)

    def task(batch: Batch) -> Tensor:
        x, codes, target = batch
        return cross_entropy(module(x), codes) + weight * module.wasserstein(x, target).abs()

    others = [*module.features.parameters(), *module.head.parameters()]
    players = (Player(list(module.critic.parameters()), critic, n_critic), Player(others, task))
    return Task(module, players, _carried_over(module))

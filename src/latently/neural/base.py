"""What all neural estimators share: parameters, training, and networks rebuilt from their weights."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor, nn

from latently.learn.checkpoint.checkpoint import checkpointing
from latently.learn.checkpoint.tree import fingerprint
from latently.learn.engine.cores import n_threads
from latently.learn.estimator.parameters import COUNT, NON_NEGATIVE, Count, Flag, Seed, Whole, stores_parameters
from latently.learn.estimator.table import check_fitted, generator
from latently.learn.estimator.unconverged import warn_of_fit, warn_unconverged
from latently.neural.inputs import Scaling, as_tensor
from latently.neural.networks.activation import ACTIVATIONS
from latently.neural.training.loop import Settings, Trained, train
from latently.neural.training.session import chosen_device, session
from latently.neural.training.split import split
from latently.neural.training.state import Weights, rebuilt, weights_of
from latently.neural.training.task import Rows, Task, TensorRows

Missing = Annotated[str, StrOptions({"error", "mask"})]
ANSWERED_TOGETHER = 8192
NUMBERS_TOGETHER = 2**19
"""Most rows and numbers in a block of answers: of images there are fewer, since their maps are many times as large."""
LARGE_IMAGE = 512
"""Pixels from which on an image gives several threads enough to do; other fits are the same for any number."""


class Parts(NamedTuple):
    """Rows that are learnt from, rows that are held out, and a seed."""

    fitted: NDArray[np.int64]
    held_out: NDArray[np.int64]
    seed: int


class Fitted(BaseEstimator):
    """Attributes of a fitted network."""

    weights_: Weights
    scaling_: Scaling
    n_iter_: int
    best_iter_: int
    converged_: bool
    reason_: str
    loss_curve_: list[float]
    validation_curve_: list[float]
    n_features_in_: int
    image_shape_: tuple[int, ...]


@stores_parameters
class Trainable(Fitted):
    """Base of models that are trained: a subclass says how its network is built and what it lowers.

    Every neural model has these parameters and attributes.

    Parameters
    ----------
    max_iter
        Epochs at most: passes over the rows that are learnt from.
    batch_size
        Rows in a batch; "auto" is a sixteenth of the rows, between 32 and 256. Never more than there are.
    learning_rate
        Of Adam; it is cut twice, to a fifth, where the held-out loss stays on a plateau.
    early_stopping
        Whether to hold out rows that judge the fit; otherwise the training loss does.
    validation_fraction
        Share of the rows that is held out; none of fewer than 20.
    n_iter_no_change
        Epochs without a lower held-out loss that make a plateau.
    tol
        What counts as lower.
    random_state
        Seed; with it, fits on a CPU are the same to the bit.
    device
        "auto" is a GPU if there is one; or a name of PyTorch's, such as "cpu".
    verbose
        Whether to draw a progress bar.

    Attributes
    ----------
    weights_ : dict of arrays, the parameters of the network by name
    n_iter_ : epochs; best_iter_ is the one whose weights were kept
    converged_ : whether the held-out loss came to its last plateau before max_iter
    reason_ : "converged", "max_iter", "interrupted" or "diverged"
    loss_curve_ : training loss of each epoch
    validation_curve_ : held-out loss of each epoch
    """

    _: KW_ONLY
    max_iter: Whole = 500
    batch_size: Annotated[Any, COUNT, StrOptions({"auto"})] = "auto"
    learning_rate: Annotated[float, Interval(Real, 0.0, None, closed="neither")] = 3e-3
    early_stopping: Flag = True
    validation_fraction: Annotated[float, Interval(Real, 0.0, 1.0, closed="neither")] = 0.1
    n_iter_no_change: Count = 10
    tol: Annotated[float, NON_NEGATIVE] = 1e-4
    random_state: Seed = None
    device: Annotated[str, str] = "auto"
    verbose: Annotated[Any, "verbose"] = 0

    _averaging: ClassVar[float] = 0.0
    """Decay of the average of the weights over steps; 0 where the last step is what counts."""

    @abstractmethod
    def _build(self) -> nn.Module:
        """The network, from parameters and sizes that the fit has found."""

    # learning

    def _learn(
        self,
        task_of: Callable[[nn.Module], Task],
        data: Sequence[Any] | Rows,
        *,
        groups: NDArray[np.int64] | None = None,
        parts: Parts | None = None,
        checkpoint: Any = None,
        every: int = 10,
    ) -> tuple[Trained, NDArray[np.int64]]:
        """Train the network, keep its weights and how it went; also gives which rows were held out."""
        device = chosen_device(self.device)
        given = _tensors(data, device) if isinstance(data, Sequence) else data
        parts = parts or self._split(len(given), groups)
        settings = self._settings(len(parts.fitted), checkpoint)
        index = torch.from_numpy(parts.fitted).to(device), torch.from_numpy(parts.held_out).to(device)
        with self._session(parts.seed), checkpointing(checkpoint, every):
            module = self._build().to(device).train()
            found = train(task_of(module), given, *index, settings, self.verbose)
        self._keep(module, found, bool(len(parts.held_out)))
        return found, parts.held_out

    def _split(self, n_rows: int, groups: NDArray[np.int64] | None = None) -> Parts:
        """Which rows are learnt from and which are held out, and the seed of all that is drawn after that."""
        rng = generator(self.random_state)
        share = self.validation_fraction if self.early_stopping else 0.0
        return Parts(*split(n_rows, share, rng, groups), int(rng.randint(2**31 - 1)))

    def _settings(self, n: int, checkpoint: Any) -> Settings:
        size = min(max(n // 16, 32), 256) if self.batch_size == "auto" else int(self.batch_size)
        about = fingerprint(self.get_params(deep=False)) if checkpoint is not None else ""
        schedule = (self.max_iter, min(size, n), self.learning_rate, self._patience(n), self.tol)
        return Settings(*schedule, averaging=self._averaging, fingerprint=about)

    def _patience(self, n: int) -> int:
        """Epochs of n rows that make a plateau."""
        return self.n_iter_no_change

    def _session(self, seed: int | None = None) -> AbstractContextManager[None]:
        large = np.prod(getattr(self, "image_shape_", (1,))) >= LARGE_IMAGE
        return session(n_threads() if large else 1, seed)

    def _keep(self, module: nn.Module, found: Trained, held_out: bool) -> None:
        self.weights_ = weights_of(module)
        self.n_iter_, self.best_iter_, self.reason_ = len(found.losses), found.best_iter, found.reason
        self.converged_ = found.reason == "converged"
        self.loss_curve_, self.validation_curve_ = found.losses, found.judged if held_out else []
        warn_unconverged(found.reason, "max_iter", self.max_iter)
        if found.reason == "diverged":
            warn_of_fit(
                f"the loss was not a number in epoch {self.n_iter_ + 1}: the fit stopped there, and the weights of "
                f"epoch {self.best_iter_} were restored; lower learning_rate, which is {self.learning_rate}"
            )

    # answers

    def _network(self) -> Any:
        """The fitted network in double precision, on the CPU, without gradients."""
        check_fitted(self)
        with torch.device("meta"):
            module = self._build()
        return rebuilt(module, self.weights_).double()

    def _answer(self, f: Callable[..., Any], *arrays: Any) -> Any:
        """f of rows in double precision, block by block: an array, or as many as f gives."""
        parts = []
        with self._session(), torch.inference_mode():
            width = max(int(np.prod(arrays[0].shape[1:])), 1)
            size = max(min(ANSWERED_TOGETHER, NUMBERS_TOGETHER // width), 1)
            for a in range(0, max(len(arrays[0]), 1), size):
                found = f(*(torch.from_numpy(np.array(one[a : a + size])) for one in arrays))
                parts.append([part.numpy() for part in (found if isinstance(found, tuple) else (found,))])
        whole = tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))
        return whole if len(whole) > 1 else whole[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "mask"
        return tags

    def _drawing(self, random_state: Any) -> AbstractContextManager[None]:
        """Where draws of a `random_state` are made."""
        return self._session(int(generator(random_state).randint(2**31 - 1)))


@stores_parameters
class NeuralEstimator(Trainable):
    """Base of models with hidden layers.

    Parameters
    ----------
    hidden
        Widths of the hidden layers.
    activation
        "relu", "gelu", "silu", "tanh" or "linear".
    """

    _: KW_ONLY
    hidden: Annotated[Sequence[int], tuple, list] = (64,)
    activation: Annotated[str, StrOptions(set(ACTIVATIONS))] = "relu"

    @property
    def _widths(self) -> tuple[int, ...]:
        """The hidden layers, checked."""
        given: Sequence[Any] = self.hidden
        wrong = [one for one in given if isinstance(one, bool) or not isinstance(one, Integral) or int(one) < 1]
        if wrong:
            raise ValueError(f"hidden must be widths of layers, whole numbers of at least 1; got {wrong[0]!r}")
        return tuple(map(int, given))


def _tensors(data: Sequence[Any], device: torch.device) -> TensorRows:
    return TensorRows(tuple(one if isinstance(one, Tensor) else as_tensor(one, device) for one in data))

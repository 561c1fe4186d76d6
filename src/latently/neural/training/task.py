"""What is trained: players, each with its parameters and its loss, on batches of rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from latently.neural.training.session import drawing

Batch = tuple[Any, ...]
Loss = Callable[[Batch], Tensor]


class Rows(Protocol):
    """Data that batches are taken from."""

    def __len__(self) -> int: ...

    def batch(self, index: Tensor) -> Batch:
        """What a loss is given for these rows."""


@dataclass(frozen=True)
class TensorRows:
    """Tensors that have an entry for each row."""

    tensors: tuple[Tensor, ...]

    def __len__(self) -> int:
        return len(self.tensors[0])

    def batch(self, index: Tensor) -> Batch:
        """Those rows of each tensor."""
        return tuple(tensor[index] for tensor in self.tensors)


@dataclass(frozen=True)
class Player:
    """Some parameters, and the loss that they are to lower: (mean over the rows of) a batch.

    Models that compete have several players; each takes `steps` steps on a batch, in their order.
    """

    parameters: Sequence[nn.Parameter]
    loss: Loss
    steps: int = 1


@dataclass(frozen=True)
class Task:
    """A network, the players that train it, and what is to be small on rows that are held out.

    Without a `criterion` of its own it is the loss of the last player.
    """

    module: nn.Module
    players: tuple[Player, ...]
    criterion: Loss | None = None

    @classmethod
    def single(cls, module: nn.Module, loss: Loss, criterion: Loss | None = None) -> "Task":
        """One player, who has all parameters."""
        return cls(module, (Player(list(module.parameters()), loss),), criterion)

    def judged(self, rows: Rows, index: Tensor, size: int) -> float:
        """Mean of the criterion over rows, as it is in use: without noise layers, without gradients."""
        criterion = self.criterion or self.players[-1].loss
        self.module.eval()
        total = 0.0
        with torch.no_grad(), drawing(0):  # where a criterion draws, it draws the same every time
            for part in index.split(size):
                total += float(criterion(rows.batch(part))) * len(part)
        self.module.train()
        return total / len(index)

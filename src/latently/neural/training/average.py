"""The average of the weights over the last steps: what is judged and kept of a fit whose steps are noisy."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

WARM_UP = 9
"""The average over the first steps is that of all of them; n of them count as many as n + this in the long run."""


class Average:
    """Moving average of the parameters of a network, with weights that fall by `decay` from step to step.

    With a decay of 0 it is the network itself.

    Examples
    --------
    >>> line = nn.Linear(1, 1)
    >>> average = Average(line, 0.5)
    >>> with torch.no_grad():
    ...     before = line.weight.clone()
    ...     _ = line.weight.add_(1.0)
    >>> average.step()
    >>> with average.in_use():
    ...     bool(before < line.weight) and bool(line.weight < before + 1)
    True
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.parameters, self.decay = list(module.parameters()), decay
        self.restart()

    def restart(self) -> None:
        """Begin again from the weights of the network."""
        self.n_steps = 0
        self.values: list[Tensor] = [p.detach().clone() for p in self.parameters] if self.decay else []

    def step(self) -> None:
        """Take in the weights after a step of training."""
        if self.decay:
            self.n_steps += 1
            share = max(1 - self.decay, WARM_UP / (self.n_steps + WARM_UP))
            torch._foreach_lerp_(self.values, [p.detach() for p in self.parameters], share)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside the block the network has the averaged weights."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for parameter, value in zip(self.parameters, self.values, strict=bool(self.decay)):
            here = parameter.clone()
            parameter.copy_(value)
            value.copy_(here)

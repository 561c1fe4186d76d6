"""All that a fit under way consists of, as arrays: what a checkpoint holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

Weights: TypeAlias = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class State:
    """Before an epoch: weights, moments of the optimisers, random stream, schedule, the best so far, averages."""

    weights: Weights
    moments: list[list[dict[str, NDArray[Any]]]]
    stream: NDArray[np.uint8]
    cuts: int
    stale: int
    mark: float
    best: float
    best_weights: Weights
    losses: list[float]
    average: list[NDArray[Any]]
    n_averaged: int


def weights_of(module: nn.Module) -> Weights:
    """Copies of all parameters and buffers, by name."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def load_weights(module: nn.Module, weights: Weights) -> nn.Module:
    """Put weights into a network of the same shape."""
    module.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.items()})
    return module


def rebuilt(module: nn.Module, weights: Weights) -> nn.Module:
    """A network made on the device "meta", which holds no numbers, with these weights, ready for answers."""
    module.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.items()}, assign=True)
    return module.eval().requires_grad_(False)


def moments_of(optimizers: Sequence[torch.optim.Optimizer]) -> list[list[dict[str, NDArray[Any]]]]:
    """What optimisers remember of each parameter."""
    return [
        [{key: value.cpu().numpy().copy() for key, value in one.items()} for one in o.state_dict()["state"].values()]
        for o in optimizers
    ]


def load_moments(optimizers: Sequence[torch.optim.Optimizer], moments: list[list[dict[str, NDArray[Any]]]]) -> None:
    """Let optimisers go on from what they remembered."""
    for optimizer, memory in zip(optimizers, moments, strict=True):
        state = {i: {k: torch.from_numpy(v.copy()) for k, v in one.items()} for i, one in enumerate(memory)}
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})

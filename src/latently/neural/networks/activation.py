"""Activation functions by name."""

from torch import nn

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "tanh": nn.Tanh,
    "linear": nn.Identity,
}


def activation(name: str) -> nn.Module:
    """A layer that applies an activation function.

    Examples
    --------
    >>> activation("relu")
    ReLU()
    """
    return ACTIVATIONS[name]()

"""Multi-layer perceptrons."""

from collections.abc import Sequence

from torch import Tensor, nn

from latently.neural.networks.activation import activation


def mlp(n_in: int, hidden: Sequence[int], n_out: int, kind: str = "relu", *, residual: bool = False) -> nn.Sequential:
    """Linear layers with activations between them.

    Parameters
    ----------
    n_in, hidden, n_out
        Widths of the layers.
    kind
        Name of the activation.
    residual
        Whether layers between hidden layers of one width add to what they are given.

    Examples
    --------
    >>> [layer.out_features for layer in mlp(3, (8, 8), 2) if isinstance(layer, nn.Linear)]
    [8, 8, 2]
    """
    layers: list[nn.Module] = []
    for a, b in zip((n_in, *hidden), hidden, strict=False):
        step = nn.Sequential(nn.Linear(a, b), activation(kind))
        layers.extend([Residual(step)] if residual and a == b else step)
    return nn.Sequential(*layers, nn.Linear((n_in, *hidden)[-1], n_out))


class Residual(nn.Module):
    """Adds what a block makes of its input to the input: information and gradients pass by the block."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, x: Tensor) -> Tensor:
        """x + block(x)."""
        out: Tensor = x + self.block(x)
        return out

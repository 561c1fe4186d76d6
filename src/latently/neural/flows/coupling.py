"""Coupling layers: some columns are transformed, by functions that the others (and the context) determine."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from latently.neural.flows import spline
from latently.neural.networks.mlp import mlp

LOG_SCALE = 3.0
"""Largest logarithm of the scale of an affine layer."""


class Coupling(nn.Module):
    """One coupling layer: columns that pass through determine, with the context, what becomes of those that move.

    With a single column all of it moves, by a function of the context alone.
    """

    def __init__(
        self, passes: list[int], moves: list[int], n_context: int, hidden: Sequence[int], kind: str, width: int
    ) -> None:
        super().__init__()
        self.passes, self.moves, self.width = passes, moves, width
        self.conditioner = mlp(max(len(passes) + n_context, 1), hidden, len(moves) * width, kind)
        last = self.conditioner[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)  # the layer begins as the identity
        nn.init.zeros_(last.bias)

    def _raw(self, x: Tensor, context: Tensor) -> Tensor:
        seen = torch.cat([x[:, self.passes], context], dim=1)
        seen = seen if seen.shape[1] else torch.ones_like(x[:, :1])
        raw: Tensor = self.conditioner(seen)
        return raw.reshape(len(x), -1, self.width)

    def forward(self, x: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Rows towards the Gaussian, and the log-determinant (n,)."""
        moved, logs = self._bend(x[:, self.moves], self._raw(x, context))
        out = x.clone()
        out[:, self.moves] = moved
        return out, logs.sum(dim=1)

    def inverse(self, z: Tensor, context: Tensor) -> Tensor:
        """Rows back from the Gaussian."""
        out = z.clone()
        out[:, self.moves] = self._unbend(z[:, self.moves], self._raw(z, context))
        return out

    def _bend(self, x: Tensor, raw: Tensor) -> tuple[Tensor, Tensor]:
        return spline.forward(x, raw)

    def _unbend(self, z: Tensor, raw: Tensor) -> Tensor:
        return spline.inverse(z, raw)


class AffineCoupling(Coupling):
    """z = x exp(s) + t."""

    def _bend(self, x: Tensor, raw: Tensor) -> tuple[Tensor, Tensor]:
        s = LOG_SCALE * torch.tanh(raw[..., 0] / LOG_SCALE)
        return x * s.exp() + raw[..., 1], s

    def _unbend(self, z: Tensor, raw: Tensor) -> Tensor:
        s = LOG_SCALE * torch.tanh(raw[..., 0] / LOG_SCALE)
        return (z - raw[..., 1]) * (-s).exp()


class Rotation(nn.Module):
    """A rotation, exp(A - A'): its determinant is one, and it mixes the columns before the next coupling."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.generator = nn.Parameter(torch.randn(n, n))

    def matrix(self) -> Tensor:
        """(n, n)."""
        return torch.matrix_exp(self.generator - self.generator.T)

    def forward(self, x: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Rows turned, and zeros."""
        return x @ self.matrix(), x.new_zeros(len(x))

    def inverse(self, z: Tensor, context: Tensor) -> Tensor:
        """Rows turned back."""
        return z @ self.matrix().T


class Flow(nn.Module):
    """Invertible layers one after the other, to a standard Gaussian."""

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """Coordinates (n, d) in which the rows are Gaussian, and the log-determinant (n,)."""
        logs = x.new_zeros(len(x))
        for layer in self.layers:
            x, more = layer(x, context)
            logs = logs + more
        return x, logs

    def inverse(self, z: Tensor, context: Tensor) -> Tensor:
        """Rows (n, d) of Gaussian coordinates."""
        for layer in reversed(self.layers):
            z = layer.inverse(z, context)  # type: ignore[operator]
        return z

    def log_prob(self, x: Tensor, context: Tensor) -> Tensor:
        """log p(x) (n,): that of the Gaussian at z, and the log-determinant."""
        z, logs = self(x, context)
        return logs - 0.5 * (z.square() + _LOG_2PI).sum(dim=1)


_LOG_2PI = 1.8378770664093453

"""The head of a mixture density network: weights, means and precision factors of Gaussians, for each row."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

LOG_2PI = 1.8378770664093453


class Components(NamedTuple):
    """Of each row: log weights (n, k), means (n, k, t), lower factors (n, k, t, t) of precisions L L'."""

    log_weights: Tensor
    means: Tensor
    factors: Tensor

    def log_joint(self, y: Tensor) -> Tensor:
        """(n, k) log of weight times density, for targets (n, t)."""
        apart = y[:, None] - self.means
        white = torch.einsum("nkij,nki->nkj", self.factors, apart)
        logs = torch.diagonal(self.factors, dim1=-2, dim2=-1).log().sum(dim=-1)
        return self.log_weights + logs - 0.5 * (white.square() + LOG_2PI).sum(dim=-1)

    def log_prob(self, y: Tensor) -> Tensor:
        """(n,) log density of targets (n, t)."""
        return torch.logsumexp(self.log_joint(y), dim=1)


class DensityHead(nn.Module):
    """From features to components; with `full` the precision factors have entries below the diagonal.

    No component is narrower than the deviations `narrowest` (t,), in the units of what is learnt.
    """

    def __init__(self, body: nn.Module, n_components: int, narrowest: Sequence[float], *, full: bool) -> None:
        super().__init__()
        n_targets = len(narrowest)
        self.body, self.k, self.t, self.full = body, n_components, n_targets, full
        self.narrowest = list(narrowest)
        self.centres = nn.Parameter(torch.randn(n_components, n_targets))  # components begin apart

    @staticmethod
    def width(n_components: int, n_targets: int, *, full: bool) -> int:
        """How many numbers the network gives for a row.

        Examples
        --------
        >>> DensityHead.width(3, 2, full=True)
        18
        """
        below = n_targets * (n_targets - 1) // 2 if full else 0
        return n_components * (1 + 2 * n_targets + below)

    def forward(self, x: Tensor) -> Components:
        """Components of each row."""
        k, t = self.k, self.t
        raw: Tensor = self.body(x)
        weights, means, logs, below = raw.split([k, k * t, k * t, raw.shape[1] - k - 2 * k * t], dim=1)
        sharpest = -raw.new_tensor(self.narrowest).log()
        diagonal = sharpest - nn.functional.softplus(sharpest - logs.reshape(-1, k, t))
        factors = torch.diag_embed(diagonal.exp())
        if self.full and t > 1:
            i, j = torch.tril_indices(t, t, -1)
            factors = factors.clone()
            factors[:, :, i, j] = below.reshape(-1, k, len(i))
        return Components(torch.log_softmax(weights, dim=1), means.reshape(-1, k, t) + self.centres, factors)

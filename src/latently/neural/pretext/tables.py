"""Masked columns: some entries of a row are hidden, and a network fills them in from the rest."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from latently.neural.networks.mlp import mlp


class MaskedColumns(nn.Module):
    """An encoder of rows with entries that are hidden, and a head that fills in all of them.

    Parameters
    ----------
    sizes
        Number of categories of each column, 0 for numbers.
    hidden, n_components, kind
        Layers, features, activation.
    share
        Share of the entries that is hidden in training.
    """

    def __init__(self, sizes: Sequence[int], hidden: Sequence[int], n_components: int, kind: str, share: float) -> None:
        super().__init__()
        self.sizes, self.share = tuple(sizes), share
        self.widths = [max(size, 1) for size in sizes]
        total = sum(self.widths)
        self.encoder = mlp(total + len(sizes), hidden, n_components, kind)
        self.head = mlp(n_components, hidden[::-1], total, kind)

    def encoded(self, values: Tensor, seen: Tensor) -> Tensor:
        """(n, k) features of rows, of which `seen` (n, d) says what may be looked at."""
        wide = torch.repeat_interleave(seen, torch.tensor(self.widths, device=seen.device), dim=1)
        out: Tensor = self.encoder(torch.cat([values * wide, seen], dim=1))
        return out

    def loss(self, values: Tensor, seen: Tensor) -> Tensor:
        """Mean loss of hidden entries: squared error of numbers, cross-entropy of categories."""
        hidden = (torch.rand_like(seen) < self.share) & (seen > 0)
        guess = self.head(self.encoded(values, seen * ~hidden))
        total = guess.new_zeros(())
        parts = zip(self.sizes, guess.split(self.widths, dim=1), values.split(self.widths, dim=1), strict=True)
        for j, (size, said, truth) in enumerate(parts):
            apart = cross_entropy(said, truth, reduction="none") if size else (said - truth).square()[:, 0]
            total = total + (apart * hidden[:, j]).sum()
        return total / hidden.sum().clamp(min=1)

"""Monotone rational-quadratic splines on an interval, the identity outside.

Durkan, Bekasov, Murray and Papamakarios (2019), Neural spline flows. Each of K bins has a width, a height and the
derivatives at its two ends; the inverse is the root of a quadratic.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad, softmax, softplus

BOUND = 5.0
"""Scaled data beyond this are not bent."""
SMALLEST = 1e-3
"""Smallest width, height and derivative of a bin."""
_UNIT = math.log(math.expm1(1 - SMALLEST))  # softplus of it is one less that: parameters of zero are the identity


class Bins(NamedTuple):
    """Left ends, widths, lower ends and heights (n, d, K) of bins, and derivatives (n, d, K + 1) at the knots."""

    left: Tensor
    width: Tensor
    low: Tensor
    height: Tensor
    derivative: Tensor


def n_parameters(n_bins: int) -> int:
    """How many numbers a spline of one column has.

    Examples
    --------
    >>> n_parameters(8)
    23
    """
    return 3 * n_bins - 1


def bins_of(raw: Tensor) -> Bins:
    """Bins from numbers (n, d, 3 K - 1) without constraints; the outer derivatives are one, as outside."""
    k = (raw.shape[-1] + 1) // 3
    left, width = _knots(raw[..., :k], k)
    low, height = _knots(raw[..., k : 2 * k], k)
    derivative = pad(SMALLEST + softplus(raw[..., 2 * k :] + _UNIT), (1, 1), value=1.0)
    return Bins(left, width, low, height, derivative)


def _knots(raw: Tensor, k: int) -> tuple[Tensor, Tensor]:
    widths = 2 * BOUND * (SMALLEST + (1 - SMALLEST * k) * softmax(raw, dim=-1))
    return pad(widths.cumsum(dim=-1)[..., :-1], (1, 0)) - BOUND, widths


class _Cell(NamedTuple):
    """The bin that each value is in."""

    left: Tensor
    width: Tensor
    low: Tensor
    height: Tensor
    before: Tensor
    after: Tensor

    @property
    def secant(self) -> Tensor:
        return self.height / self.width

    @property
    def bend(self) -> Tensor:
        return self.before + self.after - 2 * self.secant


def _cell(bins: Bins, at: Tensor, starts: Tensor) -> _Cell:
    index = torch.searchsorted(starts[..., 1:].contiguous(), at[..., None]).clamp(max=starts.shape[-1] - 1)
    before = torch.gather(bins.derivative, -1, index)[..., 0]
    after = torch.gather(bins.derivative, -1, index + 1)[..., 0]
    left, width, low, height = (torch.gather(part, -1, index)[..., 0] for part in bins[:4])
    return _Cell(left, width, low, height, before, after)


def forward(x: Tensor, raw: Tensor) -> tuple[Tensor, Tensor]:
    """Values (n, d) after the splines with parameters (n, d, 3 K - 1), and logarithms of the derivatives."""
    inside = x.abs() < BOUND
    bins = bins_of(raw)
    cell = _cell(bins, x.clamp(-BOUND, BOUND), bins.left)
    t = ((x.clamp(-BOUND, BOUND) - cell.left) / cell.width).clamp(0, 1)
    return _bent(x, inside, cell, t)


def _bent(x: Tensor, inside: Tensor, cell: _Cell, t: Tensor) -> tuple[Tensor, Tensor]:
    below = cell.secant + cell.bend * t * (1 - t)
    y = cell.low + cell.height * (cell.secant * t**2 + cell.before * t * (1 - t)) / below
    zero = torch.zeros_like(x)
    return torch.where(inside, y, x), torch.where(inside, _log_derivative(cell, t, below), zero)


def _log_derivative(cell: _Cell, t: Tensor, below: Tensor) -> Tensor:
    rise = cell.after * t**2 + 2 * cell.secant * t * (1 - t) + cell.before * (1 - t) ** 2
    return 2 * cell.secant.log() + rise.log() - 2 * below.log()


def inverse(y: Tensor, raw: Tensor) -> Tensor:
    """Values (n, d) before the splines."""
    bins = bins_of(raw)
    within = y.clamp(-BOUND, BOUND)
    cell = _cell(bins, within, bins.low)
    above = within - cell.low
    a = cell.height * (cell.secant - cell.before) + above * cell.bend
    b = cell.height * cell.before - above * cell.bend
    c = -cell.secant * above
    root = (b.square() - 4 * a * c).clamp(min=0).sqrt()
    t = (2 * c / (-b - root)).clamp(0, 1)
    return torch.where(y.abs() < BOUND, cell.left + t * cell.width, y)

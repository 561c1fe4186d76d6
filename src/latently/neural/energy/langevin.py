"""Draws from a density that is known up to a factor: Langevin steps, each accepted or refused."""

from collections.abc import Callable

import torch
from torch import Tensor


def langevin(potential: Callable[[Tensor], Tensor], x: Tensor, step: float, n_steps: int) -> tuple[Tensor, float]:
    """Rows moved on towards the density exp(-potential), which the steps leave as it is; and the share accepted.

    The Metropolis-adjusted Langevin algorithm (Roberts and Tweedie, 1996): x' = x - step^2 / 2 gradient + step noise.

    Parameters
    ----------
    potential
        Minus the log density (n,) of rows (n, d), up to a constant.
    x
        (n, d) where the chains are, one a row.
    step
        Standard deviation of the noise of a step.
    n_steps
        How many steps.

    Examples
    --------
    >>> from latently.neural.training.session import drawing
    >>> with drawing(0):
    ...     x, accepted = langevin(lambda x: 2 * x.square().sum(dim=1), torch.ones(2000, 1), 0.4, 50)
    >>> round(float(x.std()), 1), accepted > 0.8
    (0.5, True)
    """
    value, slope = _with_slope(potential, x)
    accepted = 0.0
    for _ in range(n_steps):
        noise = torch.randn_like(x)
        there = x - step**2 / 2 * slope + step * noise
        value_there, slope_there = _with_slope(potential, there)
        back = (x - there + step**2 / 2 * slope_there) / step
        log_ratio = value - value_there + (noise.square() - back.square()).sum(dim=1) / 2
        moves = torch.rand_like(value).log() < log_ratio
        x = torch.where(moves[:, None], there, x)
        value, slope = torch.where(moves, value_there, value), torch.where(moves[:, None], slope_there, slope)
        accepted += float(moves.double().mean()) / n_steps
    return x, accepted


def _with_slope(potential: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    """The potential of rows and its gradients, both without a graph."""
    with torch.enable_grad():
        at = x.detach().requires_grad_(True)
        value = potential(at)
        (slope,) = torch.autograd.grad(value.sum(), at)
    return value.detach(), slope

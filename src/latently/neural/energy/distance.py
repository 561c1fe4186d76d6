"""How far two samples are apart."""

import torch
from torch import Tensor


def energy_distance(a: Tensor, b: Tensor) -> Tensor:
    """2 E|a - b| - E|a - a'| - E|b - b'| over the mean of the three: 0 for samples of one distribution, in 0 to 1.

    Examples
    --------
    >>> x = torch.arange(4.0)[:, None]
    >>> float(energy_distance(x, x)), bool(energy_distance(x, x + 100) > 0.9)
    (0.0, True)
    """
    across, left, right = torch.cdist(a, b).mean(), torch.cdist(a, a).mean(), torch.cdist(b, b).mean()
    return (2 * across - left - right) / (2 * across).clamp(min=1e-12)

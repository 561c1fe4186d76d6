"""How wide the kernels of a density estimate should be."""

import numpy as np
from scipy.optimize import minimize_scalar

from latently.detect.density.boxes import Boxes, log_norm
from latently.kernel.base import Array

_ROWS = 2000  # that the held-out likelihood is measured on
_PARTS = 5


def ruled_bandwidth(rows: Array) -> float:
    """Silverman's rule with the spread of the columns: the geometric mean of their robust standard deviations.

    Examples
    --------
    >>> ruled_bandwidth(np.arange(100.0)[:, None])
    12.17
    """
    n, d = rows.shape
    quartiles = np.subtract(*np.percentile(rows, [75, 25], axis=0)) / 1.349
    sd = rows.std(axis=0)
    spread = np.where(quartiles > 0, np.minimum(sd, quartiles), sd)
    if not (spread > 0).any():
        return 1.0
    unit = float(np.exp(np.log(spread[spread > 0]).mean()))
    return unit * float((n * (d + 2) / 4) ** (-1 / (d + 4)))


def held_out_bandwidth(rows: Array, kernel: str) -> float:
    """The bandwidth under which rows that were left out are most probable (five parts, at most 2000 rows asked).

    Kernels of bounded reach give no probability to rows beyond it; those count as if they had a Gaussian's.
    """
    n, d = rows.shape
    if n < 2:
        return 1.0
    order = np.random.default_rng(0).permutation(n)
    parts = np.array_split(order, min(_PARTS, n))
    tests = [part[: max(1, _ROWS // len(parts))] for part in parts]
    boxes = [Boxes.of(rows[np.setdiff1d(order, part)]) for part in parts]
    start = np.log(ruled_bandwidth(rows))

    def loss(log_width: float) -> float:
        width = float(np.exp(log_width))
        total = 0.0
        for box, test in zip(boxes, tests, strict=True):
            found = box.log_sums(rows[test], width, "gaussian", 1e-4, 0.0)
            total += float(np.sum(found - log_norm("gaussian", d, width) - np.log(len(box.points))))
        return -total

    found = minimize_scalar(loss, bounds=(start - 4.0, start + 1.5), method="bounded", options={"xatol": 0.01})
    return float(np.exp(found.x))

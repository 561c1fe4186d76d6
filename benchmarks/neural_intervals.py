"""Goals and intervals of the benchmarks of neural models."""

from typing import Any

import numpy as np


def report(goals: dict[str, bool]) -> bool:
    for name, met in goals.items():
        print(f"  {'met   ' if met else 'MISSED'} {name}")
    return all(goals.values())


def interval(values: Any) -> str:
    """Mean and 95 % interval (Student's t) of paired differences or scores."""
    from scipy.stats import t

    values = np.asarray(values, dtype=float)
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.4f} [{values.mean() - half:.4f}, {values.mean() + half:.4f}]"


def above_zero(values: Any) -> bool:
    """Whether the 95 % interval of the mean lies above zero."""
    from scipy.stats import t

    values = np.asarray(values, dtype=float)
    return bool(values.mean() > t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))

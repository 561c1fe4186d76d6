"""How likely it is that luck alone brings as few exceptions to a rule."""

import numpy as np


def log_chance(found: int, expected: float) -> float:
    """Upper bound of the log of the chance of so few exceptions where `expected` are usual (Chernoff's, for a Poisson).

    Counts of exceptions in shuffled columns vary less than Poisson ones, so that the bound holds for them too.

    Examples
    --------
    >>> log_chance(0, 20.0), log_chance(20, 20.0)
    (-20.0, 0.0)
    """
    if found >= expected:
        return 0.0
    return found - expected + (found * float(np.log(expected / found)) if found else 0.0)

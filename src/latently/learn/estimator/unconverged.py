"""Warnings of fits that did not end well, at the line of the user's that asked for them."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[2])


def warn_unconverged(reason: str, setting: str, most: int, opening: str = "") -> None:
    """Warn, as scikit-learn does, if a fit ended before it converged.

    Parameters
    ----------
    reason
        Why the fit ended (`Fit.reason`).
    setting, most
        Name and value of the estimator's parameter for the number of iterations; at zero none were asked for.
    opening
        A peer's own words, which its users' code may match.
    """
    if most == 0 or reason not in ("max_iter", "stalled"):
        return
    stopped = f"the fit did not converge in {most} iterations: raise {setting} or tol"
    how = stopped if reason == "max_iter" else "the fit did not converge: its gradient leads nowhere, try another start"
    warn_of_fit(f"{opening} {how}".strip())


def warn_of_fit(message: str) -> None:
    """Give scikit-learn's ConvergenceWarning, at the first line that is not in this package."""
    from sklearn.exceptions import ConvergenceWarning

    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ConvergenceWarning, stacklevel=level)

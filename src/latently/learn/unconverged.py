"""The one warning of a fit that ran out of iterations."""

import warnings


def warn_unconverged(reason: str, setting: str, most: int, *, stacklevel: int = 3) -> None:
    """Warn, as scikit-learn does, if a fit ended for want of iterations.

    Parameters
    ----------
    reason
        Why the fit ended (`Fit.reason`).
    setting, most
        Name and value of the estimator's parameter for the number of iterations; at zero none were asked for.
    stacklevel
        As that of `warnings.warn`, seen from here.
    """
    if reason == "max_iter" and most > 0:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"the fit did not converge in {most} iterations: raise {setting} or tol",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )

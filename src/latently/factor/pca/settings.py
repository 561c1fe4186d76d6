"""Settings of PCA that depend on the table: which solver, and how many components there can be."""

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from latently.factor.pca.solvers import Spectrum
from latently.learn.estimator.unconverged import warn_of_fit


def chosen_solver(model: Any, rows: Any) -> str:
    """The solver that is used for a table of this shape."""
    if sparse.issparse(rows):
        if model.svd_solver not in ("auto", "arpack", "covariance_eigh"):
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{model.svd_solver}" was passed'
            )
        return "arpack" if model.svd_solver == "auto" else str(model.svd_solver)
    if model.svd_solver != "auto":
        return str(model.svd_solver)
    n, d = rows.shape
    k = min(n, d) if model.n_components is None else model.n_components
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or isinstance(k, str) or not 1 <= k < 0.8 * min(n, d):
        return "full"
    return "randomized"


def check_count(asked: Any, shape: tuple[int, ...], solver: str) -> None:
    """An error where there cannot be as many components as are asked for."""
    n, d = shape
    most = min(n, d)
    if solver in ("arpack", "randomized", "power"):
        if isinstance(asked, str):
            raise ValueError(f"n_components={asked!r} cannot be a string with svd_solver='{solver}'")
        if asked is not None and not 1 <= asked <= most:
            raise ValueError(_outside(asked, 1, most, solver))
        if solver == "arpack" and asked == most:
            raise ValueError(
                f"n_components={asked} must be strictly less than min(n_samples, n_features)={most} with "
                "svd_solver='arpack'"
            )
    elif asked == "mle" and n < d:
        raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
    elif isinstance(asked, Integral) and int(asked) > most:
        raise ValueError(_outside(asked, 0, most, solver))


def _outside(asked: Any, least: int, most: int, solver: str) -> str:
    return (
        f"n_components={asked} must be between {least} and min(n_samples, n_features)={most} with svd_solver={solver!r}"
    )


def warn_rank(asked: Any, spectrum: Spectrum) -> None:
    """A warning where more components were asked for than the rows have directions with variance."""
    if not isinstance(asked, Integral):
        return
    variances, eps = spectrum.variances[: int(asked)], float(np.finfo(np.float64).eps)
    rounding = (eps * float(np.abs(spectrum.mean).max(initial=0.0))) ** 2
    least = max(eps * max(len(spectrum.mean), 10) * float(spectrum.variances.max(initial=0.0)), rounding)
    rank = int((variances > least).sum())
    if rank < len(variances):
        warn_of_fit(
            f"the data have rank {rank}: {len(variances) - rank} of {len(variances)} components have no variance, and "
            "their directions are arbitrary"
        )


def refuse_few(weight: float, weighted: bool) -> None:
    """An error where the rows are too few for a variance."""
    if weight > 1:
        return
    if weighted:
        raise ValueError(
            f"the weights sum to {weight:g}: they say how often a row counts, and a variance needs more than 1 sample"
        )
    raise ValueError(f"a variance needs more than 1 sample, but there is n_samples = {weight:g}")

"""The relevant dimension of a kernel for labels."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from latently.data.tables.matrix import as_matrix
from latently.kernel.base import Array
from latently.kernel.gram.centring import centred
from latently.kernel.gram.eigen import leading
from latently.kernel.gram.relevance import as_targets, two_component_costs


@dataclass(frozen=True, eq=False)
class RelevantDimension:
    """How much of what a kernel sees is about the labels, and how noisy they are.

    Parameters
    ----------
    dimension
        How many leading kernel PCA components the labels need, by the method asked for.
    by_likelihood, by_cross_validation
        By the two-component model of the coefficients, and by leave-one-out cross-validation.
    error
        (m + 1,) label-reconstruction error e(d) of the first d = 0, 1, ... components: mean squared error of a
        regression; share of rows whose label is not the largest of the reconstructed ones for labels.
    noise
        Variance of what the labels have beyond the relevant components, for each row and column of the target.
    coefficients
        (r, c) coefficients u_i'y of the labels (centred if the kernel is) in the eigenbasis of the kernel matrix.
    eigenvalues
        (r,) eigenvalues.
    costs
        (m,) negative log likelihood of a cut after 1, 2, ... components.
    cross_validation
        (m + 1,) mean squared leave-one-out error of 0, 1, ... components.
    classes
        Labels in the order of the columns of the coefficients; None for a regression.
    """

    dimension: int
    by_likelihood: int
    by_cross_validation: int
    error: Array
    noise: float
    coefficients: Array
    eigenvalues: Array
    costs: Array
    cross_validation: Array
    classes: npt.NDArray[Any] | None


def relevant_dimension(
    K: Any, y: Any, *, method: Literal["likelihood", "cross_validation"] = "likelihood", centre: bool = True
) -> RelevantDimension:
    """Estimate how many kernel PCA components labels need, and their noise (Braun, Buhmann and Mueller 2008).

    The labels are written in the eigenbasis of the kernel matrix. The part that depends on the rows is in few leading
    coefficients; noise is spread evenly over all.

    Parameters
    ----------
    K
        (n, n) kernel matrix.
    y
        (n,) or (n, c) real targets, or (n,) labels: strings, whole numbers or truth values.
    method
        What `dimension` is: by "likelihood" of two Gaussians, or by leave-one-out "cross_validation".
    centre
        Whether kernel and labels are centred.

    Examples
    --------
    >>> from latently.kernel import RBF
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(200, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=200)
    >>> found = relevant_dimension(RBF(width=1.0)(X), y)
    >>> found.dimension < 10, round(found.noise**0.5, 1)
    (True, 0.1)
    """
    matrix, targets, classes = _read(K, y, method)
    basis = leading(centred(matrix) if centre else matrix)
    origin = targets.mean(axis=0) if centre else np.zeros(targets.shape[1])
    wanted = targets - origin
    coefficients = basis.vectors.T @ wanted
    squares, total, n = (coefficients**2).sum(axis=1), float((wanted**2).sum()), len(matrix)
    costs = two_component_costs(squares, total, n)
    error, held_out = _errors(basis.vectors[:, : len(costs)], coefficients, wanted, origin, classes, centre)
    likely = int(costs.argmin()) + 1 if len(costs) else 0
    validated = int(held_out.argmin())
    chosen = likely if method == "likelihood" else validated
    left = max(total - float(squares[:chosen].sum()), 0.0)
    noise = left / (max(n - chosen - centre, 1) * targets.shape[1])
    return RelevantDimension(
        chosen, likely, validated, error, noise, coefficients, basis.values, costs, held_out, classes
    )  # fmt: skip


def _read(K: Any, y: Any, method: str) -> tuple[Array, Array, npt.NDArray[Any] | None]:
    if method not in ("likelihood", "cross_validation"):
        raise ValueError(f"method is 'likelihood' or 'cross_validation', got {method!r}")
    matrix = np.asarray(as_matrix(K, name="K"), dtype=np.float64)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"a kernel matrix is square, got shape {matrix.shape}")
    targets, classes = as_targets(y)
    if len(targets) != len(matrix):
        raise ValueError(f"the kernel matrix has {len(matrix)} rows, but there are {len(targets)} labels")
    as_matrix(targets, name="y")
    return matrix, targets, classes


def _errors(
    U: Array, coefficients: Array, wanted: Array, origin: Array, classes: Any, centre: bool
) -> tuple[Array, Array]:
    """e(d) and the leave-one-out error of d = 0, 1, ... components, one more at a time."""
    n, m = U.shape
    fitted = np.zeros_like(wanted)
    own = np.full(n, 1.0 / n if centre else 0.0)  # (n,) weight of each row in its own fitted value
    error, held_out = np.empty(m + 1), np.empty(m + 1)
    for d in range(m + 1):
        if d:
            fitted += np.outer(U[:, d - 1], coefficients[d - 1])
            own += U[:, d - 1] ** 2
        gaps = wanted - fitted
        error[d] = (gaps**2).mean() if classes is None else _wrong(fitted + origin, wanted)
        held_out[d] = ((gaps / np.maximum(1.0 - own, 1e-10)[:, None]) ** 2).mean()
    return error, held_out


def _wrong(fitted: Array, wanted: Array) -> float:
    return float((fitted.argmax(axis=1) != wanted.argmax(axis=1)).mean())

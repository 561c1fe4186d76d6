"""One rotation that makes many symmetric matrices as diagonal as can be."""

import numpy as np

from latently import compiled
from latently.learn.engine.protocol import Array


def joint_diagonalisation(
    matrices: Array, start: Array | None = None, *, tol: float = 1e-8, max_iter: int = 100
) -> tuple[Array, Array, int, bool]:
    """Rotate symmetric matrices by Jacobi angles until all are as diagonal as one rotation can make them.

    Parameters
    ----------
    matrices
        (k, k, m) symmetric matrices, their number last.
    start
        (k, k) rotation to start from.
    tol
        Converged when no angle of a pass over all pairs is larger.
    max_iter
        Most passes over all pairs.

    Returns
    -------
    tuple
        V (k, k) with V M V' diagonal, what the matrices became (k, k, m), passes, and whether it converged.

    Examples
    --------
    >>> c, s = np.cos(0.3), np.sin(0.3)
    >>> V = np.array([[c, s], [-s, c]])
    >>> M = np.stack([V.T @ np.diag(d) @ V for d in ([1.0, 2.0], [3.0, 0.0])], axis=2)
    >>> found, diagonal, _, _ = joint_diagonalisation(M)
    >>> bool(np.abs(diagonal[0, 1]).max() < 1e-12)
    True
    """
    V = np.eye(len(matrices)) if start is None else np.array(start)
    M = np.ascontiguousarray(np.einsum("ia,abm,jb->ijm", V, matrices, V, optimize=True))
    for step in range(1, max_iter + 1):
        if compiled.factor.ica_jacobi.rotate_pairs(M, V, 1e-15) <= tol:
            return V, M, step, True
    return V, M, max_iter, False

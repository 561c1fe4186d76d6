"""JADE: a rotation that makes all fourth-order cumulant matrices diagonal."""

from dataclasses import KW_ONLY
from typing import Annotated

import numpy as np

from latently.factor.ica.base import IndependentComponents, Separation
from latently.factor.ica.joint.cumulants import cumulant_matrices, kurtosis_of
from latently.factor.ica.joint.joint_diagonalisation import joint_diagonalisation
from latently.factor.ica.white_data import WhiteData
from latently.learn.engine.protocol import Array
from latently.learn.estimator.parameters import COUNT, NON_NEGATIVE, Count, stores_parameters


@stores_parameters
class JADE(IndependentComponents):
    """Independent components by joint diagonalisation of cumulant matrices.

    Two passes over the data, no start to choose and no seed. With k components there are k (k + 1) / 2 cumulant
    matrices, so that time and memory grow with k^4: fine for some tens of components. Sources need a kurtosis that is
    not zero. Order and sign of components are fixed as in `FastICA`.

    Parameters
    ----------
    n_components
        Number of components; None for as many as there are columns (or the rank of the data, if that is less).
    tol, max_iter
        Converged when no Jacobi angle is larger; passes over all pairs at most.

    Attributes
    ----------
    components_ : (k, d) maps centred rows to sources
    mixing_ : (d, k) maps sources to centred rows
    mean_ : (d,)
    whitening_ : (k, d) maps centred rows to white coordinates
    kurtosis_ : (k,) excess kurtosis of the sources
    n_iter_ : passes over all pairs
    converged_ : whether it converged

    References
    ----------
    Cardoso and Souloumiac (1993), Blind beamforming for non-Gaussian signals.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> S = np.c_[rng.uniform(-1, 1, 3000), rng.laplace(size=3000)]
    >>> model = JADE().fit(S @ np.array([[2.0, 1.0], [1.0, 1.0]]).T)
    >>> np.sign(model.kurtosis_)
    array([ 1., -1.])
    """

    _needs = "sources with a kurtosis unlike that of a Gaussian one"
    _is_iterative = True

    n_components: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    tol: Annotated[float, NON_NEGATIVE] = 1e-8
    max_iter: Count = 100

    def _separate(self, data: WhiteData, start: Array | None) -> Separation:
        Q = cumulant_matrices(data)
        V, _, n_iter, converged = joint_diagonalisation(Q, start, tol=self.tol, max_iter=self.max_iter)
        kurtosis = kurtosis_of(Q, V)
        return Separation(V, n_iter, converged, np.abs(kurtosis) / np.sqrt(24 / data.n_rows), {"kurtosis_": kurtosis})

"""TDSEP: a rotation that makes correlations at several lags diagonal."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from latently.factor.ica.base import IndependentComponents, Separation
from latently.factor.ica.joint.joint_diagonalisation import joint_diagonalisation
from latently.factor.ica.joint.lagged import LaggedProducts, geometric_lags, spectral_distance
from latently.factor.ica.white_data import WhiteData
from latently.factor.ica.whitening import Whitening, inverse_root
from latently.learn.engine.protocol import Array
from latently.learn.estimator.parameters import COUNT, NON_NEGATIVE, Count, stores_parameters


@stores_parameters
class TDSEP(IndependentComponents):
    """Independent components of time series, separated by their spectra (also known as SOBI).

    Correlations of the white rows with themselves some steps later are made diagonal together. Rows are in order of
    time. Sources may be Gaussian, but no two may have the same spectrum. No start, no seed. Order and sign of
    components are fixed as in `FastICA`.

    Parameters
    ----------
    n_components
        Number of components; None for as many as there are columns (or the rank of the data, if that is less).
    lags
        Steps in time: a list of them, or a number m for 1, ..., m. None for some 40 that grow by equal ratios from 1
        to 500 (or a quarter of the rows): slow series need long lags, and quick ones many short lags.
    tol, max_iter
        Converged when no Jacobi angle is larger; passes over all pairs at most.

    Attributes
    ----------
    components_ : (k, d) maps centred rows to sources
    mixing_ : (d, k) maps sources to centred rows
    mean_ : (d,)
    whitening_ : (k, d) maps centred rows to white coordinates
    lags_ : the steps
    autocorrelations_ : (k, lags) of the sources
    n_iter_ : passes over all pairs
    converged_ : whether it converged

    References
    ----------
    Ziehe and Müller (1998), TDSEP: an efficient algorithm for blind separation using time structure. Belouchrani et
    al. (1997), A blind source separation technique using second-order statistics.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(2, 5000))
    >>> S = np.c_[noise[0, 1:] + noise[0, :-1], noise[1, 1:] - noise[1, :-1]]  # Gaussian, unlike spectra
    >>> X = S @ np.array([[1.0, 2.0], [2.0, 1.0]]).T
    >>> model = TDSEP(lags=5).fit(X)
    >>> np.abs(np.corrcoef(model.transform(X).T, S.T)[:2, 2:]).max(axis=1).round(2)
    array([1., 1.])
    """

    _needs = "sources with different spectra"
    _is_iterative = True

    n_components: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    lags: Annotated[int | Sequence[int] | None, COUNT, "array-like", None] = None
    tol: Annotated[float, NON_NEGATIVE] = 1e-8
    max_iter: Count = 100

    def _separate(self, data: WhiteData, start: Array | None) -> Separation:
        lags = self._steps(data.n_rows)
        sums = data.sum_rows(lambda Z: LaggedProducts.of(Z, lags))
        return self._diagonal(sums.products, data.n_rows - np.asarray(lags), start)

    def _diagonal(self, products: Array, counts: NDArray[Any], start: Array | None) -> Separation:
        """Rotation for lagged products (lags, k, k) that are sums of so many."""
        means = np.moveaxis(products / np.asarray(counts, dtype=np.float64)[:, None, None], 0, 2)
        means = (means + means.transpose(1, 0, 2)) / 2
        V, M, n_iter, converged = joint_diagonalisation(means, start, tol=self.tol, max_iter=self.max_iter)
        found = np.ascontiguousarray(M[np.arange(len(V)), np.arange(len(V))])  # (k, lags)
        strength = spectral_distance(M, float(np.mean(counts)))
        return Separation(V, n_iter, converged, strength, {"autocorrelations_": found})

    def _resampled(self, S: Array, rng: np.random.Generator) -> Array:
        """Rotation of surrogate data: times are drawn, and each brings the rows that follow it."""
        lags = self._steps(len(S))
        drawn = np.bincount(rng.integers(len(S), size=len(S)), minlength=len(S)).astype(np.float64)
        S = S - drawn @ S / len(S)
        Z = S @ inverse_root((S * drawn[:, None]).T @ S / len(S))
        products = np.stack([(Z[:-lag] * drawn[:-lag, None]).T @ Z[lag:] for lag in lags])
        counts = np.array([drawn[:-lag].sum() for lag in lags])
        return self._diagonal(products, counts, np.eye(S.shape[1])).W

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"law_row_order_does_not_matter": "rows are in the order of time, which tells sources apart"}

    def _remember(self, found: Separation, whitening: Whitening, dtype: Any) -> None:
        super()._remember(found, whitening, dtype)
        self.lags_ = np.array(self._steps(whitening.rows))

    def _steps(self, n_rows: int) -> tuple[int, ...]:
        if self.lags is None:
            return geometric_lags(n_rows)
        asked = range(1, int(self.lags) + 1) if isinstance(self.lags, Integral) else np.ravel(self.lags).tolist()
        lags = tuple(int(lag) for lag in asked)
        if not lags or min(lags) < 1 or any(lag != step for lag, step in zip(asked, lags, strict=True)):
            raise ValueError(f"lags must be whole numbers from 1 on, got {self.lags!r}")
        if isinstance(self.lags, Integral):
            return lags[: max(1, n_rows // 4)]  # of few rows, only lags that leave something to average
        if max(lags) >= n_rows:
            raise ValueError(f"a lag of {max(lags)} needs more than {n_rows} rows: ask for smaller lags")
        return lags

"""Detection by reconstruction: what kernel PCA cannot say of a row."""

from dataclasses import KW_ONLY
from numbers import Real
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from latently.detect.read import in_memory
from latently.detect.support import EXPECTED_FAILURES, Gamma, KernelDetector, KernelName, Number
from latently.kernel.base import Array
from latently.kernel.gram.centring import Centring
from latently.kernel.gram.eigen import leading
from latently.learn.estimator.parameters import COUNT, Whole, checked, stores_parameters

_SHARE = 0.9  # of the variance in feature space that components explain if their number is not given


@stores_parameters
class KernelPCADetector(KernelDetector):
    """Reconstruction error of kernel PCA (Hoffmann, 2007): k(x, x) less the squared projections on leading components.

    Parameters
    ----------
    n_components
        How many components; as many as hold nine tenths of the variance if None.
    kernel, degree, gamma, coef0
        As in `OneClassSVM`; with gamma None the median distance of the rows is the width of "rbf".
    contamination
        Share of the rows of the fit that is to be called outliers.

    Attributes
    ----------
    eigenvalues_
        Of the centred kernel matrix, the largest first.
    n_components_
        How many components are used.
    offset_
        Score at the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 6.28, 100)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> detector = KernelPCADetector(contamination=0.01).fit(ring)
    >>> detector.predict([[0.0, 1.0], [0.0, 0.0]])  # on the ring, and in its middle
    array([ 1, -1])
    """

    n_components: Annotated[int | None, None, COUNT] = None
    _: KW_ONLY
    kernel: KernelName = "rbf"
    degree: Whole = 3
    gamma: Annotated[Gamma, None] = None
    coef0: Number = 1.0
    contamination: Annotated[float, Interval(Real, 0.0, 0.5, closed="right")] = 0.1

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components."""
        things, values = self._begin(in_memory(self, X)[0])
        every = np.arange(len(values.diagonal))
        K = values.block(every, every)
        self._centring = Centring.of(K)
        centred = self._centring.training(K)
        spectrum = leading(centred, self.n_components)
        kept = len(spectrum.values)
        if self.n_components is None and kept:
            shares = np.cumsum(spectrum.values) / spectrum.values.sum()
            kept = int(np.searchsorted(shares, _SHARE - 1e-12)) + 1
        self.eigenvalues_, self.n_components_ = spectrum.values[:kept], kept
        self._axes = spectrum.coefficients[:, :kept]
        self._rows = things
        projected = centred @ self._axes
        self._settle(-(np.diagonal(centred) - (projected**2).sum(axis=1)).clip(min=0.0))
        return self

    def score_samples(self, X: Any) -> Array:
        """Score (n,) of each row: minus its reconstruction error."""
        check_is_fitted(self)
        if self._kernel is None:
            raise ValueError("k(x, x) of new rows is not in a precomputed kernel matrix: give a kernel")
        things = self._things(X, reset=False)
        values = self._kernel(things, self._rows)
        own = self._centring.diagonal(self._kernel.diag(things), values)
        projected = self._centring.rows(values) @ self._axes
        return -np.asarray(own - (projected**2).sum(axis=1)).clip(min=0.0)

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"law_density_integrates_to_one": EXPECTED_FAILURES["law_density_integrates_to_one"]}

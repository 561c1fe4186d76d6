"""How near algorithms come to the sources, against plain programs of the same algorithm."""

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.factor.ica_signals import MIXING, coloured, heavy_and_light, waves

from latently.factor import JADE, TDSEP, FastICA
from latently.factor.ica.quality import amari_error


def plain_jade(X):
    """Cardoso and Souloumiac's algorithm as written: all cumulant matrices, Jacobi angles down to 1/(100 sqrt n)."""
    n, k = X.shape
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    white = vectors / np.sqrt(values)
    Z = (X - X.mean(axis=0)) @ white
    matrices = []
    for i, j in itertools.product(range(k), repeat=2):
        Q = (Z * (Z[:, i] * Z[:, j])[:, None]).T @ Z / n - (i == j) * np.eye(k)
        Q[i, j] -= 1
        Q[j, i] -= 1
        matrices.append(Q)
    V, turned = np.eye(k), True
    while turned:
        turned = False
        for p, q in itertools.combinations(range(k), 2):
            g = np.array([[M[p, p] - M[q, q], M[p, q] + M[q, p]] for M in matrices]).T
            on, off = (g @ g.T)[0, 0] - (g @ g.T)[1, 1], (g @ g.T)[0, 1] + (g @ g.T)[1, 0]
            angle = 0.5 * np.arctan2(off, on + np.hypot(on, off))
            if abs(angle) > 1 / (100 * np.sqrt(n)):
                turned = True
                R = np.eye(k)
                R[p, p] = R[q, q] = np.cos(angle)
                R[p, q], R[q, p] = -np.sin(angle), np.sin(angle)
                matrices, V = [R.T @ M @ R for M in matrices], V @ R
    return V.T @ white.T


@pytest.mark.parametrize("sources", ["waves", "tails"])
def test_jade_is_as_near_as_the_algorithm_can_be(sources):
    X, A = (waves(3000) @ MIXING.T, MIXING) if sources == "waves" else heavy_and_light(3000, 4)
    ours, plain = amari_error(JADE().fit(X).components_, A), amari_error(plain_jade(X), A)
    assert ours == pytest.approx(plain, abs=2e-4)  # an angle of 1 / (100 sqrt n) is 2e-4
    again = amari_error(JADE().fit(X).components_, np.linalg.inv(plain_jade(X)))
    assert again < 2e-4


@pytest.mark.parametrize("seed", range(4))
def test_deflation_does_not_depend_on_which_source_the_start_finds_first(seed):
    """R's fastICA comes to 0.0007; deflation from random starts to 0.0003 ... 0.0011."""
    model = FastICA(algorithm="deflation", random_state=seed).fit(waves() @ MIXING.T)
    assert amari_error(model.components_, MIXING) < 0.0005


def test_deflation_keeps_the_order_of_a_start_that_is_given():
    X = waves(5000) @ MIXING.T
    W = FastICA(random_state=0, tol=1e-10).fit(X)
    start = W.components_ @ np.linalg.pinv(W.whitening_)
    errors = [
        amari_error(FastICA(algorithm="deflation", w_init=start[list(order)]).fit(X).components_, MIXING)
        for order in ((0, 1, 2), (2, 1, 0))
    ]
    assert abs(errors[0] - errors[1]) > 1e-4


class TestLagsOfTdsep:
    """Lags that nobody chose."""

    def test_slow_waves(self):
        """Periods of 70 to 110 rows, which lags of 1 to 20 hardly see."""
        X = waves() @ MIXING.T
        assert amari_error(TDSEP().fit(X).components_, MIXING) < 0.0007
        with pytest.warns(ConvergenceWarning, match="different spectra"):
            few = TDSEP(lags=20).fit(X)
        assert amari_error(few.components_, MIXING) > 0.002

    def test_quick_series_lose_nothing(self):
        errors = {lags: [] for lags in (None, 20)}
        for seed, (lags, found) in itertools.product(range(5), errors.items()):
            X = coloured(2000, (0.9, -0.5, 0.3), seed) @ MIXING.T
            found.append(amari_error(TDSEP(lags=lags).fit(X).components_, MIXING))
        assert np.mean(errors[None]) < 1.1 * np.mean(errors[20])

    @pytest.mark.parametrize("n", [8, 40, 5000])
    def test_lags_are_named(self, n):
        model = TDSEP().fit(coloured(n, (0.9, -0.5)) @ np.array([[1.0, 0.5], [0.3, 1.0]]))
        assert model.lags_[0] == 1
        assert model.lags_[-1] == min(500, n // 4)
        assert model.autocorrelations_.shape == (2, len(model.lags_))

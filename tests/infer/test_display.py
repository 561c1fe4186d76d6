"""What the displays compute and draw."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.naive_bayes import GaussianNB

from latently.distributions import Bernoulli, Beta, Gaussian, NormalInverseWishart
from latently.infer import Posterior
from latently.plot.posterior import CalibrationDisplay, PosteriorDisplay


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("how", ["exact", "grid"])
def test_prior_likelihood_and_posterior_are_drawn(how):
    def log_likelihood(p):
        return 3 * np.log(p) + np.log1p(-p)

    if how == "exact":
        post = Posterior(Beta(2, 2), Bernoulli(), [1, 1, 1, 0])
    else:
        post = Posterior({"p": stats.beta(2, 2)}, log_likelihood)
    display = PosteriorDisplay.from_posterior(post).plot()
    assert_allclose(display.prior, stats.beta(2, 2).pdf(display.x), rtol=1e-6)
    assert_allclose(display.posterior, stats.beta(5, 3).pdf(display.x), rtol=1e-6, atol=1e-9)
    # scaled, the likelihood peaks at 3/4 with the height of the posterior
    assert display.x[np.argmax(display.likelihood)] == pytest.approx(0.75, abs=0.01)
    assert display.likelihood.max() == pytest.approx(display.posterior.max())
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[:3] == ["prior", "likelihood (scaled)", "posterior"]
    again = PosteriorDisplay.from_posterior(post).plot(ax=display.ax_)
    assert again.figure_ is display.figure_


def test_one_of_several_parameters_is_drawn_alone():
    post = Posterior(NormalInverseWishart([0.0], 1.0, [[1.0]], 3.0), Gaussian(), [1.0, 2.0, 3.0])
    display = PosteriorDisplay.from_posterior(post, "variance").plot()
    assert display.prior is None
    assert_allclose(display.posterior, stats.invgamma(3, scale=3).pdf(display.x), rtol=1e-9)


def test_calibration_of_an_estimator_is_drawn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=400)
    X = y[:, None] + rng.normal(size=(400, 1))
    display = CalibrationDisplay.from_estimator(GaussianNB().fit(X, y), X, y, n_bins=5).plot()
    assert display.ax_.get_legend().get_texts()[0].get_text().startswith("GaussianNB (calibration error")
    assert len(display.curve.predicted) == 5

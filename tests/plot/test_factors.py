"""Displays of factors: the numbers they show are those of the model."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_linnerud

from latently.factor import CCA, PCA, FactorAnalysis, KernelCCA
from latently.plot import BiplotDisplay, CanonicalPairsDisplay, LoadingsDisplay, ScreeDisplay

X = load_iris().data


def test_a_scree_shows_all_variances_and_how_many_were_chosen():
    model = PCA("mle").fit(X)
    display = ScreeDisplay.from_estimator(model, X)
    assert np.allclose(display.line_.get_ydata(), PCA().fit(X).explained_variance_)
    assert display.chosen == model.n_components_ == 3
    assert display.noise == model.noise_variance_
    assert len(ScreeDisplay.from_estimator(PCA(2).fit(X)).variances) == 2


def test_a_biplot_shows_scores_and_columns_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
    model = PCA(3).fit(frame)
    display = BiplotDisplay.from_estimator(model, frame, components=(0, 2))
    assert np.allclose(display.points_.get_xydata(), model.transform(frame)[:, [0, 2]])
    assert {text.get_text().strip() for text in display.ax_.texts} >= set(frame.columns)
    assert display.ax_.get_ylabel() == "component 3"
    with pytest.raises(ValueError, match="n_components=2"):
        BiplotDisplay.from_estimator(PCA(1).fit(X), X)


def test_loadings_of_factors_and_of_canonical_directions():
    factors = FactorAnalysis(2).fit(X)
    display = LoadingsDisplay.from_estimator(factors, names=list("abcd"))
    assert np.allclose(display.image_.get_array(), factors.components_.T)
    pair = CCA(1).fit(X[:, :2], X[:, 2:])
    assert np.allclose(LoadingsDisplay.from_estimator(pair).image_.get_array(), pair.x_loadings_)


@pytest.mark.parametrize("kind", [CCA, KernelCCA])
def test_pairs_show_the_correlation_of_the_model(kind):
    A, B = load_linnerud(return_X_y=True)
    model = kind(n_components=2).fit(A, B)
    for pair in (0, 1):
        display = CanonicalPairsDisplay.from_estimator(model, A, B, pair=pair)
        assert np.isclose(display.correlation, model.canonical_correlations_[pair])
    with pytest.raises(ValueError, match="no pair 2"):
        CanonicalPairsDisplay.from_estimator(model, A, B, pair=2)
